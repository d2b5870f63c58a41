import Foundation

/// PKCS#12 files, most of them made by `openssl pkcs12 -export -legacy`, of a certificate for nobody; the password is
/// `sesame`.
enum PKCS12Files {
    /// Key and certificate encrypted with RC2 of 128 bits.
    static let rc2At128 = """
        MIIDkgIBAzCCA1gGCSqGSIb3DQEHAaCCA0kEggNFMIIDQTCCAjcGCSqGSIb3DQEHBqCCAigwggIkAgEAMIICHQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQUwDgQIHpCFn87E2/oCAggAgIIB8K6NesZ3/78hadpVMRUEsKnldcmB1rarfhGmjJ5YxERnLUt4+c4s/VSn
        D8qwyJ4JuX9Cq2c4ynuJBkhTIYYJJfCn8mXuJvkV7x4mAfUYTkAl0sYTu8WJN+W3kbkCCXtC5AHa8YTZnWOi/R+pdv/db1JbN+LP
        1OAlXrN5L0allmy+S/IfVjH1GMWNikEtRYCWU/FLBfis6ULZZshz1AybIk+MoAWUcgpAEPOS1Yjg48Rj//lpmgrkmCHxhLF+s4Iw
        ptlmqaB1wlvsN7nhJOtx7UKs7ZQqSdt2UMx6jk/zTU1AZBarLzacBeZfGHtwzFJxTjM7rPRqd7aEVbAB2M3tkqgX7cN6R40t16xc
        0LKW8MlR+Bgea727eiruTneHsNKO4D7DuDxaDlFrKlBl+a977G3u902oszqVScsr8OJ/vNMcGAPBmD5B0UD8B5VvrGQ50nln9kmL
        bc64Ul9ygooojAXXpLy05EY08Wd84TPC8JYovUq8rfqaZNo/hNsfep+Ul3oR9rq/3QMQJeSmubQKQDFVMh9w6aD8CNUk3qEObLSR
        a4QoS9UNog3Hm3xhz9xxUlpfd1M8JH2QNy/5TZbELlY8QyZY8rcALVRKEwt2G0eImGRYGTcnE7nSyvqW/k90bHv9c6zurhb600ng
        xTzVq/kwggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQUwDgQI453zkySf
        jtwCAggABIGQCDNv9ZyxF5eUR4Rz6r0s3ubJvgb5H+MCR3UDx4PQS/Now2fRm5y6LwzhFc8WvD89S6UVmlbzGG2r43rhS52At+cs
        sU3uDtXbMide6jLcKZZs3m9dckjZp0WOjmJD7nJCo70wxZ173gcpAk8gy6n0P9drmlRffupPPfR+72NVh3TZYyG+6RHpSwO0m+gZ
        q8KcMSUwIwYJKoZIhvcNAQkVMRYEFFWFh1T3PwbRe+7VP7RRkjNpKaoEMDEwITAJBgUrDgMCGgUABBRBlp+aM05iaBDk/eFYTI84
        OUDwCAQIKOz02tCfs2ACAggA
        """

    /// The key with triple DES, the certificate with RC2 of 40 bits: as Keychain Access wrote them for long.
    static let rc2At40 = """
        MIIDkgIBAzCCA1gGCSqGSIb3DQEHAaCCA0kEggNFMIIDQTCCAjcGCSqGSIb3DQEHBqCCAigwggIkAgEAMIICHQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQILZZV8OB2Tj8CAggAgIIB8A7QAGn+i+VuZsjG4LEmOVaTt4xuIjd9JItI0jvXxERJ/N5Q8gUw7dlO
        5ZIv+coquA50DrDRW1Aje5pMAyqLKKVCeqRnB6YRBSIHLkEXDIbIJ47qgrEFpBhBwfJWpMWlq/TfMAc/D0AOaDjPkkGhDHgHej4o
        2O/uuIiVUTjw3J2d7rq2j9PM6I1B9Q3pfGbAn7jSSf78kPCWeL+C/bSQnBk/04VV5O0t8MfIp0ah4K6aJVHCaC9EOWK7lCYwhEwW
        4TqhgaE84QiNviaKpfNizbNPXzd//E6M6IYibFbeOLPpq6ZUlH5iG95ymtZCnjSWL8pkPidaQAoqTY1ie0ioHBrKq+6ZKTWGOvnq
        27uXo/E9DG1HqHm05PqXcomOuyTIF6ruVEF9XnVfs0aX+gYBbPdDsLgS8duYopWVuQ/ouOxE0aodx70m/L02oreAH7ScJpozDO5z
        RYmRAq+ys0HFPKAc5rjV/z97VkiT7CAsvZzVUKaQCNnd/Y22kQc3VT9HkUQNSL3O4z1B2nWhSIkoUOciKDIldDSNDJzMM6LjzFay
        ERqwTur6DRbc/MB9tjppcZayZz09VUyZc5PD41LTRydb4/zs2v6/J55xrPWKuxPZw9LFbjgs1I2Iy0PDBh72+HrtNtR8J/ql+ccU
        cSwc+zYwggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIJIiHFlmt
        EKgCAggABIGQKGPAOPTvQWBqx9wnNRyO9j4H+g1xbAPuxTJ1oZiWsh9IzUO2+YHu1Jx4L6Ai1MfvOvawileAZsJhllbJYlGn61X9
        26CcD1TiAWmNf6M9C8fO09bYx8N8+g1mHQi+OCxcFovZkcirz4M3OkvUWyW2wAwIfmNwhWNfH4z2VscMJ7J8IbXK4vCp1fBD/7Bq
        hgX3MSUwIwYJKoZIhvcNAQkVMRYEFFWFh1T3PwbRe+7VP7RRkjNpKaoEMDEwITAJBgUrDgMCGgUABBTFIzMzpaxWX2w0dRCgd/Wc
        X0bSWQQIQ7BFInzT9FUCAggA
        """

    /// As the local APNs wrote them once: the key not encrypted, the certificate neither, a MAC with SHA-256.
    static let plain = """
        MIIDiwIBAzCCAzkGCSqGSIb3DQEHAaCCAyoEggMmMIIDIjCCAkMGCSqGSIb3DQEHAaCCAjQEggIwMIICLDCCAigGCyqGSIb3DQEMCgED
        oIIB8DCCAewGCiqGSIb3DQEJFgGgggHcBIIB2DCCAdQwggF7oAMCAQICFQDzJvfMq/vcIKg8732LkYZzclDCdjAKBggqhkjOPQQDAjAn
        MSUwIwYDVQQDDBxUaWRpbmdzIGxvY2FsIEFQTnMgYXV0aG9yaXR5MB4XDTI2MTEyMTE0NTM1MloXDTI3MTEyMzE0NTM1MlowUjEgMB4G
        CgmSJomT8ixkAQEMEGNvbS5leGFtcGxlLmNoYXQxLjAsBgNVBAMMJUFwcGxlIFB1c2ggU2VydmljZXM6IGNvbS5leGFtcGxlLmNoYXQw
        WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASmqZI8HIF0C5PhUvo3m+EFbI1Lg3vd4Yp8Z2O52hG9m3jNHMRDH61Ug6tP8SEDHIMXkMBP
        XUL50LSuH4K4Ketvo1kwVzAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcDAjAQBgoqhkiG92Nk
        BgMBBAIFADAQBgoqhkiG92NkBgMCBAIFADAKBggqhkjOPQQDAgNHADBEAiAsokCv9E7L+MQhZ/LmcsoIkFwvV164OXw2bYDWJzCAogIg
        S0d1IIUt8Mmmp+XGyRTmLhmdG5FdY2kw9654ANT6FV8xJTAjBgkqhkiG9w0BCRUxFgQUXvy9ut0kycRoAKr7AaP3wnX+244wgdgGCSqG
        SIb3DQEHAaCBygSBxzCBxDCBwQYLKoZIhvcNAQwKAQGggYowgYcCAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEbTBrAgEBBCA2hYq6EYbF
        msMU9RKLbKgYRXe5yzYBI217+h2UfFd8mKFEA0IABKapkjwcgXQLk+FS+jeb4QVsjUuDe93hinxnY7naEb2beM0cxEMfrVSDq0/xIQMc
        gxeQwE9dQvnQtK4fgrgp628xJTAjBgkqhkiG9w0BCRUxFgQUXvy9ut0kycRoAKr7AaP3wnX+244wSTAxMA0GCWCGSAFlAwQCAQUABCBp
        hSsQSHuznkcYqIfgZyd/iC9MaskI00qLwhIt0nO5qwQQEOcaGwSSK9cYNR6mJbl1pwICCAA=
        """

    /// A certificate alone.
    static let withoutKey = """
        MIICtwIBAzCCAm0GCSqGSIb3DQEHAaCCAl4EggJaMIICVjCCAlIGCSqGSIb3DQEHBqCCAkMwggI/AgEAMIICOAYJKoZIhvcNAQcB
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhYV6AlA7+9CQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECSZ
        QiERRnSLOXaO+aniQGSAggHQW8I/QEiwnQEpkXA3EPP1iYE3H/njPee+4oz20xXqpiLM2EIYFF5dPvZPJ95Upr3GhH20Y1CzZBVn
        WaeSTWGxxcf6hSpASUPhSMX58OcbJj3plY+x923wO6Y5tXWOKtFGNdz8mNFtdrg4JJVCIxIJnqQz3PCb+PRzQr8V9HNnxobJBkyO
        AvqTOvz9yd2LtE59i46vhNTHfz+Q4x/HT6Yft/5+e8h9gFPcilHTeHgw43QXRyKhbHupPQ1vxLFCDTVAxVNB5bKXSzjcw409zQWZ
        /n3HUs+J5jbyC0nya1gZiEIRK71vd6937ebhA2qDHKJXCfE5NGsT9PbHmWDLaP9nzpSdWbbX5yx8nojx6JeQPPDAhZfIRQdxYh9V
        lXLp2dISJWMyBgqKEdQqtK/y9kcQlQEXMW/gV/2IO2wrFqAQjBwwMjMfJM+UmxOqAgbLWiOanoYCL9iVt8dv2tMqYPyJuox6ckJR
        UxI6VNfxlAPj0tn11VYd67hy5tDjwXYj1RPyjTsvmW/8ph4E66A4gm5WsNdomN1TaTs+B04gbWoKySGU9MLar4lRF3MXa2fIMuns
        iwB4jHaj5Q8vSQYeww0HQaeJVS5qTP3YouApYtl0pGAwQTAxMA0GCWCGSAFlAwQCAQUABCBXAJj+lL+rDfrDt4rtid8s59RB9hep
        zRqNwOs1Zz4+iwQIOb6Z0aiDIi8CAggA
        """

    static func bytes(_ text: String) -> [UInt8] {
        Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
    }
}

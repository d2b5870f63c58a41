package import TidingsModel

/// The form of a file with a push credential, before anything of it is decrypted.
package enum CredentialForm: Hashable, Sendable {
    /// A private key in PEM form, as Apple gives a `.p8` file.
    case tokenKey
    /// A certificate and its private key, both in PEM form.
    case pair(isEncrypted: Bool)
    /// A PKCS#12 file.
    case pkcs12

    /// The most bytes of such a file: with its issuers a `.p12` file has some 10,000.
    package static let bytesMax = 65_536

    /// Looks at a file.
    ///
    /// - Throws: `InvalidField` naming `file`, which says what it is instead and where the right one is found.
    package init(_ bytes: [UInt8]) throws(InvalidField) {
        try InvalidField.check(!bytes.isEmpty, "file", "must not be empty")
        try InvalidField.check(bytes.count, atMost: Self.bytesMax, "file", unit: " bytes")
        if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
            _ = try FileText.read(bytes, field: "file")
        }
        let blocks = PEMBlock.blocks(in: bytes)
        self = blocks.isEmpty ? try Self.binary(bytes) : try Self.text(blocks)
    }

    /// The private key of a PEM text alone, without what other programs write beside it; nil if there is none.
    package static func keyPEM(in bytes: [UInt8]) -> String? {
        PEMBlock.blocks(in: bytes).first(where: \.isPrivateKey)?.pem
    }

    private static func text(_ blocks: [PEMBlock]) throws(InvalidField) -> CredentialForm {
        if let block = blocks.first(where: { $0.isPrivateKey || $0.isCertificate ? $0.der.isEmpty : false }) {
            let lack = block.hasEnd ? "is no Base64" : "has no line that ends it"
            throw InvalidField(field: "file", rule: "\(Self.strange.rule); its part \(block.label) \(lack)")
        }
        let key = blocks.first(where: \.isPrivateKey)
        switch (blocks.contains(where: \.isCertificate), key) {
        case (true, let key?): return .pair(isEncrypted: key.isEncrypted)
        case (true, nil): throw Self.noKey
        case (false, let key?):
            try Self.checkTokenKey(key)
            return .tokenKey
        case (false, nil): break
        }
        if blocks.contains(where: { $0.label.hasSuffix("CERTIFICATE REQUEST") }) {
            throw InvalidField(
                field: "file",
                rule: "must be a credential; this is the request for a certificate: Apple makes the certificate of it, "
                    + "and Keychain Access exports that with its key as .p12")
        }
        throw Self.strange
    }

    private static func checkTokenKey(_ key: PEMBlock) throws(InvalidField) {
        if key.isEncrypted {
            throw InvalidField(
                field: "file",
                rule: "must be a .p8 file as Apple gives it; this key is encrypted, and has no certificate")
        }
        let rule = "must be a key for pushes, which is on the curve P-256"
        if key.label.hasPrefix("OPENSSH") { throw InvalidField(field: "file", rule: "\(rule); this one is for SSH") }
        if key.label.hasPrefix("RSA") { throw InvalidField(field: "file", rule: "\(rule); this one is RSA") }
        switch PrivateKeyKind(key) {
        case .p256, nil: break
        case .otherCurve: throw InvalidField(field: "file", rule: "\(rule); this one is on another")
        case .rsa: throw InvalidField(field: "file", rule: "\(rule); this one is RSA")
        case .other: throw InvalidField(field: "file", rule: "\(rule); this one is of another kind")
        }
    }

    /// PKCS#12, a certificate and a key in DER form all begin alike; the first member tells them apart (RFC 7292, section 4; RFC
    /// 5280, section 4.1; RFC 5958, section 2).
    private static func binary(_ bytes: [UInt8]) throws(InvalidField) -> CredentialForm {
        var outer = BER(bytes[...])
        guard let file = try? outer.next(0x30), var members = try? file.inside(), let first = try? members.next() else {
            throw Self.strange
        }
        if first.tag == 0x30 { throw Self.noKey }
        guard first.tag == 0x02, first.number == 3 else { throw Self.strange }
        return .pkcs12
    }

    private static let noKey = InvalidField(
        field: "file",
        rule: "must have the private key with the certificate; Keychain Access exports both together as .p12")

    private static let strange = InvalidField(
        field: "file", rule: "must be a .p8 key, a .p12 file, or certificate and key in PEM form")
}

/// A part of a PEM text (RFC 7468).
package struct PEMBlock: Hashable, Sendable {
    package var label: String
    /// How OpenSSL's older form encrypted it: the value of `DEK-Info`; nil if it did not.
    package var manner: String?
    /// Empty if it is no Base64, or has no end.
    package var der: [UInt8] = []
    var hasEnd = true

    package var isPrivateKey: Bool { self.label.hasSuffix("PRIVATE KEY") }
    /// OpenSSL writes `X509` and `TRUSTED` before the word, too.
    package var isCertificate: Bool { self.label.hasSuffix("CERTIFICATE") }
    package var isEncrypted: Bool { self.manner != nil || self.label.hasPrefix("ENCRYPTED ") }

    /// Returns all that begin; what stands between them is passed over, and so are empty lines and a byte-order mark.
    package static func blocks(in bytes: some Collection<UInt8>) -> [PEMBlock] {
        var found: [PEMBlock] = []
        var open: PEMBlock?
        var body: [UInt8] = []
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            let text = String(decoding: line, as: UTF8.self)
            if let name = Self.name(in: text, "-----BEGIN ") {
                if let open { found.append(open) }
                (open, body) = (PEMBlock(label: name, hasEnd: false), [])
            } else if var block = open, Self.name(in: text, "-----END ") != nil {
                (block.hasEnd, block.der) = (true, Base64.decode(body, isStrict: false) ?? [])
                found.append(block)
                open = nil
            } else if let colon = text.firstIndex(of: ":") {
                if text.hasPrefix("DEK-Info") { open?.manner = String(text[colon...].dropFirst()) }
            } else {
                body += line.filter { $0 > 0x20 }
            }
        }
        if let open { found.append(open) }
        return found
    }

    var pem: String {
        var text = "-----BEGIN \(self.label)-----\n"
        var digits = Base64.encode(self.der, .standard)[...]
        while !digits.isEmpty {
            text += digits.prefix(64) + "\n"
            digits = digits.dropFirst(64)
        }
        return text + "-----END \(self.label)-----\n"
    }

    private static func name(in line: String, _ start: String) -> String? {
        guard let place = line.firstRange(of: start), let end = line.lastIndex(where: { $0 != "-" && $0 != " " }),
            end >= place.upperBound
        else { return nil }
        return String(line[place.upperBound...end])
    }
}

/// The kind of a private key that is not encrypted.
enum PrivateKeyKind: Hashable, Sendable {
    case p256, otherCurve, rsa, other

    private static let rsaEncryption: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    private static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    private static let prime256: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]

    /// Nil for one that cannot be told, for example a damaged one.
    init?(_ key: PEMBlock) {
        do throws(BER.Fault) {
            var outer = BER(key.der[...])
            var members = try outer.next(0x30).inside()
            _ = try members.next(0x02)
            let curve: BER.Element
            if key.label == "EC PRIVATE KEY" {
                // RFC 5915, section 3.
                _ = try members.next(0x04)
                var parameters = try members.next(0xa0).inside()
                curve = try parameters.next(0x06)
            } else {
                // RFC 5958, section 2, and RFC 5480, section 2.1.
                var algorithm = try members.next(0x30).inside()
                let type = Array(try algorithm.next(0x06).content)
                guard type == Self.ecPublicKey else {
                    self = type == Self.rsaEncryption ? .rsa : .other
                    return
                }
                curve = try algorithm.next(0x06)
            }
            self = Array(curve.content) == Self.prime256 ? .p256 : .otherCurve
        } catch {
            return nil
        }
    }
}

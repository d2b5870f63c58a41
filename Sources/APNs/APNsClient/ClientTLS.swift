import APNsClientCore
import NIOCore
import NIOPosix
import NIOSSL
import TidingsModel

/// TLS towards APNs: 1.2 or later, certificate and name verified, HTTP/2 offered (apns.md §2).
enum ClientTLS {
    static func context(_ roots: APNsClient.Configuration.TrustRoots) throws(InvalidField) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        switch roots {
        case .system: tls.trustRoots = .default
        case .file(let path): tls.trustRoots = .certificates(try Self.certificates(path: path))
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw InvalidField(field: "trust_roots", rule: "cannot be used: \(error)")
        }
    }

    private static func certificates(path: String) throws(InvalidField) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMFile(path)
        } catch {
            throw InvalidField(field: "trust_roots", rule: "must be a readable PEM file: \(path): \(error)")
        }
        guard !certificates.isEmpty else {
            throw InvalidField(field: "trust_roots", rule: "must contain a certificate: \(path)")
        }
        return certificates
    }

    /// Sorts what went wrong while connecting: worth another try, or a matter of configuration.
    static func fault(_ error: any Error, host: String, port: Int) -> APNsDispatcher.ConnectFault {
        let text = Self.describe(error)
        switch error {
        case NIOSSLError.handshakeFailed(let reason) where "\(reason)".contains("CERTIFICATE_VERIFY_FAILED"):
            return .refused("the certificate of \(host):\(port) is not trusted; check the trust roots (\(text))")
        case is NIOSSLExtraError:
            return .refused("the certificate of \(host):\(port) is not for that name (\(text))")
        default:
            return .unreachable("\(host):\(port): \(text)")
        }
    }

    /// One line about an error.
    static func describe(_ error: any Error) -> String {
        if let failure = error as? NIOConnectionError {
            if let dns = failure.dnsAError ?? failure.dnsAAAAError, failure.connectionErrors.isEmpty {
                return "the name cannot be resolved (\(dns))"
            }
            return failure.connectionErrors.map { "\($0.target): \($0.error)" }.joined(separator: ", ")
        }
        return "\(error)"
    }
}

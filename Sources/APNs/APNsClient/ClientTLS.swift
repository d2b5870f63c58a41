import APNsClientCore
import NIOCore
import NIOSSL
import TidingsModel

/// TLS towards APNs: 1.2 or later, certificate and name verified, HTTP/2 offered (APNs reference, section 2).
enum ClientTLS {
    /// - Throws: `InvalidField` naming `trust_roots` or `credential`.
    static func context(
        _ roots: APNsClient.Configuration.TrustRoots, _ credential: APNsClient.Credential
    ) throws(InvalidField) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.trustRoots = try Self.read(roots)
        switch credential {
        case .token: break
        case .certificate(let certificate): certificate.apply(to: &tls)
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw InvalidField(field: "trust_roots", rule: "cannot be used: \(error)")
        }
    }

    /// - Throws: `InvalidField` naming `trust_roots`.
    static func read(_ roots: APNsClient.Configuration.TrustRoots) throws(InvalidField) -> NIOSSLTrustRoots {
        switch roots {
        case .system: return .default
        case .file(let path): return try .file(at: path)
        case .pem(let text): return try .pem(text.utf8, of: "text")
        }
    }

    /// Sorts what went wrong while connecting: worth another try, or a matter of configuration.
    ///
    /// - Parameter place: host and port, for the words.
    static func fault(_ error: any Error, at place: String) -> APNsDispatcher.ConnectFault {
        let text = Self.describe(error)
        if let fault = Self.alert(error, at: place) { return fault }
        switch error {
        case NIOSSLError.handshakeFailed(let reason) where "\(reason)".contains("CERTIFICATE_VERIFY_FAILED"):
            return .refused("the certificate of \(place) is not trusted; check the trust roots (\(text))")
        case is NIOSSLExtraError:
            return .refused("the certificate of \(place) is not for that name (\(text))")
        case let refusal as ProxyRefusal:
            return refusal.isForGood ? .refused(refusal.description) : .unreachable(refusal.description)
        default:
            return .unreachable("\(place): \(text)")
        }
    }

    /// A TLS alert about our certificate, or about what we offered. With TLS 1.3 it comes when our side of the
    /// handshake is over (RFC 8446, section 4.4.2.4; APNs reference, section 2).
    ///
    /// - Returns: nil for any other error.
    static func alert(_ error: any Error, at place: String) -> APNsDispatcher.ConnectFault? {
        let text = "\(error)"
        guard text.contains("_ALERT_") else { return nil }
        for (alert, advice) in Self.alerts where text.contains("_ALERT_\(alert)") {
            return .refused("\(place) refuses the connection (\(alert.lowercased())): \(advice)")
        }
        return nil
    }

    /// RFC 8446, section 6.2, in the words of the TLS library.
    private static let alerts: [(String, String)] = [
        ("CERTIFICATE_EXPIRED", "the client certificate has expired; make a new one in Apple's developer account"),
        ("CERTIFICATE_REVOKED", "the client certificate was revoked; make a new one in Apple's developer account"),
        ("UNKNOWN_CA", "the client certificate does not come from Apple; use one made in Apple's developer account"),
        ("CERTIFICATE_REQUIRED", "a client certificate is needed"),
        ("BAD_CERTIFICATE", "the client certificate is damaged or wrong; check the file"),
        ("UNSUPPORTED_CERTIFICATE", "the client certificate is of an unsupported kind"),
        ("CERTIFICATE_UNKNOWN", "the client certificate is not accepted; make a new one in Apple's developer account"),
        ("ACCESS_DENIED", "the client certificate may not be used here"),
        ("NO_APPLICATION_PROTOCOL", "it speaks no HTTP/2"),
        ("HANDSHAKE_FAILURE", "no version or cipher of TLS in common"),
        ("PROTOCOL_VERSION", "no version of TLS in common"),
    ]

    static func describe(_ error: any Error) -> String {
        switch error {
        case NIOSSLError.uncleanShutdown: "cut by the other side"
        case ChannelError.connectTimeout: "no answer in time"
        default: "\(error)"
        }
    }
}

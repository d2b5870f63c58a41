import Foundation
import NIOCore

/// Where a request of the server's own goes.
struct HTTPAddress: Hashable, Sendable {
    var host: String
    var port: Int
    var isSecure: Bool
    var target: String

    /// - Parameter mayBePlain: whether `http:` is for this host.
    /// - Returns: nil for anything but `https:`, or `http:` where it may be, with a host, a port from 1 to 65,535
    ///   if it has one, and without user and fragment.
    init?(_ text: String, mayBePlain: (String) -> Bool) {
        // As it goes into TLS and headers: `host` would be decoded, to any letters.
        guard let url = URLComponents(string: text), let host = url.encodedHost, !host.isEmpty, !host.contains("%"),
            url.user == nil, url.fragment == nil
        else { return nil }
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        switch url.scheme?.lowercased() {
        case "https": self.isSecure = true
        case "http" where mayBePlain(self.host): self.isSecure = false
        default: return nil
        }
        self.port = url.port ?? (self.isSecure ? 443 : 80)
        // A larger one would end the process where it becomes the port of an address.
        guard 1...65_535 ~= self.port else { return nil }
        let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
        self.target = path + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
    }

    /// The `Host` header.
    var authority: String { (self.host.contains(":") ? "[\(self.host)]" : self.host) + ":\(self.port)" }

    /// TLS has no server name for addresses (RFC 6066 §3).
    var isNumeric: Bool { (try? SocketAddress(ipAddress: self.host, port: 0)) != nil }
}

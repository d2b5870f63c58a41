/// Where `tidings phones` listens: on this machine, since what is asked there, and the token, is not encrypted on the way.
package struct PhonesAddress: Equatable, Sendable {
    package let host: String
    package let port: Int

    private static let hosts = ["127.0.0.1", "localhost", "[::1]"]

    /// `127.0.0.1:7482`; nil for anything but a host of this machine with a port.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port), Self.hosts.contains(String(text[..<colon]))
        else { return nil }
        let host = text[..<colon]
        self.host = host == "[::1]" ? "::1" : String(host)
        self.port = port
    }

    /// The `Host` header.
    var authority: String { (self.host == "::1" ? "[::1]" : self.host) + ":\(self.port)" }
}

extension ConfigurationKey {
    static let console: [ConfigurationKey] = [
        .init(
            "console.enabled", "whether the console is served, on the port of the HTTP API",
            .choice(\.console.enabled, ["true", "false"])),
        .init(
            "console.hosts", "names by which browsers ask for the console, with commas between; no other is answered",
            .hosts(\.console.hosts)),
        .init(
            "console.local",
            "whether who asks from this machine, not by a proxy, is somebody on it; auto: unless a proxy is named or api.host is open",
            .choice(\.console.local, ["auto", "true", "false"])),
        .init(
            "console.phones", "where `tidings phones` runs on this machine, host:port; empty for no virtual phones",
            .optional(\.console.phones)),
        .init(
            "console.phones_token_path", "file with the token of `tidings phones`, read with every request to it",
            .text(\.console.phonesTokenPath)),
    ]

    /// RFC 1123 §2.1, or an address.
    static func isHost(_ text: String) -> Bool {
        IPAddress(text) != nil
            || (1...253).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                        || byte == 0x2d || byte == 0x2e
                }
    }
}

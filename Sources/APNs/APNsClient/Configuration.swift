public import TidingsModel

extension APNsClient {
    /// Where to connect, whom to trust, and how long to wait.
    public struct Configuration: Sendable {
        /// Which authorities the server's certificate may come from.
        public enum TrustRoots: Sendable, Hashable {
            /// The ones of the system.
            case system
            /// The certificates of this PEM file and no others.
            case file(path: String)
            /// The certificates of this PEM text and no others.
            case pem(String)
        }

        /// An HTTP proxy that lets connections through by CONNECT (RFC 9110, section 9.3.6).
        public struct Proxy: Sendable, Hashable {
            /// The proxy's name or address.
            public var host: String
            /// Its port, 1 to 65,535.
            public var port: Int
            /// For basic authentication (RFC 7617): user and password; nil for none.
            public var credentials: Credentials?

            /// A user and a password, in the clear on the way to the proxy.
            public struct Credentials: Sendable, Hashable {
                /// Without a colon.
                public var user: String
                /// The password.
                public var password: String

                /// A user and a password.
                public init(user: String, password: String) {
                    self.user = user
                    self.password = password
                }
            }

            /// A proxy.
            public init(host: String, port: Int, credentials: Credentials? = nil) {
                self.host = host
                self.port = port
                self.credentials = credentials
            }
        }

        /// The name of this client in metrics and log lines: 1 to 100 bytes.
        public var name = "default"
        /// Apple's side; requests for the other one are refused.
        public var environment: PushEnvironment
        /// The host's name or address; Apple's for the environment if nil (APNs reference, section 1). With a proxy it
        /// is a name.
        public var host: String?
        /// 443, or 2197 to tell the traffic apart in a firewall (APNs reference, section 1).
        public var port = 443
        /// The name or address of the host that manages channels; Apple's for the environment if nil.
        public var managementHost: String?
        /// Its port; 2195 in the sandbox and 2196 in production if nil (APNs reference, section 1).
        public var managementPort: Int?
        /// Whom to trust.
        public var trustRoots = TrustRoots.system
        /// The key or the certificate.
        public var credential: Credential
        /// A proxy on the way; nil for none.
        public var proxy: Proxy?
        /// How long one request may take in all, in milliseconds, 1 to 86,400,000; its own expiration may make it
        /// shorter.
        public var requestDeadline: Int64 = 30_000
        /// How long each address may take to connect, TLS included, and how long the resolver may take, in
        /// milliseconds, 1 to 600,000.
        public var connectTimeout: Int64 = 10_000
        /// How many requests may wait to be sent: `submit` refuses more, `send` waits for room. 1 or more.
        public var queueMax = 10_000
        /// How many connections are used at most, 1 or more.
        public var connectionsMax = 4
        /// How many streams are used at once on a connection, whatever APNs allows; 1 or more.
        public var streamsMax = 1_000
        /// How many times a request is sent again after an answer that asks for it, 0 to 100.
        public var retriesMax = 3
        /// How many refused device tokens, before one push is accepted, are taken for the wrong environment or topic and stop the
        /// sending for a while, 1 or more; nil for a caller that judges refusals itself: it sees every one of them.
        public var badTokensMax: Int? = 20
        /// How many failures of APNs's in a row stop the sending for a while, 1 or more.
        public var providerFailuresMax = 10
        /// How long the sending pauses first when APNs fails or refuses the credential, in milliseconds, 1 to 86,400,000; each failed
        /// try doubles it.
        public var outagePause: Int64 = 15_000
        /// The longest such pause, in milliseconds, up to 86,400,000.
        public var outagePauseMax: Int64 = 600_000

        /// A configuration with Apple's hosts, port 443, the system's trust roots, a deadline of 30 seconds and 10 to
        /// connect, up to 4 connections, 10,000 waiting requests, 20 refused tokens and 10 failures.
        public init(environment: PushEnvironment, credential: Credential) {
            self.environment = environment
            self.credential = credential
        }

        /// The same with a key.
        public init(environment: PushEnvironment, credential: TokenCredential) {
            self.init(environment: environment, credential: .token(credential))
        }

        /// The same with a certificate.
        public init(environment: PushEnvironment, credential: CertificateCredential) {
            self.init(environment: environment, credential: .certificate(credential))
        }
    }
}

extension APNsClient.Configuration {
    enum Service: String, Sendable {
        case push
        case channels
    }

    struct Endpoint: Sendable, Hashable {
        var host: String
        var port: Int

        var text: String { "\(self.bracketed):\(self.port)" }
        /// The value of `:authority` (RFC 9113, section 8.3.1).
        var authority: String { self.port == 443 ? self.bracketed : self.text }
        private var bracketed: String { self.host.contains(":") ? "[\(self.host)]" : self.host }
    }

    func endpoint(of service: Service) -> Endpoint {
        switch (service, self.environment) {
        case (.push, .sandbox): Endpoint(host: self.host ?? "api.sandbox.push.apple.com", port: self.port)
        case (.push, .production): Endpoint(host: self.host ?? "api.push.apple.com", port: self.port)
        case (.channels, .sandbox):
            Endpoint(
                host: self.managementHost ?? "api-manage-broadcast.sandbox.push.apple.com",
                port: self.managementPort ?? 2_195)
        case (.channels, .production):
            Endpoint(
                host: self.managementHost ?? "api-manage-broadcast.push.apple.com", port: self.managementPort ?? 2_196)
        }
    }

    func validate() throws(InvalidField) {
        func checkHost(_ host: String?, _ field: String) throws(InvalidField) {
            guard let host else { return }
            let isClean = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
            try InvalidField.check(isClean, field, "must be a host's name or address, without spaces and slashes")
            let needsName = self.proxy != nil && field != "proxy.host"
            try InvalidField.check(
                !needsName || !Resolver.isAddress(host), field, "must be a name when there is a proxy")
        }
        func checkPort(_ port: Int, _ field: String) throws(InvalidField) {
            try InvalidField.check(port, in: 1...65_535, field)
        }
        func checkTime(_ time: Int64, upTo max: Int64, _ field: String) throws(InvalidField) {
            try InvalidField.check(time, in: 1...max, field, unit: " milliseconds")
        }
        try InvalidField.check((1...100).contains(self.name.utf8.count), "name", "must be 1 to 100 bytes")
        try checkHost(self.host, "host")
        try checkPort(self.port, "port")
        try checkHost(self.managementHost, "management_host")
        if let port = self.managementPort { try checkPort(port, "management_port") }
        if let proxy = self.proxy {
            try checkHost(proxy.host, "proxy.host")
            try checkPort(proxy.port, "proxy.port")
            let user = proxy.credentials?.user ?? ""
            try InvalidField.check(!user.contains(":"), "proxy.credentials", "must have a user without a colon")
        }
        for (count, field) in [
            (self.queueMax, "queue_max"), (self.connectionsMax, "connections_max"), (self.streamsMax, "streams_max"),
            (self.badTokensMax ?? 1, "bad_tokens_max"), (self.providerFailuresMax, "provider_failures_max"),
        ] { try InvalidField.check(count >= 1, field, "must be 1 or more, got \(count)") }
        try checkTime(self.outagePause, upTo: 86_400_000, "outage_pause")
        try InvalidField.check(
            (self.outagePause...86_400_000).contains(self.outagePauseMax), "outage_pause_max",
            "must be outage_pause to 86400000 milliseconds, got \(self.outagePauseMax)")
        try InvalidField.check(self.retriesMax, in: 0...100, "retries_max")
        try checkTime(self.requestDeadline, upTo: 86_400_000, "request_deadline")
        try checkTime(self.connectTimeout, upTo: 600_000, "connect_timeout")
    }
}

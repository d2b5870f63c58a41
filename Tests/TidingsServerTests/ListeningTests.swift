import Testing

@testable import TidingsServer

@Suite struct `Open files` {
    private func budget(_ limit: Int, gateway: Int = 100_000, media: String = "") -> DescriptorBudget {
        var configuration = ServerConfiguration()
        configuration.gateway.connectionsMax = gateway
        configuration.media.path = media
        return DescriptorBudget(limit: limit, configuration)
    }

    @Test func `are divided so that some are left over, and the gateway gets the most`() {
        let budget = self.budget(600)
        #expect((budget.gateway, budget.api, budget.phone) == (354, 59, 59))
        #expect(600 - budget.gateway - budget.api - budget.phone == DescriptorBudget.reserve)
    }

    @Test func `of which there are plenty give every listener what it is configured to have`() {
        let budget = self.budget(1_048_576)
        #expect((budget.gateway, budget.api, budget.phone) == (100_000, 1_024, 1_024))
        #expect(self.budget(.max) == self.budget(.max))
    }

    /// A download is two files, its connection and what is read.
    @Test(arguments: [
        (600, 295, 59, 59), (1_024, 514, 102, 102), (4_096, 2_400, 480, 480), (65_536, 57_344, 1_024, 2_048),
        (1_048_576, 100_000, 1_024, 2_048),
    ]) func `are counted for media as for connections, and the more are left over the more there are`(
        _ limit: Int, _ gateway: Int, _ http: Int, _ media: Int
    ) {
        let budget = self.budget(limit, media: "media")
        #expect((budget.gateway, budget.api, budget.phone, budget.media) == (gateway, http, http, media))
        let reserve = limit - budget.gateway - budget.api - budget.phone - budget.media
        #expect(reserve >= max(limit < 1_024 ? 128 : 200, limit / 16))
        var configuration = ServerConfiguration()
        configuration.media.path = "media"
        #expect(budget.applied(to: configuration).media.filesMax == media)
    }

    @Test func `are never given to more connections than there are of them`() {
        for limit in [0, 1, 32, 64, 100, 256, 1_024, 65_536] {
            let budget = self.budget(limit, media: "media")
            #expect(budget.gateway >= 1)
            #expect(min(budget.api, budget.media) >= DescriptorBudget.httpMin)
            let given = budget.gateway + budget.api + budget.phone + budget.media
            #expect(given < max(limit, 4 * DescriptorBudget.httpMin))
        }
    }
}

@Suite struct `The address of a client` {
    private let proxies = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])

    private func client(_ peer: String, _ forwardedFor: String?) -> String? {
        self.proxies.client(peer: IPAddress(peer), forwardedFor: forwardedFor)?.description
    }

    @Test func `is the peer's if that is no trusted proxy, whatever it says`() {
        #expect(self.client("203.0.113.7", nil) == "203.0.113.7")
        #expect(self.client("203.0.113.7", "192.0.2.1") == "203.0.113.7")
        #expect(self.client("11.0.0.1", "192.0.2.1") == "11.0.0.1")
    }

    @Test func `is the last one that a trusted proxy did not have itself`() {
        #expect(self.client("127.0.0.1", "192.0.2.1") == "192.0.2.1")
        #expect(self.client("127.0.0.1", "198.51.100.9, 192.0.2.1, 10.1.2.3") == "192.0.2.1")
        #expect(self.client("fd00::1", "2001:db8::5, 10.1.2.3") == "2001:db8::5")
    }

    @Test func `ends at what cannot be read`() {
        #expect(self.client("127.0.0.1", "unknown") == "127.0.0.1")
        #expect(self.client("127.0.0.1", "192.0.2.1, , 10.1.2.3") == "192.0.2.1")
        #expect(self.client("127.0.0.1", "192.0.2.1, x, 10.1.2.3") == "10.1.2.3")
        #expect(self.client("127.0.0.1", "10.9.9.9") == "10.9.9.9")
    }

    @Test func `may have a port, brackets, or be IPv4 written as IPv6`() {
        #expect(self.client("::ffff:127.0.0.1", "192.0.2.1:4711") == "192.0.2.1")
        #expect(self.client("127.0.0.1", "[2001:db8::5]:4711") == "2001:db8::5")
        #expect(self.client("127.0.0.1", "::ffff:192.0.2.1") == "192.0.2.1")
    }

    @Test func `is counted by the whole of IPv4, and by the subscriber's part of IPv6`() {
        func network(_ peer: String, _ forwardedFor: String? = nil) -> String {
            self.proxies.remote(peer: IPAddress(peer), forwardedFor: forwardedFor).network
        }
        #expect(network("192.0.2.1") == "192.0.2.1")
        #expect(network("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64")
        #expect(network("10.1.2.3", "192.0.2.1") == "192.0.2.1")
        // Who is behind a proxy that does not say is not known: all of them would be counted as one.
        #expect(network("10.1.2.3") == "")
        #expect(network("127.0.0.1") == "")
        #expect(self.proxies.remote(peer: nil, forwardedFor: "192.0.2.1") == .unknown)
    }

    @Test func `of a proxy on this machine that hides who asks is missed in the log, once`() {
        func lines(_ trusted: [String], _ peer: String, _ forwardedFor: String? = nil, marks: Bool = true) -> [String] {
            let log = LineLog()
            let proxies = TrustedProxies(trusted)
            for _ in 0..<2 {
                proxies.warn(of: IPAddress(peer), forwardedFor: forwardedFor, hasProxyMarks: marks, log.logger)
            }
            return log.lines.map { String($0.split(separator: "reason=").last?.prefix { !$0.isNewline } ?? "") }
        }
        #expect(lines([], "127.0.0.1") == ["name it there"])
        #expect(lines(["10.0.0.0/8"], "::1", "192.0.2.1") == ["name it there"])
        #expect(
            lines(["127.0.0.1"], "127.0.0.1") == ["have it send X-Forwarded-For and X-Forwarded-Proto"])
        #expect(lines(["127.0.0.1"], "127.0.0.1", "192.0.2.1") == [])
        #expect(lines([], "127.0.0.1", marks: false) == [])
        // One elsewhere is counted as what it is.
        #expect(lines([], "192.0.2.1", "192.0.2.2") == [])
    }

    @Test(
        arguments: [
            ("auto", "127.0.0.1", [], true), ("auto", "localhost", [], true), ("auto", "::1", [], true),
            ("auto", "0.0.0.0", [], false), ("auto", "192.0.2.1", [], false),
            ("auto", "127.0.0.1", ["10.0.0.1"], false),
            ("true", "0.0.0.0", ["127.0.0.1"], true), ("false", "127.0.0.1", [], false),
        ] as [(String, String, [String], Bool)])
    func `is somebody's on this machine only where nobody else comes by one of its`(
        local: String, host: String, proxies: [String], isTaken: Bool
    ) {
        var configuration = ServerConfiguration()
        configuration.console.local = local
        configuration.api.host = host
        configuration.proxy.addresses = proxies
        #expect(configuration.takesLocal == isTaken)
    }

    @Test func `of a proxy is refused in the configuration unless it is one`() {
        for text in ["", "proxy", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "::1/129", "1.2.3"] {
            #expect(IPNetwork(text) == nil, "\(text)")
        }
        for text in ["10.0.0.0/8", "192.0.2.1", "::/0", "0.0.0.0/0", "fd00::/8"] {
            #expect(IPNetwork(text) != nil, "\(text)")
        }
    }

    @Test func `of a listener is warned of unless only this machine can connect`() {
        for (host, isLoopback) in [
            ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("localhost", true), ("0.0.0.0", false),
            ("::", false), ("192.0.2.1", false), ("chat.example.com", false),
        ] {
            #expect(
                ServerConfiguration.ListenerAddress(listener: .api, host: host, port: 1).isLoopback == isLoopback,
                "\(host)")
        }
    }
}

@Suite struct `A request's id` {
    @Test func `is the client's if it is short and visible, otherwise a new one`() {
        for given in ["abc-1", "a\"b,c", String(repeating: "x", count: 128)] {
            #expect(RequestID.make(from: given) == given)
        }
        for given in ["", "two words", "tab\t", "ü", String(repeating: "x", count: 129), nil] as [String?] {
            let id = RequestID.make(from: given)
            #expect(id != given)
            #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        }
    }
}

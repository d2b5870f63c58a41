import APNsModel
import TidingsModel

@testable import APNsCore

/// A service with one key, one connection to the sandbox, and a clock.
struct Apple {
    var service: APNsService
    var monotonic: Int64 = 1_000
    var wall: Int64 = 1_700_000_000_000
    private var made: Int64 = 0

    static let provider = APNsService.ConnectionID(1)
    static let courier = APNsService.CourierID(7)
    static let token = PushToken(String(repeating: "ab", count: 32))

    init(_ change: (inout APNsService.Configuration) -> Void = { _ in }) {
        var rules = APNsService.Configuration(keys: [ProviderKey(keyID: "KEY0000001", teamID: "TEAM000001")])
        change(&rules)
        self.service = APNsService(configuration: rules)
        _ = self.handle(.connectionOpened(Self.provider, .push(.sandbox), certificate: nil))
    }

    var now: Now { Now(monotonic: self.monotonic, wall: self.wall) }

    mutating func pass(seconds: Int64) {
        self.monotonic += seconds * 1_000
        self.wall += seconds * 1_000
    }

    mutating func handle(_ event: APNsService.Event) -> [APNsService.Effect] {
        self.service.handle(event, at: self.now)
    }

    /// The facts of a good token, minted now.
    func token(
        keyID: String = "KEY0000001", teamID: String = "TEAM000001", age: Int64 = 0, holds: Bool = true,
        text: String = "one"
    ) -> ProviderTokenFacts {
        .read(
            keyID: keyID, teamID: teamID, issuedAt: self.wall / 1_000 - age, signatureHolds: holds,
            text: text)
    }

    /// Returns one with the phone connected.
    static func connected() -> Self {
        var apple = Self()
        apple.connectPhone()
        return apple
    }

    /// Registers the phone's app and connects the phone.
    mutating func connectPhone() {
        _ = self.handle(.phoneConnected("phone", Self.courier))
        _ = self.handle(
            .registrationRequested(Self.courier, id: 1, topic: "com.example.chat", .sandbox, drawn: Self.token))
    }

    static func request(
        token: String = Apple.token.rawValue, topic: String? = "com.example.chat", extra: [(String, String)] = [],
        body: String = #"{"aps":{}}"#
    ) -> WireRequest {
        var headers = extra.map { WireRequest.Header(name: $0.0, value: $0.1) }
        if let topic { headers.append(WireRequest.Header(name: "apns-topic", value: topic)) }
        return WireRequest(method: "POST", path: "/3/device/\(token)", headers: headers, body: Array(body.utf8))
    }

    /// Sends a request and returns every effect; ids count up: `id-1`, `unique-1`, ….
    mutating func send(
        _ request: WireRequest = Apple.request(), token: ProviderTokenFacts? = nil,
        on connection: APNsService.ConnectionID = Apple.provider
    ) -> [APNsService.Effect] {
        self.made += 1
        return self.handle(
            .requestReceived(
                APNsService.RequestID(connection: connection, stream: self.made), request, token: token ?? self.token(),
                drawn: APNsService.DrawnIDs(apnsID: "id-\(self.made)", uniqueID: "unique-\(self.made)")))
    }

    /// Opens a connection.
    @discardableResult
    mutating func open(
        _ number: UInt64, _ host: ProviderHost = .push(.sandbox), certificate: ClientCertificateFacts? = nil
    ) -> [APNsService.Effect] {
        self.handle(.connectionOpened(APNsService.ConnectionID(number), host, certificate: certificate))
    }

    /// A certificate for the chat app that is good for a year.
    func certificate(_ change: (inout ClientCertificateFacts) -> Void = { _ in }) -> ClientCertificateFacts {
        var facts = ClientCertificateFacts(
            fingerprint: "c1", topics: APNsCertificateTopics(subject: "com.example.chat"), environments: [.sandbox],
            expiresAt: self.wall + 31_536_000_000)
        change(&facts)
        return facts
    }

    /// The answer to a request.
    mutating func answer(
        _ request: WireRequest = Apple.request(), token: ProviderTokenFacts? = nil,
        on connection: APNsService.ConnectionID = Apple.provider
    ) -> APNsResponse? {
        self.send(request, token: token, on: connection).answer
    }
}

extension Apple {
    static func policy(_ number: Int) -> String { #"{"message-storage-policy":\#(number),"push-type":"LiveActivity"}"# }

    /// Sends a request about the chat app's channels on connection 9, which has to be open.
    mutating func sendChannels(
        _ method: String, app: String = "com.example.chat", list: Bool = false, extra: [(String, String)] = [],
        body: String = ""
    ) -> [APNsService.Effect] {
        let request = WireRequest(
            method: method, path: "/1/apps/\(app)/\(list ? "all-channels" : "channels")",
            headers: extra.map { WireRequest.Header(name: $0.0, value: $0.1) }, body: Array(body.utf8))
        return self.send(request, on: APNsService.ConnectionID(9))
    }

    /// Makes a channel on connection 9.
    mutating func createChannel(_ policy: APNsStoragePolicy = .noStorage) -> APNsChannelID {
        self.sendChannels("POST", body: Self.policy(policy.rawValue)).answer?.channelID ?? ""
    }

    /// Sends a broadcast to a channel, by default one that is made first.
    mutating func broadcast(
        to channel: APNsChannelID? = nil, expiration: Int64 = 0, event: String = "update",
        _ change: (inout WireRequest) -> Void = { _ in }
    ) -> [APNsService.Effect] {
        let id = channel ?? self.createChannel()
        var request = WireRequest(
            APNsBroadcast(
                bundleID: "com.example.chat", channelID: id, expiration: expiration,
                payload: Array(#"{"aps":{"event":"\#(event)"}}"#.utf8), environment: .sandbox))
        change(&request)
        return self.send(request)
    }
}

extension WireRequest {
    /// Gives a header another value.
    mutating func replace(_ name: String, _ value: String) {
        for index in self.headers.indices where self.headers[index].name == name { self.headers[index].value = value }
    }
}

extension [APNsService.Effect] {
    var answer: APNsResponse? {
        for case .respond(_, let response, _, _) in self { return response }
        return nil
    }

    /// The answer's body as text.
    var body: String? {
        for case .respond(_, _, let body, _) in self { return String(decoding: body, as: UTF8.self) }
        return nil
    }

    /// The reason of the GOAWAY, or its debug data as text, and its last stream.
    var goAway: (last: Int64, debug: String)? {
        for case .goAway(_, let last, _, let debug) in self { return (last, String(decoding: debug, as: UTF8.self)) }
        return nil
    }

    /// The log lines as `apns-id event`.
    var logged: [String] {
        self.compactMap { effect in
            guard case .log(let entry) = effect else { return nil }
            let detail = entry.json["reason"]?.stringValue ?? entry.json["by"]?.stringValue
            return "\(entry.apnsID) \(entry.json["event"]?.stringValue ?? "?")\(detail.map { " \($0)" } ?? "")"
        }
    }

    /// The effects but the lines of the log.
    var unlogged: [APNsService.Effect] {
        self.filter { if case .log = $0 { false } else { true } }
    }

    /// The pushes handed to phones as `delivery:apns-id`.
    var pushed: [String] {
        self.compactMap { effect in
            guard case .push(_, let delivery, let push) = effect else { return nil }
            return "\(delivery):\(push.apnsID)"
        }
    }
}

import APNsModel
import Requirements
import Testing
import TidingsModel

@testable import APNsCore

/// Draws requests and events that are good, half good and nonsense.
private struct Draw {
    var dice: SplitMix64
    private static let activities = "com.example.chat.push-type.liveactivity"
    private static let long = String(repeating: "y", count: 9_000)
    private static let bodies = [4_080, 4_100, 5_200].map {
        Array(#"{"a":"\#(String(repeating: "x", count: $0))"}"#.utf8)
    }
    /// How many device tokens have been drawn.
    private var tokens = 0

    init(seed: UInt64) { self.dice = SplitMix64(seed: seed) }

    /// The tokens phones were told last.
    private var known: [PushToken] = []

    mutating func learn(_ token: PushToken) {
        self.known.append(token)
        if self.known.count > 6 { self.known.removeFirst() }
    }

    /// A token some phone was told, which may have ended since.
    mutating func deviceToken() -> PushToken {
        self.known.isEmpty ? "00" : self.known[self.number(0..<self.known.count)]
    }

    /// A token nobody has.
    private mutating func newToken() -> PushToken {
        self.tokens += 1
        let text = String(self.tokens, radix: 16)
        return PushToken(String(repeating: "0", count: 64 - text.count) + text)
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self.dice) }
    mutating func often(_ perMille: Int) -> Bool { self.dice.falls(perMille: perMille) }

    mutating func one<Element>(_ first: Element, _ rest: Element...) -> Element {
        let index = self.number(0..<rest.count + 1)
        return index == 0 ? first : rest[index - 1]
    }

    mutating func noise() -> String {
        String(
            decoding: (0..<self.number(0..<12)).map { _ in UInt8.random(in: 0...255, using: &self.dice) }, as: UTF8.self
        )
    }

    mutating func headers() -> [WireRequest.Header] {
        var headers: [WireRequest.Header] = []
        if self.often(900) { headers.append(.init(name: "apns-topic", value: self.topic())) }
        if self.often(700) { headers.append(.init(name: "apns-push-type", value: self.pushType())) }
        let values: [(String, [String])] = [
            ("apns-priority", ["10", "5", "1", "7", "", "1e1"]),
            ("apns-expiration", ["0", "1", "99999999999", "-1", "x", "99999999999999999999"]),
            ("apns-collapse-id", ["c", "", String(repeating: "c", count: 65)]),
            ("apns-id", ["123e4567-e89b-12d3-a456-426614174000", "X"]),
            ("apns-request-id", ["123e4567-e89b-12d3-a456-426614174000", "X"]),
            ("apns-channel-id", ["AAAA", "x", "cmVhbA=="]), ("cookie", ["a"]),
            ("x", [Self.long]),
        ]
        for (name, list) in values where self.often(name == "x" ? 10 : 150) {
            headers.append(.init(name: name, value: self.often(800) ? list[self.number(0..<list.count)] : self.noise()))
        }
        if self.often(30), let some = headers.first { headers.append(some) }
        return headers
    }

    mutating func topic() -> String {
        self.one("com.example.chat", "com.example.chat", "com.example.chat.voip", "com.foreign", "", self.noise())
    }

    mutating func pushType() -> String {
        self.one("alert", "alert", "background", "voip", "LiveActivity", "mdm", self.noise())
    }

    mutating func path(isAboutChannels: Bool) -> String {
        switch self.number(0..<12) {
        case 0: "/3/device/" + self.noise()
        case 1: self.noise()
        case 2: "/4/broadcasts/apps/" + self.one("com.example.chat", "com.example.chat.voip", "", self.noise())
        case 3, 4: "/1/apps/" + self.topic() + self.one("/channels", "/all-channels", "/", "")
        case 6... where isAboutChannels: "/1/apps/com.example.chat/channels"
        case 5: self.one("/3/device", "/3/device/", "/3/device/00", "/3/device/0102/")
        default: "/3/device/" + self.deviceToken().rawValue
        }
    }

    mutating func body() -> [UInt8] {
        switch self.number(0..<8) {
        case 0: Array(self.noise().utf8)
        case 1: (0..<self.number(0..<60)).map { _ in UInt8.random(in: 0...255, using: &self.dice) }
        case 2 where self.often(150): Self.bodies[self.number(0..<3)]
        case 3: Array(Apple.policy(self.number(0..<3)).utf8)
        case 4: Array(#"{"aps":{"event":"update"}}"#.utf8)
        default: Array(#"{"aps":{"alert":"hi"}}"#.utf8)
        }
    }

    /// The facts a shell makes of an `authorization` that is mostly good.
    mutating func token(_ apple: Apple) -> ProviderTokenFacts {
        switch self.number(0..<10) {
        case 0: return .absent
        case 1:
            do throws(ProviderToken.Fault) {
                let text =
                    self.one("bearer ", "Bearer  ", "") + self.noise() + self.one(".e30.", ".eyJpYXQiOjF9.", "..")
                    + self.noise()
                let read = try ProviderToken(authorization: text, isStrict: self.often(500))
                return .read(
                    keyID: read.keyID, teamID: read.teamID, issuedAt: read.issuedAt, signatureHolds: false, text: text)
            } catch {
                return .unreadable(error.description)
            }
        case 2:
            return .read(
                keyID: self.one("KEY0000001", "KEY0000002", ""), teamID: self.one("TEAM000001", "x"),
                issuedAt: self.one(Int64.min, Int64.max, 0, apple.wall / 1_000), signatureHolds: self.often(800),
                text: self.one("one", "two"))
        default: return apple.token()
        }
    }

    mutating func plan() -> FaultPlan {
        let faults: [Fault] = [
            .respond(status: 503, .serviceUnavailable, retryAfter: 1), .delay(milliseconds: 5), .loseAnswer, .blackHole,
            .resetStream(code: 2), .refuseStream, .goAway(debug: .empty, lastStream: .previous),
            .goAway(debug: .text("x"), lastStream: .current), .cut, .streamLimit(3, requests: 2),
            .clockSkew(seconds: 9),
        ]
        let rules = faults.filter { _ in self.often(200) }.map { FaultRule($0, perMille: self.number(1..<200)) }
        return FaultPlan(seed: UInt64(self.number(0..<99)), rules: rules)
    }

    mutating func event(_ apple: Apple) -> APNsService.Event {
        let phone = self.number(1..<4)
        let courier = APNsService.CourierID(UInt64(phone))
        let channel = ChannelName(bundleID: "com.example.chat", environment: .sandbox, id: "AAAA")
        switch self.number(0..<16) {
        case 0: return .phoneConnected(PhoneID("p\(phone)"), courier)
        case 1: return .courierClosed(courier)
        case 2, 3, 4:
            let activity = self.often(200) ? self.one("a", "b") : nil
            let topic = self.one("com.example.chat", "com.example.chat.voip")
            return .registrationRequested(
                courier, id: 1, topic: activity == nil ? topic : Self.activities, .sandbox, activity: activity,
                drawn: self.often(100) ? PushToken(self.noise()) : self.newToken())
        case 5:
            return self.often(500)
                ? .unregistrationRequested(courier, topic: "com.example.chat", .sandbox)
                : .unregistrationRequested(courier, topic: Self.activities, .sandbox, activity: self.one("a", "b"))
        case 6, 7, 8: return .deliveryAcknowledged(courier, delivery: Int64(self.number(0..<2_000)))
        case 9: return .powerReported(courier, self.one(.awake, .asleep, .lowPower))
        case 10:
            return .appReported(
                courier, topic: "com.example.chat", .sandbox,
                AppCondition(life: self.one(.foreground, .suspended, .forceQuit), notificationsEnabled: self.often(900))
            )
        case 11: return .subscriptionChanged(courier, channel, isOn: self.often(700))
        case 12: return .faultsChanged(self.plan())
        case 13: return .tokenRetired(self.deviceToken(), self.one(.expired, .unregistered))
        case 14: return .timeReached
        default: return .broadcastCapabilityChanged(bundleID: "com.example.chat", isOn: self.often(950))
        }
    }
}

@Suite struct `Of 100,000 requests of any kind` {
    @Test func `each gets one answer or the end of its connection, and the records stay true`() {
        var draw = Draw(seed: 11)
        var apple = Apple { $0.errorsMax = 50 }
        var shelf: [ServiceRecord.Kind: [String: ServiceRecord]] = [:]
        var living: Set<APNsService.ConnectionID> = [Apple.provider]
        var statuses: [Int: Int] = [:]
        func follow(_ effects: [APNsService.Effect]) {
            for effect in effects {
                switch effect {
                case .save(let record): shelf[record.kind, default: [:]][record.key] = record
                case .forget(let kind, let key): shelf[kind]?[key] = nil
                case .goAway(let id, _, _, _), .cutConnection(let id), .silenceConnection(let id): living.remove(id)
                case .confirmRegistration(_, _, _, _, _, let token): draw.learn(token)
                case .respond, .announceStreamLimit, .resetStream, .refuseConnection, .alertTLS, .welcome, .push,
                    .reject, .closeCourier, .log, .wake:
                    break
                }
            }
        }
        Fuzz.run("requests with their headers", short: 8_000, long: 100_000) { index in
            let number = index + 1
            if draw.often(100) {
                let event = draw.event(apple)
                follow(apple.handle(event))
            }
            apple.pass(seconds: draw.often(50) ? 60 : 0)
            let connection = APNsService.ConnectionID(UInt64(draw.number(1..<4)))
            if !living.contains(connection) || draw.often(20) {
                let host: ProviderHost = connection.rawValue == 3 ? .channels(.sandbox) : .push(.sandbox)
                let certificate = draw.often(200) ? apple.certificate { $0.topics.listed = [draw.topic()] } : nil
                living.insert(connection)
                follow(apple.open(connection.rawValue, host, certificate: certificate))
            }
            let id = APNsService.RequestID(connection: connection, stream: Int64(number))
            let request = WireRequest(
                method: draw.often(900) ? "POST" : draw.one("GET", "DELETE", draw.noise()),
                path: draw.path(isAboutChannels: connection.rawValue == 3),
                headers: draw.headers(), body: draw.body())
            let effects = apple.handle(
                .requestReceived(
                    id, request, token: draw.token(apple),
                    drawn: APNsService.DrawnIDs(apnsID: "id-\(number)", uniqueID: "unique-\(number)")))
            var answers = 0
            var ends = 0
            for effect in effects {
                switch effect {
                case .respond(id, let answer, let body, _):
                    answers += 1
                    statuses[answer.status, default: 0] += 1
                    if !answer.isSuccess, body.isEmpty { Issue.record("no body: \(answer)") }
                case .resetStream(id, _): answers += 1
                case .goAway(connection, let last, _, _):
                    ends += last < Int64(number) ? 1 : 0
                case .cutConnection(connection), .silenceConnection(connection): ends += 1
                default: break
                }
            }
            if answers + ends != 1 { Issue.record("request \(number): \(answers) answers, \(ends) ends: \(request)") }
            follow(effects)
        }
        let kept = shelf.values.flatMap(\.values).sorted { ($0.kind.rawValue, $0.key) < ($1.kind.rawValue, $1.key) }
        #expect(kept == apple.service.records)
        // The mix is a mix.
        for status in [200, 201, 400, 403, 404, 405, 410, 413, 503] {
            #expect((statuses[status] ?? 0) > Fuzz.enough(long: 20, short: 0), "status \(status)")
        }
    }
}

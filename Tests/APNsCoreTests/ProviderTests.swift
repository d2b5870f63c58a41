import APNsModel
import Requirements
import Testing
import TidingsModel

@testable import APNsCore

@Suite struct `A connection with a client certificate` {
    private func topics(_ listed: String...) -> APNsCertificateTopics {
        APNsCertificateTopics(subject: "com.example.chat", listed: listed)
    }

    private func apple(_ change: (inout ClientCertificateFacts) -> Void = { _ in }) -> Apple {
        var apple = Apple()
        apple.connectPhone()
        let certificate = apple.certificate(change)
        apple.open(1, certificate: certificate)
        return apple
    }

    @Test func `needs no token, ignores one, and has its streams at once`() {
        var apple = self.apple()
        #expect(apple.service.initialStreamLimit(hasCertificate: true) == 1_000)
        #expect(!apple.send(token: .absent).contains(.announceStreamLimit(Apple.provider, 1_000)))
        #expect(apple.answer(token: .unreadable("nonsense"))?.status == 200)
    }

    @Test func `needs a topic only if it has several`() {
        var one = self.apple()
        #expect(one.answer(Apple.request(topic: nil), token: .absent)?.status == 200)
        var several = self.apple { $0.topics.listed = ["com.example.chat", "com.example.chat.voip"] }
        #expect(several.answer(Apple.request(topic: nil), token: .absent)?.reason == .missingTopic)
        #expect(several.answer(token: .absent)?.status == 200)
    }

    @Test(
        .requirement("S2.4"),
        arguments: [
            ("com.example.chat", "alert", 200), ("com.example.chat", "background", 200),
            ("com.example.chat.voip", "voip", 200), ("com.example.chat.complication", "complication", 400),
            ("com.example.chat.push-type.liveactivity", "liveactivity", 400),
            ("com.example.chat.location-query", "location", 400), ("com.example.other", "alert", 400),
        ])
    func `sends the types its topics cover, and never a location query`(topic: String, type: String, status: Int) {
        var apple = self.apple {
            $0.topics.listed = ["com.example.chat", "com.example.chat.voip", "com.example.chat.location-query"]
        }
        _ = apple.handle(.registrationRequested(Apple.courier, id: 2, topic: topic, .sandbox, drawn: "0102"))
        let token = topic == "com.example.chat" ? Apple.token.rawValue : "0102"
        let request = Apple.request(token: token, topic: topic, extra: [("apns-push-type", type)])
        let answer = apple.answer(request, token: .absent)
        #expect(answer?.status == status)
        #expect(answer?.reason == (status == 200 ? nil : .topicDisallowed))
    }

    @Test func `for the other environment ends before any stream, and with a bad one in TLS`() {
        var apple = Apple()
        let id = APNsService.ConnectionID(2)
        let wrong = apple.certificate { $0.environments = [.production] }
        #expect(
            apple.open(2, certificate: wrong) == [
                .goAway(id, lastStream: 0, code: 0, debug: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8))
            ])
        #expect(apple.service.alert(on: wrong, at: apple.now) == nil)
        let bad: [(TLSAlert, (inout ClientCertificateFacts) -> Void)] = [
            (.unknownCA, { $0.isTrusted = false }), (.certificateRevoked, { $0.isRevoked = true }),
            (.certificateExpired, { $0.expiresAt = 1 }),
        ]
        for (alert, change) in bad {
            let certificate = apple.certificate(change)
            #expect(apple.service.alert(on: certificate, at: apple.now) == alert)
            #expect(apple.open(2, certificate: certificate) == [.alertTLS(id, alert)])
        }
    }

    @Test func `that expires while it is open is refused`() {
        var apple = self.apple { $0.expiresAt = 1_700_000_010_000 }
        #expect(apple.answer(token: .absent)?.status == 200)
        apple.pass(seconds: 10)
        let effects = apple.send(token: .absent)
        #expect(effects.answer?.reason == .badCertificate)
        #expect(effects.goAway?.debug == #"{"reason":"BadCertificate"}"#)
    }
}

@Suite struct `A connection's keys` {
    private func status(_ apple: inout Apple, _ keyID: String, team: String = "TEAM000001") -> APNsReason? {
        apple.answer(token: apple.token(keyID: keyID, teamID: team))?.reason
    }

    @Test func `are the first one and the one related to it`() {
        var apple = Apple {
            $0.keys[0].relatedKeyID = "KEY0000002"
            $0.keys.append(ProviderKey(keyID: "KEY0000002", teamID: "TEAM000001"))
            $0.keys.append(ProviderKey(keyID: "KEY0000003", teamID: "TEAM000002"))
        }
        apple.connectPhone()
        #expect(apple.answer()?.status == 200)
        #expect(apple.answer(token: apple.token(keyID: "KEY0000002", text: "two"))?.status == 200)
        #expect(apple.answer()?.status == 200)
        // Each key has one token in 20 minutes, counted from its own first use.
        apple.pass(seconds: 600)
        #expect(
            apple.answer(token: apple.token(keyID: "KEY0000002", text: "new"))?.reason == .tooManyProviderTokenUpdates)
        #expect(apple.answer(token: apple.token(text: "first new"))?.reason == .tooManyProviderTokenUpdates)
        apple.pass(seconds: 600)
        #expect(apple.answer(token: apple.token(keyID: "KEY0000002", text: "new"))?.status == 200)
        #expect(apple.answer(token: apple.token(text: "first new"))?.status == 200)
        #expect(self.status(&apple, "KEY0000003", team: "TEAM000002") == .unrelatedKeyIDInToken)
    }

    @Test func `end when they are revoked, and begin when they are added`() {
        var apple = Apple.connected()
        #expect(apple.answer()?.status == 200)
        #expect(
            apple.handle(.keyRevoked(keyID: "KEY0000001")) == [
                .save(ServiceRecord(kind: .revokedKey, key: "KEY0000001", json: ["key_id": "KEY0000001"]))
            ])
        #expect(apple.answer()?.reason == .invalidProviderToken)
        _ = apple.handle(.keyAdded(ProviderKey(keyID: "KEY0000009", teamID: "TEAM000001")))
        apple.open(1)
        #expect(apple.answer(token: apple.token(keyID: "KEY0000009"))?.status == 200)
    }

    @Test func `know an app that is registered later on new connections only`() {
        var apple = Apple { $0.bundleIDsOfTeams = ["TEAM000001": ["com.example.mail"]] }
        apple.connectPhone()
        #expect(apple.answer()?.reason == .topicDisallowed)
        _ = apple.handle(.bundleIDRegistered(teamID: "TEAM000001", bundleID: "com.example.chat"))
        #expect(apple.answer()?.reason == .topicDisallowed)
        apple.open(1)
        #expect(apple.answer()?.status == 200)
    }

    @Test func `are checked for their numbers`() {
        func field(_ keys: [ProviderKey]) -> String? {
            do throws(InvalidField) {
                try APNsService.Configuration(keys: keys).validate()
                return nil
            } catch {
                return error.field
            }
        }
        func key(_ number: Int, topics: [String]? = nil) -> ProviderKey {
            ProviderKey(keyID: "K\(number)", teamID: "T", environments: [.sandbox], topics: topics)
        }
        #expect(field([key(1), key(2)]) == nil)
        #expect(field([key(1), key(2), key(3)]) == "keys[0].environments")
        #expect(field([key(1), key(1)]) == "keys[0].key_id")
        #expect(field([key(1, topics: (0..<400).map { "t\($0)" })]) == nil)
        #expect(field([key(1), key(2, topics: (0..<401).map { "t\($0)" })]) == "keys[1].topics")
        #expect(field((0..<201).map { key($0, topics: ["t"]) }) == "keys[0].environments")
    }
}

@Suite struct `A connection that makes errors` {
    @Test func `has one stream after a refused push until an accepted one, if the rules say so`() {
        var apple = Apple { $0.streamsAfterRejection = 1 }
        apple.connectPhone()
        func limits(_ effects: [APNsService.Effect]) -> [Int] {
            effects.compactMap { if case .announceStreamLimit(_, let limit) = $0 { limit } else { nil } }
        }
        #expect(limits(apple.send()) == [1_000])
        #expect(limits(apple.send(Apple.request(token: "00"))) == [1])
        #expect(limits(apple.send(Apple.request(token: "00"))) == [])
        #expect(limits(apple.send()) == [1_000])
    }

    /// APNs reference, section 3.1: 410 is no error, and `BadDeviceToken` ends a connection sooner.
    @Test func `ends after so many in a row, bad tokens counting twice and dead ones not at all`() {
        var apple = Apple { $0.errorsMax = 4 }
        apple.connectPhone()
        _ = apple.handle(.registrationRequested(Apple.courier, id: 2, topic: "com.b", .sandbox, drawn: "0102"))
        _ = apple.handle(.tokenRetired("0102", .unregistered))
        let dead = Apple.request(token: "0102", topic: "com.b")
        for _ in 0..<9 { #expect(apple.send(dead).goAway == nil) }
        #expect(apple.send(Apple.request(token: "00")).goAway == nil)
        #expect(apple.send().answer?.status == 200)
        #expect(apple.send(Apple.request(token: "00")).goAway == nil)
        #expect(apple.send(Apple.request(topic: nil)).goAway == nil)
        let last = apple.send(Apple.request(topic: nil))
        #expect(last.answer?.reason == .missingTopic)
        #expect(last.goAway?.debug == #"{"reason":"MissingTopic"}"#)
        #expect(last.goAway?.last == 14)
        #expect(apple.send() == [])
    }

    @Test func `stays expired once it was told so, if the rules say so`() {
        var apple = Apple { $0.expiredTokenSticks = true }
        apple.connectPhone()
        #expect(apple.answer(token: apple.token(age: 3_601))?.reason == .expiredProviderToken)
        #expect(apple.answer()?.reason == .expiredProviderToken)
        apple.open(1)
        #expect(apple.answer()?.status == 200)
    }

    @Test func `is reset with headers over 8,000 bytes`() {
        var apple = Apple.connected()
        let long = apple.send(Apple.request(extra: [("x", String(repeating: "x", count: 8_000))]))
        #expect(
            long.unlogged == [
                .resetStream(APNsService.RequestID(connection: Apple.provider, stream: 1), code: 1)
            ])
        #expect(apple.answer(Apple.request(extra: [("x", String(repeating: "x", count: 7_000))]))?.status == 200)
    }

    @Test func `may send host instead of an authority`() {
        var apple = Apple.connected()
        #expect(apple.answer(Apple.request(extra: [("host", "api.push.apple.com")]))?.status == 200)
    }

    @Test func `is left alone while it is used, and ended when it was idle`() {
        var apple = Apple { $0.idleSeconds = 60 }
        #expect(apple.open(2) == [])
        apple.connectPhone()
        apple.pass(seconds: 59)
        _ = apple.send()
        apple.pass(seconds: 1)
        #expect(
            apple.handle(.timeReached) == [
                .goAway(
                    APNsService.ConnectionID(2), lastStream: 0, code: 0, debug: Array(#"{"reason":"IdleTimeout"}"#.utf8)
                ),
                .wake(at: apple.monotonic + 59_000),
            ])
    }
}

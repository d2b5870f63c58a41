import APNsModel
import Requirements
import Testing
import TidingsModel

@testable import APNsCore

private typealias Header = WireRequest.Header

/// One fault for each step of APNs reference, section 20; each breaks the request in one more way than the ones after
/// it.
private let faults: [(reason: APNsReason, status: Int, spoil: @Sendable (inout WireRequest) -> Void)] = [
    (.duplicateHeaders, 400, { $0.headers += [Header(name: "x", value: "1"), Header(name: "x", value: "2")] }),
    (.methodNotAllowed, 405, { $0.method = "GET" }),
    (.badPath, 404, { $0.path = "/5/device/00" }),
    (.missingProviderToken, 403, { _ in }),
    (.badMessageID, 400, { $0.headers.append(Header(name: "apns-id", value: "X")) }),
    (.badExpirationDate, 400, { $0.headers.append(Header(name: "apns-expiration", value: "soon")) }),
    (.badPriority, 400, { $0.headers.append(Header(name: "apns-priority", value: "7")) }),
    (
        .badCollapseID, 400,
        { $0.headers.append(Header(name: "apns-collapse-id", value: String(repeating: "c", count: 65))) }
    ),
    (.invalidPushType, 400, { $0.headers.append(Header(name: "apns-push-type", value: "shout")) }),
    (.missingTopic, 400, { $0.headers.removeAll { $0.name == "apns-topic" } }),
    (.payloadEmpty, 400, { $0.body = [] }),
    (.badDeviceToken, 400, { $0.path = "/3/device/00" }),
]

@Suite struct `Apple's checks` {
    @Test func `come in the stated order: of several faults the first one is named`() {
        for index in faults.indices {
            var apple = Apple.connected()
            var request = Apple.request()
            for fault in faults[index...].reversed() { fault.spoil(&request) }
            let hasToken = index > faults.firstIndex { $0.reason == .missingProviderToken } ?? 0
            let answer = apple.answer(request, token: hasToken ? nil : .absent)
            #expect(answer?.reason == faults[index].reason)
            #expect(answer?.status == faults[index].status)
        }
    }

    @Test(arguments: [
        ("/3/device", APNsReason.missingDeviceToken), ("/3/device/", .missingDeviceToken), ("/3/devices/00", .badPath),
        ("/3/device/00/1", .badPath), ("/", .badPath), ("/3/device/zz", .badDeviceToken),
    ])
    func `tell a wrong path from a missing and a bad token`(path: String, reason: APNsReason) {
        var apple = Apple()
        var request = Apple.request()
        request.path = path
        #expect(apple.answer(request)?.reason == reason)
    }

    @Test(
        .requirement("S2.4"),
        arguments: [
            ("com.example.chat.voip", "alert", APNsReason.badTopic), ("com.example.chat", "voip", .badTopic),
            ("com example", "alert", .badTopic), (".voip", "voip", .badTopic),
            ("com.example.chat.voip", "voip", .deviceTokenNotForTopic),
            ("com.example.other", "alert", .deviceTokenNotForTopic),
        ])
    func `hold topic against push type and token`(topic: String, type: String, reason: APNsReason) {
        var apple = Apple.connected()
        #expect(apple.answer(Apple.request(topic: topic, extra: [("apns-push-type", type)]))?.reason == reason)
    }

    @Test(.requirement("S2.4")) func `allow a key its own topics only`() {
        var apple = Apple { $0.keys[0].topics = ["com.example.chat"] }
        apple.connectPhone()
        #expect(apple.answer()?.status == 200)
        #expect(apple.answer(Apple.request(topic: "com.example.other"))?.reason == .topicDisallowed)
    }

    @Test func `refuse an immediate background push, and accept one without priority`() {
        var apple = Apple.connected()
        let background = ("apns-push-type", "background")
        #expect(apple.answer(Apple.request(extra: [background, ("apns-priority", "10")]))?.reason == .badPriority)
        #expect(apple.answer(Apple.request(extra: [background, ("apns-priority", "5")]))?.status == 200)
        #expect(apple.answer(Apple.request(extra: [background]))?.status == 200)
    }

    @Test func `measure the payload in bytes and want a JSON object`() {
        var apple = Apple.connected()
        func padded(_ count: Int) -> String { #"{"a":""# + String(repeating: "x", count: count - 8) + #""}"# }
        #expect(apple.answer(Apple.request(body: padded(4_096)))?.status == 200)
        #expect(apple.answer(Apple.request(body: padded(4_097)))?.status == 413)
        #expect(apple.answer(Apple.request(body: "[]"))?.reason == .payloadEmpty)
        #expect(apple.answer(Apple.request(body: "hello"))?.reason == .payloadEmpty)
    }

    @Test func `refuse a token of the other environment`() {
        var apple = Apple.connected()
        let production = APNsService.ConnectionID(2)
        _ = apple.handle(.connectionOpened(production, .push(.production), certificate: nil))
        #expect(apple.answer(on: production)?.reason == .badDeviceToken)
    }

    @Test func `echo the apns-id, make one if there is none, and name the push for the sandbox alone`() {
        var apple = Apple.connected()
        let id = "123e4567-e89b-12d3-a456-426614174000"
        #expect(
            apple.answer(Apple.request(extra: [("apns-id", id)]))
                == APNsResponse(status: 200, apnsID: id, uniqueID: "unique-1"))
        #expect(apple.answer() == APNsResponse(status: 200, apnsID: "id-2", uniqueID: "unique-2"))
        let production = APNsService.ConnectionID(2)
        _ = apple.handle(.connectionOpened(production, .push(.production), certificate: nil))
        #expect(apple.answer(on: production)?.uniqueID == nil)
    }
}

@Suite struct `A provider's connection` {
    @Test func `gets its streams with the first good token, once`() {
        var apple = Apple.connected()
        #expect(!apple.send(token: .absent).contains(.announceStreamLimit(Apple.provider, 1_000)))
        #expect(apple.send().first == .announceStreamLimit(Apple.provider, 1_000))
        #expect(!apple.send().contains(.announceStreamLimit(Apple.provider, 1_000)))
    }

    @Test func `is refused with the reason of its token`() {
        var apple = Apple {
            $0.keys.append(ProviderKey(keyID: "KEYPROD001", teamID: "TEAM000001", environments: [.production]))
        }
        apple.connectPhone()
        #expect(apple.answer(token: .absent)?.reason == .missingProviderToken)
        #expect(apple.answer(token: .unreadable("x"))?.reason == .invalidProviderToken)
        #expect(apple.answer(token: apple.token(holds: false))?.reason == .invalidProviderToken)
        #expect(apple.answer(token: apple.token(keyID: "OTHER"))?.reason == .invalidProviderToken)
        #expect(apple.answer(token: apple.token(teamID: "OTHER"))?.reason == .invalidProviderToken)
        #expect(apple.answer(token: apple.token(age: 3_601))?.reason == .expiredProviderToken)
        #expect(apple.answer(token: apple.token(age: -3_601))?.reason == .expiredProviderToken)
        #expect(apple.answer(token: apple.token(keyID: "KEYPROD001"))?.reason == .badEnvironmentKeyIDInToken)
        #expect(apple.answer(token: apple.token(age: 3_600))?.status == 200)
        let far = ProviderTokenFacts.read(
            keyID: "KEY0000001", teamID: "TEAM000001", issuedAt: .min, signatureHolds: true, text: "far")
        #expect(apple.answer(token: far)?.reason == .expiredProviderToken)
    }

    @Test func `belongs to the first key it showed`() {
        var apple = Apple { $0.keys.append(ProviderKey(keyID: "KEY0000002", teamID: "TEAM000001")) }
        apple.connectPhone()
        #expect(apple.answer()?.status == 200)
        #expect(apple.answer(token: apple.token(keyID: "KEY0000002"))?.reason == .unrelatedKeyIDInToken)
        let fresh = APNsService.ConnectionID(2)
        _ = apple.handle(.connectionOpened(fresh, .push(.sandbox), certificate: nil))
        #expect(apple.answer(token: apple.token(keyID: "KEY0000002"), on: fresh)?.status == 200)
    }

    @Test func `may change its token every 20 minutes, not sooner`() {
        var apple = Apple.connected()
        #expect(apple.answer(token: apple.token(text: "one"))?.status == 200)
        apple.pass(seconds: 1_199)
        #expect(apple.answer(token: apple.token(text: "two"))?.reason == .tooManyProviderTokenUpdates)
        #expect(apple.answer(token: apple.token(text: "one"))?.status == 200)
        apple.pass(seconds: 1)
        #expect(apple.answer(token: apple.token(text: "two"))?.status == 200)
        #expect(apple.answer(token: apple.token(text: "three"))?.reason == .tooManyProviderTokenUpdates)
    }
}

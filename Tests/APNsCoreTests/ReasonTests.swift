import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

private typealias Header = WireRequest.Header

/// One way to get each reason of APNs reference, section 9: what is sent, and whether the connection survives it.
private struct Row: Sendable, CustomTestStringConvertible {
    var reason: APNsReason
    /// What comes back: every effect of the last event.
    var effects: @Sendable (inout Apple) -> [APNsService.Effect]
    /// Whether the connection ends with a GOAWAY that names the reason.
    var endsConnection = false
    /// Whether there is no answer but the GOAWAY.
    var isSilent = false

    init(
        _ reason: APNsReason, endsConnection: Bool = false, isSilent: Bool = false,
        _ effects: @escaping @Sendable (inout Apple) -> [APNsService.Effect]
    ) {
        self.reason = reason
        self.effects = effects
        self.endsConnection = endsConnection
        self.isSilent = isSilent
    }

    var testDescription: String { self.reason.name }
}

private func pushing(_ extra: (String, String)...) -> @Sendable (inout Apple) -> [APNsService.Effect] {
    { apple in apple.send(Apple.request(extra: extra)) }
}

private func body(_ text: String) -> @Sendable (inout Apple) -> [APNsService.Effect] {
    { apple in apple.send(Apple.request(body: text)) }
}

private func creating(_ text: String) -> @Sendable (inout Apple) -> [APNsService.Effect] {
    { apple in apple.sendChannels("POST", body: text) }
}

private func broken(_ change: @escaping @Sendable (inout WireRequest) -> Void)
    -> @Sendable (inout Apple) -> [APNsService.Effect]
{
    { apple in apple.broadcast(change) }
}

private let rows: [Row] = [
    Row(.badCollapseID, pushing(("apns-collapse-id", String(repeating: "é", count: 33)))),
    Row(.badDeviceToken) { $0.send(Apple.request(token: "00")) },
    Row(.badExpirationDate, pushing(("apns-expiration", "soon"))),
    Row(.badMessageID, pushing(("apns-id", "123E4567-E89B-12D3-A456-426614174000"))),
    Row(.badPriority, pushing(("apns-push-type", "background"), ("apns-priority", "10"))),
    Row(.badTopic, pushing(("apns-push-type", "voip"))),
    Row(.deviceTokenNotForTopic) { $0.send(Apple.request(topic: "com.example.other")) },
    Row(.duplicateHeaders, pushing(("apns-priority", "5"), ("apns-priority", "5"))),
    Row(.idleTimeout, endsConnection: true, isSilent: true) { apple in
        apple.pass(seconds: 60)
        return apple.handle(.timeReached)
    },
    Row(.invalidPushType, pushing(("apns-push-type", "shout"))),
    Row(.missingDeviceToken) { $0.send(Apple.request(token: "")) },
    Row(.missingTopic) { $0.send(Apple.request(topic: nil)) },
    Row(.payloadEmpty, body("")),
    Row(.topicDisallowed) { $0.send(Apple.request(topic: "com.foreign")) },
    Row(.badCertificate, endsConnection: true) { apple in
        apple.open(1, certificate: apple.certificate())
        _ = apple.handle(.certificateRevoked(fingerprint: "c1"))
        return apple.send()
    },
    Row(.badCertificateEnvironment, endsConnection: true, isSilent: true) { apple in
        apple.open(1, certificate: apple.certificate { $0.environments = [.production] })
    },
    Row(.expiredProviderToken) { $0.send(token: $0.token(age: 3_601)) },
    // Nothing a request says makes Apple answer it, as far as anybody knows; the fault plan does.
    Row(.forbidden) { apple in
        _ = apple.handle(.faultsChanged(FaultPlan(.respond(status: 403, .forbidden, retryAfter: nil))))
        return apple.send()
    },
    Row(.invalidProviderToken) { $0.send(token: .unreadable("not a JWT")) },
    Row(.missingProviderToken) { $0.send(token: .absent) },
    Row(.unrelatedKeyIDInToken) { apple in
        _ = apple.send()
        return apple.send(token: apple.token(keyID: "KEY0000002"))
    },
    Row(.badEnvironmentKeyIDInToken) { $0.send(token: $0.token(keyID: "KEY0000003")) },
    Row(.badPath) { apple in
        var request = Apple.request()
        request.path = "/3/gadget/00"
        return apple.send(request)
    },
    Row(.methodNotAllowed) { apple in
        var request = Apple.request()
        request.method = "PUT"
        return apple.send(request)
    },
    Row(.expiredToken) { apple in
        _ = apple.handle(.tokenRetired(Apple.token, .expired))
        return apple.send()
    },
    Row(.unregistered) { apple in
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        return apple.send()
    },
    Row(.payloadTooLarge, body(#"{"a":""# + String(repeating: "x", count: 4_096) + #""}"#)),
    Row(.tooManyProviderTokenUpdates) { apple in
        _ = apple.send()
        return apple.send(token: apple.token(text: "two"))
    },
    Row(.tooManyRequests) { apple in
        for _ in 0..<3 { _ = apple.send() }
        return apple.send()
    },
    Row(.internalServerError) { apple in
        _ = apple.handle(.faultsChanged(FaultPlan(.respond(status: 500, .internalServerError, retryAfter: nil))))
        return apple.send()
    },
    Row(.serviceUnavailable) { apple in
        _ = apple.handle(.faultsChanged(FaultPlan(.respond(status: 503, .serviceUnavailable, retryAfter: nil))))
        return apple.send()
    },
    Row(.shutdown, endsConnection: true) { apple in
        _ = apple.handle(.shutdownBegun)
        apple.open(1)
        return apple.send()
    },
    Row(.featureNotEnabled) { apple in
        _ = apple.handle(.broadcastCapabilityChanged(bundleID: "com.example.chat", isOn: false))
        return apple.sendChannels("POST", body: Apple.policy(0))
    },
    Row(.missingChannelID, broken { $0.headers.removeAll { $0.name == "apns-channel-id" } }),
    Row(.badChannelID, broken { $0.replace("apns-channel-id", "x") }),
    Row(.channelNotRegistered, broken { $0.replace("apns-channel-id", "AAAA") }),
    Row(.badRequestParams, creating(#"{"message-storage-policy":0,"push-type":"LiveActivity","more":1}"#)),
    Row(.badRequestPayload, creating("[")),
    Row(.missingPushType, creating(#"{"message-storage-policy":0}"#)),
    Row(.cannotCreateChannelConfig) { apple in
        for _ in 0..<3 { _ = apple.sendChannels("POST", body: Apple.policy(0)) }
        return apple.sendChannels("POST", body: Apple.policy(0))
    },
    Row(.missingChannelQueueSize, creating(#"{"push-type":"liveactivity"}"#)),
    Row(.topicMismatch) { $0.sendChannels("POST", app: "com.foreign", body: Apple.policy(0)) },
]

@Suite struct `Every reason of Apple's` {
    private func apple() -> Apple {
        var apple = Apple {
            $0.keys[0].topics = ["com.example.chat", "com.example.other"]
            $0.keys.append(ProviderKey(keyID: "KEY0000002", teamID: "TEAM000001", environments: [.sandbox]))
            $0.keys.append(ProviderKey(keyID: "KEY0000003", teamID: "TEAM000001", environments: [.production]))
            $0.idleSeconds = 60
            $0.deviceRate = APNsService.Rate(perHour: 1, burst: 3)
            $0.channelsMax = 3
        }
        apple.connectPhone()
        apple.open(9, .channels(.sandbox))
        return apple
    }

    @Test func `has a row`() {
        #expect(rows.map(\.reason) == APNsReason.documented)
    }

    @Test(arguments: rows)
    private func `comes with its status, its body and its consequence for the connection`(row: Row) {
        var apple = self.apple()
        let effects = row.effects(&apple)
        let word = #"{"reason":"\#(row.reason.name)""#
        if row.isSilent {
            #expect(effects.answer == nil)
        } else {
            #expect(effects.answer?.reason == row.reason)
            #expect(effects.answer?.status == row.reason.status)
            #expect(effects.answer?.isSuccess == false)
            let time = row.reason.status == 410 ? #","timestamp":\#(apple.wall)}"# : "}"
            #expect(effects.body == word + time)
            #expect(effects.answer?.headerFields(hasBody: true).first?.value == "application/json")
        }
        #expect(effects.goAway?.debug == (row.endsConnection ? word + "}" : nil))
        // A connection that has ended answers nothing more.
        if row.endsConnection { #expect(apple.send() == []) }
    }
}

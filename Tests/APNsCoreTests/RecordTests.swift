import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

/// What a shell holds that follows every `save` and `forget`.
private struct Shelf {
    var records: [ServiceRecord.Kind: [String: ServiceRecord]] = [:]

    mutating func follow(_ effects: [APNsService.Effect]) {
        for effect in effects {
            if case .save(let record) = effect { self.records[record.kind, default: [:]][record.key] = record }
            if case .forget(let kind, let key) = effect { self.records[kind]?[key] = nil }
        }
    }

    var all: [ServiceRecord] {
        self.records.values.flatMap(\.values).sorted { ($0.kind.rawValue, $0.key) < ($1.kind.rawValue, $1.key) }
    }
}

@Suite struct `After a restart` {
    @Test func `the service knows its devices, stored pushes, keys and channels`() throws {
        var apple = Apple { $0.bundleIDsOfTeams = ["TEAM000001": ["com.example.chat"]] }
        var shelf = Shelf()
        func `do`(_ event: APNsService.Event) { shelf.follow(apple.handle(event)) }
        `do`(.phoneConnected("phone", Apple.courier))
        `do`(.registrationRequested(Apple.courier, id: 1, topic: "com.example.chat", .sandbox, drawn: Apple.token))
        `do`(.registrationRequested(Apple.courier, id: 2, topic: "com.example.chat.voip", .sandbox, drawn: "0102"))
        `do`(.tokenRetired("0102", .expired))
        apple.open(9, .channels(.sandbox))
        var channels: [APNsChannelID] = []
        for policy in [APNsStoragePolicy.mostRecentMessage, .noStorage] {
            let effects = apple.sendChannels("POST", body: Apple.policy(policy.rawValue))
            shelf.follow(effects)
            channels.append(effects.answer?.channelID ?? "")
        }
        let name = ChannelName(bundleID: "com.example.chat", environment: .sandbox, id: channels[0])
        `do`(.subscriptionChanged(Apple.courier, name, isOn: true))
        shelf.follow(apple.sendChannels("DELETE", extra: [("apns-channel-id", channels[1].rawValue)]))
        `do`(.courierClosed(Apple.courier))
        shelf.follow(apple.send(Apple.request(extra: [("apns-collapse-id", "c"), ("apns-expiration", "1999999999")])))
        shelf.follow(apple.broadcast(to: channels[0], expiration: 1_999_999_999))
        `do`(.keyAdded(ProviderKey(keyID: "KEY0000002", teamID: "TEAM000001", topics: ["com.late"], relatedKeyID: "x")))
        `do`(.keyRevoked(keyID: "KEY0000001"))
        `do`(.bundleIDRegistered(teamID: "TEAM000001", bundleID: "com.late"))
        `do`(.certificateRevoked(fingerprint: "c1"))
        `do`(.broadcastCapabilityChanged(bundleID: "com.off", isOn: false))
        #expect(shelf.all == apple.service.records)
        #expect(Set(shelf.all.map(\.kind)) == Set(ServiceRecord.Kind.allCases))

        let rules = apple.service.configuration
        apple.service = try APNsService(configuration: rules, restoring: shelf.all.reversed())
        #expect(apple.service.records == shelf.all)
        apple.open(1)
        apple.open(9, .channels(.sandbox))
        #expect(apple.answer()?.reason == .invalidProviderToken)
        let token = apple.token(keyID: "KEY0000002")
        #expect(apple.answer(token: token)?.reason == .topicDisallowed)
        #expect(apple.answer(Apple.request(topic: "com.late"), token: token)?.reason == .deviceTokenNotForTopic)
        #expect(apple.service.alert(on: apple.certificate(), at: apple.now) == .certificateRevoked)
        let woken = apple.handle(.phoneConnected("phone", APNsService.CourierID(8)))
        #expect(woken.pushed == ["1:id-4"])
        #expect(apple.handle(.deliveryAcknowledged(APNsService.CourierID(8), delivery: 1)).pushed == ["2:id-5"])
        #expect(apple.service.devices.map(\.end) == [.expired, nil])
    }

    @Test func `a record that cannot be read is named`() {
        let record = ServiceRecord(kind: .push, key: "u", json: [:])
        let error = #expect(throws: InvalidField.self) {
            try APNsService(configuration: .init(keys: []), restoring: [record])
        }
        #expect(error == InvalidField(field: "record push u", rule: "cannot be read"))
    }
}

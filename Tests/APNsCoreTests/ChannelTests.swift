import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

/// APNs reference, section 17.
@Suite struct `Broadcast channels` {
    private func apple(_ change: (inout APNsService.Configuration) -> Void = { _ in }) -> Apple {
        var apple = Apple(change)
        apple.open(9, .channels(.sandbox))
        apple.connectPhone()
        return apple
    }

    private func subscribe(_ apple: inout Apple, _ id: APNsChannelID, isOn: Bool = true) -> [APNsService.Effect] {
        let name = ChannelName(bundleID: "com.example.chat", environment: .sandbox, id: id)
        return apple.handle(.subscriptionChanged(Apple.courier, name, isOn: isOn))
    }

    @Test func `are made, read, listed and deleted`() {
        var apple = self.apple()
        let effects = apple.sendChannels(
            "POST", extra: [("apns-request-id", "123E4567-E89B-12D3-A456-426614174000")], body: Apple.policy(1))
        let id = effects.answer?.channelID ?? ""
        #expect(APNsFormat.isChannelID(id.rawValue.utf8))
        #expect(
            effects.answer
                == APNsResponse(status: 201, requestID: "123E4567-E89B-12D3-A456-426614174000", channelID: id))
        #expect(effects.body == "")
        let header = [("apns-channel-id", id.rawValue)]
        let read = apple.sendChannels("GET", extra: header)
        #expect(read.answer == APNsResponse(status: 200, requestID: "id-2"))
        #expect(read.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        let second = apple.createChannel()
        #expect(apple.sendChannels("GET", list: true).body == #"{"channels":["\#(id)","\#(second)"]}"#)
        #expect(apple.sendChannels("DELETE", extra: header).answer == APNsResponse(status: 204, requestID: "id-5"))
        #expect(apple.sendChannels("GET", list: true).body == #"{"channels":["\#(second)"]}"#)
        #expect(apple.sendChannels("DELETE", extra: header).answer?.reason == .channelNotRegistered)
    }

    @Test func `get ids that never return`() {
        var apple = self.apple()
        let drawn = APNsService.DrawnIDs(apnsID: "a", uniqueID: "123e4567-e89b-12d3-a456-426614174000")
        func create(_ stream: Int64) -> APNsResponse? {
            let request = WireRequest(
                APNsChannelRequest(.create(.noStorage), bundleID: "com.example.chat", environment: .sandbox))
            let id = APNsService.RequestID(connection: APNsService.ConnectionID(9), stream: stream)
            return apple.handle(.requestReceived(id, request, token: apple.token(), drawn: drawn)).answer
        }
        #expect(create(1)?.channelID == "Ej5FZ+ibEtOkVkJmFBdAAA==")
        #expect(create(2)?.reason == .internalServerError)
        _ = apple.sendChannels("DELETE", extra: [("apns-channel-id", "Ej5FZ+ibEtOkVkJmFBdAAA==")])
        #expect(create(3)?.reason == .internalServerError)
    }

    @Test(arguments: [
        ("POST", "/1/apps/com.example.chat/all-channels", APNsReason.methodNotAllowed),
        ("PUT", "/1/apps/com.example.chat/channels", .methodNotAllowed), ("GET", "/1/apps//channels", .badPath),
        ("GET", "/2/apps/com.example.chat/channels", .badPath), ("GET", "/1/apps/com.example.chat/more", .badPath),
        ("POST", "/3/device/00", .badPath),
        ("GET", "/1/apps/com.example.chat.voip/all-channels", .topicDisallowed),
    ])
    func `have paths and methods of their own`(method: String, path: String, reason: APNsReason) {
        var apple = self.apple()
        let request = WireRequest(method: method, path: path, headers: [], body: [])
        #expect(apple.answer(request, on: APNsService.ConnectionID(9))?.reason == reason)
    }

    @Test(arguments: [
        ("apns-push-type", "alert", APNsReason.invalidPushType), ("apns-expiration", "x", .badExpirationDate),
        ("apns-expiration", "1", .badExpirationDate), ("apns-priority", "7", .badPriority),
        ("apns-request-id", "x", .badMessageID),
    ])
    func `refuse a broadcast with a bad header`(name: String, value: String, reason: APNsReason) {
        var apple = self.apple()
        let effects = apple.broadcast {
            $0.headers.removeAll { $0.name == name }
            $0.headers.append(WireRequest.Header(name: name, value: value))
        }
        #expect(effects.answer?.reason == reason)
        #expect(effects.answer?.apnsID == nil)
        #expect(effects.answer?.requestID != nil)
    }

    @Test func `refuse a broadcast that starts an activity, is empty, or is too long`() {
        var apple = self.apple()
        #expect(apple.broadcast(event: "start").answer?.reason == .badRequestPayload)
        #expect(apple.broadcast { $0.body = [] }.answer?.reason == .payloadEmpty)
        #expect(apple.broadcast { $0.body = Array(repeating: 0x20, count: 5_121) }.answer?.status == 413)
        #expect(apple.broadcast { $0.headers.removeAll { $0.name == "apns-priority" } }.answer?.reason == .badPriority)
    }

    @Test func `reach everybody who listens, at once`() {
        var apple = self.apple()
        let id = apple.createChannel()
        #expect(apple.broadcast(to: id).pushed == [])
        _ = self.subscribe(&apple, id)
        let effects = apple.broadcast(to: id)
        #expect(effects.answer == APNsResponse(status: 200, uniqueID: "unique-3", requestID: "id-3"))
        #expect(effects.pushed == ["1:id-3"])
        for case .push(_, _, let push) in effects {
            let line = String(decoding: CourierReply.push(delivery: 1, push).line, as: UTF8.self)
            #expect(line.contains(#""topic":"com.example.chat.push-type.liveactivity","token":"""#))
            #expect(line.contains(#""channel_id":"\#(id)""#))
        }
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1))
        _ = self.subscribe(&apple, id, isOn: false)
        #expect(apple.broadcast(to: id).pushed == [])
        let metrics = apple.service.channels(of: "com.example.chat", .sandbox).first?.metrics
        #expect(metrics == BroadcastMetrics(published: 3, delivered: 1, subscriptions: 1, subscribers: 0))
    }

    @Test func `keep nothing, or the newest message for eight hours`() {
        var apple = self.apple()
        let none = apple.createChannel()
        let one = apple.createChannel(.mostRecentMessage)
        _ = self.subscribe(&apple, none)
        _ = self.subscribe(&apple, one)
        _ = apple.handle(.courierClosed(Apple.courier))
        let later = apple.wall / 1_000 + 86_400
        #expect(apple.broadcast(to: none).logged == ["id-3 accepted", "id-3 discarded not_storable"])
        #expect(apple.broadcast(to: one, expiration: later).logged == ["id-4 accepted", "id-4 stored"])
        #expect(apple.broadcast(to: one, expiration: later).logged == ["id-5 accepted", "id-5 stored"])
        #expect(apple.broadcast(to: one, expiration: 0).logged == ["id-6 accepted", "id-6 discarded not_storable"])
        apple.pass(seconds: 8 * 3_600 - 1)
        var late = apple
        late.pass(seconds: 1)
        #expect(late.handle(.phoneConnected("phone", APNsService.CourierID(8))).pushed == [])
        let again = APNsService.CourierID(8)
        #expect(apple.handle(.phoneConnected("phone", again)).pushed == ["1:id-5"])
        // Not acknowledged: it comes again; acknowledged, it does not.
        _ = apple.handle(.courierClosed(again))
        #expect(apple.handle(.phoneConnected("phone", again)).pushed == ["2:id-5"])
        _ = apple.handle(.deliveryAcknowledged(again, delivery: 2))
        _ = apple.handle(.courierClosed(again))
        #expect(apple.handle(.phoneConnected("phone", again)).pushed == [])
        // Who begins to listen later finds the kept message too.
        let other = APNsService.CourierID(12)
        _ = apple.handle(.phoneConnected("other", other))
        let name = ChannelName(bundleID: "com.example.chat", environment: .sandbox, id: one)
        #expect(apple.handle(.subscriptionChanged(other, name, isOn: true)).pushed == ["1:id-5"])
    }

    @Test func `go when the app's capability is switched off`() {
        var apple = self.apple()
        let id = apple.createChannel()
        let off = apple.handle(.broadcastCapabilityChanged(bundleID: "com.example.chat", isOn: false))
        #expect(off.contains(.forget(.channel, key: "sandbox/com.example.chat/\(id)")))
        #expect(apple.sendChannels("GET", list: true).answer?.reason == .featureNotEnabled)
        _ = apple.handle(.broadcastCapabilityChanged(bundleID: "com.example.chat", isOn: true))
        #expect(apple.sendChannels("GET", list: true).body == #"{"channels":[]}"#)
        #expect(
            self.subscribe(&apple, id)
                == [.reject(Apple.courier, InvalidField(field: "channel", rule: "must be a channel of the app"))])
    }
}

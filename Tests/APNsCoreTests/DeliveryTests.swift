import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

@Suite struct `A phone that is connected` {
    @Test func `gets a push at once, and the next one after it acknowledged the first`() {
        var apple = Apple.connected()
        let first = apple.send()
        #expect(first.pushed == ["1:id-1"])
        #expect(first.logged == ["id-1 accepted", "id-1 sent"])
        #expect(apple.send().pushed == [])
        #expect(apple.send().pushed == [])
        let next = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1))
        #expect(next.logged == ["id-1 delivered", "id-2 sent"])
        #expect(next.pushed == ["2:id-2"])
        // An acknowledgement that comes twice moves nothing.
        #expect(apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1)) == [])
        #expect(apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 2)).pushed == ["3:id-3"])
        #expect(apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 3)).logged == ["id-3 delivered"])
    }

    @Test func `loses the older of two quick pushes if only one may wait`() {
        var apple = Apple { $0.waitingPerAppMax = 1 }
        apple.connectPhone()
        _ = apple.send()
        _ = apple.send()
        #expect(apple.send().logged == ["id-3 accepted", "id-2 overwritten id-3"])
        #expect(apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1)).pushed == ["2:id-3"])
    }

    @Test func `gets even an expired push, for expiration is about storing`() {
        var apple = Apple.connected()
        #expect(apple.send(Apple.request(extra: [("apns-expiration", "1")])).pushed == ["1:id-1"])
    }
}

@Suite struct `A phone that is away` {
    private func away() -> Apple {
        var apple = Apple.connected()
        _ = apple.handle(.courierClosed(Apple.courier))
        return apple
    }

    @Test func `finds the newest push of each app when it comes back`() {
        var apple = Apple.connected()
        let other = PushToken(String(repeating: "cd", count: 32))
        _ = apple.handle(
            .registrationRequested(Apple.courier, id: 2, topic: "com.example.mail", .sandbox, drawn: other))
        _ = apple.handle(.courierClosed(Apple.courier))
        #expect(apple.send().logged == ["id-1 accepted", "id-1 stored"])
        #expect(
            apple.send(Apple.request(token: other.rawValue, topic: "com.example.mail")).logged
                == ["id-2 accepted", "id-2 stored"])
        #expect(apple.send().logged == ["id-3 accepted", "id-1 overwritten id-3", "id-3 stored"])
        let again = APNsService.CourierID(8)
        #expect(apple.handle(.phoneConnected("phone", again)).pushed == ["1:id-2"])
        #expect(apple.handle(.deliveryAcknowledged(again, delivery: 1)).pushed == ["2:id-3"])
        #expect(apple.handle(.deliveryAcknowledged(again, delivery: 2)).logged == ["id-3 delivered"])
    }

    @Test func `never sees what expired, or what might not be stored`() {
        var apple = self.away()
        let soon = String(apple.wall / 1_000 + 10)
        #expect(
            apple.send(Apple.request(extra: [("apns-expiration", "0")])).logged == [
                "id-1 accepted", "id-1 discarded not_storable",
            ])
        #expect(
            apple.send(Apple.request(extra: [("apns-expiration", "1")])).logged == [
                "id-2 accepted", "id-2 discarded expired",
            ])
        #expect(
            apple.send(Apple.request(extra: [("apns-expiration", soon)])).logged == ["id-3 accepted", "id-3 stored"])
        apple.pass(seconds: 9)
        var early = apple
        #expect(early.handle(.phoneConnected("phone", APNsService.CourierID(8))).pushed == ["1:id-3"])
        apple.pass(seconds: 1)
        #expect(apple.handle(.phoneConnected("phone", APNsService.CourierID(8))).logged == ["id-3 discarded expired"])
    }

    @Test func `is kept a push for 30 days`() {
        var apple = self.away()
        _ = apple.send()
        apple.pass(seconds: 30 * 86_400 - 1)
        var early = apple
        #expect(early.handle(.phoneConnected("phone", APNsService.CourierID(8))).pushed == ["1:id-1"])
        apple.pass(seconds: 1)
        #expect(apple.handle(.phoneConnected("phone", APNsService.CourierID(8))).logged == ["id-1 discarded expired"])
    }

    @Test func `gets what was in flight again, unless a newer push of the app came`() {
        var apple = Apple.connected()
        _ = apple.send()
        var alone = apple
        #expect(alone.handle(.courierClosed(Apple.courier)).logged == ["id-1 returned", "id-1 stored"])
        #expect(alone.handle(.phoneConnected("phone", APNsService.CourierID(8))).pushed == ["2:id-1"])
        _ = apple.send()
        #expect(
            apple.handle(.courierClosed(Apple.courier)).logged
                == ["id-1 returned", "id-1 stored", "id-1 overwritten id-2", "id-2 stored"])
    }

    @Test func `that calls twice is served on the newer connection`() {
        var apple = Apple.connected()
        _ = apple.send()
        let newer = APNsService.CourierID(8)
        let effects = apple.handle(.phoneConnected("phone", newer))
        #expect(effects.prefix(2) == [.closeCourier(Apple.courier), .welcome(newer)])
        #expect(effects.pushed == ["2:id-1"])
        // The end of the older one is late news.
        #expect(apple.handle(.courierClosed(Apple.courier)) == [])
        #expect(apple.service.isConnected("phone"))
    }
}

@Suite struct `A device token` {
    private func register(
        _ apple: inout Apple, drawn: PushToken, environment: PushEnvironment = .sandbox
    ) -> [APNsService.Effect] {
        apple.handle(.registrationRequested(Apple.courier, id: 5, topic: "com.example.chat", environment, drawn: drawn))
    }

    @Test func `stays the same until the app is removed`() {
        var apple = Apple.connected()
        #expect(
            self.register(&apple, drawn: "11")
                == [.confirmRegistration(Apple.courier, id: 5, topic: "com.example.chat", .sandbox, Apple.token)])
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        #expect(
            self.register(&apple, drawn: "22").suffix(1)
                == [.confirmRegistration(Apple.courier, id: 5, topic: "com.example.chat", .sandbox, "22")])
        #expect(
            self.register(&apple, drawn: "33", environment: .production).suffix(1)
                == [.confirmRegistration(Apple.courier, id: 5, topic: "com.example.chat", .production, "33")])
    }

    @Test func `that has ended answers 410 with the time it ended, also after the app came back`() {
        var apple = Apple.connected()
        apple.pass(seconds: 60)
        let ended = apple.wall
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        apple.pass(seconds: 60)
        _ = self.register(&apple, drawn: "22")
        let effects = apple.send()
        #expect(
            effects.answer
                == APNsResponse(
                    status: 410, apnsID: "id-1", uniqueID: "unique-1", reason: .unregistered,
                    invalidSince: .init(milliseconds: ended)))
        #expect(effects.body == #"{"reason":"Unregistered","timestamp":\#(ended)}"#)
        #expect(apple.answer(Apple.request(token: "22"))?.status == 200)
    }

    @Test func `retired by the operator takes its stored pushes with it`() {
        var apple = Apple.connected()
        _ = apple.handle(.courierClosed(Apple.courier))
        _ = apple.send()
        #expect(
            apple.handle(.tokenRetired(Apple.token, .unregistered)).logged == ["id-1 discarded token_no_longer_active"])
        #expect(apple.handle(.tokenRetired(Apple.token, .unregistered)) == [])
        #expect(apple.answer()?.status == 410)
        #expect(apple.service.devices.map(\.retiredAt) == [apple.wall])
    }

    @Test func `is refused to a phone that has not said hello`() {
        var apple = Apple()
        #expect(
            self.register(&apple, drawn: "11")
                == [.reject(Apple.courier, InvalidField(field: "type", rule: "must be hello first"))])
    }
}

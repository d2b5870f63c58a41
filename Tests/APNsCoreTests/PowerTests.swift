import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

private func push(_ priority: Int, expiration: String? = nil) -> WireRequest {
    Apple.request(extra: [("apns-priority", "\(priority)")] + (expiration.map { [("apns-expiration", $0)] } ?? []))
}

private let background = Apple.request(extra: [("apns-push-type", "background"), ("apns-priority", "5")])

/// APNs reference, section 15.
@Suite struct `A phone that saves power` {
    private func apple(_ power: PhonePower) -> Apple {
        var apple = Apple.connected()
        _ = apple.handle(.powerReported(Apple.courier, power))
        return apple
    }

    @Test(arguments: [
        (PhonePower.awake, 10, true), (.awake, 5, true), (.awake, 1, true), (.asleep, 10, true), (.asleep, 5, true),
        (.asleep, 1, false), (.lowPower, 10, true), (.lowPower, 5, false), (.lowPower, 1, false),
    ])
    func `gets at once what its state allows, and the rest is stored`(power: PhonePower, priority: Int, isSent: Bool) {
        var apple = self.apple(power)
        #expect(apple.send(push(priority)).logged == ["id-1 accepted", isSent ? "id-1 sent" : "id-1 stored"])
        if !isSent {
            #expect(apple.handle(.powerReported(Apple.courier, .awake)).pushed == ["1:id-1"])
        }
    }

    @Test func `gets what waited for it to wake after a push that woke it`() {
        var apple = self.apple(.asleep)
        _ = apple.handle(.registrationRequested(Apple.courier, id: 2, topic: "com.b", .sandbox, drawn: "0102"))
        #expect(apple.send(push(1)).pushed == [])
        #expect(apple.send(Apple.request(token: "0102", topic: "com.b")).pushed == ["1:id-2"])
        #expect(apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1)).pushed == ["2:id-1"])
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 2))
        #expect(apple.send(push(1)).pushed == [])
    }

    @Test func `is kept one push of each app, and none that may not be stored`() {
        var apple = self.apple(.lowPower)
        #expect(apple.send(push(5, expiration: "0")).logged == ["id-1 accepted", "id-1 discarded not_storable"])
        #expect(apple.send(push(5)).logged == ["id-2 accepted", "id-2 stored"])
        #expect(apple.send(push(1)).logged == ["id-3 accepted", "id-2 overwritten id-3", "id-3 stored"])
        #expect(apple.service.stored(for: "phone").map(\.apnsID) == ["id-3"])
    }
}

/// APNs reference, section 14.
@Suite struct `Background pushes` {
    @Test func `come three an hour, and of those that wait the newest`() {
        var apple = Apple.connected()
        #expect(apple.send(background).pushed == ["1:id-1"])
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1))
        let held = apple.send(background)
        #expect(held.logged == ["id-2 accepted", "id-2 held"])
        #expect(held.last == .wake(at: apple.monotonic + 1_200_000))
        #expect(apple.send(background).logged == ["id-3 accepted", "id-3 held", "id-2 overwritten id-3"])
        // An alert does not wait behind it.
        #expect(apple.send().pushed == ["2:id-4"])
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 2))
        apple.pass(seconds: 1_199)
        #expect(apple.handle(.timeReached).pushed == [])
        apple.pass(seconds: 1)
        #expect(apple.handle(.timeReached).pushed == ["3:id-3"])
    }

    @Test func `come at once when the app is on the screen, and never after a force quit`() {
        var apple = Apple.connected()
        func report(_ life: AppCondition.Life) -> [APNsService.Effect] {
            apple.handle(
                .appReported(Apple.courier, topic: "com.example.chat", .sandbox, AppCondition(life: life)))
        }
        _ = apple.send(background)
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1))
        _ = apple.send(background)
        #expect(report(.foreground).pushed == ["2:id-2"])
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 2))
        #expect(apple.send(background).pushed == ["3:id-3"])
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 3))
        _ = report(.suspended)
        _ = apple.send(background)
        #expect(report(.forceQuit).logged == ["id-4 discarded force_quit"])
        #expect(apple.send(background).logged == ["id-5 accepted", "id-5 discarded force_quit"])
        #expect(apple.send().pushed == ["4:id-6"])
    }

    @Test func `and alerts are discarded where the person does not allow them`() {
        var apple = Apple.connected()
        let closed = AppCondition(notificationsEnabled: false, backgroundRefreshEnabled: false)
        _ = apple.handle(.appReported(Apple.courier, topic: "com.example.chat", .sandbox, closed))
        #expect(apple.send().logged == ["id-1 accepted", "id-1 discarded notifications_disabled"])
        #expect(apple.send(background).logged == ["id-2 accepted", "id-2 discarded background_refresh_disabled"])
    }
}

@Suite struct `On the way to a phone` {
    @Test func `one token may get so many pushes, and only that one has to wait`() {
        var apple = Apple { $0.deviceRate = APNsService.Rate(perHour: 60, burst: 2) }
        apple.connectPhone()
        _ = apple.handle(.registrationRequested(Apple.courier, id: 2, topic: "com.b", .sandbox, drawn: "0102"))
        #expect((0..<3).map { _ in apple.answer()?.status } == [200, 200, 429])
        #expect(apple.answer(Apple.request(token: "0102", topic: "com.b"))?.status == 200)
        apple.pass(seconds: 60)
        #expect((0..<2).map { _ in apple.answer()?.status } == [200, 429])
    }

    @Test func `the first pushes after a removal may still be accepted`() {
        var apple = Apple { $0.acceptedAfterRemoval = 2 }
        apple.connectPhone()
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        for number in 1...2 {
            let effects = apple.send()
            #expect(effects.answer?.status == 200)
            #expect(effects.logged == ["id-\(number) accepted", "id-\(number) discarded token_no_longer_active"])
        }
        #expect(apple.answer()?.reason == .unregistered)
    }

    @Test func `removing an app ends its tokens of every kind`() {
        var apple = Apple.connected()
        let long = PushToken(String(repeating: "0a", count: 80))
        let topic = "com.example.chat.push-type.liveactivity"
        _ = apple.handle(.registrationRequested(Apple.courier, id: 2, topic: topic, .sandbox, drawn: long))
        let request = Apple.request(token: long.rawValue, topic: topic, extra: [("apns-push-type", "LiveActivity")])
        #expect(apple.answer(request)?.status == 200)
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        #expect(apple.answer(request)?.reason == .unregistered)
        #expect(apple.answer()?.reason == .unregistered)
    }

    @Test func `pushes may change places, come twice, and lose to an older one, always the same way from one seed`() {
        func story(_ seed: UInt64) -> [String] {
            var apple = Apple {
                $0.faults.seed = seed
                $0.faults.reorderPerMille = 300
                $0.faults.duplicatePerMille = 300
                $0.faults.olderSurvivesPerMille = 300
            }
            apple.connectPhone()
            var lines: [String] = []
            for _ in 0..<20 { lines += apple.send().logged }
            for delivery in 1...40 {
                lines += apple.handle(.deliveryAcknowledged(Apple.courier, delivery: Int64(delivery))).logged
            }
            _ = apple.handle(.courierClosed(Apple.courier))
            for _ in 0..<20 { lines += apple.send().logged }
            return lines
        }
        let lines = story(3)
        #expect(lines == story(3))
        #expect(lines != story(4))
        let sent = lines.filter { $0.hasSuffix("sent") }
        #expect(sent.count > 20)
        #expect(lines.contains { $0.hasSuffix("duplicated") })
        let survivors = lines.filter { line in
            let parts = line.split(separator: " ")
            guard parts.count == 3, parts[1] == "overwritten", let lost = Int(parts[0].dropFirst(3)),
                let survivor = Int(parts[2].dropFirst(3))
            else { return false }
            return survivor < lost
        }
        #expect(!survivors.isEmpty)
        let order = sent.compactMap { Int($0.split(separator: " ")[0].dropFirst(3)) }
        #expect(order != order.sorted())
    }

    @Test func `every step is counted`() {
        var apple = Apple.connected()
        _ = apple.send()
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1))
        _ = apple.send(Apple.request(token: "00"))
        _ = apple.handle(.courierClosed(Apple.courier))
        _ = apple.send()
        _ = apple.send()
        _ = apple.send(push(10, expiration: "0"))
        #expect(apple.service.metrics.map(\.key) == [MetricsKey(topic: "com.example.chat", environment: .sandbox)])
        let counts = apple.service.metrics.first?.counts
        #expect(counts?.accepted == 4)
        #expect(counts?.refused == 1)
        #expect(counts?.delivered == 1)
        #expect(counts?.stored == 2)
        #expect(counts?.overwritten == 1)
        #expect(counts?.discarded(.notStorable) == 1)
        #expect(counts?.discarded(.expired) == 0)
    }
}

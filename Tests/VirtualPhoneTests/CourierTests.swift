import APNsModel
import PhoneCore
import Testing
import TidingsModel

@testable import VirtualPhone

@Suite struct `The connection to the courier` {
    private func host(_ port: Int, _ folder: TemporaryFolder) throws -> PhoneHost {
        try PhoneHost(
            configuration: PhoneHost.Configuration(
                phoneID: "p1", folder: folder.path, courier: .init(host: "127.0.0.1", port: port),
                apps: [
                    PhoneHost.App(
                        installed: InstalledApp(bundleID: "com.example.chat", hasServiceExtension: false),
                        executable: "/bin/true")
                ]))
    }

    @Test func `is built again when it is lost, and stays away in airplane mode`() async throws {
        let courier = try FakeCourier()
        defer { courier.close() }
        let folder = try TemporaryFolder()
        let host = try self.host(courier.port, folder)
        try await host.start()
        let first = try await courier.accepted()
        #expect(await first.next() == ["type": "hello", "phone": "p1"])
        first.close()
        let second = try await courier.accepted()
        #expect(await second.next() == ["type": "hello", "phone": "p1"])
        second.send(["type": "welcome"])
        try await host.perform(.airplane(isOn: true))
        #expect(await second.next() == nil)
        try await host.perform(.airplane(isOn: false))
        let third = try await courier.accepted()
        #expect(await third.next() == ["type": "hello", "phone": "p1"])
        await host.stop()
        #expect(await third.next() == nil)
    }

    @Test func `survives lines it cannot read and says so`() async throws {
        let courier = try FakeCourier()
        defer { courier.close() }
        let folder = try TemporaryFolder()
        let host = try self.host(courier.port, folder)
        try await host.start()
        let events = host.events()
        let apns = try await courier.accepted()
        _ = await apns.next()
        apns.send(["type": "welcome"])
        apns.send(["type": "push", "delivery": "x"])
        apns.send(["type": "error", "field": "ack.delivery", "rule": "is not open"])
        var texts: [String] = []
        for await event in events where event["state"] == "refused" {
            texts.append(event["text"]?.stringValue ?? "")
            if texts.count == 2 { break }
        }
        #expect(texts == ["delivery must be a whole number, got a string", "ack.delivery is not open"])
        await host.stop()
    }

    @Test func `carries the subscription to a channel, and a broadcast with its channel`() throws {
        let subscription = ChannelSubscription(topic: "com.example.chat", environment: .sandbox, channel: "Y3Vw")
        for (isOn, word): (Bool, JSONValue) in [(true, "subscribe"), (false, "unsubscribe")] {
            #expect(
                subscription.request(isOn: isOn).json == [
                    "type": word, "topic": "com.example.chat", "environment": "sandbox", "channel": "Y3Vw",
                ])
        }
        let line: JSONValue = [
            "type": "push", "delivery": 3, "topic": "com.example.chat.push-type.liveactivity",
            "channel_id": "Y3Vw", "payload": ["aps": [:]],
        ]
        guard case .push(let push) = try CourierReply(json: line) else {
            Issue.record("no push")
            return
        }
        #expect(Push(push).channel == "Y3Vw")
    }

    @Test func `carries the name of a Live Activity, and that of the one a push is for`() throws {
        let topic = "com.example.chat.push-type.liveactivity"
        #expect(
            CourierRequest.register(id: 4, topic: topic, .production, activity: "score").json == [
                "type": "register", "id": 4, "topic": .string(topic), "environment": "production", "activity": "score",
            ])
        #expect(
            CourierRequest.unregister(topic: topic, .production, activity: "score").json == [
                "type": "unregister", "topic": .string(topic), "environment": "production", "activity": "score",
            ])
        let line: JSONValue = [
            "type": "push", "delivery": 3, "topic": .string(topic), "activity": "score", "payload": ["aps": [:]],
        ]
        guard case .push(let push) = try CourierReply(json: line) else {
            Issue.record("no push")
            return
        }
        #expect(Push(push).activity == "score")
    }

    @Test func `waits longer after each failure, up to five seconds`() {
        var backoff = CourierBackoff()
        #expect((0..<8).map { _ in backoff.next() } == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
        backoff.reset()
        #expect(backoff.next() == 100)
    }
}

import APNsClient
import APNsModel
import APNsSimulator
import Foundation
import Logging
import Testing
import TidingsModel

@testable import PhoneCore
@testable import VirtualPhone

private let topic = "com.example.chat.push-type.liveactivity"

private struct ActivityPhone {
    let puppet: Puppet
    let host: PhoneHost
    let link: LineConnection

    init(courier: Int) async throws {
        self.puppet = try Puppet()
        var configuration = self.puppet.configuration(courier: courier)
        configuration.osVersion = OSVersion(17, 2)
        self.host = try PhoneHost(configuration: configuration)
        try await self.host.start()
        try await self.host.perform(.launch("com.example.chat"))
        self.link = try await self.puppet.speak()
        _ = try await self.link.calls(3)
    }

    /// Starts an activity of score 0.
    func begin(_ activity: String) {
        self.link.tell(.activityStarted(activity: activity, pushType: .token, contentState: ["score": 0]))
    }

    func token(of activity: String) async throws -> PushToken? {
        self.begin(activity)
        guard case .activityTokenUpdated(activity, let token) = try await self.link.nextCall() else { return nil }
        return token
    }

    /// The activities on the lock screen with their scores, as `name score`.
    func scores() async throws -> [String] {
        let screen = try await self.host.perform(.screen)
        return screen["activities"]?.arrayValue?.map { activity in
            let score = activity["content_state"]?["score"]?.intValue ?? -1
            return "\(activity["activity"]?.stringValue ?? "?") \(score)"
        } ?? []
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A Live Activity of a phone at a courier` {
    @Test func `is registered by its name, and ended by it even if it ends while the phone is away`() async throws {
        let courier = try FakeCourier()
        defer { courier.close() }
        let phone = try await ActivityPhone(courier: courier.port)
        let apns = try await courier.accepted()
        _ = await apns.next()
        apns.send(["type": "welcome"])
        for (number, name) in [(1, "home"), (2, "away")] {
            phone.begin(name)
            #expect(
                await apns.next() == [
                    "type": "register", "id": .int(number), "topic": .string(topic), "environment": "sandbox",
                    "activity": .string(name),
                ])
        }
        // Answered in the other order: each has its own.
        for (number, token) in [(2, "0b"), (1, "0a")] {
            apns.send(["type": "registered", "id": .int(number), "topic": .string(topic), "token": .string(token)])
        }
        #expect(
            try await phone.link.calls(2) == [
                .activityTokenUpdated(activity: "away", "0b"), .activityTokenUpdated(activity: "home", "0a"),
            ])
        try await phone.host.perform(.airplane(isOn: true))
        #expect(await apns.next() == nil)
        phone.link.tell(.activityEnded(activity: "home"))
        _ = try await phone.link.nextCall()
        try await phone.host.perform(.airplane(isOn: false))
        let again = try await courier.accepted()
        _ = await again.next()
        again.send(["type": "welcome"])
        #expect(
            await again.next() == [
                "type": "unregister", "topic": .string(topic), "environment": "sandbox", "activity": "home",
            ])
        let kept = await again.next()
        #expect(kept?["type"] == "register")
        #expect(kept?["activity"] == "away")
        await phone.host.stop()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A push through the simulator` {
    private static let logger = Logger(label: "activity-tests") { _ in SwiftLogNoOpLogHandler() }

    private func client(_ addresses: APNsSimulator.Addresses) throws -> APNsClient {
        let key = try String(contentsOfFile: addresses.privateKeyPath, encoding: .utf8)
        var configuration = APNsClient.Configuration(
            environment: .sandbox,
            credential: try APNsClient.TokenCredential(
                privateKeyPEM: key, keyID: addresses.keyID, teamID: addresses.teamID))
        configuration.host = "127.0.0.1"
        configuration.port = addresses.port
        configuration.trustRoots = .file(path: addresses.authorityPath)
        return try APNsClient(configuration: configuration, logger: Self.logger)
    }

    /// Sends a push and tells how it was refused; nil if it was accepted.
    private func push(
        _ event: String, score: Int, to token: PushToken, more: String = "", at addresses: APNsSimulator.Addresses
    ) async throws -> APNsRefusal? {
        let client = try self.client(addresses)
        let payload =
            #"{"aps":{"timestamp":1767225600,"event":"\#(event)","content-state":{"score":\#(score)}\#(more)}}"#
        let request = APNsRequest(
            token: token, topic: topic, pushType: .liveactivity, payload: Array(payload.utf8), environment: .sandbox)
        var refusal: APNsRefusal?
        do throws(APNsFailure) {
            _ = try await client.send(request)
        } catch .refused(let why) {
            refusal = why
        }
        await client.shutdown()
        return refusal
    }

    /// Simulator, client and phone as they are; the test is the app and the provider.
    @Test func `changes the one Live Activity it is for, also after a restart, until that ends`() async throws {
        let folder = try TemporaryFolder()
        var configuration = APNsSimulator.Configuration(stateFolder: folder.path)
        configuration.stateDatabase = folder.path + "/state.db"
        configuration.port = 0
        configuration.channelPort = 0
        configuration.courierPort = 0
        configuration.controlPort = 0
        var simulator = try APNsSimulator(configuration: configuration)
        var addresses = try await simulator.start()
        let phone = try await ActivityPhone(courier: addresses.courierPort)
        let home = try #require(try await phone.token(of: "home"))
        let away = try #require(try await phone.token(of: "away"))
        #expect(home != away)

        func updated(_ activity: String, _ score: Int) -> Callback {
            .activityUpdated(ActivityUpdate(activity: activity, change: .updated, contentState: ["score": .int(score)]))
        }
        #expect(try await self.push("update", score: 1, to: away, at: addresses) == nil)
        #expect(try await phone.link.nextCall() == updated("away", 1))
        #expect(try await phone.scores() == ["home 0", "away 1"])

        configuration.courierPort = addresses.courierPort
        await simulator.stop()
        simulator = try APNsSimulator(configuration: configuration)
        addresses = try await simulator.start()
        #expect(try await self.push("update", score: 2, to: home, at: addresses) == nil)
        #expect(try await phone.link.nextCall() == updated("home", 2))
        #expect(try await phone.scores() == ["home 2", "away 1"])

        phone.link.tell(.pushToStartRequested)
        guard case .pushToStartTokenUpdated(let start) = try await phone.link.nextCall() else {
            Issue.record("no push-to-start token")
            return
        }
        let attributes = #","attributes-type":"Match","attributes":{}"#
        #expect(try await self.push("start", score: 3, to: start, more: attributes, at: addresses) == nil)
        // The new one is told of, and has a token of its own.
        #expect(
            try await phone.link.nextCall()
                == .activityUpdated(
                    ActivityUpdate(activity: "activity-1", change: .started, contentState: ["score": 3])))
        guard case .activityTokenUpdated("activity-1", let third) = try await phone.link.nextCall() else {
            Issue.record("no token")
            return
        }
        #expect(Set([home, away, start, third]).count == 4)

        phone.link.tell(.activityEnded(activity: "home"))
        _ = try await phone.link.nextCall()
        // The phone's word and the push take different ways.
        var refusal: APNsRefusal?
        while refusal == nil { refusal = try await self.push("update", score: 4, to: home, at: addresses) }
        #expect(refusal?.status == 410)
        #expect(refusal?.reason == .unregistered)
        #expect(try await self.push("update", score: 5, to: away, at: addresses) == nil)
        #expect(try await phone.link.nextCall() == updated("away", 5))
        #expect(try await phone.scores() == ["home 2", "away 5", "activity-1 3"])
        await phone.host.stop()
        await simulator.stop()
    }
}

import APNsModel
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

/// The store in memory as one that answers on a thread of its own, until it is told to fail.
///
/// `@unchecked Sendable`: the state is guarded by the lock.
private final class ModelStore: BatchStore, @unchecked Sendable {
    private let state: NIOLockedValueBox<(store: MemoryStore, epoch: UInt64, fails: Bool, batches: [Int])>
    private let queue = DispatchQueue(label: "model-store")
    let opening: StoreOpening

    init() {
        let store = MemoryStore()
        self.opening = store.open()
        self.state = NIOLockedValueBox((store, self.opening.epoch, false, []))
    }

    var batches: [Int] { self.state.withLockedValue { $0.batches } }

    func fail() { self.state.withLockedValue { $0.fails = true } }

    func submit(_ commands: [StoreCommand], completion: @escaping @Sendable ([StoreResult]) -> Void) {
        self.queue.async {
            let results = self.state.withLockedValue { state -> [StoreResult] in
                state.batches.append(commands.count)
                guard !state.fails else { return commands.map { _ in .failed("the disk is full") } }
                return (try? state.store.apply(commands, epoch: state.epoch)) ?? []
            }
            completion(results)
        }
    }
}

private final class FakeSender: PushSender {
    private let sent = NIOLockedValueBox<[APNsRequest]>([])

    var requests: [APNsRequest] { self.sent.withLockedValue { $0 } }

    func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        self.sent.withLockedValue { $0.append(request) }
        completion(.accepted(apnsID: request.apnsID ?? "", uniqueID: nil))
    }

    func send(_ broadcast: APNsBroadcast, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        completion(.accepted(apnsID: broadcast.requestID ?? "", uniqueID: "unique"))
    }

    func manage(_ asked: APNsChannelRequest, completion: @escaping @Sendable (ChannelOutcome) -> Void) {
        completion(.answered(.list(["dHN0LXNyY2gtY2hubA=="])))
    }

    private let report = NIOLockedValueBox<(@Sendable (String?, LaneState) -> Void)?>(nil)

    func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void) {
        self.report.withLockedValue { $0 = report }
    }

    func report(_ state: LaneState) { self.report.withLockedValue { $0 }?(nil, state) }

    func close() async {}
}

@Suite(.timeLimit(.minutes(10))) struct `The server's loop` {
    private struct Rig {
        var server: ServerLoop
        var store: ModelStore
        var sender: FakeSender
        var test: TestServer
    }

    private func with(_ body: (Rig) async throws -> Void) async throws {
        var configuration = TestServer.configuration(folder: "/nowhere")
        configuration.core.graceTime = 0
        configuration.core.restartGraceTime = 0
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let registry = PrometheusRegistry()
        let tokens = try UserTokens(apps: configuration.apps)
        let (store, sender) = (ModelStore(), FakeSender())
        let server = ServerLoop(
            eventLoop: group.next(), configuration: configuration, store: store,
            senders: PushSenders(eventLoop: group.next()) { _ in sender }, tokens: tokens,
            metrics: ServerMetrics(factory: registry), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            seed: 1)
        let gateway = try await Gateway.bind(configuration.gateway, server: server)
        var opening = store.opening
        opening.control.put(Self.app)
        server.open(opening)
        let listening = TidingsServer.Listening(gatewayPort: gateway.address?.port ?? 0, apiPort: 0)
        let test = TestServer(listening: listening, registry: registry, configuration: configuration, tokens: tokens)
        do {
            try await body(Rig(server: server, store: store, sender: sender, test: test))
        } catch {
            Issue.record(error)
        }
        gateway.stopAccepting()
        await server.stop()
        try await group.shutdownGracefully()
    }

    /// With a credential for the sandbox.
    private static var app: ManagedApp {
        var app = ManagedApp(id: "demo", createdAt: 0)
        app.pushCredentials = [
            PushCredentialRecord(
                id: "p1", kind: .tokenKey, sealed: SealedBytes(keyID: "k", bytes: [1]), fingerprint: "f",
                keyID: "ABC123DEFG", teamID: "DEF123GHIJ", environments: [.sandbox], createdAt: 0, state: .active)
        ]
        return app
    }

    private func draft(_ id: ClientMessageID, to user: String = "bob") -> MessageDraft {
        MessageDraft(
            clientMessageID: id, conversation: .init(type: .direct, target: user), objectName: .text,
            content: "{\"content\":\"hello\"}")
    }

    @Test func `reads what a caller was told is done`() async throws {
        try await self.with { rig in
            let bob = UserProfile("bob", Profile(name: "Bob"))
            #expect(await rig.server.execute(.setProfiles("demo", [bob])) == .done)
            #expect(await rig.server.read(.readProfiles("demo", ["bob"])) == .profiles([bob]))
        }
    }

    @Test func `stops when a read shows that the store has failed`() async throws {
        try await self.with { rig in
            rig.store.fail()
            let answer = await rig.server.read(.readPeople("demo", after: nil, limit: 1))
            #expect(answer == .refused(ServerCore.unavailable))
            await #expect(throws: StoreFailure.self) { try await rig.server.ended.futureResult.get() }
            #expect(rig.test.metric("tidings_store_failures_total") == "1")
        }
    }

    private func sendToPhoneThatIsGone(_ rig: Rig, _ environment: PushEnvironment) async throws -> MessageID {
        let bob = try await rig.test.client("bob")
        try await bob.send(.registerPush(.init(token: "abcd", environment: environment, topic: "com.example.chat")))
        try await bob.send(.runState(.suspending))
        await bob.close()
        try await rig.test.eventually { rig.test.metric("tidings_gateway_connections") == "0" }
        let send = APICommand.send(.init(app: "demo", user: "alice"), self.draft("c1"))
        guard case .accepted(let accepted, _) = await rig.server.execute(send) else {
            throw APIProblem.bug
        }
        return accepted.messageID
    }

    @Test func `pushes through the app's sender to a phone that is gone`() async throws {
        try await self.with { rig in
            let message = try await self.sendToPhoneThatIsGone(rig, .sandbox)
            try await rig.test.eventually { rig.sender.requests.count == 1 }
            let request = try #require(rig.sender.requests.first)
            #expect(request.token == "abcd")
            #expect(request.topic == "com.example.chat")
            #expect(request.collapseID == message.description)
            try await rig.test.eventually {
                rig.test.metric("tidings_legs_ended_total{end=\"accepted\"}") == "1"
                    && rig.test.metric("tidings_pushes_total{outcome=\"accepted\"}") == "1"
                    && rig.test.metric("tidings_pushes_in_flight") == "0"
            }
        }
    }

    @Test func `keeps pushes while the app's sender says that it is paused`() async throws {
        try await self.with { rig in
            // The sender is there once a push has needed it.
            _ = try await self.sendToPhoneThatIsGone(rig, .sandbox)
            try await rig.test.eventually { rig.test.metric("tidings_pushes_total{outcome=\"accepted\"}") == "1" }
            rig.sender.report(.paused(LaneOutage(.provider, reason: "ServiceUnavailable")))
            guard
                case .accepted(let accepted, _) = await rig.server.execute(
                    .send(.init(app: "demo", user: "alice"), self.draft("c2"))),
                case .trace(let trace?) = await rig.server.execute(.trace("demo", accepted.messageID))
            else {
                Issue.record("the send was refused, or has no trace")
                return
            }
            #expect(trace.open.map(\.wait) == [.providerDown])
            #expect(rig.sender.requests.count == 1)
            rig.sender.report(.usable)
            try await rig.test.eventually { rig.sender.requests.count == 2 }
        }
    }

    @Test func `keeps a push whose side of Apple's has no credential`() async throws {
        try await self.with { rig in
            let message = try await self.sendToPhoneThatIsGone(rig, .production)
            try await rig.test.eventually { rig.test.metric("tidings_pushes_total{outcome=\"no_credential\"}") == "1" }
            #expect(rig.sender.requests.isEmpty)
            guard case .trace(let trace?) = await rig.server.execute(.trace("demo", message)) else {
                Issue.record("no trace")
                return
            }
            #expect(trace.open.map(\.wait) == [.configFault])
        }
    }

    @Test func `passes Live Activities, broadcasts and channels through the app's sender`() async throws {
        try await self.with { rig in
            let channel: APNsChannelID = "dHN0LXNyY2gtY2hubA=="
            for (id, target) in [
                ("0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01", LiveActivityPush.Target.token("abcd")),
                ("0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e02", .channel(channel)),
            ] {
                let push = LiveActivityPush(
                    id: id, environment: .sandbox, topic: "com.example.chat", target: target,
                    payload: APNsPayload(
                        liveActivity: .init(event: .update, timestamp: 5, contentState: JSONObject([("eta", 5)]))))
                guard case .passed = await rig.server.execute(.pushActivity("demo", push)) else {
                    Issue.record("\(target) was refused")
                    continue
                }
                for _ in 0..<1_000 {
                    guard case .activityPush(let trace?) = await rig.server.execute(.activityPush("demo", id)),
                        trace.state == .pushing
                    else { break }
                    try await Task.sleep(for: .milliseconds(10))
                }
                guard case .activityPush(let trace?) = await rig.server.execute(.activityPush("demo", id)) else {
                    Issue.record("\(target) is unknown")
                    continue
                }
                let uniqueID = push.isBroadcast ? "unique" : nil
                #expect(trace.state == .accepted(apnsID: id, uniqueID: uniqueID))
            }
            #expect(rig.sender.requests.map(\.topic) == ["com.example.chat.push-type.liveactivity"])
            let asked = APNsChannelRequest(.list, bundleID: "com.example.chat", environment: .sandbox)
            guard case .channels(let outcome) = await rig.server.execute(.channels("demo", asked)) else {
                Issue.record("no channels")
                return
            }
            #expect(outcome == .answered(.list([channel])))
            let other = APNsChannelRequest(.list, bundleID: "com.example.chat", environment: .production)
            guard case .channels(.noCredential) = await rig.server.execute(.channels("demo", other)) else {
                Issue.record("channels without a credential")
                return
            }
        }
    }

    @Test func `hands the store everything of one turn in one batch`() async throws {
        try await self.with { rig in
            let alice = try await rig.test.client("alice")
            let before = rig.store.batches.count
            let frames = (0..<10).map { ClientFrame.send(self.draft(ClientMessageID("c\($0)"))) }
            // One write: the server reads all of them in one turn.
            try await alice.send(frames: frames)
            for _ in frames {
                guard case .sendAccepted = try await alice.nextFrame() else {
                    Issue.record("a send was refused")
                    return
                }
            }
            let batches = rig.store.batches.dropFirst(before)
            #expect(batches.contains { $0 >= 5 }, "\(batches)")
            await alice.close()
        }
    }

    @Test func `ends when the store refuses to write, and acks nothing`() async throws {
        try await self.with { rig in
            let alice = try await rig.test.client("alice")
            rig.store.fail()
            try await alice.send(.send(self.draft("c1")))
            await #expect(throws: StoreFailure(reason: "the disk is full")) {
                try await rig.server.ended.futureResult.get()
            }
            while let frame = try await alice.nextFrame() {
                if case .sendAccepted = frame { Issue.record("acked without a sync") }
                if case .sendRefused = frame { break }
                if case .problem = frame { break }
            }
            let after = await rig.server.execute(.send(.init(app: "demo", user: "alice"), self.draft("c2")))
            guard case .refused(let problem) = after else {
                Issue.record("accepted after the failure")
                return
            }
            #expect(problem.code == .unavailable)
            await alice.close()
        }
    }
}

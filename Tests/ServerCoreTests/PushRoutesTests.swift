import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `The routes of pushes` {
    private static let app = AppID("demo")
    private static let chat = PushLane(app: Self.app, environment: .sandbox, topic: "com.example.chat")
    private static let calls = PushLane(app: Self.app, environment: .sandbox, topic: "com.example.chat.voip")
    private static let outage = LaneOutage(.credential, reason: "InvalidProviderToken")

    /// The app's credentials by the rules of the store, and the routes that follow them.
    private struct Bench {
        static let app = AppID("demo")
        var state = ControlState()
        var routes = PushRoutes()

        init(active: String...) throws {
            let secret = TokenSecret(id: "s1", sealed: SealedBytes(keyID: "k", bytes: [1]), createdAt: 0)
            _ = try self.state.apply(.createApp(Bench.app, AppSettings(), secret), at: 0)
            for id in active { try self.add(id) }
        }

        /// A token key, active from now on.
        mutating func add(_ id: String, inPlaceOf other: String? = nil) throws {
            try self.add(
                PushCredentialRecord(
                    id: id, kind: .tokenKey, sealed: SealedBytes(keyID: "k", bytes: [1]),
                    fingerprint: Hexadecimal.text(id.utf8.reduce(0) { $0 << 8 | UInt64($1) }, digits: 64),
                    keyID: "ABC123DEFG", teamID: "DEF123GHIJ", createdAt: Int64(self.state.apps[0].revision)),
                inPlaceOf: other)
        }

        mutating func add(_ record: PushCredentialRecord, inPlaceOf other: String? = nil) throws {
            _ = try self.change(.add(record))
            _ = try self.change(.activate(id: record.id, inPlaceOf: other, unproven: true))
        }

        @discardableResult
        mutating func change(_ change: PushCredentialChange, at wall: Int64 = 10) throws -> [PushRoutes.Effect] {
            _ = try self.state.apply(.changePushCredential(Bench.app, change), at: wall)
            return self.routes.follow(self.state.apps[0], at: wall)
        }

        /// The credential that a push of the lane goes out with.
        mutating func push(
            _ lane: PushLane, at wall: Int64 = 10, telling effects: [PushRoutes.Effect] = []
        ) -> String? {
            let (client, told) = self.routes.client(for: lane, at: wall)
            #expect(told == effects)
            #expect(client.map { $0.app == lane.app && $0.environment == lane.environment } ?? true)
            return client?.credential
        }
    }

    private func client(_ id: String) -> PushClient { PushClient(Self.app, credential: id, .sandbox) }

    @Test func `lead nowhere without a credential, until there is one`() throws {
        var bench = try Bench()
        #expect(bench.push(Self.chat) == nil)
        _ = try bench.change(.add(Self.record("a")))
        #expect(
            try bench.change(.activate(id: "a", inPlaceOf: nil, unproven: true)) == [.report(Self.chat, .usable)])
        #expect(bench.push(Self.chat) == "a")
    }

    @Test func `stay with a client while others come that are no better`() throws {
        var bench = try Bench(active: "a")
        #expect(bench.push(Self.chat) == "a")
        try bench.change(.noteAccepted(id: "a", topic: Self.chat.topic, .sandbox))
        _ = try bench.change(.add(Self.record("b")))
        #expect(try bench.change(.activate(id: "b", inPlaceOf: nil, unproven: true)) == [])
        #expect(bench.push(Self.chat) == "a")
    }

    @Test func `go over to the credential that takes another's place, and the old client takes nothing more`() throws {
        var bench = try Bench(active: "a")
        #expect(bench.push(Self.chat) == "a")
        #expect(bench.push(Self.calls) == "a")
        _ = bench.routes.report(of: self.client("a"), topic: nil, .paused(Self.outage), at: 10)
        _ = try bench.change(.add(Self.record("b")))
        // What waited for the old one goes on at once.
        #expect(
            try bench.change(.activate(id: "b", inPlaceOf: "a", unproven: true)) == [
                .report(Self.chat, .usable), .report(Self.calls, .usable), .retire(self.client("a")),
            ])
        #expect(bench.push(Self.chat) == "b")
        #expect(bench.routes.report(of: self.client("a"), topic: nil, .paused(Self.outage), at: 10) == [])
        #expect(bench.routes.accepted(by: self.client("a"), topic: Self.chat.topic).count == 1)
        // And back.
        #expect(
            try bench.change(.rollBack(id: "b")) == [
                .report(Self.chat, .usable), .report(Self.calls, .usable), .retire(self.client("b")),
            ])
        #expect(bench.push(Self.chat) == "a")
    }

    @Test func `leave a credential that APNs refuses, if there is another`() throws {
        var bench = try Bench(active: "a", "b")
        #expect(bench.push(Self.chat) == "b")
        let told = bench.routes.report(of: self.client("b"), topic: nil, .paused(Self.outage), at: 20)
        let proof = PushCredentialRecord.Proof(.sandbox, isGood: false, reason: "InvalidProviderToken", at: 20)
        #expect(
            told == [.report(Self.chat, .paused(Self.outage)), .note(Self.app, .noteProof(id: "b", proof))])
        #expect(try bench.change(.noteProof(id: "b", proof), at: 20) == [.report(Self.chat, .usable)])
        #expect(bench.push(Self.chat) == "a")
        // Said once.
        #expect(bench.routes.report(of: self.client("b"), topic: nil, .paused(Self.outage), at: 30) == [])
    }

    @Test func `try credentials in turn where APNs refuses each`() throws {
        var bench = try Bench(active: "a", "b")
        #expect(bench.push(Self.chat) == "b")
        func refusal(of id: String, at: Int64) -> PushCredentialChange {
            .noteProof(id: id, .init(.sandbox, isGood: false, reason: "InvalidProviderToken", at: at))
        }
        // Also with the same words as before: each has its turn again.
        for (refused, next, at) in [("b", "a", 20), ("a", "b", 30), ("b", "a", 40), ("a", "b", 50)]
            as [(String, String, Int64)]
        {
            let told = bench.routes.report(of: self.client(refused), topic: nil, .paused(Self.outage), at: at)
            #expect(
                told == [.report(Self.chat, .paused(Self.outage)), .note(Self.app, refusal(of: refused, at: at))])
            let state: LaneState = at == 20 ? .usable : .paused(Self.outage)
            #expect(try bench.change(refusal(of: refused, at: at), at: at) == [.report(Self.chat, state)])
            #expect(bench.push(Self.chat) == next)
        }
        // The fault of this one was passing.
        let due = LaneState.probeDue(Self.outage)
        #expect(
            bench.routes.report(of: self.client("b"), topic: nil, due, at: 60) == [.report(Self.chat, due)])
    }

    @Test func `hand on what a client says of its topics to the lanes that go with it`() throws {
        var bench = try Bench(active: "a")
        _ = bench.push(Self.chat)
        _ = bench.push(Self.calls)
        let topic = LaneState.paused(LaneOutage(.credential, reason: "TopicDisallowed"))
        #expect(
            bench.routes.report(of: self.client("a"), topic: Self.calls.topic, topic, at: 10)
                == [.report(Self.calls, topic)])
        let down = LaneState.probeDue(LaneOutage(.connection, reason: "no route"))
        #expect(
            bench.routes.report(of: self.client("a"), topic: nil, down, at: 10)
                == [.report(Self.chat, down), .report(Self.calls, topic)])
        #expect(
            bench.routes.report(of: self.client("a"), topic: nil, .usable, at: 10)
                == [.report(Self.chat, .usable), .report(Self.calls, topic)])
        // A lane that comes later is told.
        let other = PushLane(app: Self.app, environment: .sandbox, topic: "com.example.other")
        _ = bench.routes.report(of: self.client("a"), topic: nil, down, at: 10)
        #expect(bench.push(other, telling: [.report(other, down)]) == "a")
    }

    @Test func `lead past a certificate that has expired meanwhile`() throws {
        var bench = try Bench(active: "key")
        try bench.add(
            PushCredentialRecord(
                id: "certificate", kind: .certificate, sealed: SealedBytes(keyID: "k", bytes: [1]),
                fingerprint: String(repeating: "0", count: 64), subject: Self.chat.topic, topics: [Self.chat.topic],
                createdAt: 5, expiresAt: 100))
        #expect(bench.push(Self.chat, at: 99) == "certificate")
        #expect(bench.push(Self.chat, at: 100, telling: [.report(Self.chat, .usable)]) == "key")
    }

    @Test func `note the first accepted push to a topic`() throws {
        var bench = try Bench(active: "a")
        _ = bench.push(Self.chat)
        let change = PushCredentialChange.noteAccepted(id: "a", topic: Self.chat.topic, .sandbox)
        #expect(bench.routes.accepted(by: self.client("a"), topic: Self.chat.topic) == [.note(Self.app, change)])
        #expect(try bench.change(change) == [])
        #expect(bench.routes.accepted(by: self.client("a"), topic: Self.chat.topic) == [])
        #expect(bench.routes.accepted(by: self.client("gone"), topic: Self.chat.topic) == [])
    }

    private static func record(_ id: String) -> PushCredentialRecord {
        PushCredentialRecord(
            id: id, kind: .tokenKey, sealed: SealedBytes(keyID: "k", bytes: [1]),
            fingerprint: Hexadecimal.text(id.utf8.reduce(0) { $0 << 8 | UInt64($1) }, digits: 64),
            keyID: "ABC123DEFG", teamID: "DEF123GHIJ", createdAt: 5)
    }
}

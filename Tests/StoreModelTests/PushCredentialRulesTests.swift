import Testing
import TidingsModel

@testable import StoreModel

@Suite struct `The push credentials of an app` {
    /// An app with some of them, added in order and changed by the rules.
    private struct Bench {
        static let app = AppID("demo")
        var state = ControlState()

        init(_ changes: PushCredentialChange...) throws {
            let secret = TokenSecret(id: "s1", sealed: SealedBytes(keyID: "k", bytes: [1]), createdAt: 0)
            _ = try self.state.apply(.createApp(Self.app, AppSettings(), secret), at: 0)
            for change in changes { try self.change(change) }
        }

        mutating func change(_ change: PushCredentialChange, at now: Int64 = 10) throws {
            let answer = try self.state.apply(.changePushCredential(Self.app, change), at: now)
            #expect(answer == .app(try #require(self.state[app: Self.app])))
        }

        /// What the change is refused with; it has changed nothing then.
        mutating func refusal(of change: PushCredentialChange, at now: Int64 = 10) -> ServerFrame.Problem? {
            let before = self.state
            do throws(ServerFrame.Problem) {
                _ = try self.state.apply(.changePushCredential(Self.app, change), at: now)
                return nil
            } catch {
                #expect(self.state == before)
                return error
            }
        }

        var records: [PushCredentialRecord] { self.state[app: Self.app]?.pushCredentials ?? [] }
        var revision: Int64 { self.state[app: Self.app]?.revision ?? 0 }
        subscript(_ id: String) -> PushCredentialRecord? { self.records.first { $0.id == id } }

        /// Each with its state, and the one that it keeps.
        var states: [String] {
            self.records.map { "\($0.id) \($0.state.rawValue)" + ($0.replaces.map { " keeps \($0)" } ?? "") }
        }
    }

    private static func record(
        _ id: String, expiresAt: Int64? = nil, _ change: (inout PushCredentialRecord) -> Void = { _ in }
    ) -> PushCredentialRecord {
        var record = PushCredentialRecord(
            id: id, kind: expiresAt == nil ? .tokenKey : .certificate, sealed: SealedBytes(keyID: "k", bytes: [7]),
            fingerprint: Hexadecimal.text(id.utf8.reduce(0) { $0 << 8 | UInt64($1) }, digits: 64), keyID: "ABC123DEFG",
            teamID: "DEF123GHIJ", topics: expiresAt == nil ? [] : ["com.example.chat"], createdAt: 10,
            expiresAt: expiresAt)
        change(&record)
        return record
    }

    private static func added(_ id: String) -> PushCredentialChange { .add(Self.record(id)) }

    private static func active(_ id: String, inPlaceOf other: String? = nil) -> PushCredentialChange {
        .activate(id: id, inPlaceOf: other, unproven: true)
    }

    // MARK: Adding

    @Test func `send nothing until they are activated, whatever they came with`() throws {
        let bench = try Bench(
            .add(
                Self.record("a") {
                    $0.state = .active
                    $0.replaces = "b"
                    $0.proofs = [.init(.sandbox, isGood: true, at: 1)]
                    $0.provenTopics = [.init(topic: "com.example.chat", environment: .sandbox, at: 1)]
                    $0.environments = [.production, .sandbox, .sandbox]
                }))
        #expect(bench.records == [Self.record("a")])
        #expect(bench.revision == 2)
    }

    @Test func `have each an id and a fingerprint of their own`() throws {
        var bench = try Bench(Self.added("a"))
        #expect(bench.refusal(of: Self.added("a"))?.code == .exists)
        let same = bench.refusal(of: .add(Self.record("b") { $0.fingerprint = Self.record("a").fingerprint }))
        #expect(same?.code == .exists)
        #expect(same?.field == "fingerprint")
    }

    @Test func `are at most sixteen`() throws {
        var bench = try Bench()
        for number in 0..<16 { try bench.change(Self.added("c\(number)")) }
        #expect(bench.refusal(of: Self.added("x"))?.field == "push_credentials")
    }

    @Test func `are refused with what is wrong with them`() throws {
        var bench = try Bench()
        let wrong: [(String, (inout PushCredentialRecord) -> Void)] = [
            ("credential", { $0.id = "with space" }), ("key_id", { $0.keyID = nil }), ("team_id", { $0.teamID = nil }),
            ("key_id", { $0.keyID = String(repeating: "x", count: 65) }), ("credential.key", { $0.sealed.keyID = "" }),
            ("credential.sealed", { $0.sealed.bytes = [] }),
            ("credential.sealed", { $0.sealed.bytes = Array(repeating: 1, count: 32_769) }),
            ("fingerprint", { $0.fingerprint = "abc" }), ("topics", { $0.topics = [""] }),
            ("topics", { $0.topics = Array(repeating: "a", count: 401) }), ("environments", { $0.environments = [] }),
            ("topics", { $0.kind = .certificate }),
            (
                "expires_at",
                {
                    $0.kind = .certificate
                    $0.topics = ["a"]
                }
            ),
        ]
        for (field, change) in wrong {
            let refusal = bench.refusal(of: .add(Self.record("a", change)))
            #expect(refusal?.code == .invalidField)
            #expect(refusal?.field == field)
        }
        #expect(bench.refusal(of: .retire(id: "none"))?.field == "credential")
    }

    @Test func `come active with an app that is imported, and not with one that is created`() throws {
        var record = ManagedApp(
            id: AppID("other"),
            secrets: [TokenSecret(id: "s", sealed: SealedBytes(keyID: "k", bytes: [1]), createdAt: 0)],
            createdAt: 0)
        record.pushCredentials = [Self.record("a") { $0.state = .active }, Self.record("b")]
        var state = ControlState()
        _ = try state.apply(.importApp(record), at: 0)
        #expect(state[app: record.id]?.pushCredentials.map(\.state) == [.active, .uploaded])
        record.pushCredentials.append(Self.record("a"))
        var fresh = ControlState()
        #expect(throws: ServerFrame.Problem.self) { try fresh.apply(.importApp(record), at: 0) }
        #expect(fresh == ControlState())
    }

    // MARK: Activating and going back

    @Test func `are activated when proven on one side, or when somebody says that they need no proof`() throws {
        var bench = try Bench(Self.added("a"))
        let plain = PushCredentialChange.activate(id: "a", inPlaceOf: nil, unproven: false)
        #expect(bench.refusal(of: plain)?.code == .notAllowed)
        try bench.change(.noteProof(id: "a", .init(.sandbox, isGood: false, reason: "InvalidProviderToken", at: 10)))
        #expect(bench.refusal(of: plain)?.code == .notAllowed)
        try bench.change(.noteProof(id: "a", .init(.production, isGood: true, at: 10)))
        try bench.change(plain)
        #expect(bench.states == ["a active"])
        #expect(try Bench(Self.added("b"), Self.active("b")).states == ["b active"])
    }

    @Test func `take the place of another, which is kept, and which kept none any more`() throws {
        var bench = try Bench(
            Self.added("a"), Self.added("b"), Self.added("c"), Self.active("a"), Self.active("b", inPlaceOf: "a"))
        #expect(bench.states == ["a replaced", "b active keeps a", "c uploaded"])
        try bench.change(Self.active("c", inPlaceOf: "b"))
        #expect(bench.states == ["b replaced", "c active keeps b"])
    }

    @Test func `keep the last one that worked, past one that never did`() throws {
        var bench = try Bench(
            Self.added("a"), Self.added("b"), Self.added("c"), Self.added("d"), Self.active("a"),
            .noteAccepted(id: "a", topic: "com.example.chat", .sandbox), Self.active("b", inPlaceOf: "a"),
            Self.active("c", inPlaceOf: "b"))
        #expect(bench.states == ["a replaced", "b replaced", "c active keeps a", "d uploaded"])
        // As soon as the one in between works, it is the last.
        try bench.change(.noteAccepted(id: "c", topic: "com.example.chat", .sandbox))
        try bench.change(Self.active("d", inPlaceOf: "c"))
        #expect(bench.states == ["b replaced", "c replaced", "d active keeps c"])
        try bench.change(.rollBack(id: "d"))
        #expect(bench.states == ["b replaced", "c active", "d rolled_back"])
    }

    @Test func `are rolled back to the one before, once`() throws {
        var bench = try Bench(Self.added("a"), Self.added("b"), Self.active("a"), Self.active("b", inPlaceOf: "a"))
        try bench.change(.rollBack(id: "b"))
        #expect(bench.states == ["a active", "b rolled_back"])
        #expect(bench.refusal(of: .rollBack(id: "a"))?.code == .notAllowed)
        #expect(bench.refusal(of: .rollBack(id: "b"))?.code == .notAllowed)
        // And forward again.
        try bench.change(Self.active("b", inPlaceOf: "a"))
        #expect(bench.states == ["a replaced", "b active keeps a"])
    }

    @Test func `change places with the one that is kept`() throws {
        var bench = try Bench(Self.added("a"), Self.added("b"), Self.active("a"), Self.active("b", inPlaceOf: "a"))
        try bench.change(Self.active("a", inPlaceOf: "b"))
        #expect(bench.states == ["a active keeps b", "b replaced"])
    }

    @Test func `stand beside each other, and one that comes back is kept by nobody`() throws {
        var bench = try Bench(Self.added("a"), Self.added("b"), Self.active("a"), Self.active("b", inPlaceOf: "a"))
        try bench.change(Self.active("a"))
        #expect(bench.states == ["a active", "b active"])
        #expect(bench.refusal(of: .rollBack(id: "b"))?.code == .notAllowed)
    }

    @Test func `that have expired become active by no way`() throws {
        var bench = try Bench(
            .add(Self.record("a", expiresAt: 100)), Self.added("b"), Self.active("a"), Self.active("b", inPlaceOf: "a"))
        #expect(bench.refusal(of: .rollBack(id: "b"), at: 100)?.rule == "must not have expired: \"a\" has")
        #expect(bench.refusal(of: Self.active("a"), at: 100)?.code == .notAllowed)
        try bench.change(.rollBack(id: "b"), at: 99)
        #expect(bench.states == ["a active", "b rolled_back"])
    }

    @Test func `are replaced only if they are active`() throws {
        var bench = try Bench(Self.added("a"), Self.added("b"), Self.active("b"))
        #expect(bench.refusal(of: Self.active("a", inPlaceOf: "a"))?.code == .notAllowed)
        #expect(bench.refusal(of: Self.active("a", inPlaceOf: "none"))?.code == .invalidField)
        // The answer of a repeat is that of the first.
        let revision = bench.revision
        try bench.change(Self.active("b"))
        #expect(bench.revision == revision)
        #expect(bench.refusal(of: Self.active("b", inPlaceOf: "a"))?.code == .notAllowed)
    }

    // MARK: Going

    @Test func `are retired, and removed when they are not active`() throws {
        var bench = try Bench(
            Self.added("a"), Self.added("b"), Self.active("a"), Self.active("b", inPlaceOf: "a"))
        #expect(bench.refusal(of: .remove(id: "b"))?.code == .notAllowed)
        try bench.change(.retire(id: "b"))
        // The one that was kept stays, and can be activated.
        #expect(bench.states == ["a replaced", "b replaced"])
        #expect(bench.refusal(of: .retire(id: "b"))?.code == .notAllowed)
        try bench.change(.remove(id: "b"))
        #expect(bench.states == ["a replaced"])
        try bench.change(Self.active("a"))
        #expect(bench.states == ["a active"])
    }

    @Test func `that are kept may be removed, and then there is nothing to go back to`() throws {
        var bench = try Bench(
            Self.added("a"), Self.added("b"), Self.active("a"), Self.active("b", inPlaceOf: "a"), .remove(id: "a"))
        #expect(bench.states == ["b active"])
        #expect(bench.refusal(of: .rollBack(id: "b"))?.code == .notAllowed)
    }

    // MARK: What APNs says

    @Test func `have one proof for each side, the newest, without a revision`() throws {
        var bench = try Bench(Self.added("a"))
        let revision = bench.revision
        try bench.change(.noteProof(id: "a", .init(.production, isGood: true, at: 11)))
        try bench.change(.noteProof(id: "a", .init(.sandbox, isGood: true, at: 12)))
        try bench.change(
            .noteProof(id: "a", .init(.production, isGood: false, reason: "BadEnvironmentKeyIdInToken", at: 13)))
        #expect(
            bench["a"]?.proofs == [
                .init(.sandbox, isGood: true, at: 12),
                .init(.production, isGood: false, reason: "BadEnvironmentKeyIdInToken", at: 13),
            ])
        try bench.change(.noteProof(id: "gone", .init(.sandbox, isGood: true, at: 12)))
        #expect(bench.revision == revision)
    }

    @Test func `are proven for a topic by the first accepted push`() throws {
        var bench = try Bench(Self.added("a"))
        try bench.change(.noteAccepted(id: "a", topic: "b.c", .production), at: 20)
        try bench.change(.noteAccepted(id: "a", topic: "a.b", .production), at: 21)
        try bench.change(.noteAccepted(id: "a", topic: "a.b", .sandbox), at: 22)
        try bench.change(.noteAccepted(id: "a", topic: "b.c", .production), at: 23)
        try bench.change(.noteAccepted(id: "gone", topic: "a.b", .sandbox), at: 24)
        #expect(
            bench["a"]?.provenTopics == [
                .init(topic: "a.b", environment: .sandbox, at: 22),
                .init(topic: "a.b", environment: .production, at: 21),
                .init(topic: "b.c", environment: .production, at: 20),
            ])
        #expect(
            bench["a"]?.proofs == [
                .init(.sandbox, isGood: true, at: 22), .init(.production, isGood: true, at: 20),
            ])
    }

    // MARK: Another master key

    @Test func `are sealed again, secrets too, without a revision, where they are what they were`() throws {
        var bench = try Bench(Self.added("a"), Self.added("b"))
        let revision = bench.revision
        let (old, new) = (SealedBytes(keyID: "k", bytes: [7]), SealedBytes(keyID: "l", bytes: [8]))
        let changes: [Resealed] = [
            .init(.pushCredential(id: "a"), before: old, after: new),
            .init(.pushCredential(id: "b"), before: new, after: SealedBytes(keyID: "l", bytes: [9])),
            .init(.tokenSecret(id: "s1"), before: SealedBytes(keyID: "k", bytes: [1]), after: new),
            .init(.tokenSecret(id: "gone"), before: old, after: new),
        ]
        _ = try bench.state.apply(.reseal(Bench.app, changes, digest: Array(repeating: 1, count: 32)), at: 10)
        #expect(bench["a"]?.sealed == new && bench["b"]?.sealed == old)
        #expect(bench.state[app: Bench.app]?.secrets.map(\.sealed) == [new])
        #expect(bench.state[app: Bench.app]?.importedDigest == nil)
        #expect(bench.revision == revision)
        let wrong = Resealed(.pushCredential(id: "a"), before: new, after: SealedBytes(keyID: "", bytes: [1]))
        #expect(throws: ServerFrame.Problem.self) {
            try bench.state.apply(.reseal(Bench.app, [wrong], digest: nil), at: 10)
        }
        #expect(throws: ServerFrame.Problem.self) {
            try bench.state.apply(.reseal(Bench.app, [], digest: [1]), at: 10)
        }
    }

    // MARK: Keeping

    @Test func `come back the same from what a store keeps`() throws {
        let bench = try Bench(
            .add(Self.record("a", expiresAt: 100) { $0.subject = "com.example.chat" }), Self.added("b"),
            Self.added("c"),
            Self.active("a"), Self.active("b", inPlaceOf: "a"),
            .noteProof(id: "b", .init(.sandbox, isGood: false, reason: "InvalidProviderToken", at: 11)),
            .noteAccepted(id: "b", topic: "com.example.chat", .production))
        let app = try #require(bench.state[app: Bench.app])
        let text = app.json.serialized as [UInt8]
        #expect(try ManagedApp(line: text) == app)
        #expect(app.pushCredentials.count == 3)
    }

    @Test func `of none leave no trace in what a store keeps`() throws {
        let app = try #require(try Bench().state[app: Bench.app])
        #expect(app.json["push_credentials"] == nil)
    }
}

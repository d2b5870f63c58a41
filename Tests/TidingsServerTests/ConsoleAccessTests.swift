import NIOConcurrencyHelpers
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

/// The registry as the store's changes make it, and a clock.
private struct Rig {
    let registry: AppRegistry
    let access: ConsoleAccess
    private let clock = NIOLockedValueBox(Now(monotonic: 1_000_000, wall: 1_800_000_000_000))
    private let control = NIOLockedValueBox(ControlState())

    init() throws {
        let registry = try AppRegistry(apps: [])
        let clock = self.clock
        self.registry = registry
        self.access = ConsoleAccess(registry, ServerConfiguration.Console(), now: { clock.withLockedValue { $0 } })
        try self.change(
            .addOperator(
                OperatorRecord(
                    name: "anna", role: .send, hashes: KeyHashes(Array(repeating: 1, count: 32)), createdAt: 0)))
    }

    func change(_ change: ControlChange) throws {
        let wall = self.clock.withLockedValue { $0.wall }
        let answer = try self.control.withLockedValue { try $0.apply(change, at: wall) }
        try self.registry.apply(change, answer)
    }

    func pass(minutes: Int64) {
        self.clock.withLockedValue {
            $0.monotonic += minutes * 60_000
            $0.wall += minutes * 60_000
        }
    }

    func signIn() throws -> String {
        let (secret, _, session) = self.access.drawSession()
        try self.change(.changeAccess(name: "anna", .addSession(session)))
        return secret
    }

    /// The same store, in another process.
    func restarted() -> ConsoleAccess {
        let clock = self.clock
        return ConsoleAccess(self.registry, ServerConfiguration.Console(), now: { clock.withLockedValue { $0 } })
    }
}

@Suite struct `The time of a session` {
    @Test func `is over after half an hour without a request`() throws {
        let rig = try Rig()
        let secret = try rig.signIn()
        rig.pass(minutes: 29)
        #expect(rig.access.signedIn(secret)?.record.name == "anna")
        rig.pass(minutes: 29)
        #expect(rig.access.signedIn(secret) != nil)
        #expect(rig.access.endedSessions().isEmpty)
        rig.pass(minutes: 30)
        #expect(rig.access.endedSessions().map(\.name) == ["anna"])
        #expect(rig.access.signedIn(secret) == nil)
    }

    @Test func `is not longer for a stream that is read`() throws {
        let rig = try Rig()
        let signedIn = try #require(rig.access.signedIn(try rig.signIn()))
        for _ in 0..<29 {
            rig.pass(minutes: 1)
            #expect(rig.access.isOpen(signedIn.session, as: .send))
        }
        rig.pass(minutes: 1)
        #expect(!rig.access.isOpen(signedIn.session, as: .send))
    }

    @Test func `is twelve hours at most`() throws {
        let rig = try Rig()
        let secret = try rig.signIn()
        for _ in 0..<36 {
            rig.pass(minutes: 20)
            if rig.access.signedIn(secret) == nil { break }
        }
        #expect(rig.access.endedSessions().count == 1)
        #expect(rig.access.signedIn(secret) == nil)
    }

    @Test func `goes on after a restart, for half an hour without a request`() throws {
        let rig = try Rig()
        let secret = try rig.signIn()
        rig.pass(minutes: 60)
        let access = rig.restarted()
        rig.pass(minutes: 29)
        #expect(access.signedIn(secret) != nil)
        rig.pass(minutes: 30)
        #expect(access.signedIn(secret) == nil)
    }

    @Test func `ends for what was begun with it when the role changes, at sign-out and with the operator`() throws {
        let rig = try Rig()
        let first = try #require(rig.access.signedIn(try rig.signIn()))
        let secret = try rig.signIn()
        let second = try #require(rig.access.signedIn(secret))
        try rig.change(.changeAccess(name: "anna", .endSession(hash: first.session.hash)))
        #expect(!rig.access.isOpen(first.session, as: .send))
        #expect(rig.access.isOpen(second.session, as: .send))
        try rig.change(.setOperatorRole(name: "anna", .content))
        #expect(!rig.access.isOpen(second.session, as: .send))
        #expect(rig.access.isOpen(second.session, as: .content))
        try rig.change(.removeOperator(name: "anna"))
        #expect(!rig.access.isOpen(second.session, as: .content))
        #expect(rig.access.signedIn(secret) == nil)
    }

    @Test func `is taken out of the store when it is over`() async throws {
        let rig = try Rig()
        _ = try rig.signIn()
        rig.pass(minutes: 15)
        let good = try rig.signIn()
        rig.pass(minutes: 15)
        await rig.access.sweepSessions { command in
            guard case .changeControl(let change) = command, (try? rig.change(change)) != nil else { return .keyInUse }
            return .control(.noted)
        }
        #expect(rig.registry.operatorNamed("anna")?.sessions.count == 1)
        #expect(rig.access.signedIn(good) != nil)
    }
}

@Suite struct `Passwords` {
    @Test func `are kept as scrypt makes them, each with a salt of its own`() async throws {
        let hashing = PasswordHashing()
        let (first, second) = (
            try await hashing.hash("a long pass phrase"), try await hashing.hash("a long pass phrase")
        )
        #expect(first.salt != second.salt && first.hash != second.hash)
        #expect(first.cost == 32_768 && first.blockSize == 8 && first.parallelism == 1)
        #expect(try await hashing.matches("a long pass phrase", first))
        #expect(try await !hashing.matches("a long pass phrasE", first))
        #expect(try await !hashing.matches("a long pass phrase", nil))
    }

    /// RFC 7914 §12, the second and third.
    @Test func `are what everybody's scrypt makes of them`() async throws {
        let hashing = PasswordHashing()
        let wanted = try #require(
            Hexadecimal.bytes("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162".utf8))
        let known = PasswordHash(
            salt: Array("NaCl".utf8), hash: wanted, cost: 1_024, blockSize: 8, parallelism: 16)
        #expect(try await hashing.matches("password", known))
        let other = try #require(
            Hexadecimal.bytes("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2".utf8))
        let second = PasswordHash(
            salt: Array("SodiumChloride".utf8), hash: other, cost: 16_384, blockSize: 8, parallelism: 1)
        #expect(try await hashing.matches("pleaseletmein", second))
    }

    @Test func `wait in a short line, and the rest are told to come again`() async throws {
        let hashing = PasswordHashing()
        let counts = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<60 { group.addTask { (try? await hashing.hash("a long pass phrase")) != nil } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(counts[true, default: 0] >= 34)
        #expect(counts[true, default: 0] + counts[false, default: 0] == 60)
    }
}

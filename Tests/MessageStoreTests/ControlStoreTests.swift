import Foundation
import GRDB
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine
@testable import StoreModel

private func hash(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 32) }

private let secret = TokenSecret(id: "s1", sealed: SealedBytes(keyID: "m1", bytes: [0xca, 0xfe]), createdAt: 1)
private let web = KeyUse.Key.api("shop", name: "web")

/// An app with a key, and an operator.
private let filled: [StoreCommand] = [
    change(.createApp("shop", AppSettings(), secret)),
    change(
        .addAPIKey("shop", APIKeyRecord(name: "web", hashes: KeyHashes(hash(1)), scopes: ["messages"], createdAt: 2))),
    change(.addOperator(OperatorRecord(name: "ann", role: .administer, hashes: KeyHashes(hash(2)), createdAt: 3))),
    change(.changeAccess(name: "ann", .setPassword(password, keeping: nil))),
    change(
        .changeAccess(
            name: "ann",
            .addSession(
                OperatorSession(hash: hash(5), tokenHash: hash(6), createdAt: 4, endsAt: 4_000_000_000_000)))),
]

private let password = PasswordHash(
    salt: Array(repeating: 4, count: 16), hash: hash(6), cost: 1 << 15, blockSize: 8, parallelism: 1)

private let used = change(.noteUses([KeyUse(web, at: 120_000), KeyUse(.ofOperator(name: "ann"), at: 60_000)]))

private func change(_ change: ControlChange) -> StoreCommand { .changeControl(change, at: 10) }

@Suite struct `Apps and operators in a store` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func open(_ configuration: MessageStoreConfiguration = MessageStoreConfiguration()) throws -> MessageStore {
        try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
    }

    /// What the commands give.
    private func expected(_ commands: [StoreCommand]) throws -> ControlState {
        let memory = MemoryStore()
        _ = memory.open()
        _ = try memory.apply(commands, epoch: 1)
        return memory.dump().control
    }

    private func spoil(_ sql: String) throws {
        let database = try DatabaseQueue(path: self.folder.path())
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    @Test(arguments: [true, false])
    func `are told when it is opened, as they were before the crash`(derives: Bool) async throws {
        var configuration = MessageStoreConfiguration()
        configuration.mayDerive = { _ in derives }
        configuration.machine.tailRecordsMax = 1
        let store = try self.open(configuration)
        #expect(store.opening.control == ControlState())
        _ = try await store.apply(filled + [used])
        store.abandon()
        let again = try self.open()
        let wanted = try self.expected(filled + [used])
        #expect(again.opening.control == wanted)
        #expect(wanted.lastUse(of: web) == 120_000)
        #expect(again.opening.control[operatorNamed: "ann"]?.password == password)
        #expect(again.opening.control[operatorNamed: "ann"]?.sessions.map(\.hash) == [hash(5)])
        #expect(try await again.apply([.readControl]) == [.controlState(wanted)])
        again.close()
    }

    @Test func `lose what is removed for good, and when it was used`() async throws {
        let store = try self.open()
        _ = try await store.apply(filled + [used])
        store.close()
        let changes: [StoreCommand] = [
            change(
                .addOperator(OperatorRecord(name: "bob", role: .administer, hashes: KeyHashes(hash(3)), createdAt: 4))),
            change(.removeOperator(name: "ann")), change(.removeAPIKey("shop", name: "web")), filled[1],
        ]
        let again = try self.open()
        _ = try await again.apply(changes)
        again.close()
        let last = try self.open()
        #expect(last.opening.control == (try self.expected(filled + [used] + changes)))
        #expect(last.opening.control[app: "shop"]?.apiKeys.map(\.lastUsedAt) == [nil])
        last.close()
        let database = try DatabaseQueue(path: self.folder.path())
        #expect(try await database.read { try String.fetchAll($0, sql: "SELECT name FROM operator") } == ["bob"])
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM key_use") } == 0)
    }

    @Test func `write a record for a change, and none for a use or for what changes nothing`() async throws {
        let store = try self.open()
        _ = try await store.apply(filled)
        // Not derived from a record: a use an hour would be most of the journal.
        _ = try await store.apply([used, change(.suspendApp("shop", false)), change(.removeOperator(name: "ann"))])
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        let rows = try await database.read { try Data.fetchAll($0, sql: "SELECT records FROM journal") }
        let count = try rows.reduce(0) { sum, row in try sum + row.withUnsafeBytes { try JournalRow.count($0) } }
        #expect(count == filled.count)
    }

    @Test func `are in a backup, and in a store that is rebuilt`() async throws {
        let copy = self.folder.path("copy.sqlite")
        let wanted = try self.expected(filled + [used])
        let store = try self.open()
        _ = try await store.apply(filled + [used])
        try await store.backUp(to: copy)
        _ = try await store.apply([change(.suspendApp("shop", true))])
        store.close()
        _ = try StoreMaintenance.restore(path: self.folder.path(), from: copy, logger: quiet)
        let restored = try self.open()
        #expect(restored.opening.control == wanted)
        restored.close()
        #expect(try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet).lost == [])
        let rebuilt = try self.open()
        #expect(rebuilt.opening.control == wanted)
        rebuilt.close()
    }

    @Test(arguments: [
        (
            "UPDATE app SET record = replace(record, '\"suspended\":false', '\"suspended\":true')",
            "apps are not what the journal gives"
        ),
        ("DELETE FROM operator", "operators are not what the journal gives"),
    ])
    func `whose rows are wrong are found by the check, and whole after the rebuild`(sql: String, finding: String)
        async throws
    {
        let store = try self.open()
        _ = try await store.apply(filled)
        store.close()
        #expect(try StoreMaintenance.check(path: self.folder.path(), logger: quiet) == [])
        try self.spoil(sql)
        #expect(try StoreMaintenance.check(path: self.folder.path(), logger: quiet) == [finding])
        _ = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(try StoreMaintenance.check(path: self.folder.path(), logger: quiet) == [])
    }

    @Test func `that cannot be read keep it from opening until it is rebuilt`() async throws {
        let store = try self.open()
        _ = try await store.apply(filled)
        store.close()
        try self.spoil("UPDATE app SET record = '{\"id\":1}'")
        do {
            _ = try self.open()
            Issue.record("it opens")
        } catch let error as MessageStoreError {
            #expect(error.reason == .damaged)
            #expect(error.detail == "a stored record holds an invalid app: id must be a string, got a number")
        }
        _ = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        let rebuilt = try self.open()
        #expect(rebuilt.opening.control == (try self.expected(filled)))
        rebuilt.close()
    }

    @Test func `whose record is lost are named by the rebuild, and uses of keys that are gone with it are not kept`()
        async throws
    {
        let store = try self.open()
        for command in filled + [used] { _ = try await store.apply([command]) }
        store.close()
        try self.spoil("UPDATE journal SET records = x'02' WHERE position = 2")
        let report = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(report.lost == ["journal record 2: a journal row has format 2, this build reads format 1"])
        let rebuilt = try self.open()
        #expect(rebuilt.opening.control[app: "shop"]?.apiKeys == [])
        #expect(rebuilt.opening.control[operatorNamed: "ann"]?.lastUsedAt == 60_000)
        _ = try await rebuilt.apply([filled[1]])
        rebuilt.close()
        let again = try self.open()
        #expect(again.opening.control.lastUse(of: web) == nil)
        again.close()
    }

    @Test func `have their webhooks after a crash and in a store that is rebuilt, also beside other changes`()
        async throws
    {
        let webhook = WebhookRecord(
            id: "w1", name: "Orders", url: "https://example.com", kinds: [.receipt, .legEnded],
            secret: SealedBytes(keyID: "m1", bytes: [1]), createdAt: 5)
        let rotated = WebhookChange.rotateSecret(
            id: "w1", SealedBytes(keyID: "m1", bytes: [2]), previousEndsAt: 4_000_000_000_000)
        let changes: [StoreCommand] = [
            change(.changeWebhook("shop", .add(webhook))), change(.changeWebhook("shop", rotated)),
            change(.changeWebhook("shop", .set(id: "w1", WebhookEdit(isEnabled: false)))),
            change(.suspendApp("shop", true)),
        ]
        let wanted = try self.expected(filled + changes)
        #expect(wanted[app: "shop"]?.webhooks.map(\.isEnabled) == [false])
        let store = try self.open()
        _ = try await store.apply(filled + changes)
        store.abandon()
        let again = try self.open()
        #expect(again.opening.control == wanted)
        again.close()
        #expect(try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet).lost == [])
        let rebuilt = try self.open()
        #expect(rebuilt.opening.control == wanted)
        _ = try await rebuilt.apply([change(.changeWebhook("shop", .remove(id: "w1")))])
        rebuilt.close()
        let last = try self.open()
        #expect(last.opening.control[app: "shop"]?.webhooks == [])
        last.close()
    }
}

@Suite struct `A record of an app or operator` {
    private static let app = ManagedApp(id: "shop", secrets: [secret], createdAt: 5)
    private static let ann = OperatorRecord(name: "ann", role: .send, hashes: KeyHashes([1]), createdAt: 2)

    private static let signedIn: OperatorRecord = {
        var record = Self.ann
        record.password = PasswordHash(salt: [2], hash: [3], cost: 1 << 15, blockSize: 8, parallelism: 1)
        record.sessions = [OperatorSession(hash: [4], tokenHash: [5], createdAt: 5, endsAt: 6)]
        return record
    }()

    private static func row(_ text: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(JournalRow.version)
        let start = writer.openLength()
        writer.write(JournalRecord.Kind.control)
        writer.text(text)
        writer.closeLength(at: start)
        return writer.bytes
    }

    private static func records(in bytes: [UInt8]) throws -> [JournalRecord] {
        var records: [JournalRecord] = []
        try bytes.withUnsafeBytes { bytes in
            try JournalRow.read(bytes) { record in
                records.append(record)
                return true
            }
        }
        return records
    }

    @Test func `is JSON, with who has asked for it`() throws {
        let audit = AuditRecord(
            number: 7, at: 3, author: ControlAuthor(.ofOperator, name: "ann", address: "::1"), action: "suspend",
            app: "shop", subject: "")
        let told =
            #""audit":{"number":7,"at":3,"actor":{"kind":"operator","name":"ann"},"address":"::1","#
            + #""action":"suspend","app":"shop","subject":"","outcome":"done"}"#
        for (entry, text) in [
            (ControlEntry(.app(Self.app)), #"{"app":\#(Self.app.json.text)}"#),
            (
                ControlEntry(.ofOperator(Self.ann)),
                #"{"operator":{"name":"ann","role":"send","hash":"01","created_at":2}}"#
            ),
            (
                ControlEntry(.ofOperator(Self.signedIn)),
                #"{"operator":{"name":"ann","role":"send","hash":"01","created_at":2,"password":{"salt":"02","#
                    + #""hash":"03","n":32768,"r":8,"p":1},"sessions":[{"hash":"04","token_hash":"05","created_at":5,"ends_at":6}]}}"#
            ), (ControlEntry(.removedOperator("ann")), #"{"removed_operator":"ann"}"#),
            (ControlEntry(.app(Self.app), audit), #"{"app":\#(Self.app.json.text),\#(told)}"#),
            (ControlEntry(.removedOperator("ann"), audit), #"{"removed_operator":"ann",\#(told)}"#),
            (ControlEntry(nil, audit), "{\(told)}"),
        ] {
            var row = JournalRow()
            row.append(.control(entry))
            #expect(row.bytes == Self.row(text))
            #expect(try Self.records(in: row.bytes) == [.control(entry)])
        }
    }

    @Test(arguments: [
        ("{}", "removed_operator is missing"), ("x", "record must be JSON"),
        (#"{"app":{"id":"shop"}}"#, "app."), (#"{"operator":{"name":"ann","role":"rule"}}"#, "operator.role"),
    ])
    func `of another form is damage`(text: String, words: String) throws {
        do {
            _ = try Self.records(in: Self.row(text))
            Issue.record("\(text) is taken")
        } catch let fault as StoredBytesFault {
            guard case .badValue(let what) = fault else { return #expect(Bool(false), "\(fault)") }
            #expect(what.contains(words), "\(what)")
        }
    }
}

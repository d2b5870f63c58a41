import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `A journal written before Apple's reason was kept` {
    private static func row(_ end: LegEnd) -> [UInt8] {
        var row = JournalRow()
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        row.append(.endLeg(EndedLeg(leg: leg, end: end, at: 7)))
        return row.bytes
    }

    private static func ends(in bytes: [UInt8]) throws -> [LegEnd] {
        var ends: [LegEnd] = []
        try bytes.withUnsafeBytes {
            try JournalRow.read($0) { record in
                if case .endLeg(let ended) = record { ends.append(ended.end) }
                return true
            }
        }
        return ends
    }

    @Test func `tells of the end without it`() throws {
        // Number 11 alone, where any other end without a detail has its own.
        var bytes = Self.row(.noToken)
        let place = try #require(
            zip(bytes, Self.row(.muted)).enumerated().first { $0.element.0 != $0.element.1 }?.offset)
        bytes[place] = 11
        #expect(try Self.ends(in: bytes) == [.tokenQuarantined(reason: "", status: 0)])
        // And is written as it was.
        #expect(Self.row(.tokenQuarantined(reason: "", status: 0)) == bytes)
    }

    @Test func `goes on with ends that tell it`() throws {
        let end = LegEnd.tokenQuarantined(reason: "BadDeviceToken", status: 400)
        #expect(try Self.ends(in: Self.row(end)) == [end])
    }
}

@Suite struct `A store file of version 1` {
    private static let hall = ConversationID(type: .chatRoom, target: "hall")
    private static let toAda = ConversationID(type: .direct, target: "ada")

    /// Five records derived, two more in the journal only. A record tells of the leg of a person without a device.
    private static let commands: [StoreCommand] = [
        accept(message(1)), .endLeg(withoutDevice),
        .putConversation(ConversationRecord(app: "shop", conversation: hall, name: "Hall", members: [])),
        accept(message(2, to: "hall", type: .chatRoom)),
        .signIn(DeviceKey(user: bo, device: "phone"), platform: "ios", at: 7), accept(message(3)),
        accept(message(4, from: "bo", to: "hall", type: .chatRoom)),
    ]

    private static let withoutDevice = EndedLeg(
        leg: LegID(message: MessageID(rawValue: 1), user: bo, device: nil), end: .noDevice, at: message(1).sentAt)

    private static func write(to path: String) throws {
        var rows: [JournalRow] = [JournalRow(), JournalRow()]
        rows[0].append(.accept(message(1), senderDevice: "phone", version: 0))
        rows[0].append(.endLeg(self.withoutDevice))
        rows[0].append(
            .putConversation(
                ConversationRecord(app: "shop", conversation: self.hall, name: "Hall", members: []), version: 1))
        rows[0].append(.accept(message(2, to: "hall", type: .chatRoom), senderDevice: "phone", version: 1))
        rows[0].append(
            .signIn(
                DeviceRecord(
                    key: DeviceKey(user: bo, device: "phone"), platform: "ios", push: .none, settled: 1, decided: 1,
                    since: 1, signedInAt: 7, isSignedOut: false)))
        rows[1].append(.accept(message(3), senderDevice: "phone", version: 0))
        rows[1].append(.accept(message(4, from: "bo", to: "hall", type: .chatRoom), senderDevice: "phone", version: 1))
        let blobs = rows.map { Data($0.bytes) }
        let database = try DatabaseQueue(path: path)
        try database.write { database in
            try database.execute(sql: Schema.tables)
            try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            try database.execute(sql: "PRAGMA user_version = 1")
            try database.execute(sql: "INSERT INTO journal VALUES (1, ?), (6, ?)", arguments: [blobs[0], blobs[1]])
            try database.execute(
                sql: """
                    UPDATE store SET epoch = 1, watermark = 5, indexed = 5, last_message = 2;
                    INSERT INTO person VALUES (1, 'shop', 'ada', 0, 1, 0, 5), (2, 'shop', 'bo', 0, 1, 1, 5);
                    INSERT INTO device VALUES (2, 'phone', 'ios', 0, NULL, NULL, NULL, NULL, NULL, 1, 1, 1, 7, 0);
                    -- Each: record 1, the direct conversation with the other (number << 4 | 1) << 1 | counts, unread.
                    INSERT INTO person_log VALUES (1, 1, x'014200'), (2, 1, x'012301');
                    INSERT INTO person_conversation VALUES (1, 33, 0, 0, 0), (2, 17, 1, 1, 0);
                    INSERT INTO client_message VALUES (1, 'c1', 1, 1800000000001), (1, 'c2', 2, 1800000000002);
                    INSERT INTO conversation VALUES (1, 'shop', 'CHRM', 'hall', 'Hall', 1);
                    INSERT INTO membership VALUES (1, 1, x'');
                    INSERT INTO message_index VALUES (1, 1, x'01'), (2, 4, x'');
                    """)
        }
        try database.close()
    }

    @Test func `opens with everything in it, and goes on as any other`() async throws {
        let folder = try TemporaryFolder()
        try Self.write(to: folder.path())
        var reference = ReferenceStore()
        _ = reference.open()
        _ = try reference.apply(Self.commands, epoch: 1)
        let store = try MessageStore(path: folder.path(), logger: quiet)
        #expect(store.opening.plain == reference.open())
        #expect(try await store.dump() == reference.dump())
        let more: [StoreCommand] = [
            .readHistory(bo, Self.hall, before: nil, limit: 9), .readHistory(bo, Self.toAda, before: nil, limit: 9),
            accept(message(1, client: "c1")), accept(message(5, from: "bo", to: "ada")),
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: 9), app: "shop", message: MessageID(rawValue: 1), actor: nil, window: 0,
                    at: 9)),
            .setConversationSettings(bo, Self.toAda, ConversationSettings(level: .blocked), at: 9),
            .markRead(bo, Self.toAda, upTo: 1, at: 9), .readAccount(bo), .changeAccount(ada, .ban, at: 9),
            .setProfiles("shop", [UserProfile("ada", Profile(name: "Ada"))], isOwn: false),
            .changeAccount(bo, .revokeTokens(before: 8, signsOut: true), at: 9),
            .signIn(DeviceKey(user: bo, device: "phone"), platform: "ios", tokenIssuedAt: 7, at: 9),
        ]
        #expect(try await store.apply(more) == reference.apply(more, epoch: 2))
        store.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(again.opening.plain == reference.open())
        #expect(try await again.dump() == reference.dump())
        again.close()
    }
}

@Suite struct `A store file of version 6` {
    @Test func `opens with its registrations, of which it is not known whether they ever worked`() async throws {
        let folder = try TemporaryFolder()
        let phone = DeviceKey(user: bo, device: "phone")
        let registration = PushRegistration(token: "ab12", environment: .production, topic: "com.example")
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([
            .signIn(phone, platform: "ios", at: 7), .setPushState(phone, .registered(registration, at: 8)),
        ])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write {
            try $0.execute(
                sql: "\(backToVersion7); ALTER TABLE device DROP COLUMN push_accepted; PRAGMA user_version = 6")
        }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.device(phone)?.push == .registered(registration, at: 8, wasAccepted: false))
        _ = try await migrated.apply([.setPushState(phone, .registered(registration, at: 8, wasAccepted: true))])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await again.device(phone)?.push == .registered(registration, at: 8, wasAccepted: true))
        again.close()
    }
}

@Suite struct `A store file of version 8` {
    @Test func `opens with its devices, for which no earlier message rings, and keeps it from now on`() async throws {
        let folder = try TemporaryFolder()
        let phone = DeviceKey(user: bo, device: "phone")
        func noToken(_ id: UInt64) -> StoreCommand {
            let leg = LegID(message: MessageID(rawValue: id), user: bo, device: "phone")
            return .endLeg(EndedLeg(leg: leg, end: .noToken, at: 8))
        }
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([.signIn(phone, platform: "ios", at: 7), accept(message(1)), noToken(1)])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion8); PRAGMA user_version = 8") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.device(phone)?.unpushed.ids == [])
        _ = try await migrated.apply([accept(message(2)), noToken(2)])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await again.device(phone)?.unpushed.ids == [MessageID(rawValue: 2)])
        again.close()
    }
}

@Suite struct `A store file of version 11` {
    /// Records of then do not say that a message is hushed for those who have blocked its sender: it counted.
    @Test
    func
        `counts what it had counted of blocked people, also where it is rebuilt from its journal, and from now on no more`()
        async throws
    {
        let folder = try TemporaryFolder()
        let toTeam = message(1, to: "team", type: .group)
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([
            .putConversation(
                ConversationRecord(app: "shop", conversation: team, name: "Team", members: ["ada", "bo"])),
            .setBlocked(bo, "ada", true, at: 7),
            // Kept as a build of then kept it.
            .accept(message: toTeam, senderDevice: nil, ignoresBlocks: true),
        ])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion12); PRAGMA user_version = 11") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        let result = try await migrated.apply([accept(message(2, to: "team", type: .group))])
        #expect(
            result == [
                .accepted(
                    deliveries: [
                        Delivery(user: "ada", position: 2, unread: 0),
                        Delivery(user: "bo", position: 3, unread: 1, isHushed: true),
                    ], names: MessageNames(conversation: "Team"))
            ])
        let before = try await migrated.dump()
        migrated.close()
        _ = try StoreMaintenance.rebuild(path: folder.path(), logger: quiet)
        let rebuilt = try MessageStore(path: folder.path(), logger: quiet)
        let after = try await rebuilt.dump()
        rebuilt.close()
        #expect(after.people == before.people)
    }

    @Test func `has records of messages with options that come back the same`() throws {
        var said = message(1, to: "team", type: .group)
        said.push = PushOptions(
            title: "Desk", sound: "a.caf", interruptionLevel: .passive, custom: JSONObject([("order", 7)]))
        var parts = [said, said, said]
        parts[1].push = PushOptions(title: "Desk")
        parts[2].push = PushOptions(sound: "a.caf")
        for message in parts {
            for hushes in [false, true] {
                let record = JournalRecord.accept(message, senderDevice: nil, version: 1, hushes: hushes)
                _ = try bytesReadBack(record)
            }
        }
    }

    @Test func `has records that differ from those that hush in their kind alone`() throws {
        func bytes(hushes: Bool, _ mentions: Mentions) throws -> [UInt8] {
            var said = message(1, to: "team", type: .group)
            said.mentions = mentions
            let record = JournalRecord.accept(said, senderDevice: "phone", version: 1, hushes: hushes)
            return try bytesReadBack(record)
        }
        for (mentions, kinds) in [(Mentions.none, [1, 26]), (.everyone, [11, 27])] {
            let (old, new) = (try bytes(hushes: false, mentions), try bytes(hushes: true, mentions))
            let others = zip(old, new).filter { $0 != $1 }
            #expect(old.count == new.count && others.flatMap { [Int($0), Int($1)] } == kinds)
        }
    }
}

extension MessageStore {
    func device(_ key: DeviceKey) async throws -> DeviceRecord? {
        guard case .user(let record) = try await self.apply([.loadUser(key.user)]).first else { return nil }
        return record.devices.first { $0.key == key }
    }
}

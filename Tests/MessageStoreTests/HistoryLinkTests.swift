import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `The history of a quiet conversation` {
    private static let toCy = ConversationID(type: .direct, target: "cy")

    private static let commands: [StoreCommand] =
        [accept(message(1, from: "cy", to: "bo"))] + (2...201).map { accept(message($0)) }
        + [accept(message(202, from: "cy", to: "bo"))]

    private static func ids(_ results: [StoreResult]) -> [[UInt64]] {
        results.map { result in
            guard case .history(let messages, _) = result else { return [] }
            return messages.map(\.id.rawValue)
        }
    }

    private static func write(to path: String) async throws {
        var configuration = MessageStoreConfiguration()
        configuration.logChunkBytes = 16
        configuration.tailRecordsMax = 8
        let store = try MessageStore(path: path, configuration: configuration, logger: quiet)
        _ = try await store.apply(Self.commands)
        store.close()
    }

    @Test func `is read without a look at what lies between its messages`() async throws {
        let folder = try TemporaryFolder()
        try await Self.write(to: folder.path())
        let database = try DatabaseQueue(path: folder.path())
        let spoilt = try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE person_log SET format = 99 WHERE position BETWEEN 30 AND 170
                    AND person = (SELECT number FROM person WHERE user = 'bo')
                    """)
            return database.changesCount
        }
        try database.close()
        #expect(spoilt > 20)
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let cy = MessageID(rawValue: 202)
        let results = try await store.apply([
            .readHistory(bo, Self.toCy, before: nil, limit: 9), .readHistory(bo, Self.toCy, before: nil, limit: 1),
            .readHistory(bo, Self.toCy, before: cy, limit: 1),
        ])
        #expect(Self.ids(results) == [[202, 1], [202], [1]])
        // What lies between could not be read.
        let walked = try await store.apply([.readLog(bo, after: 20, limit: 100)])
        #expect(walked.map { if case .unreadable = $0 { true } else { false } } == [true])
        store.close()
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `is the same after a file of version 2 was brought up to date`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.logChunkBytes = 12
        configuration.tailRecordsMax = 4
        var generator = CommandGenerator(seed: seed)
        var reference = ReferenceStore()
        _ = reference.open()
        let commands = (0..<60).map { _ in generator.plain() }.filter { command in
            switch command {
            case .changeControl, .setConversationState, .setObjectNames, .setAccount, .putAccount, .setFollowing,
                .changeAccount,
                .setProfiles,
                .setVoIPToken, .setDeviceStatus, .createPush, .setLabels,
                .setPushState(_, .registered(_, _, true), _):
                false
            case .change(let operation): !operation.isNewer
            case .edit(let operation): !operation.content.contains("media:")
            // Whom it asks first version 2 did not know.
            case .setPersonSettings(_, let settings, _): settings.mayBeAddedBy == nil
            case .keepLeg(let open): open.pushJob == nil
            // What could not be pushed version 2 did not keep.
            case .endLeg(let ended): ended.leg.device != nil && !ended.end.couldNotBePushed
            default: true
            }
        }.map(Self.withoutNewerParts)
        let first = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        _ = try await first.apply(commands)
        _ = try reference.apply(commands, epoch: 1)
        // Of people without a device version 2 had a record of its own each time.
        let withoutDevice = reference.dump().messages.flatMap(\.ended).filter { $0.leg.device == nil }
        _ = try await first.apply(withoutDevice.map(StoreCommand.endLeg))
        _ = try reference.apply(withoutDevice.map(StoreCommand.endLeg), epoch: 1)
        first.close()
        try Self.takeBack(folder.path())
        let second = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        _ = reference.open()
        #expect(try await second.dump() == reference.dump())
        let questions = ["ada", "bo", "cy", "dee", "eve"].flatMap { user -> [StoreCommand] in
            let conversations =
                [ConversationType.group, .discussion].map { ConversationID(type: $0, target: "team") }
                + ["ada", "bo", "cy"].map { ConversationID(type: .direct, target: $0) }
            return conversations.map {
                .readHistory(UserKey(app: "shop", user: UserID(user)), $0, before: nil, limit: 100)
            }
        }
        #expect(try await second.apply(questions) == reference.apply(questions, epoch: 2))
        // Rows of version 2 do not tell entries with a message from others, so a conversation may stand in the list where it has another.
        let more =
            (0..<30).map { _ in generator.plain() }.filter {
                if case .readConversationList = $0 { false } else { true }
            } + questions
        let (found, expected) = (try await second.apply(more), try reference.apply(more, epoch: 2))
        for (index, command) in more.enumerated() where found[index] != expected[index] {
            Issue.record("\(command): \(found[index]), not \(expected[index])")
        }
        second.close()
    }

    private static func withoutNewerParts(_ command: StoreCommand) -> StoreCommand {
        // What has happened to a leg version 2 did not keep.
        if case .keepLeg(var open) = command {
            open.steps = LegSteps()
            return .keepLeg(open)
        }
        if case .endLeg(var ended) = command {
            ended.steps = LegSteps()
            return .endLeg(ended)
        }
        // Version 2 hushed nothing, and knew neither options of pushes nor media.
        if case .putConversation(var record) = command {
            record.push = nil
            return .putConversation(record)
        }
        guard case .accept(var message, let device, let room, _, _, _) = command else { return command }
        message.push = nil
        message.content = message.content.replacing("media:", with: "none:")
        return .accept(message: message, senderDevice: device, room: room, ignoresBlocks: true)
    }

    private static func takeBack(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { database in
            let rows = try Row.fetchAll(database, sql: "SELECT person, position, entries, format FROM person_log")
            for row in rows {
                let (person, first): (Int64, Int64) = (row[0], row[1])
                let entries: Data = row[2]
                var writer = ByteWriter()
                var last: JournalPosition = 0
                try entries.withUnsafeBytes { bytes in
                    _ = try LogChunk.read(bytes, first: LogPosition(first), format: row[3]) { entry in
                        writer.number(entry.record - last)
                        let flags: UInt64 = (entry.mentions ? 2 : 0) | (entry.counts ? 1 : 0)
                        writer.number(entry.conversation.rawValue << 2 | flags)
                        writer.number(UInt64(entry.unread))
                        last = entry.record
                        return true
                    }
                }
                try database.execute(
                    sql: "UPDATE person_log SET entries = ?, format = 2 WHERE person = ? AND position = ?",
                    arguments: [Data(writer.bytes), person, first])
            }
            try database.execute(
                sql: """
                    ALTER TABLE person_conversation DROP COLUMN last;
                    ALTER TABLE person DROP COLUMN signed_in;
                    DROP TABLE object_name;
                    DROP TABLE receipt;
                    \(backToVersion5);
                    PRAGMA user_version = 2;
                    """)
        }
        try database.close()
    }
}

extension ConversationOperation {
    /// Version 2 had no place for what it does.
    fileprivate var isNewer: Bool {
        switch self.action {
        case .ban, .unban, .mute, .unmute, .setOnlyAdminsWrite, .invite, .decline, .withdraw: true
        default: false
        }
    }
}

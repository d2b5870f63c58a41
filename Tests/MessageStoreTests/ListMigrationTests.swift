import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

private let toAda = ConversationID(type: .direct, target: "ada")

@Suite struct `A store file of version 17` {
    @Test func `opens with what was set, and keeps lists and drafts from now on`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let person = PersonSettings(language: "de", mayBeAddedBy: .contacts)
        let muted = ConversationSettings(level: .blocked, levelUntil: 99)
        _ = try await store.apply([
            .setPersonSettings(bo, person, at: 7), .setConversationSettings(bo, toAda, muted, at: 8),
        ])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion17); PRAGMA user_version = 17") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.settings == AllSettings(person: person, conversations: [toAda: muted]))
        _ = try await migrated.apply([
            .setConversationState(bo, toAda, .draft("ho"), at: 9),
            .setConversationState(bo, team, .archived(true), at: 9),
        ])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        var wanted = AllSettings(person: person, conversations: [toAda: muted, team: .init()])
        wanted.conversations[toAda]?.draft = ConversationDraft(text: "ho", writtenAt: 9)
        wanted.conversations[team]?.isArchived = true
        #expect(try await again.settings == wanted)
        again.close()
    }

    @Test(arguments: [nil, AddingConsent.nobody])
    func `has settings that are read back with what is listed, and without`(consent: AddingConsent?) throws {
        var listed = ConversationSettings(level: .mentions)
        listed.hiddenUpTo = MessageID(rawValue: 5)
        listed.pinnedAt = 6
        var drafted = ConversationSettings()
        drafted.draft = ConversationDraft(text: "ho", writtenAt: 7)
        for conversations in [[:], [toAda: .init(level: .blocked)], [toAda: listed, team: drafted]] {
            let all = AllSettings(
                person: PersonSettings(mayBeAddedBy: consent), conversations: conversations, blocked: ["cy"])
            var writer = ByteWriter()
            writer.write(all)
            let read: AllSettings = try writer.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return try reader.read()
            }
            #expect(read == all)
        }
    }

    @Test func `has records of settings that differ in their kind by what they say`() throws {
        var listed = ConversationSettings(level: .mentions)
        listed.isArchived = true
        let records: [(JournalRecord, UInt8)] = [
            (.conversationSettings(bo, toAda, .init(level: .mentions), at: 7), 17),
            (.conversationSettings(bo, toAda, listed, at: 7), 46),
            (.conversationSettings(bo, toAda, listed, draft: .init(text: "ho", earlier: 4), at: 7), 47),
            (.conversationSettings(bo, toAda, .init(), draft: .init(text: nil, earlier: nil), at: 7), 47),
        ]
        for (record, kind) in records {
            // A byte of format, four of length, the kind.
            #expect(try bytesReadBack(record)[5] == kind)
        }
    }
}

extension MessageStore {
    fileprivate var settings: AllSettings? {
        get async throws {
            guard case .settings(let settings) = try await self.apply([.readSettings(bo)]).first else { return nil }
            return settings
        }
    }
}

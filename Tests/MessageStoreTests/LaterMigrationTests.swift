import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `A store file of version 12` {
    @Test func `opens with its devices, none of which is rung, and keeps the token for calls from now on`() async throws
    {
        let folder = try TemporaryFolder()
        let phone = DeviceKey(user: bo, device: "phone")
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([.signIn(phone, platform: "ios", at: 7)])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion12); PRAGMA user_version = 12") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.tokensForCalls(of: bo) == [nil])
        let token = VoIPToken(
            PushRegistration(token: "0a0b", environment: .production, topic: "com.example.chat.voip"), at: 9)
        _ = try await migrated.apply([.setVoIPToken(phone, token), .signIn(phone, platform: "ios", at: 10)])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await again.tokensForCalls(of: bo) == [token])
        _ = try await again.apply([.signOut(phone, at: 11)])
        #expect(try await again.tokensForCalls(of: bo) == [nil])
        again.close()
    }
}

extension MessageStore {
    fileprivate func tokensForCalls(of user: UserKey) async throws -> [VoIPToken?] {
        guard case .user(let record) = try await self.apply([.loadUser(user)]).first else { return [] }
        return record.devices.map(\.voIP)
    }
}

@Suite struct `A store file of version 13` {
    /// Who had written to whom stood in the journal alone.
    @Test func `knows whom people had written to from their devices`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([
            accept(message(1, from: "bo", to: "ada")), accept(message(2, from: "ada", to: "cy")),
            .accept(message: message(3, from: "bo", to: "cy"), senderDevice: nil),
        ])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion13); PRAGMA user_version = 13") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        let cursors = try await migrated.dump().people.flatMap { person in
            person.cursors.filter(\.hasWritten).map { "\(person.record.key.user) to \($0.conversation.target)" }
        }
        #expect(cursors == ["ada to cy", "bo to ada"])
        let contacts = PersonSettings(mayBeAddedBy: .contacts)
        let create = ConversationOperation(
            app: "shop", conversation: team, action: .create(name: "Team", portrait: nil, members: ["bo"]),
            actor: "cy", at: 9)
        let results = try await migrated.apply([.setPersonSettings(bo, contacts, at: 8), .change(create)])
        guard case .changed(_, invited: ["bo"])? = results.last else {
            return #expect(Bool(false), "the backend wrote to cy, not bo: \(results)")
        }
        migrated.close()
    }

    @Test func `has settings that differ from those that say by whom one may be added in what stands before`() throws {
        func record(_ consent: AddingConsent?) -> JournalRecord {
            .personSettings(bo, PersonSettings(hidesContent: true, language: "de", mayBeAddedBy: consent), at: 7)
        }
        for consent in [nil, AddingConsent.nobody] {
            var row = JournalRow()
            row.append(record(consent))
            var read: [JournalRecord] = []
            try row.bytes.withUnsafeBytes {
                try JournalRow.read($0) { record in
                    read.append(record)
                    return true
                }
            }
            #expect(read == [record(consent)])
            // A byte of format, four of length, the kind.
            #expect(row.bytes[5] == (consent == nil ? 18 : 28))
        }
    }
}

@Suite struct `A store file of version 14` {
    @Test func `opens without uses of media, and finds those of messages from now on`() async throws {
        let folder = try TemporaryFolder()
        let media = MediaID("0123456789abcdef0123456789abcdef")
        let image = #"{"imageUri":"\#(media.reference)"}"#
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([accept(message(1))])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion14); PRAGMA user_version = 14") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.messages(naming: media) == [])
        _ = try await migrated.apply([accept(message(2, content: image))])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await again.messages(naming: media) == [MessageID(rawValue: 2)])
        again.close()
    }
}

@Suite struct `A store file of version 15` {
    @Test func `opens with its conversations, which have no options of pushes, and keeps those from now on`()
        async throws
    {
        let folder = try TemporaryFolder()
        var record = ConversationRecord(app: "shop", conversation: team, name: "Team", members: ["ada", "bo"])
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([.putConversation(record)])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion15); PRAGMA user_version = 15") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.dump().conversations.map(\.record) == [record])
        record.push = PushOptions(title: "Desk", sound: "a.caf")
        _ = try await migrated.apply([.putConversation(record)])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await again.dump().conversations.map(\.record) == [record])
        again.close()
    }
}

extension MessageStore {
    fileprivate func messages(naming media: MediaID) async throws -> [MessageID] {
        guard case .mediaUses(let uses) = try await self.apply([.readMediaUses("shop", media, by: "ada")]).first else {
            return []
        }
        return uses.map(\.message)
    }
}

@Suite struct `A store file of version 16` {
    @Test func `opens with its devices, of which nothing was reported, and keeps what is from now on`() async throws {
        let folder = try TemporaryFolder()
        let phone = DeviceKey(user: bo, device: "phone")
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([.signIn(phone, platform: "ios", at: 7)])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion16); PRAGMA user_version = 16") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await migrated.device(phone)?.status == nil)
        let status = DeviceStatus(
            authorization: .denied, alert: false, sound: true, badge: true, lockScreen: false,
            notificationCenter: true, backgroundRefresh: .restricted, iconNumber: .serviceExtension,
            isLowPowerModeOn: true, timeZone: "Asia/Shanghai", languages: ["zh-Hans", "en"], appVersion: "2.0",
            systemVersion: "26.1")
        let reported = ReportedStatus(status, at: 9, offSince: 8)
        // Another sign-in's record does not repeat it.
        _ = try await migrated.apply([
            .setDeviceStatus(phone, reported), .signIn(phone, platform: "ios", at: 10),
        ])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await again.device(phone)?.status == reported)
        _ = try await again.apply([.signOut(phone, at: 11)])
        #expect(try await again.device(phone)?.status == nil)
        again.close()
    }
}

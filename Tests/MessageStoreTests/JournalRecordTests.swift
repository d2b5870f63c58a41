import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A record of the journal` {
    private static let toAda = ConversationID(type: .direct, target: "ada")

    private static func accept(_ change: (inout Message) -> Void = { _ in }, author: UserID? = nil) -> JournalRecord {
        var message = message(1, to: "team", type: .group)
        change(&message)
        return .accept(message, senderDevice: "phone", version: 1, hushes: true, author: author)
    }

    private func expect(_ record: JournalRecord, _ kind: UInt8) throws {
        // A byte of format, four of length, the kind.
        #expect(try bytesReadBack(record)[5] == kind, "\(record)")
    }

    @Test func `has the number of its kind, and is read as it was written`() throws {
        try self.expect(Self.accept(), 1)
        try self.expect(.accept(message(1), senderDevice: nil, version: 0), 1)
        try self.expect(Self.accept { $0.mentions = .everyone }, 2)
        try self.expect(Self.accept { $0.recipients = ["bo"] }, 2)
        try self.expect(Self.accept { $0.expiresAt = 9 }, 2)
        try self.expect(Self.accept(author: "cy"), 2)
        let (words, sound) = (PushOptions(title: "Desk"), PushOptions(sound: "a.caf", interruptionLevel: .passive))
        for push in [words, sound, words.merged(over: sound)] { try self.expect(Self.accept { $0.push = push }, 2) }
        for push in [nil, words] {
            let members = [Member("ada", role: .owner, nickname: "A"), Member("bo")]
            let record = ConversationRecord(
                app: "shop", conversation: team, name: "Team", portrait: push.map { _ in "p" }, members: members,
                push: push)
            try self.expect(.putConversation(record, version: 4), 3)
        }
        var listed = ConversationSettings(level: .mentions, levelUntil: 9)
        (listed.pinnedAt, listed.isArchived, listed.hiddenUpTo) = (6, true, MessageID(rawValue: 5))
        for draft in [nil, JournalRecord.Draft(text: "ho", earlier: 4), .init(text: nil, earlier: nil)] {
            try self.expect(.conversationSettings(bo, Self.toAda, listed, draft: draft, at: 7), 8)
        }
        for consent in [nil, AddingConsent.nobody] {
            let settings = PersonSettings(hidesContent: true, language: "de", mayBeAddedBy: consent)
            try self.expect(.personSettings(bo, settings, at: 7), 9)
        }
        var custom = CustomMessage(
            id: MessageID(rawValue: 1), title: "t", content: "{}", extras: JSONObject([("n", .int(1))]), sentAt: 0)
        for expiresAt in [nil, 9] as [Int64?] {
            custom.expiresAt = expiresAt
            let operation = CustomOperation(
                app: "shop", message: custom, recipients: ["ada", "bo"], clientMessageID: "c1")
            try self.expect(.custom(operation), 11)
        }
        let registration = PushRegistration(token: "0a0b", environment: .production, topic: "com.example.chat")
        for wasAccepted in [false, true] {
            let state = PushState.registered(registration, at: 8, wasAccepted: wasAccepted)
            try self.expect(.setPushState(DeviceKey(user: bo, device: "phone"), state), 14)
        }
        let news = ConversationID(type: .publicService, target: "news")
        let described = ServiceAccount(news, owner: "ada", operators: ["cy"], audience: .followers)
        for account in [nil, ServiceAccount(news), described] { try self.expect(.account("shop", news, account), 27) }
        try self.expect(.lost, 34)
    }

    @Test func `has no text of people in it when that was erased, and is read all the same`() throws {
        let withOptions = { (message: inout Message) in
            message.content = #"{"content":"SECRET"}"#
            (message.pushText, message.push) = ("SECRET", PushOptions(title: "SECRET", sound: "a.caf"))
        }
        let plain = { (message: inout Message) in
            (message.content, message.pushText) = (#"{"content":"SECRET"}"#, "SECRET")
        }
        let edit = Edit(message: MessageID(rawValue: 1), conversation: Self.toAda, content: "SECRET", at: 9)
        let draft = JournalRecord.conversationSettings(
            bo, Self.toAda, .init(), draft: .init(text: "SECRET", earlier: nil), at: 7)
        for record in [
            Self.accept(plain), Self.accept(plain, author: "cy"), Self.accept(withOptions),
            Self.accept(withOptions, author: "cy"), .edit("shop", edit, accepted: 3), draft,
        ] {
            var row = JournalRow()
            for record in [record, record] { row.append(record) }
            var bytes = row.bytes
            try JournalRow.erase([1], in: &bytes)
            var read: [JournalRecord] = []
            try bytes.withUnsafeBytes {
                try JournalRow.read($0) { record in
                    read.append(record)
                    return true
                }
            }
            #expect(read.first == record)
            #expect(read.count == 2 && !"\(read[1])".contains("SECRET"), "\(record)")
            guard case .accept(let left, _, _, _, let author)? = read.last,
                case .accept(let before, _, _, _, let wrote) = record
            else { continue }
            #expect(left.push == before.push?.withoutWords && left.sentAt == before.sentAt && author == wrote)
        }
    }
}

@Suite struct `What a person has set` {
    private static let toAda = ConversationID(type: .direct, target: "ada")

    @Test(arguments: [nil, AddingConsent.nobody])
    func `is read from their row as it was written`(consent: AddingConsent?) throws {
        var listed = ConversationSettings(level: .mentions)
        (listed.pinnedAt, listed.hiddenUpTo) = (6, MessageID(rawValue: 5))
        var drafted = ConversationSettings()
        drafted.draft = ConversationDraft(text: "ho", writtenAt: 7)
        for conversations in [[:], [Self.toAda: .init(level: .blocked)], [Self.toAda: listed, team: drafted]] {
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
}

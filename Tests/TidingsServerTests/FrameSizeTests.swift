import ServerCore
import Testing
import TidingsModel
import TidingsWire

@testable import TidingsServer

/// Text that JSON writes as long as it can: a control character takes six bytes, and where none may be, a quotation mark two.
private func worst(_ bytes: Int, mayBeControl: Bool) -> String {
    String(repeating: mayBeControl ? "\u{1}" : "\"", count: bytes)
}

@Suite struct `The largest frame of the server` {
    private static let people = [UserID](repeating: UserID(worst(64, mayBeControl: false)), count: 3_000)
    private static let message = Message(
        id: MessageID(rawValue: .max), app: AppID(worst(64, mayBeControl: false)), sender: people[0],
        conversation: ConversationID(type: .group, target: worst(64, mayBeControl: false)),
        clientMessageID: ClientMessageID(worst(64, mayBeControl: false)), objectName: .text,
        content: worst(MessageDraft.contentBytesMax, mayBeControl: true), flags: .normal,
        pushText: worst(MessageDraft.pushTextBytesMax, mayBeControl: true), sentAt: .max,
        mentions: .users(Array(people.prefix(100))), recipients: Array(people.prefix(100)), expiresAt: .max)
    private static let change = ConversationChange(
        conversation: message.conversation, version: .max,
        action: .add(people), by: people[0], at: .max)

    private static let frames: [String: ServerFrame] = [
        "conversation": .answer(
            .max,
            .conversation(
                ConversationInfo(
                    id: message.conversation, version: .max,
                    name: worst(DisplayName.bytesMax, mayBeControl: false),
                    portrait: worst(ConversationAction.portraitBytesMax, mayBeControl: true),
                    members: people.map {
                        // As many letters as a nickname may have, each of which JSON writes as two.
                        Member($0, role: .member, nickname: String(repeating: "\"\u{301}", count: 64) + "\u{300}")
                    }, isDissolved: true))),
        "receipts": .answer(
            .max,
            .receipts(MessageReceipts(id: message.id, recipients: 3_000, delivered: people, read: people))),
        "settings": .answer(
            .max,
            .settings(AllSettings(person: PersonSettings(), conversations: [:], blocked: Array(people.prefix(1_000))))),
        "presence": .answer(
            .max, .presence(people.prefix(500).map { Presence(id: $0, isOnline: true, lastSeenAt: .max) })),
        "message": .entry(LogEntry(position: .max, body: .message(message))),
        "change": .entry(LogEntry(position: .max, body: .change(change))),
        // As the core cuts it: content and lists count twice, JSON may take six times.
        "page": .page(
            .init(
                after: .max,
                entries: (1...4).map { _ in LogEntry(position: .max, body: .message(message)) }, head: .max,
                unread: .max)
        ),
    ]

    @Test(arguments: frames.keys.sorted(), WireFormat.allCases)
    func `is no larger than its welcome says`(name: String, format: WireFormat) throws {
        let frame = try #require(Self.frames[name])
        #expect(FrameCodec.encode(frame, as: format).count <= ServerSettings.serverFrameBytesMax)
    }

    @Test func `is not sent if it is larger: an answer says so, and anything else ends the connection`() throws {
        let rule = "has 3000000 bytes, the server sends at most 2097152"
        let answer = try #require(Self.frames["settings"])
        #expect(
            GatewayConnection.replacement(for: answer, bytes: 3_000_000)
                == .answer(.max, .refused(.init(code: .frameTooLarge, field: "answer", rule: rule))))
        #expect(
            GatewayConnection.replacement(for: .entry(LogEntry(position: 1, body: .unknown)), bytes: 3_000_000)
                == .problem(.init(code: .frameTooLarge, field: "frame", rule: rule), isFatal: true))
    }
}

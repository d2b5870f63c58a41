import ClientCore
import TidingsModel

@testable import TidingsClient

struct LocalStoreStep: Hashable, CustomStringConvertible {
    /// What is done; positions count from where the store ends.
    enum Action: Hashable {
        /// Entries of the log; the first one lies so far beyond the next: before it for a page that comes again, behind it for a gap.
        case entries([LogEntry.Body], ahead: Int)
        /// A part of the log was trimmed, up to so far behind the end; `isHere`: the store ends before it.
        case skip(Int, isHere: Bool)
        case command(LocalStoreCommand)
        /// The process ends as it should, and another begins.
        case restart
        /// Bytes of the file are lost while no process runs.
        case damage
        case signOut(next: UserID)
    }

    enum Accident: Hashable {
        /// The phone is full: nothing can be committed.
        case full
        case killed(Moment)
    }

    enum Moment: Hashable {
        /// After so many changed rows.
        case row(Int)
        case beforeCommit
        /// So many thousandths of the commit's bytes are in the log of SQLite.
        case inCommit(Int)
        case afterCommit
        case afterAnswer
    }

    var action: Action
    var accident: Accident?

    var description: String { self.accident.map { "\($0): \(self.action)" } ?? "\(self.action)" }
}

/// Makes steps about two people on one device, their few conversations and a few messages, so that steps meet.
struct LocalStoreGenerator {
    private var random: SplitMix64
    private var lastID: UInt64 = 1_000
    private var made: [Message] = []
    private var customs: [CustomMessage] = []

    static let people: [UserID] = ["alice", "bob"]
    static let others: [UserID] = ["alice", "bob", "cat"]
    static let conversations =
        Self.others.map { ConversationID(type: .direct, target: $0.rawValue) } + [
            ConversationID(type: .group, target: "team"), ConversationID(type: .discussion, target: "hall"),
        ]

    init(seed: UInt64) { self.random = SplitMix64(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.random) }
    private mutating func chance(_ percent: Int) -> Bool { self.number(1...100) <= percent }
    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[self.number(0...(elements.count - 1))]
    }

    mutating func steps(_ count: Int) -> [LocalStoreStep] {
        var left = 0
        return (0..<count).map { _ in
            // A full phone stays full for a while.
            if left == 0, self.chance(6) { left = self.number(1...5) }
            left = max(0, left - 1)
            let action = self.action()
            switch action {
            case .restart, .damage, .signOut, .command(.beginAnew): return LocalStoreStep(action: action)
            case .entries, .skip, .command:
                if left > 0 { return LocalStoreStep(action: action, accident: .full) }
                guard self.chance(10) else { return LocalStoreStep(action: action) }
                return LocalStoreStep(action: action, accident: .killed(self.moment()))
            }
        }
    }

    private mutating func moment() -> LocalStoreStep.Moment {
        switch self.number(0...4) {
        case 0: .row(self.number(1...6))
        case 1: .beforeCommit
        case 2: .inCommit(self.number(1...999))
        case 3: .afterCommit
        default: .afterAnswer
        }
    }

    private mutating func action() -> LocalStoreStep.Action {
        switch self.number(0...99) {
        case 0..<52:
            let ahead = self.chance(85) ? 0 : self.number(-3...2)
            return .entries((0..<self.number(1...4)).map { _ in self.body() }, ahead: ahead)
        case 52..<54: return .skip(self.number(0...3), isHere: self.chance(80))
        case 54..<56: return .signOut(next: self.pick(Self.people))
        case 56..<59: return .restart
        case 59: return .damage
        default: return .command(self.command())
        }
    }

    // tidy: long because it makes each kind of command there is.
    private mutating func command() -> LocalStoreCommand {
        switch self.number(0...23) {
        case 0...1: .settle(upTo: self.position())
        case 2...5: .keepOutgoing(self.draft())
        case 6...8: .removeOutgoing(self.outgoingID())
        case 9...12: .markRead(self.readConversation(), upTo: self.position())
        case 14 where self.chance(50): .markPendingChange(self.pendingChange(), isTold: self.chance(70))
        case 13...14: .addPendingChange(self.pendingChange())
        case 15...16: .removePendingChange(self.pendingChange(), isKept: self.chance(50))
        case 17: .replaceSettings(self.settings())
        case 18: .keepConversation(self.info())
        case 19: .resetLog(self.chance(70) ? self.origin() : nil)
        case 20: .keepOrigin(self.origin())
        case 21...22: .takeCustomMessages(wall: self.chance(30) ? nil : Int64(self.number(0...100)))
        default: self.chance(30) ? .beginAnew : .settle(upTo: self.position())
        }
    }

    // tidy: long because it makes each kind of entry there is.
    private mutating func body() -> LogEntry.Body {
        switch self.number(0...29) {
        case 0...13: .message(self.message())
        case 14...15: .read(conversation: self.readConversation(), upTo: self.position())
        case 16...17: .custom(self.custom())
        case 18...19:
            .recall(
                Recall(
                    id: self.nextID(), message: self.messageID(), conversation: self.pick(Self.conversations),
                    sender: self.pick(Self.others), at: 7))
        case 20...21:
            .edit(
                Edit(
                    message: self.messageID(), conversation: self.pick(Self.conversations),
                    content: #"{"content":"e\#(self.number(0...9))"}"#, at: 8))
        case 22:
            .deletion(
                Deletion(
                    conversation: self.pick(Self.conversations),
                    messages: Set((0..<self.number(1...3)).map { _ in self.messageID() }).sorted()))
        case 23...24: .conversationSettings(self.pick(Self.conversations), self.own())
        case 25: .personSettings(self.personSettings())
        case 26: .blocked(self.pick(Self.others), self.chance(60))
        case 27...28: .change(self.change())
        default: .unknown
        }
    }

    // MARK: Messages

    private mutating func nextID() -> MessageID {
        self.lastID += UInt64(self.number(1...3))
        return MessageID(rawValue: self.lastID)
    }

    /// Of a message that was made, or that nobody has heard of.
    private mutating func messageID() -> MessageID {
        self.made.isEmpty || self.chance(10) ? MessageID(rawValue: self.lastID + 1) : self.pick(self.made).id
    }

    /// One that came before comes again, as it does when the log begins anew.
    private mutating func message() -> Message {
        if !self.made.isEmpty, self.chance(25) { return self.pick(self.made) }
        let sender = self.pick(Self.others)
        let targets = Self.others.filter { $0 != sender }.map(\.rawValue)
        let conversation =
            self.chance(50)
            ? ConversationID(type: .direct, target: self.pick(targets)) : Self.conversations[self.chance(80) ? 3 : 4]
        let users = self.chance(50) ? Self.people : [self.pick(Self.others)]
        let message = Message(
            id: self.nextID(), app: "demo", sender: sender, conversation: conversation,
            clientMessageID: ClientMessageID("c\(self.lastID)"),
            objectName: self.chance(80) ? .text : ObjectName("app:own"),
            content: #"{"content":"m\#(self.lastID)"}"#,
            flags: MessageFlags(rawValue: UInt8(self.pick([7, 7, 7, 1, 3, 0, 13]))),
            pushText: self.chance(20) ? "push" : nil, sentAt: Int64(self.lastID),
            mentions: self.pick([.none, .none, .everyone, .users(users)]),
            recipients: self.chance(10) ? ["cat"] : [], expiresAt: self.chance(10) ? 99 : nil)
        self.made.append(message)
        return message
    }

    private mutating func custom() -> CustomMessage {
        if !self.customs.isEmpty, self.chance(30) { return self.pick(self.customs) }
        let message = CustomMessage(
            id: self.nextID(), title: self.chance(50) ? "t" : nil, content: "c\(self.lastID)",
            contentType: self.chance(50) ? "json" : nil, extras: JSONObject([("n", .int(self.lastID))]), sentAt: 5,
            expiresAt: self.chance(30) ? Int64(self.number(0...100)) : nil)
        self.customs.append(message)
        return message
    }

    private mutating func outgoingID() -> ClientMessageID { ClientMessageID("o\(self.number(1...4))") }

    private mutating func draft() -> MessageDraft {
        MessageDraft(
            clientMessageID: self.outgoingID(), conversation: self.pick(Self.conversations), objectName: .text,
            content: #"{"content":"d\#(self.number(0...9))"}"#, pushText: self.chance(30) ? "p" : nil,
            mentions: self.pick([.none, .everyone, .users(["cat"])]), recipients: self.chance(20) ? ["bob"] : [],
            lifetimeMilliseconds: self.chance(20) ? 60_000 : nil, account: self.chance(20) ? "help" : nil)
    }

    private mutating func position() -> LogPosition { LogPosition(self.number(0...30)) }

    /// Mostly the same one: positions meet only in one conversation.
    private mutating func readConversation() -> ConversationID {
        self.chance(70) ? Self.conversations[3] : self.pick(Self.conversations)
    }

    private mutating func origin() -> LogOrigin {
        LogOrigin(storeID: self.pick(["one", "two"]), generation: UInt64(self.number(1...3)), opening: 9)
    }

    // MARK: Settings and members

    private mutating func own() -> ConversationSettings {
        guard self.chance(70) else { return ConversationSettings() }
        var settings = ConversationSettings(
            level: self.pick(NotificationLevel.allCases),
            levelUntil: self.chance(30) ? Int64(self.number(1...100)) : nil)
        guard self.chance(60) else { return settings }
        settings.pinnedAt = self.chance(40) ? Int64(self.number(1...9)) : nil
        settings.isArchived = self.chance(30)
        settings.hiddenUpTo = self.chance(40) ? self.messageID() : nil
        settings.draft = self.chance(40) ? ConversationDraft(text: "d\(self.number(0...9))", writtenAt: 8) : nil
        return settings
    }

    private mutating func stateChange() -> PendingSettingsChange {
        let change: ConversationStateChange =
            switch self.number(0...3) {
            case 0: .pinned(self.chance(60))
            case 1: .archived(self.chance(60))
            case 2: .hidden(upTo: self.chance(70) ? self.messageID() : nil)
            default: .draft(self.chance(70) ? "d\(self.number(0...9))" : nil)
            }
        return .state(self.pick(Self.conversations), change, at: Int64(self.number(1...20)))
    }

    private mutating func hours() -> QuietHours? {
        self.chance(40)
            ? nil
            : QuietHours(start: 60, end: 120, weekdays: self.pick([[], [1, 7]]), timeZone: "Etc/UTC", manner: .drop)
    }

    private mutating func personSettings() -> PersonSettings {
        var settings = PersonSettings()
        if self.chance(40) { settings.levels[self.pick([.direct, .group])] = self.pick([.mentions, .blocked]) }
        settings.hidesContent = self.chance(30)
        settings.quietHours = self.hours()
        settings.language = self.chance(30) ? "zh-Hans" : nil
        settings.mayBeAddedBy = self.chance(30) ? self.pick(AddingConsent.allCases) : nil
        return settings
    }

    private mutating func pendingChange() -> PendingSettingsChange {
        switch self.number(0...4) {
        case 0: .conversation(self.pick(Self.conversations), self.own().levelAlone)
        case 1: self.stateChange()
        case 2: .level(self.pick([.direct, .group]), self.pick([.all, .blocked]))
        case 3: self.chance(50) ? .quietHours(self.hours()) : .language(self.chance(50) ? "en" : nil)
        case 4 where self.chance(40): .mayBeAddedBy(self.pick(AddingConsent.allCases))
        default: .hidesContent(self.chance(50))
        }
    }

    private mutating func settings() -> AllSettings {
        var all = AllSettings(person: self.personSettings(), blocked: self.chance(50) ? ["bob", "cat"] : [])
        all.set(
            self.chance(50) ? ConversationSettings(level: .blocked) : self.own(), for: self.pick(Self.conversations))
        return all
    }

    private mutating func info() -> ConversationInfo {
        ConversationInfo(
            id: self.pick(Array(Self.conversations.suffix(2))), version: UInt64(self.number(1...6)), name: "Team",
            portrait: self.chance(50) ? "https://example.org/p" : nil,
            members: [
                Member("alice", role: .owner),
                Member("cat", nickname: self.chance(50) ? "C" : nil, mute: self.chance(30) ? Mute(until: 7) : nil),
            ],
            isDissolved: self.chance(20), onlyAdminsWrite: self.chance(30))
    }

    private mutating func change() -> ConversationChange {
        let users = Set((0..<self.number(1...2)).map { _ in self.pick(Self.others) }).sorted()
        let action: ConversationAction =
            switch self.number(0...15) {
            case 10: .mute(users, until: self.chance(50) ? Int64(self.number(1...100)) : nil)
            case 11: .unmute(users)
            case 12: .setOnlyAdminsWrite(self.chance(50))
            case 13: .invite(users, name: "T\(self.number(0...9))", portrait: self.chance(50) ? "p" : nil)
            case 14: self.chance(50) ? .decline : .withdraw(users)
            case 0...1: .create(name: "Team", portrait: nil, members: users)
            case 2: .add(users)
            case 3: .join
            case 4: .remove(users)
            case 5: .leave
            case 6: .rename("T\(self.number(0...9))")
            case 7: .setPortrait(self.chance(50) ? "https://example.org/q" : nil)
            case 8: .setRole(self.pick(Self.others), self.pick(MemberRole.allCases))
            case 9: .setNickname(self.pick(Self.others), self.chance(70) ? "N" : nil)
            default: .dissolve
            }
        return ConversationChange(
            conversation: self.pick(Array(Self.conversations.suffix(2))), version: UInt64(self.number(1...8)),
            action: action, by: self.chance(80) ? self.pick(Self.others) : nil, at: 6)
    }

    var messageIDs: [MessageID] { self.made.map(\.id) + [MessageID(rawValue: self.lastID + 1)] }
}

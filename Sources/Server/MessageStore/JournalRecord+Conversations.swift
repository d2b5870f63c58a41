import StoreModel
import TidingsModel

/// Messages with addressees, conversations and their changes, and what becomes of messages: as bytes.
extension ByteWriter {
    mutating func list<Element>(_ elements: [Element], _ write: (inout ByteWriter, Element) -> Void) {
        self.number(UInt64(elements.count))
        for element in elements { write(&self, element) }
    }

    mutating func users(_ users: [UserID]) { self.list(users) { $0.text($1.rawValue) } }

    /// A number that may be missing: one byte says whether it is there.
    mutating func signed(_ value: Int64?) {
        self.byte(value == nil ? 0 : 1)
        if let value { self.signed(value) }
    }

    mutating func addressees(of message: Message) {
        switch message.mentions {
        case .none: self.byte(0)
        case .users(let users):
            self.byte(1)
            self.users(users)
        case .everyone: self.byte(2)
        }
        self.users(message.recipients)
        self.signed(message.expiresAt)
    }

    mutating func putConversation(_ record: ConversationRecord, version: UInt64) {
        self.text(record.app.rawValue)
        self.conversation(record.conversation)
        self.text(record.name)
        self.number(version)
        let isRanked = record.isRanked
        self.list(record.members) { writer, member in
            writer.text(member.id.rawValue)
            if isRanked { writer.rank(of: member) }
        }
        if isRanked { self.text(record.portrait) }
    }

    /// What there is to say of a member beside the id.
    mutating func rank(of member: Member) {
        self.role(member.role)
        self.text(member.nickname)
    }

    private mutating func role(_ role: MemberRole) {
        switch role {
        case .owner: self.byte(1)
        case .admin: self.byte(2)
        case .member: self.byte(3)
        }
    }

    mutating func change(_ change: ConversationChange) {
        self.conversation(change.conversation)
        self.number(change.version)
        switch change.action {
        case .create(let name, let portrait, let members):
            self.byte(1)
            self.text(name)
            self.text(portrait)
            self.users(members)
        case .add(let users):
            self.byte(2)
            self.users(users)
        case .join: self.byte(3)
        case .remove(let users):
            self.byte(4)
            self.users(users)
        case .leave: self.byte(5)
        case .rename(let name):
            self.byte(6)
            self.text(name)
        case .setPortrait(let portrait):
            self.byte(7)
            self.text(portrait)
        case .setRole(let user, let role):
            self.byte(8)
            self.text(user.rawValue)
            self.role(role)
        case .setNickname(let user, let nickname):
            self.byte(9)
            self.text(user.rawValue)
            self.text(nickname)
        case .dissolve: self.byte(10)
        case .ban(let users, let until):
            self.byte(11)
            self.users(users)
            // 0 for a ban without an end.
            self.signed(until ?? 0)
        case .unban(let users):
            self.byte(12)
            self.users(users)
        }
        self.text(change.by?.rawValue)
        self.signed(change.at)
    }

    mutating func recall(_ recall: Recall) {
        self.fixed(recall.id.rawValue)
        self.fixed(recall.message.rawValue)
        self.conversation(recall.conversation)
        self.text(recall.sender.rawValue)
        self.signed(recall.at)
    }

    mutating func edit(_ edit: Edit) {
        self.fixed(edit.message.rawValue)
        self.conversation(edit.conversation)
        self.text(edit.content)
        self.signed(edit.at)
    }

    mutating func custom(_ operation: CustomOperation) {
        // Its kind tells whether it is there.
        if let expiresAt = operation.message.expiresAt { self.signed(expiresAt) }
        self.text(operation.app.rawValue)
        self.fixed(operation.message.id.rawValue)
        self.text(operation.message.title)
        self.text(operation.message.content)
        self.text(operation.message.contentType)
        self.text(JSONValue.object(operation.message.extras).text)
        self.signed(operation.message.sentAt)
        self.users(operation.recipients)
        self.text(operation.clientMessageID.rawValue)
    }
}

extension ByteReader {
    mutating func list<Element>(
        _ read: (inout ByteReader) throws(StoredBytesFault) -> Element
    ) throws(StoredBytesFault) -> [Element] {
        var elements: [Element] = []
        for _ in 0..<(try self.number()) { elements.append(try read(&self)) }
        return elements
    }

    mutating func users() throws(StoredBytesFault) -> [UserID] {
        try self.list { (reader) throws(StoredBytesFault) in UserID(try reader.text()) }
    }

    mutating func optionalSigned() throws(StoredBytesFault) -> Int64? {
        try self.byte() == 0 ? nil : try self.signed()
    }

    mutating func addressees(of message: inout Message) throws(StoredBytesFault) {
        switch try self.byte() {
        case 0: message.mentions = .none
        case 1: message.mentions = .users(try self.users())
        case 2: message.mentions = .everyone
        default: throw .badValue("mention")
        }
        message.recipients = try self.users()
        message.expiresAt = try self.optionalSigned()
    }

    mutating func putConversation(isRanked: Bool) throws(StoredBytesFault) -> JournalRecord {
        let app = AppID(try self.text())
        let conversation = try self.conversation()
        let name = try self.text()
        let version = try self.number()
        let members = try self.list { (reader) throws(StoredBytesFault) in
            let id = UserID(try reader.text())
            return isRanked ? try reader.member(id) : Member(id)
        }
        let portrait = isRanked ? try self.optionalText() : nil
        let record = ConversationRecord(
            app: app, conversation: conversation, name: name, portrait: portrait, members: members)
        return .putConversation(record, version: version)
    }

    /// A member whose rank follows.
    mutating func member(_ id: UserID) throws(StoredBytesFault) -> Member {
        Member(id, role: try self.role(), nickname: try self.optionalText())
    }

    private mutating func role() throws(StoredBytesFault) -> MemberRole {
        switch try self.byte() {
        case 1: .owner
        case 2: .admin
        case 3: .member
        default: throw .badValue("role")
        }
    }

    mutating func change() throws(StoredBytesFault) -> ConversationChange {
        let conversation = try self.conversation()
        let version = try self.number()
        let action = try self.action()
        return ConversationChange(
            conversation: conversation, version: version, action: action,
            by: try self.optionalText().map { UserID($0) }, at: try self.signed())
    }

    /// When a ban ends; nil for never, which is written as 0.
    private mutating func banEnd() throws(StoredBytesFault) -> Int64? {
        let until = try self.signed()
        return until == 0 ? nil : until
    }

    private mutating func action() throws(StoredBytesFault) -> ConversationAction {
        switch try self.byte() {
        case 1:
            .create(name: try self.text(), portrait: try self.optionalText(), members: try self.users())
        case 2: .add(try self.users())
        case 3: .join
        case 4: .remove(try self.users())
        case 5: .leave
        case 6: .rename(try self.text())
        case 7: .setPortrait(try self.optionalText())
        case 8: .setRole(UserID(try self.text()), try self.role())
        case 9: .setNickname(UserID(try self.text()), try self.optionalText())
        case 10: .dissolve
        case 11: .ban(try self.users(), until: try self.banEnd())
        case 12: .unban(try self.users())
        default: throw .badValue("change of a conversation")
        }
    }

    mutating func recall() throws(StoredBytesFault) -> Recall {
        Recall(
            id: MessageID(rawValue: try self.fixed()), message: MessageID(rawValue: try self.fixed()),
            conversation: try self.conversation(), sender: UserID(try self.text()), at: try self.signed())
    }

    mutating func edit() throws(StoredBytesFault) -> Edit {
        Edit(
            message: MessageID(rawValue: try self.fixed()), conversation: try self.conversation(),
            content: try self.text(), at: try self.signed())
    }

    mutating func delete() throws(StoredBytesFault) -> JournalRecord {
        let key = try self.userKey()
        let conversation = try self.conversation()
        let items = try self.list { (reader) throws(StoredBytesFault) in
            (MessageID(rawValue: try reader.fixed()), try reader.number())
        }
        return .delete(
            key, Deletion(conversation: conversation, messages: items.map(\.0)), positions: items.map(\.1),
            at: try self.signed())
    }

    mutating func custom() throws(StoredBytesFault) -> CustomOperation {
        let app = AppID(try self.text())
        let id = MessageID(rawValue: try self.fixed())
        let title = try self.optionalText()
        let content = try self.text()
        let contentType = try self.optionalText()
        guard let extras = (try? JSONValue(parsing: try self.text()))?.objectValue else {
            throw .badValue("object of extras")
        }
        let message = CustomMessage(
            id: id, title: title, content: content, contentType: contentType, extras: extras,
            sentAt: try self.signed())
        return CustomOperation(
            app: app, message: message, recipients: try self.users(),
            clientMessageID: ClientMessageID(try self.text()))
    }
}

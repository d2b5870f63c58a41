package import StoreModel
package import TidingsModel

// MARK: - People and devices

extension UserKey: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.app, self.user) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(app: try reader.read(), user: try reader.read())
    }
}

extension DeviceKey: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.user, self.device) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(user: try reader.read(), device: try reader.read())
    }
}

extension AccountState: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.ban, self.tokensNotBefore) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(ban: try reader.read(), tokensNotBefore: try reader.read())
    }
}

extension AccountBan: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.reason, self.until) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(reason: try reader.read(), until: try reader.read())
    }
}

extension Profile: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.name, self.portrait) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(name: try reader.read(), portrait: try reader.read())
    }
}

/// Without `unpushed`, `voIP` and `status`, which follow from other records.
extension DeviceRecord: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.key, self.platform, self.push, self.settled)
        writer.write(self.decided, self.since, self.signedInAt, self.isSignedOut)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            key: try reader.read(), platform: try reader.read(), push: try reader.read(), settled: try reader.read(),
            decided: try reader.read(), since: try reader.read(), signedInAt: try reader.read(),
            isSignedOut: try reader.read())
    }
}

extension PushState: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .none: writer.byte(0)
        case .registered(let registration, let at, let wasAccepted):
            writer.write(1 as UInt8, registration, at, wasAccepted)
        case .quarantined(let registration, let at, let reason): writer.write(2 as UInt8, registration, at, reason)
        case .dead(let timestamp): writer.write(3 as UInt8, timestamp)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 0: self = .none
        case 1: self = .registered(try reader.read(), at: try reader.read(), wasAccepted: try reader.read())
        case 2: self = .quarantined(try reader.read(), at: try reader.read(), reason: try reader.read())
        case 3: self = .dead(timestamp: try reader.read())
        default: throw .badValue("push state")
        }
    }
}

extension PushRegistration: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.token, self.environment, self.topic) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(token: try reader.read(), environment: try reader.read(), topic: try reader.read())
    }
}

extension PushEnvironment: StoredValue {}

// MARK: - Messages and conversations

extension ConversationType: StoredValue {}
extension MessageFlags: StoredValue {}

extension ConversationID: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.type, self.target) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(type: try reader.read(), target: try reader.read())
    }
}

/// Without addressees, expiry and options: most messages have none, and the kind of the record says whether they are there.
extension Message: StoredValue {
    var hasMore: Bool {
        self.mentions != .none || !self.recipients.isEmpty || self.expiresAt != nil || self.push != nil
    }

    package func write(to writer: inout ByteWriter) {
        writer.write(self.id, self.app, self.sender, self.conversation, self.clientMessageID)
        writer.write(self.objectName, self.content, self.flags, self.pushText, self.sentAt)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            id: try reader.read(), app: try reader.read(), sender: try reader.read(), conversation: try reader.read(),
            clientMessageID: try reader.read(), objectName: try reader.read(), content: try reader.read(),
            flags: try reader.read(), pushText: try reader.read(), sentAt: try reader.read())
    }
}

extension Mentions: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .none: writer.byte(0)
        case .users(let users): writer.write(1 as UInt8, users)
        case .everyone: writer.byte(2)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 0: self = .none
        case 1: self = .users(try reader.read())
        case 2: self = .everyone
        default: throw .badValue("mention")
        }
    }
}

extension Recall: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.id, self.message, self.conversation, self.sender, self.at)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            id: try reader.read(), message: try reader.read(), conversation: try reader.read(),
            sender: try reader.read(), at: try reader.read())
    }
}

extension Edit: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.message, self.conversation, self.content, self.at)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            message: try reader.read(), conversation: try reader.read(), content: try reader.read(),
            at: try reader.read())
    }
}

extension CustomOperation: StoredValue {
    package func write(to writer: inout ByteWriter) {
        let message = self.message
        writer.write(self.app, message.id, message.title, message.content, message.contentType)
        writer.write(JSONValue.object(message.extras).text, message.sentAt, self.recipients, self.clientMessageID)
        writer.write(message.expiresAt)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        let app: AppID = try reader.read()
        var message = CustomMessage(
            id: try reader.read(), title: try reader.read(), content: try reader.read(),
            contentType: try reader.read(), sentAt: 0)
        guard let extras = (try? JSONValue(parsing: try reader.text()))?.objectValue else {
            throw .badValue("object of extras")
        }
        message.extras = extras
        message.sentAt = try reader.read()
        self.init(app: app, message: message, recipients: try reader.read(), clientMessageID: try reader.read())
        self.message.expiresAt = try reader.read()
    }
}

extension ByteWriter {
    /// Writes the words that people have written, and then the rest, so that the words can be erased alone.
    mutating func pushOptions(_ push: PushOptions?) {
        self.write(push?.words?.json.text ?? "", push?.withoutWords?.json.text ?? "")
    }
}

extension ByteReader {
    mutating func pushOptions() throws(StoredBytesFault) -> PushOptions? {
        // What is erased by now is no JSON.
        let words = PushOptions(stored: try self.text())
        let others = PushOptions(stored: try self.text())
        return words?.merged(over: others) ?? others
    }
}

extension ConversationRecord: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.app, self.conversation, self.name, self.portrait, self.members)
        writer.write(self.push?.json.text)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            app: try reader.read(), conversation: try reader.read(), name: try reader.read(),
            portrait: try reader.read(), members: try reader.read(), push: PushOptions(stored: try reader.read()))
    }
}

/// Without the mute.
extension Member: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.id, self.role, self.nickname) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(try reader.read(), role: try reader.read(), nickname: try reader.read())
    }
}

extension MemberRole: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .owner: writer.byte(1)
        case .admin: writer.byte(2)
        case .member: writer.byte(3)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 1: self = .owner
        case 2: self = .admin
        case 3: self = .member
        default: throw .badValue("role")
        }
    }
}

extension Ban: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.user, self.until) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(user: try reader.read(), until: try reader.read())
    }
}

extension Invitee: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.user, self.by, self.at) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(user: try reader.read(), by: try reader.read(), at: try reader.read())
    }
}

extension ConversationChange: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.conversation, self.version, self.action, self.by, self.at)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            conversation: try reader.read(), version: try reader.read(), action: try reader.read(),
            by: try reader.read(), at: try reader.read())
    }
}

extension ConversationAction: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .create(let name, let portrait, let members): writer.write(1 as UInt8, name, portrait, members)
        case .add(let users): writer.write(2 as UInt8, users)
        case .join: writer.byte(3)
        case .remove(let users): writer.write(4 as UInt8, users)
        case .leave: writer.byte(5)
        case .rename(let name): writer.write(6 as UInt8, name)
        case .setPortrait(let portrait): writer.write(7 as UInt8, portrait)
        case .setRole(let user, let role): writer.write(8 as UInt8, user, role)
        case .setNickname(let user, let nickname): writer.write(9 as UInt8, user, nickname)
        case .dissolve: writer.byte(10)
        case .ban(let users, let until): writer.write(11 as UInt8, users, until)
        case .unban(let users): writer.write(12 as UInt8, users)
        case .mute(let users, let until): writer.write(13 as UInt8, users, until)
        case .unmute(let users): writer.write(14 as UInt8, users)
        case .setOnlyAdminsWrite(let isOn): writer.write(15 as UInt8, isOn)
        case .invite(let users, let name, let portrait): writer.write(16 as UInt8, users, name, portrait)
        case .decline: writer.byte(17)
        case .withdraw(let users): writer.write(18 as UInt8, users)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 1: self = .create(name: try reader.read(), portrait: try reader.read(), members: try reader.read())
        case 2: self = .add(try reader.read())
        case 3: self = .join
        case 4: self = .remove(try reader.read())
        case 5: self = .leave
        case 6: self = .rename(try reader.read())
        case 7: self = .setPortrait(try reader.read())
        case 8: self = .setRole(try reader.read(), try reader.read())
        case 9: self = .setNickname(try reader.read(), try reader.read())
        case 10: self = .dissolve
        case 11: self = .ban(try reader.read(), until: try reader.read())
        case 12: self = .unban(try reader.read())
        case 13: self = .mute(try reader.read(), until: try reader.read())
        case 14: self = .unmute(try reader.read())
        case 15: self = .setOnlyAdminsWrite(try reader.read())
        case 16: self = .invite(try reader.read(), name: try reader.read(), portrait: try reader.read())
        case 17: self = .decline
        case 18: self = .withdraw(try reader.read())
        default: throw .badValue("change of a conversation")
        }
    }
}

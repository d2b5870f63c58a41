package import StoreModel
import TidingsModel

extension ByteWriter {
    private typealias Kind = JournalRecord.Kind

    // tidy: long because it is one case per kind of record.
    mutating func record(_ record: JournalRecord) {
        switch record {
        case .accept(let message, let senderDevice, let version, let hushes, let author):
            let hasMore = message.hasMore || author != nil
            if hasMore {
                self.write(Kind.acceptWithMore, author)
                self.pushOptions(message.push)
            } else {
                self.write(Kind.accept)
            }
            self.write(message, senderDevice, version, hushes)
            if hasMore { self.write(message.mentions, message.recipients, message.expiresAt) }
        case .putConversation(let record, let version): self.write(Kind.putConversation, record, version)
        case .change(let app, let change): self.write(Kind.change, app, change)
        case .recall(let app, let recall, let accepted): self.write(Kind.recall, app, recall, accepted)
        case .edit(let app, let edit, let accepted): self.write(Kind.edit, app, edit, accepted)
        case .delete(let key, let deletion, let positions, let at):
            self.write(Kind.delete, key, deletion.conversation, UInt64(positions.count))
            for (message, position) in zip(deletion.messages, positions) { self.write(message, position) }
            self.write(at)
        case .conversationSettings(let key, let conversation, let settings, let draft, let at):
            self.write(Kind.conversationSettings, draft, key, conversation, settings)
            self.write(at)
        case .personSettings(let key, let settings, let at): self.write(Kind.personSettings, key, settings, at)
        case .blocked(let key, let user, let isBlocked, let at): self.write(Kind.blocked, key, user, isBlocked, at)
        case .custom(let operation): self.write(Kind.custom, operation)
        case .signIn(let device): self.write(Kind.signIn, device)
        case .signOut(let key): self.write(Kind.signOut, key)
        case .setPushState(let key, let state): self.write(Kind.setPushState, key, state)
        case .deviceStatus(let key, let status): self.write(Kind.deviceStatus, key, status)
        case .setVoIPToken(let key, let token): self.write(Kind.setVoIPToken, key, token)
        case .advance(let key, let settled, let decided): self.write(Kind.advance, key, settled, decided)
        case .markRead(let key, let conversation, let upTo, let at):
            self.write(Kind.markRead, key, conversation, upTo, at)
        case .keepLeg(let open) where open.steps.isEmpty && open.pushJob == nil: self.write(Kind.keepLeg, open)
        case .keepLeg(let open): self.write(Kind.keepLegWithMore, open, open.steps, open.pushJob)
        case .endLeg(let ended) where ended.steps.isEmpty && ended.pushJob == nil: self.write(Kind.endLeg, ended)
        case .endLeg(let ended):
            self.write(Kind.endLegWithMore, ended, ended.steps, ended.pushJob, ended.isRepeated)
        case .receipt(let leg, let receipt, let at, let job): self.write(Kind.receipt, leg, receipt, at, job)
        case .objectNames(let app, let names): self.write(Kind.objectNames, app, names)
        case .userAccount(let key, let account): self.write(Kind.userAccount, key, account)
        case .profile(let key, let profile): self.write(Kind.profile, key, profile)
        case .account(let app, let id, let account):
            self.write(Kind.account, app, id, account != nil)
            if let account { self.write(account.owner, account.operators, account.audience) }
        case .following(let key, let account, let isFollowing):
            self.write(Kind.following, key, account, isFollowing)
        case .control(let record): self.write(Kind.control, record)
        case .push(let job): self.write(Kind.push, job)
        case .pushStep(let step): self.write(Kind.pushStep, step)
        case .pushChange(let state): self.write(Kind.pushChange, state)
        case .labels(let key, let labels, let removed): self.write(Kind.labels, key, labels, removed)
        case .lost: self.write(Kind.lost)
        }
    }
}

extension ByteReader {
    // tidy: long because it is one case per kind of record.
    mutating func record() throws(StoredBytesFault) -> JournalRecord {
        let number = try self.byte()
        guard let kind = JournalRecord.Kind(rawValue: number) else { throw .unknownKind(number) }
        switch kind {
        case .accept:
            return .accept(
                try self.read(), senderDevice: try self.read(), version: try self.read(), hushes: try self.read())
        case .acceptWithMore:
            let (author, push): (UserID?, PushOptions?) = (try self.read(), try self.pushOptions())
            var message: Message = try self.read()
            let (device, version): (DeviceID?, UInt64) = (try self.read(), try self.read())
            let hushes: Bool = try self.read()
            (message.mentions, message.recipients) = (try self.read(), try self.read())
            (message.expiresAt, message.push) = (try self.read(), push)
            return .accept(message, senderDevice: device, version: version, hushes: hushes, author: author)
        case .putConversation: return .putConversation(try self.read(), version: try self.read())
        case .change: return .change(try self.read(), try self.read())
        case .recall: return .recall(try self.read(), try self.read(), accepted: try self.read())
        case .edit: return .edit(try self.read(), try self.read(), accepted: try self.read())
        case .delete: return try self.deletion()
        case .conversationSettings:
            let draft: JournalRecord.Draft? = try self.read()
            return .conversationSettings(
                try self.read(), try self.read(), try self.read(), draft: draft, at: try self.read())
        case .personSettings: return .personSettings(try self.read(), try self.read(), at: try self.read())
        case .blocked: return .blocked(try self.read(), try self.read(), try self.read(), at: try self.read())
        case .custom: return .custom(try self.read())
        case .signIn: return .signIn(try self.read())
        case .signOut: return .signOut(try self.read())
        case .setPushState: return .setPushState(try self.read(), try self.read())
        case .deviceStatus: return .deviceStatus(try self.read(), try self.read())
        case .setVoIPToken: return .setVoIPToken(try self.read(), try self.read())
        case .advance: return .advance(try self.read(), settled: try self.read(), decided: try self.read())
        case .markRead: return .markRead(try self.read(), try self.read(), upTo: try self.read(), at: try self.read())
        case .keepLeg: return .keepLeg(try self.read())
        case .keepLegWithMore:
            var open: OpenLeg = try self.read()
            (open.steps, open.pushJob) = (try self.read(), try self.read())
            return .keepLeg(open)
        case .endLeg: return .endLeg(try self.read())
        case .endLegWithMore:
            var ended: EndedLeg = try self.read()
            (ended.steps, ended.pushJob, ended.isRepeated) = (try self.read(), try self.read(), try self.read())
            return .endLeg(ended)
        case .receipt:
            return .receipt(try self.read(), try self.read(), at: try self.read(), job: try self.read())
        case .objectNames: return .objectNames(try self.read(), try self.read())
        case .userAccount: return .userAccount(try self.read(), try self.read())
        case .profile: return .profile(try self.read(), try self.read())
        case .account:
            let (app, id): (AppID, ConversationID) = (try self.read(), try self.read())
            let isDeclared: Bool = try self.read()
            return .account(app, id, isDeclared ? try self.account(id) : nil)
        case .following: return .following(try self.read(), try self.read(), try self.read())
        case .control: return .control(try self.read())
        case .push: return .push(try self.read())
        case .pushStep: return .pushStep(try self.read())
        case .pushChange: return .pushChange(try self.read())
        case .labels: return .labels(try self.read(), try self.read(), removed: try self.read())
        case .lost: return .lost
        }
    }

    private mutating func deletion() throws(StoredBytesFault) -> JournalRecord {
        let key: UserKey = try self.read()
        var deletion = Deletion(conversation: try self.read(), messages: [])
        var positions: [LogPosition] = []
        for _ in 0..<(try self.number()) {
            deletion.messages.append(try self.read())
            positions.append(try self.read())
        }
        return .delete(key, deletion, positions: positions, at: try self.read())
    }
}

extension JournalRecord.Draft: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.text, self.earlier) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(text: try reader.read(), earlier: try reader.read())
    }
}

extension VoIPToken: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.registration, self.at) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(try reader.read(), at: try reader.read())
    }
}

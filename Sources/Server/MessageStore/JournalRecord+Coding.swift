import StoreModel
import TidingsModel

extension ByteWriter {
    private typealias Kind = JournalRecord.Kind

    // tidy: long because it is one case per kind of record.
    mutating func record(_ record: JournalRecord) {
        switch record {
        case .accept(let message, let senderDevice, let version, let hushes, let author)
        where message.push != nil || author != nil:
            let (words, others) = (message.push?.words, message.push?.withoutWords)
            if let author { self.write(Kind.acceptByAuthor, author) } else { self.write(Kind.acceptWithPush) }
            self.write(words?.json.text ?? "", others?.json.text ?? "", hushes)
            self.write(message, senderDevice, version)
            self.write(message.mentions, message.recipients, message.expiresAt)
        case .accept(let message, let senderDevice, let version, let hushes, _):
            let isAddressed = message.isAddressed
            let kind: Kind =
                isAddressed
                ? hushes ? .acceptAddressedHushing : .acceptAddressed : hushes ? .acceptHushing : .accept
            self.write(kind, message, senderDevice, version)
            if isAddressed { self.write(message.mentions, message.recipients, message.expiresAt) }
        case .putConversation(let record, let version): self.writeConversation(record, version: version)
        case .change(let app, let change): self.write(Kind.change, app, change)
        case .recall(let app, let recall, let accepted): self.write(Kind.recall, app, recall, accepted)
        case .edit(let app, let edit, let accepted): self.write(Kind.edit, app, edit, accepted)
        case .delete(let key, let deletion, let positions, let at):
            self.write(Kind.delete, key, deletion.conversation, UInt64(positions.count))
            for (message, position) in zip(deletion.messages, positions) { self.write(message, position) }
            self.write(at)
        case .conversationSettings(let key, let conversation, let settings, let draft, let at):
            if let draft {
                self.write(Kind.draftedConversationSettings, draft.text, draft.earlier, key, conversation)
                self.write(settings, ListState(settings), at)
            } else if settings != settings.levelAlone {
                self.write(Kind.listedConversationSettings, key, conversation, settings, ListState(settings))
                self.write(at)
            } else {
                self.write(Kind.conversationSettings, key, conversation, settings, at)
            }
        case .personSettings(let key, let settings, let at):
            if let consent = settings.mayBeAddedBy {
                self.write(Kind.consentingPersonSettings, consent, key, settings, at)
            } else {
                self.write(Kind.personSettings, key, settings, at)
            }
        case .blocked(let key, let user, let isBlocked, let at): self.write(Kind.blocked, key, user, isBlocked, at)
        case .custom(let operation):
            if let expiresAt = operation.message.expiresAt {
                self.write(Kind.expiringCustom, expiresAt, operation)
            } else {
                self.write(Kind.custom, operation)
            }
        case .signIn(let device): self.write(Kind.signIn, device)
        case .signOut(let key): self.write(Kind.signOut, key)
        case .setPushState(let key, let state): self.write(Kind.setPushState, key, state)
        case .deviceStatus(let key, let status): self.write(Kind.deviceStatus, key, status)
        case .setVoIPToken(let key, let token): self.write(Kind.setVoIPToken, key, token)
        case .advance(let key, let settled, let decided): self.write(Kind.advance, key, settled, decided)
        case .markRead(let key, let conversation, let upTo, let at):
            self.write(Kind.markRead, key, conversation, upTo, at)
        case .keepLeg(let open) where !open.steps.isEmpty:
            self.write(Kind.keepLegWithSteps, open.steps, open.pushJob)
            self.write(open)
        case .keepLeg(let open):
            if let job = open.pushJob {
                self.write(Kind.keepPushLeg, job, open)
            } else {
                self.write(Kind.keepLeg, open)
            }
        case .endLeg(let ended) where !ended.steps.isEmpty:
            self.write(Kind.endLegWithSteps, ended.steps, ended.pushJob)
            if ended.pushJob != nil { self.write(ended.isRepeated) }
            self.write(ended)
        case .endLeg(let ended):
            if let job = ended.pushJob {
                self.write(Kind.endPushLeg, job, ended.isRepeated)
            } else {
                self.write(Kind.endLeg)
            }
            self.write(ended)
        case .receipt(let leg, let receipt, let at, let job):
            if let job { self.write(Kind.pushReceipt, job) } else { self.write(Kind.receipt) }
            self.write(leg, receipt, at)
        case .objectNames(let app, let names): self.write(Kind.objectNames, app, names)
        case .userAccount(let key, let account): self.write(Kind.userAccount, key, account)
        case .profile(let key, let profile): self.write(Kind.profile, key, profile)
        case .account(let app, let id, let account):
            if let account, !account.isBare {
                self.write(Kind.describedAccount, app, id)
                self.write(account.owner, account.operators, account.audience)
            } else {
                self.write(Kind.account, app, id, account != nil)
            }
        case .following(let key, let account, let isFollowing):
            self.write(Kind.following, key, account, isFollowing)
        case .control(let record): self.write(Kind.control, record)
        case .push(let job): self.write(Kind.push, job)
        case .pushStep(let step) where step.devices.isEmpty: self.write(Kind.pushStep, step)
        case .pushStep(let step): self.write(Kind.pushStepToDevices, step, step.devices)
        case .pushChange(let state): self.write(Kind.pushChange, state)
        case .labels(let key, let labels, let removed): self.write(Kind.labels, key, labels, removed)
        case .lost: self.write(Kind.lost)
        }
    }

    private mutating func writeConversation(_ record: ConversationRecord, version: UInt64) {
        let isRanked = record.isRanked || record.push != nil
        let kind: Kind =
            record.push != nil ? .putConversationWithPush : isRanked ? .putRankedConversation : .putConversation
        self.write(kind, record.app, record.conversation, record.name, version)
        self.write(UInt64(record.members.count))
        for member in record.members {
            self.write(member.id)
            if isRanked { self.write(member.role, member.nickname) }
        }
        if isRanked { self.write(record.portrait) }
        if let push = record.push { self.write(push.json.text) }
    }
}

extension ByteReader {
    // tidy: long because it is one case per kind of record.
    mutating func record() throws(StoredBytesFault) -> JournalRecord {
        let number = try self.byte()
        guard let kind = JournalRecord.Kind(rawValue: number) else { throw .unknownKind(number) }
        switch kind {
        case .acceptWithPush, .acceptByAuthor:
            let author: UserID? = kind == .acceptByAuthor ? try self.read() as UserID : nil
            // What is erased by now is no JSON.
            let words = PushOptions(stored: try self.text())
            let others = PushOptions(stored: try self.text())
            let hushes: Bool = try self.read()
            var message: Message = try self.read()
            let (device, version): (DeviceID?, UInt64) = (try self.read(), try self.read())
            (message.mentions, message.recipients) = (try self.read(), try self.read())
            message.expiresAt = try self.read()
            message.push = words?.merged(over: others) ?? others
            return .accept(message, senderDevice: device, version: version, hushes: hushes, author: author)
        case .accept, .acceptAddressed, .acceptHushing, .acceptAddressedHushing:
            var message: Message = try self.read()
            let (device, version): (DeviceID?, UInt64) = (try self.read(), try self.read())
            if kind == .acceptAddressed || kind == .acceptAddressedHushing {
                (message.mentions, message.recipients) = (try self.read(), try self.read())
                message.expiresAt = try self.read()
            }
            return .accept(
                message, senderDevice: device, version: version,
                hushes: kind == .acceptHushing || kind == .acceptAddressedHushing)
        case .putConversation: return try self.conversation(isRanked: false)
        case .putRankedConversation: return try self.conversation(isRanked: true)
        case .putConversationWithPush: return try self.conversation(isRanked: true, hasPush: true)
        case .change: return .change(try self.read(), try self.read())
        case .recall: return .recall(try self.read(), try self.read(), accepted: try self.read())
        case .edit: return .edit(try self.read(), try self.read(), accepted: try self.read())
        case .delete: return try self.deletion()
        case .conversationSettings, .listedConversationSettings, .draftedConversationSettings:
            return try self.conversationSettings(kind)
        case .personSettings: return .personSettings(try self.read(), try self.read(), at: try self.read())
        case .consentingPersonSettings:
            let consent: AddingConsent = try self.read()
            let key: UserKey = try self.read()
            var settings: PersonSettings = try self.read()
            settings.mayBeAddedBy = consent
            return .personSettings(key, settings, at: try self.read())
        case .blocked: return .blocked(try self.read(), try self.read(), try self.read(), at: try self.read())
        case .custom: return .custom(try self.read())
        case .expiringCustom:
            let expiresAt: Int64 = try self.read()
            var operation: CustomOperation = try self.read()
            operation.message.expiresAt = expiresAt
            return .custom(operation)
        case .signIn: return .signIn(try self.read())
        case .signOut: return .signOut(try self.read())
        case .setPushState: return .setPushState(try self.read(), try self.read())
        case .deviceStatus: return .deviceStatus(try self.read(), try self.read())
        case .setVoIPToken: return .setVoIPToken(try self.read(), try self.read())
        case .advance: return .advance(try self.read(), settled: try self.read(), decided: try self.read())
        case .markRead: return .markRead(try self.read(), try self.read(), upTo: try self.read(), at: try self.read())
        case .keepLeg: return .keepLeg(try self.read())
        case .endLeg: return .endLeg(try self.read())
        case .receipt: return .receipt(try self.read(), try self.read(), at: try self.read())
        case .objectNames: return .objectNames(try self.read(), try self.read())
        case .userAccount: return .userAccount(try self.read(), try self.read())
        case .profile: return .profile(try self.read(), try self.read())
        case .account:
            let (app, id): (AppID, ConversationID) = (try self.read(), try self.read())
            let isDeclared: Bool = try self.read()
            return .account(app, id, isDeclared ? ServiceAccount(id) : nil)
        case .describedAccount:
            let (app, id): (AppID, ConversationID) = (try self.read(), try self.read())
            return .account(app, id, try self.account(id))
        case .following: return .following(try self.read(), try self.read(), try self.read())
        case .control: return .control(try self.read())
        case .push: return .push(try self.read())
        case .pushStep: return .pushStep(try self.read())
        case .pushStepToDevices:
            var step: PushStepRecord = try self.read()
            step.devices = try self.read()
            guard step.devices.count == step.users.count else { throw .badValue("devices of a push") }
            return .pushStep(step)
        case .pushChange: return .pushChange(try self.read())
        case .keepPushLeg, .endPushLeg, .pushReceipt: return try self.pushLeg(kind)
        case .keepLegWithSteps, .endLegWithSteps: return try self.legWithSteps(kind)
        case .labels: return .labels(try self.read(), try self.read(), removed: try self.read())
        case .lost: return .lost
        }
    }

    private mutating func legWithSteps(_ kind: JournalRecord.Kind) throws(StoredBytesFault) -> JournalRecord {
        let (steps, job): (LegSteps, PushJobID?) = (try self.read(), try self.read())
        guard kind == .endLegWithSteps else {
            var open: OpenLeg = try self.read()
            (open.steps, open.pushJob) = (steps, job)
            return .keepLeg(open)
        }
        let isRepeated: Bool = job == nil ? false : try self.read()
        var ended: EndedLeg = try self.read()
        (ended.steps, ended.pushJob, ended.isRepeated) = (steps, job, isRepeated)
        return .endLeg(ended)
    }

    private mutating func pushLeg(_ kind: JournalRecord.Kind) throws(StoredBytesFault) -> JournalRecord {
        let job: PushJobID = try self.read()
        if kind == .keepPushLeg {
            var open: OpenLeg = try self.read()
            open.pushJob = job
            return .keepLeg(open)
        }
        guard kind == .endPushLeg else {
            return .receipt(try self.read(), try self.read(), at: try self.read(), job: job)
        }
        let isRepeated: Bool = try self.read()
        var ended: EndedLeg = try self.read()
        (ended.pushJob, ended.isRepeated) = (job, isRepeated)
        return .endLeg(ended)
    }

    private mutating func conversation(isRanked: Bool, hasPush: Bool = false) throws(StoredBytesFault) -> JournalRecord
    {
        let (app, conversation): (AppID, ConversationID) = (try self.read(), try self.read())
        let (name, version): (String, UInt64) = (try self.read(), try self.read())
        var members: [Member] = []
        for _ in 0..<(try self.number()) {
            var member = Member(try self.read())
            if isRanked { (member.role, member.nickname) = (try self.read(), try self.read()) }
            members.append(member)
        }
        let portrait: String? = isRanked ? try self.read() : nil
        let record = ConversationRecord(
            app: app, conversation: conversation, name: name, portrait: portrait, members: members,
            push: hasPush ? PushOptions(stored: try self.text()) : nil)
        return .putConversation(record, version: version)
    }

    private mutating func conversationSettings(_ kind: JournalRecord.Kind) throws(StoredBytesFault) -> JournalRecord {
        var draft: JournalRecord.Draft?
        if kind == .draftedConversationSettings { draft = .init(text: try self.read(), earlier: try self.read()) }
        let (key, conversation): (UserKey, ConversationID) = (try self.read(), try self.read())
        var settings: ConversationSettings = try self.read()
        if kind != .conversationSettings {
            let state: ListState = try self.read()
            state.apply(to: &settings)
        }
        return .conversationSettings(key, conversation, settings, draft: draft, at: try self.read())
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

extension VoIPToken: StoredValue {
    func write(to writer: inout ByteWriter) { writer.write(self.registration, self.at) }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(try reader.read(), at: try reader.read())
    }
}

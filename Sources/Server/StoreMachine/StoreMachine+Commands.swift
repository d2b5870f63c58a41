import StoreModel
import TidingsModel

/// Carries out each command and returns its answer, by the rules at `StoreMachine`.
extension StoreMachine {
    // tidy: long because it is one case per command.
    func execute(_ command: StoreCommand) throws -> StoreResult {
        switch command {
        case .accept(let message, let device, let room, let past, let push, let author):
            try self.accept(
                message, from: device, room: room, past: past, push: push, by: author)
        case .putConversation(let record): try self.putConversation(record)
        case .change(let operation): try self.changeConversation(operation)
        case .recall(let operation): try self.recall(operation)
        case .edit(let operation): try self.edit(operation)
        case .delete(let key, let deletion, let at): try self.delete(key, deletion, at: at)
        case .setConversationSettings(let key, let conversation, let settings, let at):
            try self.setConversationSettings(key, conversation, settings, at: at)
        case .setConversationState(let key, let conversation, let change, let at):
            try self.setConversationState(key, conversation, change, at: at)
        case .endLevel(let key, let conversation, let at): try self.endLevel(key, conversation, at: at)
        case .setPersonSettings(let key, let settings, let at): try self.setPersonSettings(key, settings, at: at)
        case .setBlocked(let key, let user, let isBlocked, let at):
            try self.setBlocked(key, user, isBlocked: isBlocked, at: at)
        case .acceptCustom(let operation): try self.acceptCustom(operation)
        case .signIn(let key, let platform, let issuedAt, let at):
            try self.signIn(key, platform: platform, tokenIssuedAt: issuedAt, at: at)
        case .changeAccount(let key, let change, let at): try self.changeAccount(key, change, at: at)
        case .readAccount(let key): .userAccount(try self.find(key)?.account ?? AccountState())
        case .setProfiles(let app, let profiles, let isOwn): try self.setProfiles(profiles, of: app, isOwn: isOwn)
        case .readProfiles(let app, let users, let offered):
            .profiles(try users.map { try self.card(of: $0, in: app, offered: offered[$0]) })
        case .signOut(let key, let at): try self.signOut(key, at: at)
        case .setPushState(let key, let state, let about): try self.setPushState(key, state, about: about)
        case .registerInstallations(let app, let all, let at):
            .installations(try self.register(all, in: app, at: at))
        case .setDeviceStatus(let key, let status): try self.setDeviceStatus(key, status)
        case .setVoIPToken(let key, let token, let about): try self.setVoIPToken(key, token, about: about)
        case .advance(let key, let settled, let decided):
            try self.advance(key, settled: settled ?? 0, decided: decided ?? 0)
        case .markRead(let key, let conversation, let upTo, let at):
            try self.markRead(key, conversation, upTo: upTo, at: at)
        case .keepLeg(let open): try self.keepLeg(open)
        case .endLeg(let ended): try self.writeEnd(ended)
        case .receipt(let leg, let receipt, let at): try self.writeReceipt(leg, receipt, at: at)
        case .compareLog(let key, let held): .isSameLog(try self.isSame(held, of: key))
        case .loadUser(let key): .user(try self.loadUser(key))
        case .readLog(let key, let after, let limit, let bytes):
            .page(try self.readLog(key, after: after, limit: limit, frameBytesMax: bytes))
        case .trace(let app, let id): .trace(try self.trace(of: id, in: app).map { try self.withReports($0) })
        case .readMessage(let app, let id): .trace(try self.readMessage(id, in: app))
        case .readLegs(let question): .legs(try self.readLegs(question))
        case .readConversation(let app, let conversation, let user, let at):
            try self.readConversation(conversation, of: app, for: user, at: at)
        case .readHistory(let key, let conversation, let before, let limit, let room):
            try self.readHistory(of: key, in: conversation, before: before, limit: limit, room: room)
        case .mayWrite(let key, let conversation, let room): try self.mayWrite(key, conversation, room: room)
        case .readRestrictions(let kind, let app, let conversation, let user, let at):
            try self.readRestrictions(kind, conversation, of: app, asked: user, at: at)
        case .readSettings(let key): .settings(try self.settings(of: key))
        case .readReceipts(let app, let message, let user): try self.readReceipts(of: message, in: app, asked: user)
        case .readMedia(let key, let media, let message, let room):
            .mediaUse(try self.mediaUse(of: media, in: message, by: key, room: room))
        case .readMediaUses(let app, let media, let owner):
            .mediaUses(try self.mediaUses(of: media, by: owner, in: app))
        case .readUnread(let key, let conversation): .unread(try self.readUnread(key, conversation))
        case .setObjectNames(let app, let names): try self.setObjectNames(names, of: app)
        case .readObjectNames(let app): .objectNames(self.objectNames[app] ?? [])
        case .setAccount(let app, let account, let isDeclared):
            try self.setAccount(account, of: app, isDeclared: isDeclared)
        case .putAccount(let app, let account): try self.putAccount(account, of: app)
        case .readAccounts(let app, let account, let after, let limit):
            .accounts(try self.accounts(of: app, only: account, after: after, limit: limit))
        case .setFollowing(let key, let account, let isFollowing):
            try self.setFollowing(key, account, isFollowing)
        case .readFollowers(let app, let account, let after, let limit):
            try self.followers(of: account, in: app, after: after, limit: limit)
        case .readFollowing(let key): .following(try self.following(key))
        case .readStorageUse(let app): .storageUse(self.storageUse(of: app))
        case .readPeople(let app, let after, let limit): try self.people(of: app, after: after, limit: limit)
        case .readConversations(let app, let after, let limit):
            try self.conversations(of: app, after: after, limit: limit)
        case .readConversationList(let key, let before, let limit):
            try self.conversationList(of: key, before: before, limit: limit)
        case .createPush(let job): try self.createPush(job)
        case .stepPush(let app, let id, let ids, let most, let at):
            try self.stepPush(id, of: app, ids: ids, devicesMax: most, at: at)
        case .changePush(let app, let id, let change, let at): try self.changePush(id, of: app, change, at: at)
        case .readPush(let app, let id): .pushJob(try self.push(id, of: app)?.job)
        case .readPushes(let app, let before, let limit): try self.readPushes(of: app, before: before, limit: limit)
        case .countAudience(let app, let audience, let after, let limit):
            try self.countAudience(audience, of: app, after: after, limit: limit)
        case .readPushRecipient(let key, let id): .pushRecipient(try self.pushRecipient(key, of: id))
        case .setLabels(let key, let change): try self.setLabels(key, change)
        case .readLabels(let key): .labels(try self.labels(of: key))
        case .changeControl(let change, let at): try self.changeControl(change, at: at)
        case .readControl: .controlState(self.control)
        case .readAudit(let question, let limit): try self.readAudit(question, limit: limit)
        case .once(let request, let command): try self.execute(command, once: request)
        case .readKept(let key, let at):
            .kept(try self.rows.keptAnswer(key).flatMap { $0.isExpired(at: at) ? nil : $0 })
        }
    }

    private func accept(
        _ message: Message, from device: DeviceID?, room: RoomAccess, past: PastRefusals, push: PushOptions?,
        by author: UserID?
    ) throws -> StoreResult {
        var message = message
        let sender = try self.find(UserKey(app: message.app, user: message.sender))
        if let sender, let earlier = try self.sentMessage(message.clientMessageID, by: sender) {
            if let first = try self.accepted(earlier.id, in: message.app),
                let fault = StoreRules.fault(
                    inRepeat: message, of: first.message,
                    isRevised: try self.revision(of: earlier.id) != MessageRevision(),
                    isBySame: author == first.author)
            {
                return .refused(fault)
            }
            return .duplicate(earlier.id, sentAt: earlier.at)
        }
        if try self.isUsed(message.id) { return .refused(StoreRules.usedMessageID(message.id)) }
        if let names = self.objectNames[message.app],
            let fault = StoreRules.fault(in: message.objectName, registered: names)
        {
            return .refused(fault)
        }
        if device == nil,
            let refusal = StoreRules.refusal(
                message, ofPerson: sender?.account,
                author: try author.flatMap { try self.find(UserKey(app: message.app, user: $0))?.account },
                past: past, among: self.accounts[message.app])
        {
            return .refused(refusal)
        }
        if let refusal = try self.refusal(message, by: author, isBackend: device == nil) { return .refused(refusal) }
        let standing = try self.standing(
            of: message.sender, in: message.conversation, of: message.app, at: message.sentAt)
        if let refusal = StoreRules.refusal(
            in: message.conversation, isBackend: device == nil || author != nil, standing, room: room,
            ignoresBlocks: past.contains(.blocks))
        {
            return .refused(refusal)
        }
        if message.conversation.type.targetIsPeer {
            // Unreadable rows of the peer must be noticed before anything is written.
            _ = try self.find(UserKey(app: message.app, user: UserID(message.conversation.target)))
            message.fillPush(conversation: nil, app: push)
            return try self.write(.accept(message, senderDevice: device, version: 0, author: author))
        }
        guard let conversation = try self.find(message.conversation, in: message.app) else {
            return .refused(StoreRules.unknownConversation(message.conversation))
        }
        if message.conversation.type != .chatRoom {
            for user in message.recipients {
                let person = try self.find(UserKey(app: message.app, user: user))
                guard let person, conversation.memberSet.contains(person.number) else {
                    return .refused(StoreRules.strangerAmongRecipients(user))
                }
            }
        }
        message.fillPush(conversation: conversation.push, app: push)
        // A chat room's message is in no log, so there is nobody to hush it for.
        return try self.write(
            .accept(
                message, senderDevice: device, version: conversation.version,
                hushes: !past.contains(.blocks) && message.conversation.type != .chatRoom))
    }

    private func setObjectNames(_ names: [ObjectName], of app: AppID) throws -> StoreResult {
        let names = Set(names).sorted()
        if let fault = StoreRules.fault(in: names) { return .refused(fault) }
        return names == self.objectNames[app] ?? [] ? .done : try self.write(.objectNames(app, names))
    }

    private func markRead(
        _ key: UserKey, _ conversation: ConversationID, upTo: LogPosition, at: Int64
    ) throws -> StoreResult {
        guard let person = try self.find(key), let number = try self.number(of: conversation, in: key.app),
            let state = try self.conversationState(number, of: person)
        else { return .refused(StoreRules.nothingToRead(conversation)) }
        guard upTo <= person.head else {
            return .refused(StoreRules.pastHead(field: "up_to", head: person.head, got: upTo))
        }
        guard upTo > state.read else { return .read(position: nil, unread: person.counts.unread) }
        return try self.write(.markRead(key, conversation, upTo: upTo, at: at))
    }

    private func writeReceipt(_ leg: LegID, _ receipt: LegReceipt, at: Int64) throws -> StoreResult {
        guard let person = try self.find(leg.user), let record = try self.entryRecord(of: leg.message, person),
            try !self.isKnown(PersonState.Receipt(leg, receipt), of: person)
        else { return .done }
        var job: PushJobID?
        if case .pushStep(let step) = record, !step.isCustom { job = step.job }
        return try self.write(.receipt(leg, receipt, at: at, job: job))
    }

    private func signIn(
        _ key: DeviceKey, platform: String, tokenIssuedAt: Int64?, at: Int64
    ) throws -> StoreResult {
        let account = try self.find(key.user)?.account
        if let fault = account?.fault(inTokenIssuedAt: tokenIssuedAt, at: at) { return .refused(fault) }
        if var device = try self.device(key), !device.isSignedOut {
            device.platform = platform
            device.signedInAt = at
            return try self.write(.signIn(device))
        }
        let head = try self.find(key.user)?.head ?? 0
        return try self.write(
            .signIn(
                DeviceRecord(
                    key: key, platform: platform, push: .none, settled: head, decided: head, since: head,
                    signedInAt: at, isSignedOut: false)))
    }

    private func changeAccount(_ key: UserKey, _ change: AccountChange, at: Int64) throws -> StoreResult {
        let person = try self.find(key)
        if let end = change.endOfLegs, let person {
            for device in try self.devices(of: person) { _ = try self.signOut(device.key, end, at: at) }
        }
        let before = person?.account ?? AccountState()
        var after = before
        after.apply(change)
        return after == before ? .done : try self.write(.userAccount(key, after))
    }

    private func signOut(_ key: DeviceKey, _ end: LegEnd = .signedOut, at: Int64) throws -> StoreResult {
        guard let device = try self.device(key), !device.isSignedOut else { return .done }
        try self.endLegs(of: key, end, at: at)
        for end in try self.undecided(of: device, end, at: at) { _ = try self.writeEnd(end) }
        return try self.write(.signOut(key))
    }

    /// The legs of a device that are only in its owner's memory end with it: no crash may lose them (design.md P6).
    private func undecided(of device: DeviceRecord, _ end: LegEnd, at: Int64) throws -> [EndedLeg] {
        guard let person = try self.find(device.key.user) else { return [] }
        var records: [JournalPosition] = []
        var hushed: Set<JournalPosition> = []
        try self.forEachEntry(of: person, after: max(device.settled, device.decided)) { entry in
            records.append(entry.record)
            if entry.isHushed { hushed.insert(entry.record) }
            return true
        }
        var candidates: [(id: MessageID, end: LegEnd, ifShown: MessageID?)] = []
        var jobs: [MessageID: PushJobID] = [:]
        for (position, record) in try records.map({ ($0, try self.record(at: $0)) }) {
            if case .accept(let message, let sentFrom, _, _, let author) = record {
                let isOwn = author == nil && message.sender == person.key.user && sentFrom == device.key.device
                candidates.append((message.id, isOwn ? .ownDevice : end, nil))
            } else if case .pushStep(let step) = record, !step.isCustom,
                let recipient = step.recipient(person.key.user)
            {
                candidates.append((recipient.id, end, nil))
                jobs[recipient.id] = step.job
            } else if case .recall(_, let recall, _) = record, !hushed.contains(position) {
                candidates.append((recall.id, end, recall.message))
            }
        }
        let ended = try self.ends(of: Set(candidates.flatMap { [$0.id, $0.ifShown ?? $0.id] }), on: device.key)
        return candidates.compactMap { candidate in
            if let message = candidate.ifShown, ended[message]?.mayBeShown != true { return nil }
            guard ended[candidate.id] == nil else { return nil }
            let leg = LegID(message: candidate.id, user: device.key.user, device: device.key.device)
            return EndedLeg(leg: leg, end: candidate.end, at: at, pushJob: jobs[candidate.id])
        }
    }

    private func ends(of ids: Set<MessageID>, on device: DeviceKey) throws -> [MessageID: LegEnd] {
        guard !ids.isEmpty else { return [:] }
        // tidy: order does not leave: they are sorted below
        var records = try ids.flatMap { try self.rows.records(of: $0) }
        for (message, record) in self.indexTail where ids.contains(message) { records.append(record) }
        var ends: [MessageID: LegEnd] = [:]
        for record in records.sorted() {
            guard case .endLeg(let ended) = try self.record(at: record), ended.leg.user == device.user,
                ended.leg.device == device.device, ends[ended.leg.message] == nil
            else { continue }
            ends[ended.leg.message] = ended.end
        }
        return ends
    }

    private func setPushState(
        _ key: DeviceKey, _ state: PushState, about: PushRegistration?
    ) throws -> StoreResult {
        guard let device = try self.device(key) else { return .refused(StoreRules.unknownDevice(key)) }
        if device.isSignedOut || (about != nil && device.push.registration != about) { return .done }
        var others: [DeviceKey] = []
        if about == nil, case .registered(let registration, let at, _) = state {
            others = try self.holders(of: registration, in: key.user.app).filter { $0 != key }
            for other in others {
                if ImportedInstallation.hasMade(other.device) { _ = try self.signOut(other, at: at) }
                try self.endLegs(of: other, .noToken, at: at)
                _ = try self.write(.setPushState(other, .none))
            }
        }
        if device.push != state { _ = try self.write(.setPushState(key, state)) }
        return others.isEmpty ? .done : .taken(others)
    }

    private func register(_ all: [ImportedInstallation], in app: AppID, at: Int64) throws -> [InstallationOutcome] {
        // Unreadable rows must be noticed before anything is written.
        let keys = try all.flatMap { try self.holders(of: $0.registration, in: app) + [$0.newDevice(in: app)] }
        for key in keys { _ = (try self.device(key), try self.labels(of: key.user)) }
        return try all.map { installation in
            let holders = try self.holders(of: installation.registration, in: app)
            return try installation.register(in: app, holders: holders, at: at) { try self.execute($0) }
        }
    }

    private func holders(of registration: PushRegistration, in app: AppID) throws -> [DeviceKey] {
        try self.devices(with: registration.token, in: app).filter {
            try self.device($0)?.push.registration == registration
        }
    }

    private func setDeviceStatus(_ key: DeviceKey, _ status: ReportedStatus) throws -> StoreResult {
        guard let device = try self.device(key), !device.isSignedOut, device.status != status else { return .done }
        return try self.write(.deviceStatus(key, status))
    }

    private func setVoIPToken(
        _ key: DeviceKey, _ token: VoIPToken?, about: PushRegistration?
    ) throws -> StoreResult {
        guard let device = try self.device(key) else { return .refused(StoreRules.unknownDevice(key)) }
        if device.isSignedOut || (about != nil && device.voIP?.registration != about) { return .done }
        var others: [DeviceKey] = []
        if let registration = token?.registration {
            others = try self.devices(with: registration.token, in: key.user.app).filter {
                try $0 != key && self.device($0)?.voIP?.registration == registration
            }
            for other in others { _ = try self.write(.setVoIPToken(other, nil)) }
        }
        if device.voIP != token { _ = try self.write(.setVoIPToken(key, token)) }
        return others.isEmpty ? .done : .taken(others)
    }

    /// Returns the devices that may have the token, for any kind of push.
    private func devices(with token: PushToken, in app: AppID) throws -> [DeviceKey] {
        let stored = try self.rows.devices(with: token)
        let keys = (self.tokenTail[token] ?? []).union(self.tokensInRound[token] ?? []).union(stored)
        return keys.filter { $0.user.app == app }.sorted()
    }

    /// Each end is a record of its own: replayed, it must not depend on which legs are still open by then.
    private func keepLeg(_ open: OpenLeg) throws -> StoreResult {
        let device = try open.leg.device.flatMap { try self.device(DeviceKey(user: open.leg.user, device: $0)) }
        return device?.isSignedOut == true ? .done : try self.write(.keepLeg(open))
    }

    private func endLegs(of key: DeviceKey, _ end: LegEnd, at: Int64) throws {
        guard let person = try self.find(key.user) else { return }
        // tidy: order does not leave: they are sorted
        let legs = try self.openLegs(of: person).values.filter { $0.leg.device == key.device }
        for open in legs.sorted(by: { $0.leg < $1.leg }) {
            _ = try self.writeEnd(
                EndedLeg(leg: open.leg, end: end, at: at, pushJob: open.pushJob, steps: open.steps))
        }
    }

    private func advance(_ key: DeviceKey, settled: LogPosition, decided: LogPosition) throws -> StoreResult {
        guard let person = try self.find(key.user), let index = try self.deviceIndex(key.device, of: person),
            let device = person.devices?[index]
        else { return .refused(StoreRules.unknownDevice(key)) }
        if settled > person.head {
            return .refused(StoreRules.pastHead(field: "settled", head: person.head, got: settled))
        }
        if decided > person.head {
            return .refused(StoreRules.pastHead(field: "decided", head: person.head, got: decided))
        }
        if settled <= device.settled, decided <= device.decided { return .done }
        return try self.write(.advance(key, settled: settled, decided: decided))
    }
}

import StoreModel
import TidingsModel

/// Applies a journal record to memory: when it is written, and again after a crash. The second time, content of the stored rows is left
/// out: each person by `PersonState.applied`, the message index by `indexed`, a conversation by its version.
extension StoreMachine {
    // tidy: long because it is one case per kind of record.
    func apply(_ record: JournalRecord, at position: JournalPosition) throws -> StoreResult {
        switch record {
        case .accept(let message, let device, let version, let hushes, let author):
            self.noteMedia(message.namedMedia, of: message, isBackend: device == nil, by: author)
            return .accepted(
                deliveries: try self.applyAccept(
                    message, isByPerson: device != nil, version: version, hushes: hushes, at: position),
                names: try self.names(of: message), push: message.sharedPush)
        case .putConversation(let record, let version): try self.applyConversation(record, version: version)
        case .change(let app, let change): return try self.applyChange(change, in: app, at: position)
        case .recall(_, let recall, let accepted): return try self.applyRecall(recall, of: accepted, at: position)
        case .edit(_, let edit, let accepted): return try self.applyEdit(edit, of: accepted, at: position)
        case .delete(let key, let deletion, let positions, _):
            return try self.applyDeletion(key, deletion, positions: positions, at: position)
        case .conversationSettings(let key, let conversation, let settings, let draft, let wall):
            return try self.applyConversationSettings(
                settings, draft: draft, of: conversation, for: key, wall: wall, at: position)
        case .personSettings(let key, let settings, _):
            return try self.applyPersonSettings(settings, for: key, at: position)
        case .blocked(let key, let user, let isBlocked, _):
            return try self.applyBlocked(user, isBlocked: isBlocked, for: key, at: position)
        case .custom(let operation): return try self.applyCustom(operation, at: position)
        case .signIn(let device):
            let person = try self.intern(device.key.user)
            self.rememberToken(device.push, of: device.key)
            if position > person.applied { try self.setDevice(device, of: person) }
            return .device(device)
        case .signOut(let key):
            try self.changeDevice(key, at: position) { device in
                device.push = .none
                device.voIP = nil
                device.isSignedOut = true
                device.unpushed = UnpushedMessages()
                device.status = nil
            }
        case .setPushState(let key, let state):
            self.rememberToken(state, of: key)
            try self.changeDevice(key, at: position) { $0.push = state }
        case .deviceStatus(let key, let status): try self.changeDevice(key, at: position) { $0.status = status }
        case .setVoIPToken(let key, let token):
            self.remember(token?.registration.token, of: key)
            try self.changeDevice(key, at: position) { $0.voIP = token }
        case .advance(let key, let settled, let decided):
            let head = try self.intern(key.user).head
            try self.changeDevice(key, at: position) { $0.advance(settled: settled, decided: decided, head: head) }
        case .markRead(let key, let conversation, let upTo, _):
            return try self.applyRead(key, conversation, upTo: upTo, at: position)
        case .keepLeg(let open): try self.setOpenLeg(open.leg, open, at: position)
        case .push(let job): return try self.applyPush(job, at: position)
        case .pushStep(let step): return try self.applyPushStep(step, at: position)
        case .pushChange(let record): try self.applyPushState(record, at: position)
        case .labels(let key, let labels, let removed):
            return try self.applyLabels(labels, removed: removed, of: key, at: position)
        case .endLeg(let ended):
            try self.setOpenLeg(ended.leg, nil, at: position)
            if let job = ended.pushJob { try self.applyPushEnd(ended, of: job, at: position) }
            if ended.end.couldNotBePushed { try self.insertUnpushed(ended.leg, at: position) }
            self.appendToIndex(ended.leg.message, position)
        case .lost: break
        case .receipt(let leg, let receipt, _, let job):
            self.appendToIndex(leg.message, position)
            if let job { try self.count(job, at: position) { $0.add(receipt) } }
            guard let person = try self.find(leg.user), position > person.applied else { break }
            person.receipts.insert(PersonState.Receipt(leg, receipt))
            self.touch(person)
        case .userAccount(let key, let account):
            let person = try self.intern(key)
            guard position > person.applied else { break }
            person.account = account
            person.accountChanged = true
            self.touch(person)
        case .profile(let key, let profile):
            let person = try self.intern(key)
            guard position > person.applied else { break }
            person.profile = profile
            person.profileChanged = true
            self.touch(person)
        case .objectNames(let app, let names):
            self.objectNames[app] = names.isEmpty ? nil : names
            self.objectNamesTail.insert(app)
        case .control(let record): self.applyControl(record)
        case .account(let app, let id, let account): self.applyAccount(account, id, of: app)
        case .following(let key, let account, let isFollowing):
            try self.applyFollowing(isFollowing, of: account, by: key)
        }
        return .done
    }

    private func appendToIndex(_ message: MessageID, _ position: JournalPosition) {
        if position > self.indexed { self.indexTail.append((message, position)) }
    }

    func rememberID(_ id: MessageID, _ position: JournalPosition) {
        if position > self.indexed {
            self.indexTail.append((id, position))
            self.acceptedTail[id] = position
        }
        if id > self.lastMessageID { self.lastMessageID = id }
    }

    private func rememberToken(_ state: PushState, of key: DeviceKey) {
        self.remember(state.registration?.token, of: key)
    }

    private func remember(_ token: PushToken?, of key: DeviceKey) {
        if let token { self.tokenTail[token, default: []].insert(key) }
    }

    func append(_ entry: LogChunk.Entry, to person: PersonState) -> Delivery {
        self.touch(person)
        let position = person.append(entry, chunkBytes: self.configuration.logChunkBytes)
        self.entriesInTail += 1
        self.count(in: person.key.app) { $0.logEntries += 1 }
        return Delivery(user: person.key.user, position: position, unread: person.counts.unread)
    }

    func touch(_ person: PersonState) {
        guard !person.isDirty else { return }
        person.isDirty = true
        self.dirtyPeople.append(person)
    }

    /// - Parameter isByPerson: it came from a device of its sender's, not from the app's backend.
    private func applyAccept(
        _ message: Message, isByPerson: Bool, version: UInt64, hushes: Bool, at position: JournalPosition
    ) throws -> [Delivery] {
        let sender = try self.intern(UserKey(app: message.app, user: message.sender))
        let type = message.conversation.type
        var deliveries: [Delivery] = []
        if type.targetIsPeer {
            let peer = try self.intern(UserKey(app: message.app, user: UserID(message.conversation.target)))
            let senderSide = ConversationNumber(type: type, number: peer.number)
            let peerSide = ConversationNumber(type: type, number: sender.number)
            deliveries.reserveCapacity(2)
            if peer === sender {
                try self.deliver(message, position, to: sender, in: senderSide, into: &deliveries)
            } else if peer.key.user < sender.key.user {
                try self.deliver(message, position, to: peer, in: peerSide, into: &deliveries)
                try self.deliver(message, position, to: sender, in: senderSide, into: &deliveries)
            } else {
                try self.deliver(message, position, to: sender, in: senderSide, into: &deliveries)
                try self.deliver(message, position, to: peer, in: peerSide, into: &deliveries)
            }
            if isByPerson, type == .direct, position > sender.applied {
                var state = try self.stateOrNew(senderSide, of: sender)
                if !state.hasWritten {
                    state.hasWritten = true
                    sender.setState(state, of: senderSide)
                }
            }
        } else {
            guard let conversation = try self.find(message.conversation, in: message.app) else {
                throw StoredBytesFault.missing("conversation \(message.conversation)")
            }
            if type == .chatRoom {
                self.roomTail[conversation.number, default: []].append((position, message.id))
            } else {
                let side = ConversationNumber(type: type, number: conversation.number)
                let members = try self.recipients(of: message, version: version)
                deliveries.reserveCapacity(members.count)
                for person in members {
                    try self.deliver(message, position, to: person, in: side, hushes: hushes, into: &deliveries)
                }
            }
        }
        if position > sender.applied {
            sender.rememberSent(
                message.clientMessageID, PersonState.SentMessage(id: message.id, at: message.sentAt),
                max: self.configuration.sentIDsInMemoryMax)
            self.touch(sender)
        }
        self.rememberID(message.id, position)
        self.count(in: message.app) { $0.messages.add(1, bytes: message.content.utf8.count) }
        return deliveries
    }

    func deliver(
        _ message: Message, _ record: JournalPosition, to person: PersonState, in conversation: ConversationNumber,
        hushes: Bool = false, into deliveries: inout [Delivery]
    ) throws {
        guard record > person.applied else { return }
        var state = try self.stateOrNew(conversation, of: person)
        let isHushed = hushes && person.settings.blocked.contains(message.sender)
        let counts = message.flags.contains(.counted) && person.key.user != message.sender && !isHushed
        let mentions = counts && message.mentions.include(person.key.user)
        if counts {
            state.counted = person.head + 1
            person.count(1, mentions: mentions ? 1 : 0, in: &state)
        }
        let earlier = state.last
        state.last = person.head + 1
        if !message.flags.contains(.unlisted) { state.listed = state.last }
        person.setState(state, of: conversation)
        let entry = LogChunk.Entry(
            record: record, conversation: conversation, counts: counts, mentions: mentions, earlier: earlier,
            lacksDevice: person.signedIn == 0 && person.key.user != message.sender, isHushed: isHushed)
        var delivery = self.append(entry, to: person)
        delivery.isHushed = isHushed
        deliveries.append(delivery)
    }

    private func applyRead(
        _ key: UserKey, _ conversation: ConversationID, upTo: LogPosition, at position: JournalPosition
    ) throws -> StoreResult {
        let person = try self.intern(key)
        guard position > person.applied else { return .done }
        guard let number = try self.number(of: conversation, in: key.app),
            var state = try self.conversationState(number, of: person)
        else { throw StoredBytesFault.missing("conversation \(conversation) of \(key)") }
        let left =
            upTo < state.counted
            ? try self.unread(of: person, in: number, state, after: upTo) : (unread: 0, mentions: 0)
        person.count(left.unread - state.unread, mentions: left.mentions - state.mentions, in: &state)
        state.recalled.removeAll { $0 <= upTo }
        state.read = upTo
        person.setState(state, of: number)
        let delivery = self.append(.init(record: position, conversation: number), to: person)
        return .read(position: delivery.position, unread: delivery.unread)
    }

    /// Counts the unread messages of a conversation after a position between its read cursor and its last entry that counts. It counts from
    /// the shorter side: the rest, from message to message of the conversation, or the read part, entry by entry of the log. The cursor
    /// only moves forward, so no entry is looked at often.
    private func unread(
        of person: PersonState, in number: ConversationNumber, _ state: PersonState.ConversationState,
        after upTo: LogPosition
    ) throws -> (unread: Int, mentions: Int) {
        let recalled = Set(state.recalled)
        var left = (unread: 0, mentions: 0)
        var run = LogRun()
        var next = state.last
        // To find one message may mean to read a row, with which some hundreds of entries are read at once.
        var steps = 64 + Int((upTo - state.read) / 256)
        while next > upTo, steps > 0 {
            let entry = try self.entry(at: next, of: person, &run)
            if entry.counts, !recalled.contains(entry.position) {
                left.unread += 1
                if entry.mentions { left.mentions += 1 }
            }
            next = entry.earlier ?? 0
            steps -= 1
        }
        guard next > upTo else { return left }
        left = (state.unread, state.mentions)
        try self.forEachEntry(of: person, after: state.read) { entry in
            guard entry.position <= upTo else { return false }
            if entry.counts, entry.conversation == number, !recalled.contains(entry.position) {
                left.unread -= 1
                if entry.mentions { left.mentions -= 1 }
            }
            return true
        }
        return left
    }

    private func setDevice(_ device: DeviceRecord, of person: PersonState) throws {
        try self.devices(of: person)
        let place = person.devicePlace(device.key.device)
        if let known = person.devices?[safe: place], known.key == device.key {
            if known.isSignedOut { person.signedIn += 1 }
            person.devices?[place] = device
            // A sign-in's record does not repeat them; one that was signed out begins anew.
            person.devices?[place].unpushed = known.isSignedOut ? UnpushedMessages() : known.unpushed
            person.devices?[place].status = known.isSignedOut ? nil : known.status
            person.devices?[place].voIP = known.voIP
        } else {
            person.signedIn += 1
            person.devices?.insert(device, at: place)
            self.count(in: person.key.app) { $0.devices += 1 }
        }
        self.markChanged(device.key.device, of: person)
        for forgotten in DeviceRecord.forgotten(of: person.devices ?? []) {
            let place = person.devicePlace(forgotten)
            person.devices?.remove(at: place)
            self.count(in: person.key.app) { $0.devices -= 1 }
            self.markChanged(forgotten, of: person)
        }
    }

    private func changeDevice(
        _ key: DeviceKey, at position: JournalPosition, _ change: (inout DeviceRecord) -> Void
    ) throws {
        let person = try self.intern(key.user)
        guard position > person.applied else { return }
        guard let index = try self.deviceIndex(key.device, of: person) else {
            throw StoredBytesFault.missing("device \(key)")
        }
        let wasSignedOut = person.devices?[index].isSignedOut
        person.devices?.withDevice(at: index, change)
        if wasSignedOut == false, person.devices?[index].isSignedOut == true { person.signedIn -= 1 }
        self.markChanged(key.device, of: person)
    }

    private func insertUnpushed(_ leg: LegID, at position: JournalPosition) throws {
        let person = try self.intern(leg.user)
        guard position > person.applied, let device = leg.device, let index = try self.deviceIndex(device, of: person),
            person.devices?[index].isSignedOut == false
        else { return }
        try self.changeDevice(DeviceKey(user: leg.user, device: device), at: position) {
            $0.unpushed.insert(leg.message)
        }
    }

    private func markChanged(_ device: DeviceID, of person: PersonState) {
        person.changedDevices.insert(device)
        self.touch(person)
    }

    private func setOpenLeg(_ leg: LegID, _ open: OpenLeg?, at position: JournalPosition) throws {
        let person = try self.intern(leg.user)
        guard position > person.applied else { return }
        if open == nil, try self.openLegs(of: person)[leg] == nil { return }
        if person.openLegs == nil { _ = try self.openLegs(of: person) }
        person.openLegs?[leg] = open
        person.changedLegs.insert(leg)
        self.touch(person)
    }
}

extension Array where Element == DeviceRecord {
    fileprivate mutating func withDevice(at index: Int, _ change: (inout DeviceRecord) -> Void) { change(&self[index]) }

    fileprivate subscript(safe index: Int) -> DeviceRecord? { index < self.count ? self[index] : nil }
}

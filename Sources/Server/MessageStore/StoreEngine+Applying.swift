import StoreModel
import TidingsModel

/// What each journal record changes in memory: when it is written, and again after a crash. The second time, what the stored rows
/// already contain is left out: each person by `PersonState.applied`, the message index by `indexed`, a conversation by its version.
extension StoreEngine {
    func apply(_ record: JournalRecord, at position: JournalPosition) throws -> StoreResult {
        switch record {
        case .accept(let message, _, let version):
            return .accepted(deliveries: try self.applyAccept(message, version: version, at: position))
        case .putConversation(let record, let version): try self.applyConversation(record, version: version)
        case .signIn(let device):
            let person = try self.intern(device.key.user)
            if position > person.applied { try self.replace(device, of: person) }
            return .device(device)
        case .signOut(let key):
            try self.change(key, at: position) { device in
                device.push = .none
                device.isSignedOut = true
            }
        case .setPushState(let key, let state): try self.change(key, at: position) { $0.push = state }
        case .advance(let key, let settled, let decided):
            try self.change(key, at: position) { device in
                device.settled = max(device.settled, settled)
                device.decided = max(device.decided, decided)
            }
        case .markRead(let key, let conversation, let upTo, _):
            return try self.applyRead(key, conversation, upTo: upTo, at: position)
        case .keepLeg(let open): try self.setOpenLeg(open.leg, open, at: position)
        case .endLeg(let ended):
            try self.setOpenLeg(ended.leg, nil, at: position)
            self.noteIndex(ended.leg.message, position)
        case .receipt(let leg, _, _): self.noteIndex(leg.message, position)
        }
        return .done
    }

    private func noteIndex(_ message: MessageID, _ position: JournalPosition) {
        if position > self.indexed { self.indexTail.append((message, position)) }
    }

    /// The person's rows are behind from now on.
    private func touch(_ person: PersonState) {
        guard !person.isDirty else { return }
        person.isDirty = true
        self.dirtyPeople.append(person)
    }

    private func applyAccept(
        _ message: Message, version: UInt64, at position: JournalPosition
    ) throws -> [Delivery] {
        let sender = try self.intern(UserKey(app: message.app, user: message.sender))
        let type = message.conversation.type
        let counts = message.flags.contains(.counted)
        var deliveries: [Delivery] = []
        if type.targetIsPeer {
            let peer = try self.intern(UserKey(app: message.app, user: UserID(message.conversation.target)))
            let senderSide = ConversationNumber(type: type, number: peer.number)
            let peerSide = ConversationNumber(type: type, number: sender.number)
            deliveries.reserveCapacity(2)
            if peer === sender {
                try self.deliver(position, to: sender, in: senderSide, counts: false, into: &deliveries)
            } else if peer.key.user < sender.key.user {
                try self.deliver(position, to: peer, in: peerSide, counts: counts, into: &deliveries)
                try self.deliver(position, to: sender, in: senderSide, counts: false, into: &deliveries)
            } else {
                try self.deliver(position, to: sender, in: senderSide, counts: false, into: &deliveries)
                try self.deliver(position, to: peer, in: peerSide, counts: counts, into: &deliveries)
            }
        } else if type != .chatRoom {
            guard let conversation = try self.find(message.conversation, in: message.app) else {
                throw StoredBytesFault.missing("conversation \(message.conversation)")
            }
            let side = ConversationNumber(type: type, number: conversation.number)
            let members = try self.members(of: conversation, version: version)
            deliveries.reserveCapacity(members.count)
            for number in members {
                let person = try self.person(number)
                try self.deliver(
                    position, to: person, in: side, counts: counts && person !== sender, into: &deliveries)
            }
        }
        if position > sender.applied {
            sender.noteSent(
                message.clientMessageID, PersonState.SentMessage(id: message.id, at: message.sentAt),
                max: self.configuration.sentIDsInMemoryMax)
            self.touch(sender)
        }
        if position > self.indexed {
            self.indexTail.append((message.id, position))
            self.acceptedTail.insert(message.id)
        }
        if message.id > self.lastMessageID { self.lastMessageID = message.id }
        return deliveries
    }

    private func deliver(
        _ record: JournalPosition, to person: PersonState, in conversation: ConversationNumber, counts: Bool,
        into deliveries: inout [Delivery]
    ) throws {
        guard record > person.applied else { return }
        let state = try self.conversationState(conversation, of: person) ?? PersonState.ConversationState()
        self.touch(person)
        let position = person.append(
            record: record, conversation: conversation, state: state, counts: counts,
            chunkBytes: self.configuration.logChunkBytes)
        self.entriesInTail += 1
        deliveries.append(Delivery(user: person.key.user, position: position, unread: person.unread))
    }

    private func applyConversation(_ record: ConversationRecord, version: UInt64) throws {
        let known = try self.find(record.conversation, in: record.app)
        if let known, known.version >= version { return }
        var members: [Int64] = []
        members.reserveCapacity(record.members.count)
        for member in record.members {
            members.append(try self.intern(UserKey(app: record.app, user: member)).number)
        }
        let conversation: MembersState
        if let known {
            conversation = known
            known.name = record.name
            known.version = version
            known.members = members
            known.memberSet = Set(members)
        } else {
            self.lastConversationNumber += 1
            conversation = MembersState(
                number: self.lastConversationNumber, app: record.app, conversation: record.conversation,
                name: record.name, version: version, members: members)
            self.remember(conversation)
        }
        self.newVersions.append((conversation, version, members))
    }

    private func applyRead(
        _ key: UserKey, _ conversation: ConversationID, upTo: LogPosition, at position: JournalPosition
    ) throws -> StoreResult {
        let person = try self.intern(key)
        guard position > person.applied else { return .done }
        guard let number = try self.number(of: conversation, in: key.app),
            var state = try self.conversationState(number, of: person)
        else { throw StoredBytesFault.missing("conversation \(conversation) of \(key)") }
        var left = 0
        if upTo < state.counted {
            try self.forEachEntry(of: person, after: upTo) { entry in
                if entry.counts, entry.conversation == number { left += 1 }
                return true
            }
        }
        person.unread += left - state.unread
        state.unread = left
        state.read = upTo
        self.touch(person)
        let entry = person.append(
            record: position, conversation: number, state: state, counts: false,
            chunkBytes: self.configuration.logChunkBytes)
        self.entriesInTail += 1
        return .read(position: entry, unread: person.unread)
    }

    private func replace(_ device: DeviceRecord, of person: PersonState) throws {
        if let index = try self.deviceIndex(device.key.device, of: person) {
            person.devices?[index] = device
        } else {
            var devices = try self.devices(of: person)
            devices.append(device)
            devices.sort { $0.key.device < $1.key.device }
            person.devices = devices
        }
        person.changedDevices.insert(device.key.device)
        self.touch(person)
    }

    private func change(
        _ key: DeviceKey, at position: JournalPosition, _ change: (inout DeviceRecord) -> Void
    ) throws {
        let person = try self.intern(key.user)
        guard position > person.applied else { return }
        guard let index = try self.deviceIndex(key.device, of: person) else {
            throw StoredBytesFault.missing("device \(key)")
        }
        person.devices?.withDevice(at: index, change)
        person.changedDevices.insert(key.device)
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
    /// Changes a device in place.
    fileprivate mutating func withDevice(at index: Int, _ change: (inout DeviceRecord) -> Void) { change(&self[index]) }
}

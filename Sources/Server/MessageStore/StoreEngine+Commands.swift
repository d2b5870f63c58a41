import StoreModel
import TidingsModel

/// What each command changes and answers, by the rules of `ReferenceStore`.
extension StoreEngine {
    func carryOut(_ command: StoreCommand) throws -> StoreResult {
        switch command {
        case .accept(let message, let device): try self.accept(message, from: device)
        case .putConversation(let record): try self.putConversation(record)
        case .signIn(let key, let platform, let at): try self.signIn(key, platform: platform, at: at)
        case .signOut(let key, let at): try self.signOut(key, at: at)
        case .setPushState(let key, let state): try self.setPushState(key, state)
        case .advance(let key, let settled, let decided):
            try self.advance(key, settled: settled ?? 0, decided: decided ?? 0)
        case .markRead(let key, let conversation, let upTo, let at):
            try self.markRead(key, conversation, upTo: upTo, at: at)
        case .keepLeg(let open): try self.write(.keepLeg(open))
        case .endLeg(let ended): try self.write(.endLeg(ended))
        case .receipt(let leg, let receipt, let at): try self.write(.receipt(leg, receipt, at: at))
        case .loadUser(let key): .user(try self.loadUser(key))
        case .readLog(let key, let after, let limit): .page(try self.readLog(key, after: after, limit: limit))
        case .trace(let app, let id): .trace(try self.trace(of: id, in: app))
        }
    }

    private func accept(_ message: Message, from device: DeviceID?) throws -> StoreResult {
        let sender = try self.find(UserKey(app: message.app, user: message.sender))
        if let sender, let earlier = try self.sentMessage(message.clientMessageID, by: sender) {
            return .duplicate(earlier.id, sentAt: earlier.at)
        }
        if message.id <= self.lastMessageID, try self.isAccepted(message.id) {
            return .refused(StoreRules.usedMessageID(message.id))
        }
        var version: UInt64 = 0
        if !message.conversation.type.targetIsPeer {
            guard let conversation = try self.find(message.conversation, in: message.app) else {
                return .refused(StoreRules.unknownConversation(message.conversation))
            }
            if message.conversation.type != .chatRoom {
                guard let sender, conversation.memberSet.contains(sender.number) else {
                    return .refused(StoreRules.notAMember(of: message.conversation))
                }
            }
            version = conversation.version
        }
        return try self.write(.accept(message, senderDevice: device, version: version))
    }

    private func putConversation(_ record: ConversationRecord) throws -> StoreResult {
        if let fault = StoreRules.fault(in: record) { return .refused(fault) }
        let earlier = try self.find(record.conversation, in: record.app)
        if let earlier, try self.record(of: earlier) == record { return .done }
        return try self.write(.putConversation(record, version: (earlier?.version ?? 0) + 1))
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
        guard upTo > state.read else { return .read(position: nil, unread: person.unread) }
        return try self.write(.markRead(key, conversation, upTo: upTo, at: at))
    }

    private func signIn(_ key: DeviceKey, platform: String, at: Int64) throws -> StoreResult {
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

    private func signOut(_ key: DeviceKey, at: Int64) throws -> StoreResult {
        guard let person = try self.find(key.user), let device = try self.device(key), !device.isSignedOut else {
            return .done
        }
        // Each end is a record of its own: replayed, it must not depend on which legs are still open by then.
        let legs = try self.openLegs(of: person).keys.filter { $0.device == key.device }.sorted()
        for leg in legs { _ = try self.write(.endLeg(EndedLeg(leg: leg, end: .signedOut, at: at))) }
        return try self.write(.signOut(key))
    }

    private func setPushState(_ key: DeviceKey, _ state: PushState) throws -> StoreResult {
        guard let device = try self.device(key) else { return .refused(StoreRules.unknownDevice(key)) }
        if device.isSignedOut || device.push == state { return .done }
        return try self.write(.setPushState(key, state))
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

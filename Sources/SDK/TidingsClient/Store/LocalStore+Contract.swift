import ClientCore

extension LocalStore: LocalStoreContract {
    /// After an error nothing was written, but what waited for `.takeCustomMessages` may be lost.
    func carryOut(_ command: LocalStoreCommand) throws -> LocalStoreOutcome {
        switch command {
        case .write(let entries, let person): return .written(try self.writeEntries(entries, person: person))
        case .skip(let position, let end): return .written(try self.skip(after: position, upTo: end))
        case .settle(let position): try self.write { try Self.setNumber("settled", position, in: $0) }
        case .keepOutgoing(let draft): try self.writeOutgoing(draft)
        case .removeOutgoing(let id): try self.removeOutgoing(id)
        case .markRead(let conversation, let position):
            return .counted(try self.writeRead(conversation, upTo: position))
        case .addPendingChange(let pendingChange): return .counted(try self.writePendingChange(pendingChange))
        case .markPendingChange(let pendingChange, let isTold):
            try self.markPendingChange(pendingChange, isTold: isTold)
        case .removePendingChange(let pendingChange, let isKept):
            return .counted(try self.removePendingChange(pendingChange, isKept: isKept))
        case .replaceSettings(let all): return .counted(try self.replaceSettings(all))
        case .keepConversation(let info): try self.writeInfo(info)
        case .resetLog(let origin): try self.resetLog(origin)
        case .keepOrigin(let origin): try self.write { try Self.writeOrigin(origin, in: $0) }
        case .takeCustomMessages(let wall): return .custom(try self.takeCustomMessages(wall: wall))
        case .beginAnew: _ = try self.renew()
        case .forgetPerson: try self.forgetAll()
        }
        return .done
    }
}

import ClientCore

// The contract's commands, each by the function that carries it out.
extension LocalStore: LocalStoreContract {
    /// Carries out a command.
    ///
    /// - Throws: an error of the file system or of SQLite: nothing was written, but for `.takeCustomMessages` what waited may be lost.
    func carryOut(_ command: LocalStoreCommand) throws -> LocalStoreOutcome {
        switch command {
        case .write(let entries, let person): return .written(try self.write(entries, person: person))
        case .skip(let position, let end): return .written(try self.skip(after: position, upTo: end))
        case .settle(let position): try self.writeSettled(position)
        case .keepOutgoing(let draft): try self.writeOutgoing(draft)
        case .removeOutgoing(let id): try self.removeOutgoing(id)
        case .markRead(let conversation, let position):
            return .counted(try self.writeRead(conversation, upTo: position))
        case .addPendingChange(let pendingChange): return .counted(try self.write(pendingChange))
        case .removePendingChange(let pendingChange, let isKept):
            return .counted(try self.drop(pendingChange, isKept: isKept))
        case .replaceSettings(let all): return .counted(try self.write(all))
        case .keepConversation(let info): try self.write(info)
        case .resetLog(let origin): try self.resetLog(origin)
        case .keepOrigin(let origin): try self.write(origin)
        case .takeCustomMessages(let wall): return .custom(try self.takeCustomMessages(wall: wall))
        case .beginAnew: _ = try self.renew()
        case .forgetPerson: try self.forgetAll()
        }
        return .done
    }
}

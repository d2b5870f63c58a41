import ClientCore

// The contract's commands, each by the function that carries it out.
extension LocalStore: LocalStoreContract {
    /// After an error nothing was written, but what waited for `.takeCustomMessages` may be lost.
    func carryOut(_ command: LocalStoreCommand) throws -> LocalStoreOutcome {
        switch command {
        case .write(let entries, let person): return .written(try self.write(entries, person: person))
        case .skip(let position, let end): return .written(try self.skip(after: position, upTo: end))
        case .settle(let position): try self.writeSettled(position)
        case .keepOutgoing(let draft): try self.writeOutgoing(draft)
        case .removeOutgoing(let id): try self.removeOutgoing(id)
        case .markRead(let conversation, let position):
            return .counted(try self.writeRead(conversation, upTo: position))
        case .keepWish(let wish): return .counted(try self.write(wish))
        case .dropWish(let wish, let isKept): return .counted(try self.drop(wish, isKept: isKept))
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

// No message of a person somebody has blocked comes into their log, until they unblock them, and what came before is
// neither edited nor recalled by that person. And nobody writes to the backend's conversations.
import OrderedCollections
import StoreModel
import TidingsModel

struct BlockChecker: Checker {
    static let kinds = FactKinds(.accept, .edit, .recall)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(.accept(let message, let device, _), .accepted):
            if device != nil, message.conversation.type.isForBackend {
                findings.add(
                    "block", "\(message.id) from \(message.sender) was accepted, which only the backend may send")
            }
            self.check(message, was: "accepted", in: state, into: &findings)
        case .committed(.edit(let operation), .noted(.edit(_)?, _)) where operation.actor != nil:
            guard let message = state.committed.messages[operation.message]?.message else { return }
            self.check(message, was: "edited", in: state, into: &findings)
        case .committed(.recall(let operation), .recalled(_, let message, _, _)) where operation.actor != nil:
            self.check(message, was: "recalled", in: state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(_ message: Message, was what: String, in state: CheckerState, into findings: inout Findings) {
        let target = UserID(message.conversation.target)
        guard message.conversation.type.targetIsPeer,
            state.committed.settings(of: target).blocked.contains(message.sender)
        else { return }
        findings.add("block", "\(message.id) from \(message.sender) was \(what), whom \(target) has blocked")
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones {
            var blocked: OrderedSet<UserID> = []
            for entry in phone.disk.log {
                switch entry.body {
                case .blocked(let user, true): blocked.append(user)
                case .blocked(let user, false): blocked.remove(user)
                case .message(let message):
                    guard message.conversation.type.targetIsPeer, blocked.contains(message.sender) else { continue }
                    findings.add("block", "\(phone.key) has \(message.id) from \(message.sender), who is blocked")
                case .read, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings, .change,
                    .unknown:
                    break
                }
            }
        }
    }
}

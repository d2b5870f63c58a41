// From a person somebody has blocked no one-to-one message comes into their log, until they take it back.
import OrderedCollections
import StoreModel
import TidingsModel

/// Watches what the store accepts, and reads every phone's log at the end.
struct BlockChecker: Checker {
    static let kinds = FactKinds(.accept)

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        guard case .committed(.accept(let message, _), .accepted) = fact, message.conversation.type == .direct else {
            return
        }
        let target = UserID(message.conversation.target)
        if scene.committed.settings(of: target).blocked.contains(message.sender) {
            findings.add("block", "\(message.id) from \(message.sender) was accepted, whom \(target) has blocked")
        }
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for phone in ending.phones {
            var blocked: OrderedSet<UserID> = []
            for entry in phone.disk.log {
                switch entry.body {
                case .blocked(let user, true): blocked.append(user)
                case .blocked(let user, false): blocked.remove(user)
                case .message(let message):
                    guard message.conversation.type == .direct, blocked.contains(message.sender) else { continue }
                    findings.add("block", "\(phone.key) has \(message.id) from \(message.sender), who is blocked")
                case .read, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings, .change,
                    .unknown:
                    break
                }
            }
        }
    }
}

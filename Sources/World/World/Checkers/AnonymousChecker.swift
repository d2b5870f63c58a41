// Anyone with an app's binary can be as many anonymous people as they like: what they do reaches nobody, and nobody but the backend writes
// to them (docs/inside/decisions/0049-anonymous-people.md). That pushes reach them is the audience's promise, and that each rings once is P3.
import StoreModel
import TidingsModel

struct AnonymousChecker: Checker {
    static let kinds = FactKinds(.accept, .acceptCustom)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(.accept(let message, let device, _, _, _, _), .accepted(let deliveries, _, _)):
            if message.sender.isAnonymous {
                findings.add("anonymous", "\(message.sender) has written \(message.id)")
            }
            if device != nil, let user = deliveries.first(where: \.user.isAnonymous)?.user {
                findings.add("anonymous", "\(message.sender) has written \(message.id) to \(user) from a phone")
            }
        case .committed(.stepPush, .pushStep(let step)):
            if step.deliveries.contains(where: { $0.user.isAnonymous && !World.isHostile($0.user) }) {
                findings.reach(.pushesToAnonymous)
            }
        default: break  // tidy: the other facts are other promises'
        }
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for conversation in ending.store.conversations {
            for member in conversation.record.members where member.id.isAnonymous {
                findings.add("anonymous", "\(member.id) is a member of \(conversation.record.conversation)")
            }
        }
        for person in ending.store.people {
            let user = person.record.key.user
            if user.isAnonymous, !person.record.settings.blocked.isEmpty {
                findings.add("anonymous", "\(user) blocks \(person.record.settings.blocked)")
            }
        }
    }
}

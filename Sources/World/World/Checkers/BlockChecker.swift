// No message of a person whom another has blocked comes into the blocker's log, until they unblock them, and earlier ones are neither
// edited nor recalled by that person; in a group that both are in their messages come hushed, and neither ring nor bring the blocker into
// another one. And nobody writes to the backend's conversations.
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

struct BlockChecker: Checker {
    static let kinds = FactKinds(.accept, .edit, .recall, .change, .pushed, .posted)

    /// Sent by the backend past blocks.
    private var pastBlocks: Set<MessageID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(
            .accept(let message, let device, _, let past, _, let author), .accepted(let deliveries, _, _)):
            guard !past.contains(.blocks) else {
                self.pastBlocks.insert(message.id)
                return
            }
            self.checkMembers(message, deliveries, in: state, into: &findings)
            if device != nil, author == nil, message.conversation.type.isForBackend {
                findings.add(
                    "block", "\(message.id) from \(message.sender) was accepted, which only the backend may send")
            }
            self.check(message, was: "accepted", in: state, into: &findings)
        case .committed(.edit(let operation), .noted(.edit(_)?, _)) where operation.actor != nil:
            guard let message = state.committed.messages[operation.message]?.message else { return }
            self.check(message, was: "edited", in: state, into: &findings)
        case .committed(.recall(let operation), .recalled(_, let message, _, _)) where operation.actor != nil:
            self.check(message, was: "recalled", in: state, into: &findings)
        case .committed(.change(let operation), .changed(let changes, _)):
            guard let actor = operation.actor else { return }
            for made in changes { self.check(made.change.action, by: actor, in: state, into: &findings) }
        case .pushed(let request, let key):
            if let info = request.alert { self.checkRing(of: info.message, on: key, in: state, into: &findings) }
        case .posted(let notification, let key, _):
            guard !notification.isSilent else { return }
            self.checkRing(of: notification.message, on: key, in: state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func checkMembers(
        _ message: Message, _ deliveries: [Delivery], in state: CheckerState, into findings: inout Findings
    ) {
        guard !message.conversation.type.targetIsPeer else { return }
        for delivery in deliveries {
            let blocks = state.committed.settings(of: delivery.user).blocked.contains(message.sender)
            guard delivery.isHushed != blocks else { continue }
            let what = blocks ? "is loud for \(delivery.user), who has" : "is hushed for \(delivery.user), who has not"
            findings.add("block", "\(message.id) \(what) blocked \(message.sender)")
        }
    }

    private func checkRing(
        of message: MessageID, on key: DeviceKey, in state: CheckerState, into findings: inout Findings
    ) {
        guard state.committed.messages[message]?.isHushed(for: key.user.user) == true else { return }
        findings.add("block", "\(message) rang on \(key), whose person had blocked its sender")
    }

    private func check(
        _ action: ConversationAction, by actor: UserID, in state: CheckerState, into findings: inout Findings
    ) {
        let users: [UserID]
        switch action {
        case .create(_, _, let members): users = members
        case .add(let added), .invite(let added, _, _): users = added
        case .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban, .mute,
            .unmute, .setOnlyAdminsWrite, .decline, .withdraw:
            return
        }
        for user in users where user != actor && state.committed.settings(of: user).blocked.contains(actor) {
            findings.add("block", "\(actor) has brought in \(user), who had blocked them")
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
                    guard blocked.contains(message.sender), !self.pastBlocks.contains(message.id) else { continue }
                    if message.conversation.type.targetIsPeer {
                        findings.add("block", "\(phone.key) has \(message.id) from \(message.sender), who is blocked")
                    } else if message != message.hushed {
                        findings.add(
                            "block", "\(phone.key) has \(message.id) from \(message.sender) loud, who is blocked")
                    }
                case .read, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings, .change,
                    .unknown:
                    break
                }
            }
        }
    }
}

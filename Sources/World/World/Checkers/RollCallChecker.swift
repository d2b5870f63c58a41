// P2, P3, P4: it rings, and the number on the icon is right without the app. When all has healed, a message to somebody whose phones
// are away rings once on each that has a token, and brings the number of unread messages.
import OrderedCollections
import PhoneCore
import StoreModel
import TidingsModel

/// A phone at the end of the roll call.
struct RollCallPhone: Hashable {
    var key: DeviceKey
    /// Somebody is signed in, the app has a push token, and the person lets it notify.
    var mayRing: Bool
    /// The number on the icon.
    var icon: Int
}

/// Watches the messages of the roll call.
struct RollCallChecker: Checker {
    /// Whom each message is for, and what was unread with it; a level that ends later adds to it without a push.
    private var called: OrderedDictionary<MessageID, (user: UserKey, unread: Int)> = [:]
    private var rings: OrderedDictionary<MessageID, [DeviceKey]> = [:]

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .committed(.accept(let message, _), .accepted(let deliveries, _)) where message.sender == World.caller:
            let user = UserID(message.conversation.target)
            let unread = deliveries.first { $0.user == user }?.unread ?? 0
            self.called[message.id] = (UserKey(app: message.app, user: user), unread)
        case .presented(let record, let key) where record.isRing:
            guard !self.called.isEmpty, let message = MessageID(record.identifier), self.called[message] != nil else {
                return
            }
            self.rings[message, default: []].append(key)
        case .rollCallEnded(let phones): self.check(phones, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(_ phones: [RollCallPhone], into findings: inout Findings) {
        for (message, call) in self.called {
            for phone in phones where phone.key.user == call.user && phone.mayRing {
                let count = self.rings[message]?.count { $0 == phone.key } ?? 0
                if count != 1 {
                    findings.add("P3", "\(phone.key) rang \(count) times for \(message), after everything had healed")
                } else if phone.icon != call.unread {
                    findings.add(
                        "P4", "the push to \(phone.key) left \(phone.icon) on the icon, unread were \(call.unread)")
                }
            }
        }
    }
}

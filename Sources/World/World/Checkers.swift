import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// What everybody was promised in a run, gathered while it goes on and judged when all has healed (DESIGN §1).
struct Checkers {
    /// Acknowledged sends: the message, its sender and its text.
    private(set) var acknowledged: [(id: MessageID, sender: UserID, target: UserID, text: String)] = []
    private(set) var violations: [Violation] = []

    mutating func acknowledge(_ message: Message) {
        self.acknowledged.append(
            (message.id, message.sender, UserID(message.conversation.target), message.content))
    }

    mutating func found(_ promise: String, _ text: String) {
        // The first of a kind tells; thousands of the same would hide it.
        guard self.violations.count < 20 else { return }
        self.violations.append(Violation(promise: promise, text: text))
    }

    /// P3: a ring is a banner or a sound, and there is one for each message and phone.
    mutating func rang(_ record: PresentationRecord, on phone: inout WorldPhone) {
        guard record.isRing else { return }
        phone.rings[record.identifier, default: 0] += 1
        if phone.rings[record.identifier] == 2 {
            self.found("P3", "\(phone.device) rang twice for \(record.identifier)")
        }
    }

    /// P1: nothing acknowledged is lost, and nothing is there twice, in the store and on every phone.
    mutating func checkDurable(store: inout ReferenceStore, phones: [WorldPhone], app: AppID) {
        for sent in self.acknowledged {
            guard case .trace(let trace?)? = try? store.apply(.trace(app, sent.id), epoch: store.epoch) else {
                self.found("P1", "\(sent.id) from \(sent.sender) was acknowledged and is not in the store")
                continue
            }
            if trace.message.content != sent.text { self.found("P1", "\(sent.id) has another text than was sent") }
        }
        for phone in phones {
            var copies: [MessageID: Int] = [:]
            var texts: [String: Int] = [:]
            for entry in phone.disk.log {
                guard case .message(let message) = entry.body else { continue }
                copies[message.id, default: 0] += 1
                texts["\(message.sender) \(message.content)", default: 0] += 1
            }
            for (text, count) in texts.sorted(by: { $0.key < $1.key }) where count > 1 {
                self.found("P1", "\(phone.device) has \(text) \(count) times")
            }
            for sent in self.acknowledged where sent.sender == phone.person || sent.target == phone.person {
                if copies[sent.id] != 1 {
                    self.found("P1", "\(phone.device) has \(sent.id) \(copies[sent.id] ?? 0) times")
                }
            }
        }
    }

    /// P2 and P6: each leg has ended once, with a reason that fits what the phone has.
    mutating func checkLegs(store: inout ReferenceStore, phones: [WorldPhone], app: AppID) {
        for sent in self.acknowledged {
            guard case .trace(let trace?)? = try? store.apply(.trace(app, sent.id), epoch: store.epoch) else {
                continue
            }
            for leg in trace.open {
                self.found("P6", "\(leg.leg) is open (\(leg.wait.rawValue)) after everything healed")
            }
            for phone in phones where phone.person == sent.sender || phone.person == sent.target {
                let ends = trace.ended.filter { $0.leg.user.user == phone.person && $0.leg.device == phone.device }
                guard ends.count == 1, let end = ends.first else {
                    let names = ends.map(\.end.name).joined(separator: ", ")
                    self.found("P6", "\(sent.id)→\(phone.device) has \(ends.count) ends: \(names)")
                    continue
                }
                let isThere = phone.disk.log.contains { entry in
                    guard case .message(let message) = entry.body else { return false }
                    return message.id == sent.id
                }
                if case .settled = end.end, !isThere {
                    self.found("P2", "\(sent.id)→\(phone.device) is settled and the phone does not have it")
                }
            }
        }
    }
}

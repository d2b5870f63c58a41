// P1: what was acknowledged is on disk, once, and reads on every phone of everybody it concerns as it was last revised.
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

struct DurableChecker: Checker {
    static let kinds = FactKinds(.accept, .acknowledged, .apiAccepted, .looked)

    private struct Sent: Hashable {
        var sender: UserID
        var number: ClientMessageID
    }

    private var acknowledged: [Message] = []
    private var accepted: Set<Sent> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .acknowledged(let message, _):
            self.acknowledged.append(message)
            if state.committed.messages[message.id] == nil {
                findings.add("P1", "\(message.id) from \(message.sender) was acknowledged and is not in the store")
            }
        case .apiAccepted(let id):
            if state.committed.messages[id] == nil, !state.committed.custom.contains(id) {
                findings.add("P1", "\(id) was accepted by the API and is not in the store")
            }
        // All messages of a push have its number; that nobody gets two is the audience's promise.
        case .committed(.accept(let message, _, _, _, _, _), .accepted) where message.pushJob == nil:
            let sent = Sent(sender: message.sender, number: message.clientMessageID)
            if !self.accepted.insert(sent).inserted {
                findings.add("P1", "\(message.clientMessageID) from \(message.sender) was accepted twice")
            }
        case .looked(let ending):
            for phone in ending.phones { Self.checkLog(phone, ending, state, into: &findings) }
        default: break  // tidy: the other facts are other promises'
        }
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        var texts: [MessageID: String] = [:]
        for person in ending.store.people {
            for entry in person.log {
                // A person who has deleted it has its position only.
                if case .message(let message) = entry.body, texts[message.id]?.isEmpty ?? true {
                    texts[message.id] = message.content
                }
            }
        }
        for message in self.acknowledged {
            if texts[message.id] == nil {
                findings.add("P1", "\(message.id) was acknowledged, and the store has lost it")
            } else if texts[message.id] != Self.text(of: message, in: state) {
                findings.add("P1", "\(message.id) has another text than was sent")
            }
        }
        var received: [UserID: [MessageID]] = [:]
        for (id, accepted) in state.committed.messages {
            for delivery in accepted.deliveries { received[delivery.user, default: []].append(id) }
        }
        for phone in ending.phones {
            Self.checkLog(phone, ending, state, into: &findings)
            Self.checkTexts(phone, received[phone.key.user.user] ?? [], state, into: &findings)
        }
    }

    private static func text(of message: Message, in state: CheckerState) -> String {
        let deliveries = state.committed.messages[message.id]?.deliveries ?? []
        let isGone = deliveries.allSatisfy { state.committed.isDeleted(message.id, by: $0.user) }
        if isGone || state.committed.recalled[message.id] != nil { return "" }
        return state.committed.contents[message.id] ?? message.content
    }

    /// The phone's log is the store's, or was when it came: of a custom message that had expired when it was asked
    /// for, and of what was recalled, deleted or edited by then, it has the position only.
    private static func checkLog(
        _ phone: Ending.Phone, _ ending: Ending, _ state: CheckerState, into findings: inout Findings
    ) {
        let log = (ending.person(phone.key.user.user)?.log ?? []).map { Self.entry($0, on: phone.key.device) }
        if let (here, there) = zip(phone.disk.log, log).first(where: { here, there in
            here != there && !Self.fits(here, there, of: phone.key.user.user, state)
        }) {
            findings.add("P1", "\(phone.key) has \(here) where the store has \(there)")
        } else if phone.disk.log.count != log.count {
            findings.add("P1", "\(phone.key) has \(phone.disk.log.count) entries, the store \(log.count)")
        }
    }

    /// Returns the entry on a device: a push for its person's others does not notify, and is a position if it is for the app itself.
    private static func entry(_ entry: LogEntry, on device: DeviceID) -> LogEntry {
        switch entry.body {
        case .message(var message) where !message.isFor(device):
            message.flags.remove(.notified)
            return LogEntry(position: entry.position, body: .message(message))
        case .custom(let message) where !message.isFor(device):
            return LogEntry(position: entry.position, body: .unknown)
        case .message, .custom, .read, .recall, .edit, .deletion, .conversationSettings, .personSettings, .blocked,
            .change, .unknown:
            return entry
        }
    }

    /// Returns true if an entry on the phone is the server's, or what it was before a recall, deletion or edit.
    private static func fits(_ here: LogEntry, _ there: LogEntry, of user: UserID, _ state: CheckerState) -> Bool {
        guard here.position == there.position else { return false }
        func isGone(_ id: MessageID) -> Bool {
            state.committed.recalled[id] != nil || state.committed.isDeleted(id, by: user)
        }
        switch (here.body, there.body) {
        case (.unknown, .custom(let message)): return state.walls.contains { message.isExpired(at: $0) }
        case (.unknown, .message(let message)): return isGone(message.id)
        case (.unknown, .edit(let edit)): return edit.content.isEmpty
        case (.message(let before), .message(let now)):
            let isRevised = isGone(now.id) || state.committed.contents[now.id] != nil
            return isRevised
                && before.revised(content: nil, isGone: true) == now.revised(content: nil, isGone: true)
        case (.edit(var before), .edit(let now)):
            before.content = ""
            return now.content.isEmpty && before == now
        // A page says the draft of now in each entry of its conversation (docs/inside/decisions/0039).
        case (.conversationSettings(let conversation, let before), .conversationSettings(let same, let now)):
            return conversation == same && before.withoutDraft == now.withoutDraft
        default: return false  // tidy: the others do not change
        }
    }

    private static func checkTexts(
        _ phone: Ending.Phone, _ received: [MessageID], _ state: CheckerState, into findings: inout Findings
    ) {
        let user = phone.key.user.user
        for id in received {
            let item = phone.disk.store.rows.messages[id]
            if state.committed.isDeleted(id, by: user) {
                if item != nil { findings.add("P1", "\(phone.key) still has \(id), which \(user) has deleted") }
                continue
            }
            let isRecalled = state.committed.recalled[id] != nil
            guard let item else {
                if !isRecalled { findings.add("P1", "\(phone.key) does not have \(id)") }
                continue
            }
            let content = state.committed.contents[id] ?? state.committed.messages[id]?.message.content
            if item.isRecalled != isRecalled || !isRecalled && item.message.content != content {
                findings.add(
                    "P1", "\(phone.key) shows \(id) as \(item), it is \(isRecalled ? "recalled" : content ?? "nothing")"
                )
            }
        }
    }
}

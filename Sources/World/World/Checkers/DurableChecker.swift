// P1: what was acknowledged is on disk, once, and reads on every phone of everybody it concerns as it was last revised.
import ClientCore
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

/// Watches acknowledgements, and compares every phone with the store at the end.
struct DurableChecker: Checker {
    static let kinds = FactKinds(.accept, .acknowledged, .apiAccepted, .looked)

    private struct Sent: Hashable {
        var sender: UserID
        var number: ClientMessageID
    }

    private var acknowledged: [Message] = []
    private var accepted: Set<Sent> = []

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .acknowledged(let message, _):
            self.acknowledged.append(message)
            if scene.committed.messages[message.id] == nil {
                findings.add("P1", "\(message.id) from \(message.sender) was acknowledged and is not in the store")
            }
        case .apiAccepted(let id):
            if scene.committed.messages[id] == nil, !scene.committed.custom.contains(id) {
                findings.add("P1", "\(id) was accepted by the API and is not in the store")
            }
        case .committed(.accept(let message, _, _), .accepted):
            let sent = Sent(sender: message.sender, number: message.clientMessageID)
            if !self.accepted.insert(sent).inserted {
                findings.add("P1", "\(message.clientMessageID) from \(message.sender) was accepted twice")
            }
        case .looked(let ending):
            for phone in ending.phones { Self.judgeLog(phone, ending, scene, into: &findings) }
        default: break  // tidy: the other facts are other promises'
        }
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        var texts: [MessageID: String] = [:]
        for person in ending.store.people {
            for entry in person.log {
                // Whoever has deleted it has the place only.
                if case .message(let message) = entry.body, texts[message.id]?.isEmpty ?? true {
                    texts[message.id] = message.content
                }
            }
        }
        for message in self.acknowledged {
            if texts[message.id] == nil {
                findings.add("P1", "\(message.id) was acknowledged, and the store has lost it")
            } else if texts[message.id] != Self.text(of: message, in: scene) {
                findings.add("P1", "\(message.id) has another text than was sent")
            }
        }
        var received: [UserID: [MessageID]] = [:]
        for (id, accepted) in scene.committed.messages {
            for delivery in accepted.deliveries { received[delivery.user, default: []].append(id) }
        }
        for phone in ending.phones {
            Self.judgeLog(phone, ending, scene, into: &findings)
            Self.judgeTexts(phone, received[phone.key.user.user] ?? [], scene, into: &findings)
        }
    }

    /// What the store says of a message now: nothing, once it is recalled, or everybody has deleted it.
    private static func text(of message: Message, in scene: Scene) -> String {
        let deliveries = scene.committed.messages[message.id]?.deliveries ?? []
        let isGone = deliveries.allSatisfy { scene.committed.isDeleted(message.id, by: $0.user) }
        if isGone || scene.committed.recalled[message.id] != nil { return "" }
        return scene.committed.contents[message.id] ?? message.content
    }

    /// The phone's log is the store's, or was when it came: of a custom message that had expired when it was asked for, and of what was
    /// recalled, deleted or edited over by then, it has the place only.
    private static func judgeLog(
        _ phone: Ending.Phone, _ ending: Ending, _ scene: Scene, into findings: inout Findings
    ) {
        let log = ending.person(phone.key.user.user)?.log ?? []
        if let (here, there) = zip(phone.disk.log, log).first(where: { here, there in
            here != there && !Self.fits(here, there, of: phone.key.user.user, scene)
        }) {
            findings.add("P1", "\(phone.key) has \(here) where the store has \(there)")
        } else if phone.disk.log.count != log.count {
            findings.add("P1", "\(phone.key) has \(phone.disk.log.count) entries, the store \(log.count)")
        }
    }

    /// Whether an entry is what was left of it when the phone got it, or what it was before.
    private static func fits(_ here: LogEntry, _ there: LogEntry, of user: UserID, _ scene: Scene) -> Bool {
        guard here.position == there.position else { return false }
        func isGone(_ id: MessageID) -> Bool {
            scene.committed.recalled[id] != nil || scene.committed.isDeleted(id, by: user)
        }
        switch (here.body, there.body) {
        case (.unknown, .custom(let message)): return scene.walls.contains { message.isExpired(at: $0) }
        case (.unknown, .message(let message)): return isGone(message.id)
        case (.unknown, .edit(let edit)): return edit.content.isEmpty
        case (.message(let before), .message(let now)):
            let isRevised = isGone(now.id) || scene.committed.contents[now.id] != nil
            return isRevised
                && before.revised(content: nil, isGone: true) == now.revised(content: nil, isGone: true)
        case (.edit(var before), .edit(let now)):
            before.content = ""
            return now.content.isEmpty && before == now
        default: return false  // tidy: the others do not change
        }
    }

    /// Messages read as they were last revised.
    private static func judgeTexts(
        _ phone: Ending.Phone, _ received: [MessageID], _ scene: Scene, into findings: inout Findings
    ) {
        let user = phone.key.user.user
        for id in received {
            let item = phone.disk.store.messages[id]
            if scene.committed.isDeleted(id, by: user) {
                if item != nil { findings.add("P1", "\(phone.key) still has \(id), which \(user) has deleted") }
                continue
            }
            let isRecalled = scene.committed.recalled[id] != nil
            guard let item else {
                if !isRecalled { findings.add("P1", "\(phone.key) does not have \(id)") }
                continue
            }
            let content = scene.committed.contents[id] ?? scene.committed.messages[id]?.message.content
            if item.isRecalled != isRecalled || !isRecalled && item.message.content != content {
                findings.add(
                    "P1", "\(phone.key) shows \(id) as \(item), it is \(isRecalled ? "recalled" : content ?? "nothing")"
                )
            }
        }
    }
}

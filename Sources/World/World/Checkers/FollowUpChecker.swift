// Whoever may have been shown a message hears of its recall: it has a leg on every device that has shown the message, and on
// every device whose push of it was on its way and came through.
//
// A server that crashes in between may learn from the log of the device itself; of such recalls LegChecker sees the end.
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

/// Watches what the store is told of legs, and does not believe it about who has shown what.
struct FollowUpChecker: Checker {
    static let kinds = FactKinds(.endLeg, .keepLeg, .recall, .signOut, .advance)

    private struct Recall {
        var recall: MessageID
        var positions: [UserID: LogPosition]
        var life: Int
    }

    private struct Open: Hashable {
        var key: DeviceKey
        var position: LogPosition
        var life: Int
    }

    /// Legs that have ended: whether their device has shown the message, or may have.
    private var finished = LegTable<Bool>()
    private var recalled: [MessageID: Recall] = [:]
    /// Legs of recalls that must begin.
    private var open: OrderedDictionary<LegID, Open> = [:]
    private var begun: Set<LegID> = []

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        guard case .committed(let command, let result) = fact else { return }
        // Most are ends, and a command with its result is much to copy.
        if case .endLeg(let end) = command {
            if case .done = result { self.see(end, scene) }
            return
        }
        switch (command, result) {
        case (.keepLeg(let leg), .done): self.begin(leg.leg, scene)
        case (.recall, .recalled(let recall, let message, let deliveries, _)):
            let positions = deliveries.map { ($0.user, $0.position) }
            self.recalled[message.id] = Recall(
                recall: recall.id, positions: Dictionary(positions) { first, _ in first }, life: scene.life)
            for holder in self.finished.holders(of: message.id, where: { $0 }) {
                guard let key = scene.holders.device(at: holder) else { continue }
                self.expect(message.id, on: key, scene)
            }
        case (.signOut(let key, _), .done): self.open.removeAll { $0.value.key == key }
        case (.advance(let key, let settled?, _), .done):
            for (leg, open) in self.open where open.key == key && open.position <= settled {
                if open.life == scene.life { self.report(leg, into: &findings) }
                self.open.removeValue(forKey: leg)
            }
        default: break  // tidy: the other commands are about no leg
        }
    }

    private mutating func see(_ end: EndedLeg, _ scene: Scene) {
        self.begin(end.leg, scene)
        // Of several ends the first stays.
        guard self.finished.find(end.leg.message, scene.holder) == nil else { return }
        let place = self.finished.place(end.leg.message, scene.holder, or: false)
        guard let device = end.leg.device, end.end.mayBeShown else { return }
        self.finished[place] = true
        self.expect(end.leg.message, on: DeviceKey(user: end.leg.user, device: device), scene)
    }

    /// A leg begins. Only those of recalls are waited for, and there are many more of messages.
    private mutating func begin(_ leg: LegID, _ scene: Scene) {
        guard scene.committed.messages[leg.message] == nil else { return }
        self.begun.insert(leg)
        self.open.removeValue(forKey: leg)
    }

    private mutating func expect(_ message: MessageID, on key: DeviceKey, _ scene: Scene) {
        guard let recall = self.recalled[message], recall.life == scene.life,
            let position = recall.positions[key.user.user],
            let device = scene.committed.devices[key], !device.isSignedOut, device.since < position
        else { return }
        let leg = LegID(message: recall.recall, user: key.user, device: key.device)
        guard !self.begun.contains(leg) else { return }
        self.open[leg] = Open(key: key, position: position, life: scene.life)
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for (leg, open) in self.open where open.life == scene.life { self.report(leg, into: &findings) }
    }

    private func report(_ leg: LegID, into findings: inout Findings) {
        findings.add("recall", "the recall \(leg) never began, and its message may have been shown there")
    }
}

extension LegEnd {
    /// The device has shown the message, or may have.
    fileprivate var mayBeShown: Bool {
        switch self {
        case .accepted, .settled(.shown): true
        default: false  // tidy: the other ends mean that nothing was shown
        }
    }
}

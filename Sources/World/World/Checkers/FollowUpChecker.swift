// A recall has a leg on every device that has shown its message, and on every device whose push of it was on its way
// and came through; not on those for whose person it was hushed, whom no notification has told of it. After a crash a
// server may learn that from the device's log: LegChecker sees the end of such recalls.
import OrderedCollections
import StoreModel
import TidingsModel

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
    private var open: OrderedDictionary<LegID, Open> = [:]
    private var begun: Set<LegID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .committed(let command, let result) = fact else { return }
        // Most are ends, and a command with its result is much to copy.
        if case .endLeg(let end) = command {
            if case .done = result { self.applyEnd(end, state) }
            return
        }
        switch (command, result) {
        case (.keepLeg(let leg), .done): self.beginLeg(leg.leg, state)
        case (.recall, .recalled(let recall, let message, let deliveries, _)):
            let positions = deliveries.filter { !$0.isHushed }.map { ($0.user, $0.position) }
            self.recalled[message.id] = Recall(
                recall: recall.id, positions: Dictionary(positions) { first, _ in first }, life: state.life)
            for holder in self.finished.holders(of: message.id, where: { $0 }) {
                guard let key = state.holders.device(at: holder) else { continue }
                self.expect(message.id, on: key, state)
            }
        case (.signOut(let key, _), .done): self.open.removeAll { $0.value.key == key }
        case (.advance(let key, let settled?, _), .done):
            for (leg, open) in self.open where open.key == key && open.position <= settled {
                if open.life == state.life { self.reportMissing(leg, into: &findings) }
                self.open.removeValue(forKey: leg)
            }
        default: break  // tidy: the other commands are about no leg
        }
    }

    private mutating func applyEnd(_ end: EndedLeg, _ state: CheckerState) {
        self.beginLeg(end.leg, state)
        // Of several ends the first stays.
        guard self.finished.find(end.leg.message, state.holder) == nil else { return }
        let place = self.finished.findOrAdd(end.leg.message, state.holder, or: false)
        guard let device = end.leg.device, end.end.mayBeShown else { return }
        self.finished[place] = true
        self.expect(end.leg.message, on: DeviceKey(user: end.leg.user, device: device), state)
    }

    /// Only legs of recalls are waited for, and there are many more of messages.
    private mutating func beginLeg(_ leg: LegID, _ state: CheckerState) {
        guard state.committed.messages[leg.message] == nil else { return }
        self.begun.insert(leg)
        self.open.removeValue(forKey: leg)
    }

    private mutating func expect(_ message: MessageID, on key: DeviceKey, _ state: CheckerState) {
        guard let recall = self.recalled[message], recall.life == state.life,
            let position = recall.positions[key.user.user],
            let device = state.committed.devices[key], !device.isSignedOut, device.since < position
        else { return }
        let leg = LegID(message: recall.recall, user: key.user, device: key.device)
        guard !self.begun.contains(leg) else { return }
        self.open[leg] = Open(key: key, position: position, life: state.life)
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for (leg, open) in self.open where open.life == state.life { self.reportMissing(leg, into: &findings) }
    }

    private func reportMissing(_ leg: LegID, into findings: inout Findings) {
        findings.add("recall", "the recall \(leg) never began, and its message may have been shown there")
    }
}

extension LegEnd {
    fileprivate var mayBeShown: Bool {
        switch self {
        case .accepted, .settled(.shown), .settled(.notified): true
        default: false  // tidy: the other ends mean that nothing was shown
        }
    }
}

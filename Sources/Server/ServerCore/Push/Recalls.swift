import StoreModel
import TidingsModel

// Devices that have shown a recalled message, or may have, get the recall as a leg of its own, under its own id and at its place in the
// log (design.md §5 "Recall"). The others learn of it from their log only.
struct RecalledMessage: Hashable, Sendable {
    var shown: [DeviceID] = []
    var wasUnread = false
}

extension ServerCore {
    mutating func recall(_ message: Message, _ recall: Recall, _ deliveries: [Delivery], shown: [LegID]) {
        // The store could not count legs that have ended since it was asked.
        let late = self.turn.store.lateEnds.filter { $0.leg.message == message.id }.map(\.leg)
        let devices = Dictionary(grouping: shown + late, by: \.user)
        for delivery in deliveries {
            let user = UserKey(app: message.app, user: delivery.user)
            let shown = delivery.isHushed ? [] : devices[user]?.compactMap(\.device) ?? []
            // A person who is not in memory has nothing under way; only devices that have shown the message must be told.
            guard self.slots[user] != nil || !shown.isEmpty else { continue }
            var seen = recall
            seen.conversation = message.conversation(seenBy: delivery.user)
            self.publishEntry(
                LogEntry(position: delivery.position, body: .recall(seen)), unread: delivery.unread,
                recalled: RecalledMessage(shown: shown, wasUnread: delivery.wasUnread),
                slot: self.slot(of: user, leavesSoon: message.pushJob != nil))
        }
    }

    /// For one device: what was not sent ends, what was sent is followed by the recall.
    mutating func recall(
        _ recall: Recall, at position: LogPosition, _ recalled: RecalledMessage, _ slot: Int, _ index: Int
    ) {
        let isShown =
            recalled.shown.contains(self.people[slot].devices[index].id)
            || self.people[slot].devices[index].leaving?.mayHaveShown(recall.message) ?? false
        let mayBeShown = self.people[slot].devices[index].legs.recall([recall.message], as: .recalled)
        for leg in self.people[slot].devices[index].legs.removeAll(where: {
            $0.recall == .recalled && !$0.isInFlight
        }) {
            self.endLeg(leg, slot: slot, index: index, .recalled)
        }
        guard isShown || mayBeShown else { return }
        self.startRecall(recall, at: position, wasUnread: recalled.wasUnread, slot, index)
    }

    /// The leg is stored at once: after a crash nothing else would tell of it.
    mutating func startRecall(_ recall: Recall, at position: LogPosition, wasUnread: Bool, _ slot: Int, _ index: Int) {
        let leg = Leg(
            position: position, subject: .recall(recall, wasUnread: wasUnread),
            state: Self.firstState(of: self.people[slot].devices[index].lease), liveSince: self.turn.now.monotonic)
        let place = self.people[slot].devices[index].legs.insert(leg)
        self.keepRecall(slot, index, place)
    }

    /// Not while the store signs the device out: it would open the leg of one that is gone.
    mutating func keepRecall(_ slot: Int, _ index: Int, _ leg: Int) {
        guard !self.people[slot].devices[index].isLeaving, !self.people[slot].devices[index].legs[leg].isKept,
            case .recall = self.people[slot].devices[index].legs[leg].subject
        else { return }
        self.people[slot].devices[index].legs[leg].isKept = true
        self.turn.ask(.keepLeg(self.openLeg(slot, index, leg, notBefore: nil)))
    }

    /// After a crash only the message's trace knows whether devices must be told of this recall. Only devices that
    /// were unsure are concerned: for the others the recall may have ended since.
    mutating func restoreRecall(
        _ recall: Recall, at position: LogPosition, wasUnread: Bool, of user: UserKey, _ trace: MessageTrace?
    ) {
        guard let slot = self.slots[user], self.people[slot].isReady else { return }
        let shown = (trace?.ended ?? []).filter { $0.leg.user == user && $0.end.mayBeShown }.map(\.leg.device)
        for index in self.people[slot].devices.indices {
            guard let place = self.people[slot].devices[index].unsure.firstIndex(of: position) else { continue }
            self.people[slot].devices[index].unsure.remove(at: place)
            if self.people[slot].devices[index].settled < position,
                self.people[slot].devices[index].legs.index(of: position) == nil,
                shown.contains(self.people[slot].devices[index].id)
            {
                self.startRecall(recall, at: position, wasUnread: wasUnread, slot, index)
                self.pump(slot, index)
            } else {
                self.dirtyCursor(slot, index)
            }
        }
        self.arm(slot)
    }

    static func firstState(of lease: Lease) -> Leg.State {
        switch lease {
        case .foreground, .background: .live
        case .probing, .grace, .returning: .held
        case .gone: .queued
        }
    }
}

/// A leg that may have been shown, whose end the store was told and has not answered yet.
struct LateEnd: Hashable, Sendable {
    var request: UInt64
    var leg: LegID
}

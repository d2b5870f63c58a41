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
            let entry = LogEntry(position: delivery.position, body: .recall(seen))
            let recalled = RecalledMessage(shown: shown, wasUnread: delivery.wasUnread)
            self.tell(
                .entry(entry, unread: delivery.unread, recalled),
                slot: self.slot(of: user, leavesSoon: message.pushJob != nil))
        }
    }

    /// After a crash only the message's trace knows whether devices must be told of this recall.
    mutating func restoreRecall(
        _ recall: Recall, at position: LogPosition, wasUnread: Bool, of user: UserKey, _ trace: MessageTrace?
    ) {
        guard let slot = self.slots[user], self.people[slot].state.isReady else { return }
        let shown = (trace?.ended ?? []).filter { $0.leg.user == user && $0.end.mayBeShown }.compactMap(\.leg.device)
        self.people[slot].restoreRecall(
            recall, at: position, RecalledMessage(shown: shown, wasUnread: wasUnread), &self.turn)
    }
}

extension Person {
    /// Only devices that were unsure are concerned: for the others the recall may have ended since.
    mutating func restoreRecall(
        _ recall: Recall, at position: LogPosition, _ recalled: RecalledMessage, _ turn: inout Turn
    ) {
        for index in self.devices.indices {
            guard let place = self.devices[index].unsure.firstIndex(of: position) else { continue }
            self.devices[index].unsure.remove(at: place)
            if self.devices[index].settled < position, self.devices[index].legs.index(of: position) == nil,
                recalled.shown.contains(self.devices[index].id)
            {
                self.devices[index].startRecall(recall, at: position, wasUnread: recalled.wasUnread, &turn)
                self.pump(at: index, &turn)
            } else {
                self.devices[index].dirtyCursor(&self.state, &turn)
            }
        }
        self.arm(&turn)
    }
}

extension Device {
    /// What was not sent ends, what was sent is followed by the recall.
    mutating func recall(_ recall: Recall, at position: LogPosition, _ recalled: RecalledMessage, _ turn: inout Turn) {
        let isShown = recalled.shown.contains(self.id) || self.leaving?.mayHaveShown(recall.message) ?? false
        let mayBeShown = self.legs.recall([recall.message], as: .recalled)
        for leg in self.legs.removeAll(where: { $0.recall == .recalled && !$0.isInFlight }) {
            self.endLeg(leg, .recalled, &turn)
        }
        guard isShown || mayBeShown else { return }
        self.startRecall(recall, at: position, wasUnread: recalled.wasUnread, &turn)
    }

    /// The leg is stored at once: after a crash nothing else would tell of it.
    mutating func startRecall(_ recall: Recall, at position: LogPosition, wasUnread: Bool, _ turn: inout Turn) {
        let leg = Leg(
            position: position, subject: .recall(recall, wasUnread: wasUnread), state: self.lease.firstLegState,
            liveSince: turn.now.monotonic)
        self.keepRecall(at: self.legs.insert(leg), &turn)
    }

    /// Not while the store signs the device out: it would open the leg of one that is gone.
    mutating func keepRecall(at leg: Int, _ turn: inout Turn) {
        guard !self.isLeaving, !self.legs[leg].isKept, case .recall = self.legs[leg].subject else { return }
        self.legs[leg].isKept = true
        turn.ask(.keepLeg(self.openLeg(at: leg)))
    }
}

/// A leg that may have been shown, whose end the store was told and has not answered yet.
struct LateEnd: Hashable, Sendable {
    var request: UInt64
    var leg: LegID
}

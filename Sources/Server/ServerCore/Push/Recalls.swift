import StoreModel
import TidingsModel

// A recall goes to the devices that have shown the message, or may have (DESIGN §5 "Recall"): as a leg of its own, under the
// recall's id, at its place in the log. The others never hear of it but from their log.
/// What the store knows of a recalled message, as far as it is one person's matter.
struct RecalledMessage: Hashable, Sendable {
    /// The person's devices that have shown it, or may have.
    var shown: [DeviceID] = []
    /// It was unread until now, and counted.
    var wasUnread = false
}

extension ServerCore {
    /// The store has recalled a message: everybody who has it is told.
    ///
    /// - Parameter shown: the legs of the message that have shown it.
    mutating func recall(
        _ message: Message, _ recall: Recall, _ deliveries: [Delivery], shown: [LegID], _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        // What has ended since the store was asked it could not count.
        let late = self.lateEnds.filter { $0.leg.message == message.id }.map(\.leg)
        let devices = Dictionary(grouping: shown + late, by: \.user)
        for delivery in deliveries {
            let user = UserKey(app: message.app, user: delivery.user)
            let shown = devices[user]?.compactMap(\.device) ?? []
            // Whoever is not in memory has nothing under way; only a device that has shown it must hear of it.
            guard self.slots[user] != nil || !shown.isEmpty else { continue }
            var seen = recall
            seen.conversation = message.conversation(seenBy: delivery.user)
            self.note(
                LogEntry(position: delivery.position, body: .recall(seen)), unread: delivery.unread,
                recalled: RecalledMessage(shown: shown, wasUnread: delivery.wasUnread),
                self.slot(of: user, now, &effects), now, &effects)
        }
    }

    /// The same for one device: what was not sent ends, what was sent is followed by the recall.
    mutating func recall(
        _ recall: Recall, at position: LogPosition, _ recalled: RecalledMessage, _ slot: Int, _ index: Int,
        _ now: Now, _ effects: inout [ServerEffect]
    ) {
        let isShown = recalled.shown.contains(self.people[slot].devices[index].id)
        let mayBeShown = self.people[slot].devices[index].legs.recall([recall.message], as: .recalled)
        for leg in self.people[slot].devices[index].legs.removeAll(where: {
            $0.recall == .recalled && !$0.isInFlight
        }) {
            self.end(leg.id, slot, index, .recalled, now, &effects)
        }
        guard isShown || mayBeShown else { return }
        self.startRecall(recall, at: position, wasUnread: recalled.wasUnread, slot, index, now, &effects)
    }

    /// Starts the leg of a recall, and keeps it: nothing else would tell of it after a crash.
    mutating func startRecall(
        _ recall: Recall, at position: LogPosition, wasUnread: Bool, _ slot: Int, _ index: Int, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        if let end = self.people[slot].devices[index].leaving { return effects.append(.countEnd(end)) }
        var leg = Leg(
            position: position, subject: .recall(recall, wasUnread: wasUnread),
            state: Self.firstState(of: self.people[slot].devices[index].lease), liveSince: now.monotonic)
        leg.isKept = true
        let place = self.people[slot].devices[index].legs.insert(leg)
        self.tell(.keepLeg(self.openLeg(slot, index, place, notBefore: nil)), &effects)
    }

    /// A recall of which it is not known after a crash whether devices have to hear of it: the message's trace knows.
    /// Of other devices than those it was asked about it is known; there the recall may have come to its end since.
    mutating func takeUpRecall(
        _ recall: Recall, at position: LogPosition, wasUnread: Bool, of user: UserKey, _ trace: MessageTrace?,
        _ now: Now, _ effects: inout [ServerEffect]
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
                self.startRecall(recall, at: position, wasUnread: wasUnread, slot, index, now, &effects)
                self.pump(slot, index, now, &effects)
            } else {
                self.dirtyCursor(slot, index, now)
            }
        }
        self.arm(slot)
    }

    /// Where a new leg is.
    static func firstState(of lease: Lease) -> Leg.State {
        switch lease {
        case .foreground, .background: .live
        case .probing, .grace, .returning: .held
        case .gone: .queued
        }
    }
}

/// A leg that may have been shown, whose end the store has been told of and has not answered yet.
struct LateEnd: Hashable, Sendable {
    /// The number of the store's request.
    var request: UInt64
    var leg: LegID
}

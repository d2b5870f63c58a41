import StoreModel
import TidingsModel

extension ServerCore {
    /// For which messages of a page a device has to ring itself, and which are with APNs: of what APNs has taken it keeps silent
    /// (docs/decisions/0021).
    func pushes(of entries: [LogEntry], to index: Int, _ slot: Int, _ now: Now) -> ServerFrame.Pushes {
        var pushes = ServerFrame.Pushes()
        let user = self.people[slot].key.user
        // What the core does not know any more of a person it had forgotten meanwhile: the page tells it, as far as it goes.
        let readings = entries.compactMap { $0.reading(by: user) }
        for entry in entries where entry.position > self.people[slot].devices[index].settled {
            guard case .message(let message) = entry.body else { continue }
            if let leg = self.people[slot].devices[index].legs.index(of: entry.position) {
                if self.people[slot].devices[index].legs[leg].isInFlight {
                    pushes.underWay.append(entry.position)
                } else if self.isDue(slot, index, leg, now) {
                    pushes.unsent.append(entry.position)
                }
            } else if self.people[slot].devices[index].unpushed.contains(message.id),
                !self.isRead(message, at: entry.position, slot), !self.isExpired(message, now)
            {
                let conversation = message.conversation(seenBy: user)
                let isRead = readings.contains { $0.0 == conversation && $0.1 >= entry.position }
                if !isRead { pushes.unsent.append(entry.position) }
            }
        }
        return pushes
    }

    /// Whether the message of an open leg is still worth a ring. What does not ring by its nature, or by what the person has set, the
    /// device knows itself.
    private func isDue(_ slot: Int, _ index: Int, _ leg: Int, _ now: Now) -> Bool {
        let open = self.people[slot].devices[index].legs[leg]
        guard case .message(let shared) = open.subject, open.recall == nil else { return false }
        return !self.isRead(shared.message, at: open.position, slot) && !self.isExpired(shared.message, now)
    }
}

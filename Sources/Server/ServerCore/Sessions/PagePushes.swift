import StoreModel
import TidingsModel

extension ServerCore {
    /// For which messages of a page the device must ring itself, and which are with APNs: it stays silent for what
    /// APNs has accepted (docs/inside/decisions/0021).
    func pushes(of entries: [LogEntry], to index: Int, _ slot: Int) -> ServerFrame.Pushes {
        var pushes = ServerFrame.Pushes()
        let user = self.people[slot].key.user
        // The core may have forgotten the person's read cursors meanwhile; the page has those within its range.
        let readings = entries.compactMap { $0.reading(by: user) }
        for entry in entries where entry.position > self.people[slot].devices[index].settled {
            guard case .message(let message) = entry.body else { continue }
            if let leg = self.people[slot].devices[index].legs.index(of: entry.position) {
                if self.people[slot].devices[index].legs[leg].isInFlight {
                    pushes.underWay.append(entry.position)
                } else if self.isDue(slot, index, leg) {
                    pushes.unsent.append(entry.position)
                }
            } else if self.people[slot].devices[index].unpushed.contains(message.id),
                !self.isRead(message, at: entry.position, slot), !self.isExpired(message)
            {
                let conversation = message.conversation(seenBy: user)
                let isRead = readings.contains { $0.0 == conversation && $0.1 >= entry.position }
                if !isRead { pushes.unsent.append(entry.position) }
            }
        }
        return pushes
    }

    /// The device itself knows what must not ring by its kind or by the person's settings.
    private func isDue(_ slot: Int, _ index: Int, _ leg: Int) -> Bool {
        let open = self.people[slot].devices[index].legs[leg]
        guard case .message(let shared) = open.subject, open.recall == nil else { return false }
        return !self.isRead(shared.message, at: open.position, slot) && !self.isExpired(shared.message)
    }
}

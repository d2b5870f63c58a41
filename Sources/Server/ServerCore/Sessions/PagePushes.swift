import StoreModel
import TidingsModel

extension Person {
    /// Returns for which messages of a page that goes to a device it must ring itself, and which are with APNs: it stays silent for
    /// what APNs has accepted (docs/inside/decisions/0021).
    mutating func pushes(ofPage entries: [LogEntry], to device: DeviceID, _ turn: inout Turn) -> ServerFrame.Pushes {
        guard let index = self.devices.index(of: device) else { return ServerFrame.Pushes() }
        if self.devices[index].skippedUpTo <= entries.last?.position ?? 0 { self.devices[index].skippedUpTo = 0 }
        return self.devices[index].pushes(ofPage: entries, &self.state, &turn)
    }
}

extension Device {
    fileprivate mutating func pushes(
        ofPage entries: [LogEntry], _ person: inout PersonState, _ turn: inout Turn
    ) -> ServerFrame.Pushes {
        var pushes = ServerFrame.Pushes()
        let user = self.key.user.user
        // The core may have forgotten the person's read cursors meanwhile; the page has those within its range.
        let readings = entries.compactMap { $0.reading(by: user) }
        for entry in entries where entry.position > self.settled {
            guard case .message(let message) = entry.body else { continue }
            if let leg = self.legs.index(of: entry.position) {
                if self.legs[leg].isInFlight {
                    pushes.underWay.append(entry.position)
                } else if self.legs[leg].isDue(&person, &turn) {
                    pushes.unsent.append(entry.position)
                }
            } else if self.unpushed.contains(message.id), !person.hasRead(message, at: entry.position),
                !turn.isExpired(message)
            {
                let conversation = message.conversation(seenBy: user)
                let isRead = readings.contains { $0.0 == conversation && $0.1 >= entry.position }
                if !isRead { pushes.unsent.append(entry.position) }
            }
        }
        return pushes
    }
}

extension Leg {
    /// The device itself knows what must not ring by its kind or by the person's settings.
    fileprivate func isDue(_ person: inout PersonState, _ turn: inout Turn) -> Bool {
        guard case .message(let shared) = self.subject, self.recall == nil else { return false }
        return !person.hasRead(shared.message, at: self.position) && !turn.isExpired(shared.message)
    }
}

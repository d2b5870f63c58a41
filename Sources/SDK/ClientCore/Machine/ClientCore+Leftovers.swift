import OrderedCollections
package import TidingsModel

package enum Leftover: Hashable, Sendable {
    /// Sent again, it could overtake later ones, or arrive after its sender was told that it does not.
    case outgoing(ClientMessageID)
    /// Told again, it would undo what the person has set elsewhere since.
    case pendingChange(PendingSettingsChange)
}

// What a full store could not forget is forgotten as soon as it writes again.
extension ClientCore {
    /// The connection is begun anew, as after every failed write, and the welcome tries again.
    mutating func leftBehind(
        _ leftover: Leftover, reason: String, at now: Now, into effects: inout [ClientEffect]
    ) {
        self.leftovers.append(leftover)
        self.storeFailed(reason: reason, at: now, into: &effects)
    }

    /// A setting only with the whole log, which may say something else by now.
    mutating func forgetLeftovers(into effects: inout [ClientEffect]) {
        guard !self.leftovers.isEmpty else { return }
        var later: OrderedSet<Leftover> = []
        for leftover in self.leftovers {
            switch leftover {
            case .outgoing(let id): effects.append(.removeOutgoing(id))
            case .pendingChange where !self.sync.isCaughtUp: later.append(leftover)
            case .pendingChange(let pendingChange):
                var settings = self.preferences.confirmed
                pendingChange.apply(to: &settings)
                effects.append(
                    settings == self.preferences.confirmed
                        ? .addPendingChange(pendingChange) : .removePendingChange(pendingChange))
            }
        }
        self.leftovers = later
    }

    mutating func removeLeftover(_ id: ClientMessageID) { self.leftovers.remove(.outgoing(id)) }

    mutating func removeLeftover(_ pendingChange: PendingSettingsChange) {
        self.leftovers.removeAll {
            if case .pendingChange(let old) = $0 { old.key == pendingChange.key } else { false }
        }
    }
}

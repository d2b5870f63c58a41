import OrderedCollections
package import TidingsModel

package enum Leftover: Hashable, Sendable {
    /// Sent again, it could overtake later ones, or arrive after its sender was told that it does not.
    case outgoing(ClientMessageID)
    /// Told again, it would undo what the person has set elsewhere since.
    case wish(SettingsWish)
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
            case .wish where !self.sync.isCaughtUp: later.append(leftover)
            case .wish(let wish):
                var settings = self.preferences.confirmed
                wish.apply(to: &settings)
                effects.append(settings == self.preferences.confirmed ? .keepWish(wish) : .dropWish(wish))
            }
        }
        self.leftovers = later
    }

    mutating func removeLeftover(_ id: ClientMessageID) { self.leftovers.remove(.outgoing(id)) }

    mutating func removeLeftover(_ wish: SettingsWish) {
        self.leftovers.removeAll { if case .wish(let old) = $0 { old.key == wish.key } else { false } }
    }
}

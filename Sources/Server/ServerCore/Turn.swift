import StoreModel
import TidingsModel

/// What the owners of state are handed with an event: by what they decide, and where their effects go. One value for all turns, so that
/// nothing of it is copied.
struct Turn: Sendable {
    var now = Now(monotonic: 0, wall: 0)
    /// Changed by what the store says of apps alone (Apps/Control.swift).
    var settings: ServerSettings
    /// The jitter of every back-off.
    var chance: SplitMix64
    /// Empty between two events.
    var effects: [ServerEffect] = []

    init(settings: ServerSettings, chance: SplitMix64) {
        self.settings = settings
        self.chance = chance
    }

    /// An effect is large: it is moved, not copied.
    @inline(__always)
    mutating func emit(_ effect: consuming ServerEffect) { self.effects.append(effect) }
}

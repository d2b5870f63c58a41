import StoreModel
import TidingsModel

/// Goes to an owner of state with each event: holds the facts by which the owner decides, and takes its effects. It also holds what people
/// share, as far as a decision about one of them asks for it at once. One value for all turns, so that nothing of it is copied.
struct Turn: Sendable {
    var now = Now(monotonic: 0, wall: 0)
    /// Changed by what the store says of apps alone (Apps/Control.swift).
    var settings: ServerSettings
    /// The jitter of every back-off.
    var chance: SplitMix64
    /// Empty between two events.
    var effects: [ServerEffect] = []

    var state: ServerCore.State = .closed
    var startedAt = Now(monotonic: 0, wall: 0)
    var identity = StoreIdentity()
    /// While a reading is followed: the device that has told of it.
    var reader: DeviceID?

    var store = StoreRequests()
    var shares = AppShares()
    var sessions = Sessions()
    var lanes = PushLanes()
    var timers = Timers()
    var zones: [String: LoadedZone] = [:]
    /// Cached: a group's pushes share it.
    var lastAlert: (message: SharedMessage, tag: String, text: String)?

    init(settings: ServerSettings, chance: SplitMix64) {
        self.settings = settings
        self.chance = chance
    }

    /// An effect is large: it is moved, not copied.
    @inline(__always)
    mutating func emit(_ effect: consuming ServerEffect) { self.effects.append(effect) }

    mutating func write(_ frame: ServerFrame, to session: SessionID) {
        guard self.sessions[session] != nil else { return }
        self.emit(.write(session, frame))
    }
}

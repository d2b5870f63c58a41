package import TidingsModel

/// What a device has said the person allows the app there: never a reason to send or not, and told to whoever looks for one.
package struct ToldStatus: Hashable, Sendable {
    /// The device that said it.
    package var device: DeviceKey
    /// What it said last.
    package var status: DeviceStatus
    /// When, in wall milliseconds.
    package var at: Int64

    /// A status from its parts.
    package init(device: DeviceKey, status: DeviceStatus, at: Int64) {
        self.device = device
        self.status = status
        self.at = at
    }
}

/// The statuses devices told since the process began. They outlive a person's time in memory, because it is the phone that is gone and
/// silent that is asked about; of more devices than `keptMin` those that have told nothing for longest are forgotten.
struct ToldStatuses: Sendable {
    /// So many are kept at least, and fewer than twice as many.
    static let keptMin = 10_000

    private var newer: [DeviceKey: ToldStatus] = [:]
    private var older: [DeviceKey: ToldStatus] = [:]

    /// What a device has said last; nil if it has said nothing, or too long ago.
    subscript(device: DeviceKey) -> ToldStatus? { self.newer[device] ?? self.older[device] }

    /// A device has said it.
    mutating func note(_ status: DeviceStatus, of device: DeviceKey, at wall: Int64) {
        self.newer[device] = ToldStatus(device: device, status: status, at: wall)
        guard self.newer.count >= Self.keptMin else { return }
        self.older = self.newer
        self.newer = [:]
    }

    /// A device was signed out.
    mutating func forget(_ device: DeviceKey) {
        self.newer.removeValue(forKey: device)
        self.older.removeValue(forKey: device)
    }
}

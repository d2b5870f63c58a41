package import TidingsModel

/// What a device said the person allows the app there: shown to an operator, never a reason to send or not.
package struct ToldStatus: Hashable, Sendable {
    package var device: DeviceKey
    package var status: DeviceStatus
    /// Wall milliseconds.
    package var at: Int64

    package init(device: DeviceKey, status: DeviceStatus, at: Int64) {
        self.device = device
        self.status = status
        self.at = at
    }
}

/// Statuses outlive a person's time in memory, because the operator asks about the phone that is gone and silent.
/// Beyond `keptMin` devices the oldest are forgotten.
struct ToldStatuses: Sendable {
    /// At least this many are kept, and fewer than twice as many.
    static let keptMin = 10_000

    private var newer: [DeviceKey: ToldStatus] = [:]
    private var older: [DeviceKey: ToldStatus] = [:]

    subscript(device: DeviceKey) -> ToldStatus? { self.newer[device] ?? self.older[device] }

    mutating func record(_ status: DeviceStatus, of device: DeviceKey, at wall: Int64) {
        self.newer[device] = ToldStatus(device: device, status: status, at: wall)
        guard self.newer.count >= Self.keptMin else { return }
        self.older = self.newer
        self.newer = [:]
    }

    mutating func forget(_ device: DeviceKey) {
        self.newer.removeValue(forKey: device)
        self.older.removeValue(forKey: device)
    }
}

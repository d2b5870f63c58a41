import StoreModel
import TidingsModel

package enum DevicePolicy: String, Hashable, Sendable, CaseIterable {
    case all
    /// A device that signs in replaces those on the same platform.
    case onePerPlatform = "one_per_platform"
    case newestOnly = "newest_only"
}

extension Person {
    /// The rest follow with the next sign-in: a person may have thousands of devices from a time without a limit.
    private static let kickedAtOnceMax = 100

    /// Also signs out devices that were not seen for long; connections are told why.
    mutating func kickOthers(than newest: DeviceID, _ turn: inout Turn) {
        guard let index = self.devices.index(of: newest) else { return }
        let platform = self.devices[index].platform
        var gone: [DeviceID] = []
        var staying: [Candidate] = []
        for index in self.devices.indices
        where self.devices[index].id != newest && !self.devices[index].isLeaving {
            let other = Candidate(self.devices[index])
            let hasToGo =
                switch turn.settings.devicePolicy {
                case .all: false
                case .onePerPlatform: self.devices[index].platform == platform
                case .newestOnly: true
                }
            if hasToGo || self.isExpired(other, &turn) { gone.append(other.id) } else { staying.append(other) }
        }
        // A device that is signing in is as new as this one.
        let surplus = staying.count + 1 - turn.settings.devicesMax(in: self.state.key.app)
        if surplus > 0 {
            let oldest = staying.filter { !self.state.signingIn.contains($0.id) }.sorted()
            gone += oldest.prefix(surplus).map(\.id)
        }
        self.kick(gone, &turn)
    }

    mutating func expireDevices(_ turn: inout Turn) {
        // While one of them signs in, its record is older than its connection.
        guard turn.settings.deviceExpiry > 0, self.state.signingIn.isEmpty else { return }
        self.kick(self.devices.map(Candidate.init).filter { self.isExpired($0, &turn) }.map(\.id), &turn)
    }

    private func isExpired(_ device: Candidate, _ turn: inout Turn) -> Bool {
        turn.settings.deviceExpiry > 0 && !device.isConnected && !self.state.signingIn.contains(device.id)
            && turn.now.wall - device.signedInAt >= turn.settings.deviceExpiry
    }

    private mutating func kick(_ devices: [DeviceID], _ turn: inout Turn) {
        for device in devices.prefix(Self.kickedAtOnceMax) {
            guard let index = self.devices.index(of: device) else { continue }
            let problem = ServerFrame.Problem(
                code: .kicked, field: "device", rule: "was signed out: a newer device has taken its place")
            self.devices[index].closeSession(because: problem, &turn)
            self.devices[index].beginSignOut()
            let key = self.devices[index].key
            turn.ask(.signOut(key, at: turn.now.wall), for: .kick(key))
        }
    }
}

/// Sorted: unconnected devices first, of them those that connected longest ago.
private struct Candidate: Comparable {
    let id: DeviceID
    let isConnected: Bool
    let signedInAt: Int64

    init(_ device: Device) {
        self.id = device.id
        self.isConnected = device.session != nil
        self.signedInAt = device.signedInAt
    }

    static func < (left: Candidate, right: Candidate) -> Bool {
        if left.isConnected != right.isConnected { return !left.isConnected }
        if left.signedInAt != right.signedInAt { return left.signedInAt < right.signedInAt }
        return left.id < right.id
    }
}

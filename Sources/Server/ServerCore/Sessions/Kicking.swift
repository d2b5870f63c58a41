import StoreModel
import TidingsModel

package enum DevicePolicy: String, Hashable, Sendable, CaseIterable {
    case all
    /// A device that signs in replaces those on the same platform.
    case onePerPlatform = "one_per_platform"
    case newestOnly = "newest_only"
}

extension ServerCore {
    /// The rest follow with the next sign-in: a person may have thousands of devices from a time without a limit.
    private static let kickedAtOnceMax = 100

    /// Also signs out devices that were not seen for long; connections are told why.
    mutating func kickOthers(_ slot: Int, than device: DeviceKey) {
        guard let newest = self.people[slot].devices.index(of: device.device).map({ self.people[slot].devices[$0] })
        else {
            return
        }
        var gone: [DeviceID] = []
        var staying: [Candidate] = []
        for index in self.people[slot].devices.indices {
            let other = Candidate(self.people[slot].devices[index])
            guard other.id != newest.id, !self.people[slot].devices[index].isLeaving else { continue }
            let hasToGo =
                switch self.turn.settings.devicePolicy {
                case .all: false
                case .onePerPlatform: self.people[slot].devices[index].platform == newest.platform
                case .newestOnly: true
                }
            if hasToGo || self.isExpired(other, slot) { gone.append(other.id) } else { staying.append(other) }
        }
        // A device that is signing in is as new as this one.
        let surplus = staying.count + 1 - self.turn.settings.devicesMax(in: device.user.app)
        if surplus > 0 {
            let oldest = staying.filter { !self.people[slot].signingIn.contains($0.id) }.sorted()
            gone += oldest.prefix(surplus).map(\.id)
        }
        for other in gone.prefix(Self.kickedAtOnceMax) { self.kickDevice(other, slot) }
    }

    mutating func expireDevices(_ slot: Int) {
        // While one of them signs in, its record is older than its connection.
        guard self.turn.settings.deviceExpiry > 0, self.people[slot].signingIn.isEmpty else { return }
        let gone = self.people[slot].devices.indices.map { Candidate(self.people[slot].devices[$0]) }.filter {
            self.isExpired($0, slot)
        }
        for other in gone.prefix(Self.kickedAtOnceMax) { self.kickDevice(other.id, slot) }
    }

    private func isExpired(_ device: Candidate, _ slot: Int) -> Bool {
        self.turn.settings.deviceExpiry > 0 && !device.isConnected && !self.people[slot].signingIn.contains(device.id)
            && self.turn.now.wall - device.signedInAt >= self.turn.settings.deviceExpiry
    }

    private mutating func kickDevice(_ device: DeviceID, _ slot: Int) {
        guard let index = self.people[slot].devices.index(of: device) else { return }
        if let session = self.people[slot].devices[index].session {
            let problem = ServerFrame.Problem(
                code: .kicked, field: "device", rule: "was signed out: a newer device has taken its place")
            self.turn.emit(.write(session, .problem(problem, isFatal: true)))
            self.close(session)
        }
        let key = DeviceKey(user: self.people[slot].key, device: device)
        self.beginSignOut(slot: slot, index: index)
        self.turn.ask(.signOut(key, at: self.turn.now.wall), for: .kick(key))
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

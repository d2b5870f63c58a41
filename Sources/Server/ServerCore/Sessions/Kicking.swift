import StoreModel
import TidingsModel

/// How many of a person's devices may be signed in at the same time.
package enum DevicePolicy: String, Hashable, Sendable, CaseIterable {
    /// Any number.
    case all
    /// One of each platform: one that signs in takes the place of those that run on the same.
    case onePerPlatform = "one_per_platform"
    /// One: the newest takes the place of all others.
    case newestOnly = "newest_only"
}

extension ServerCore {
    /// Signs out the devices whose place a new one takes; their connections are told why.
    mutating func kickOthers(_ slot: Int, than device: DeviceKey, _ now: Now, _ effects: inout [ServerEffect]) {
        guard let newest = self.people[slot].devices.index(of: device.device).map({ self.people[slot].devices[$0] })
        else {
            return
        }
        let others = self.people[slot].devices.filter { other in
            guard other.id != newest.id else { return false }
            switch self.settings.devicePolicy {
            case .all: return false
            case .onePerPlatform: return other.platform == newest.platform
            case .newestOnly: return true
            }
        }
        for other in others.map(\.id) {
            guard let index = self.people[slot].devices.index(of: other) else { continue }
            if let session = self.people[slot].devices[index].session {
                let problem = ServerFrame.Problem(
                    code: .kicked, field: "device", rule: "was signed out: a newer device has taken its place")
                effects.append(.write(session, .problem(problem, isFatal: true)))
                self.close(session, &effects)
            }
            let key = DeviceKey(user: device.user, device: other)
            self.leave(slot, index, &effects)
            self.ask(.signOut(key, at: now.wall), for: .errand(.kick(key)), &effects)
        }
    }
}

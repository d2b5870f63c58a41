package import StoreModel
package import TidingsModel

/// What the app's backend asks of all devices of a person.
enum DevicesQuestion: Sendable {
    case list
    case signOutAll
}

/// A device on which a person is signed in, as the app's backend sees it.
package struct DeviceInfo: Hashable, Sendable {
    /// Where a device is, as far as the server knows.
    package enum Presence: String, Hashable, Sendable, CaseIterable {
        /// Connected, in the foreground.
        case foreground
        /// Connected, in the background.
        case background
        /// Not connected; it may be back any moment.
        case away
    }

    /// Its id.
    package var id: DeviceID
    /// What it runs on, for example `ios`.
    package var platform: String
    /// When it connected last, in wall milliseconds.
    package var signedInAt: Int64
    /// Where it is.
    package var presence: Presence
    /// What is known of its push token.
    package var push: PushState
    /// What the person allows the app there; nil if it has not said so to this process.
    package var status: ToldStatus?

    init(_ device: Device, status: ToldStatus?) {
        self.id = device.id
        self.platform = device.platform
        self.signedInAt = device.signedInAt
        self.push = device.push
        self.status = status
        switch device.lease {
        // Whoever is asked for a sign of life has not gone yet.
        case .foreground, .probing: self.presence = .foreground
        case .background: self.presence = .background
        case .grace, .returning, .gone: self.presence = .away
        }
    }
}

extension ServerCore {
    /// Answers what the app's backend asks of all devices of a person.
    mutating func askOfDevices(
        _ question: DevicesQuestion, of user: UserKey, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        let slot = self.slot(of: user, now, &effects)
        guard self.people[slot].isReady else {
            self.loadings[slot]?.queue.append(.ofDevices(request, question))
            return
        }
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
        switch question {
        case .list:
            let devices = self.people[slot].devices.map {
                DeviceInfo($0, status: self.statuses[DeviceKey(user: user, device: $0.id)])
            }
            effects.append(.reply(request, .devices(devices)))
        case .signOutAll: self.signOutAll(slot, for: request, now, &effects)
        }
    }

    /// The store answers in order: whoever asked is told with the last device.
    private mutating func signOutAll(
        _ slot: Int, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        let devices = self.people[slot].devices.map { DeviceKey(user: self.people[slot].key, device: $0.id) }
        guard let last = devices.last else { return effects.append(.reply(request, .done)) }
        for (index, device) in devices.enumerated() {
            self.leave(slot, index, &effects)
            self.ask(
                .signOut(device, at: now.wall),
                for: device == last ? .apiSignOut(request, device) : .errand(.kick(device)), &effects)
        }
    }
}

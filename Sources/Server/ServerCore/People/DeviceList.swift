package import StoreModel
package import TidingsModel

package struct DeviceInfo: Hashable, Sendable {
    package enum Presence: String, Hashable, Sendable, CaseIterable {
        case foreground
        case background
        case away
    }

    package var id: DeviceID
    package var platform: String
    package var signedInAt: Int64
    package var presence: Presence
    package var push: PushState
    /// nil if the device has reported nothing since it signed in.
    package var reported: ReportedStatus?
    package var voIP: VoIPToken?

    init(_ device: Device) {
        self.id = device.id
        self.platform = device.platform
        self.signedInAt = device.signedInAt
        self.push = device.push
        self.reported = device.reported
        self.voIP = device.voIP
        switch device.lease {
        // A probed device has not gone yet.
        case .foreground, .probing: self.presence = .foreground
        case .background: self.presence = .background
        case .grace, .returning, .gone: self.presence = .away
        }
    }
}

extension ServerCore {
    mutating func listDevices(
        of user: UserKey, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard let slot = self.loadedSlot(of: user, for: request, .devices(user), now, &effects) else { return }
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
        effects.append(.reply(request, .devices(self.people[slot].devices.map { DeviceInfo($0) })))
    }

    /// The store answers in order, so the last device's answer completes the request.
    mutating func signOutAllDevices(
        of user: UserKey, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard let slot = self.loadedSlot(of: user, for: request, .signOutAll(user), now, &effects) else { return }
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
        let devices = self.people[slot].devices.map { DeviceKey(user: user, device: $0.id) }
        guard let last = devices.last else { return effects.append(.reply(request, .done)) }
        for (index, device) in devices.enumerated() {
            self.beginSignOut(slot: slot, index: index, &effects)
            self.sendToStore(
                .signOut(device, at: now.wall),
                for: device == last ? .apiSignOut(request, device) : .kick(device), &effects)
        }
    }
}

package import StoreModel
package import TidingsModel

package struct DeviceInfo: Hashable, Sendable {
    package enum Presence: String, Hashable, Sendable, CaseIterable, JSONWritable {
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
    package var lease: Lease
    /// Wall milliseconds; nil where the lease has no end by itself.
    package var leaseUntil: Int64?
    /// Wall milliseconds; nil while it has a connection.
    package var lastSeenAt: Int64?
    /// The number of the last push that APNs has accepted; nil if the app has set it itself since, or nothing is known.
    package var badge: Int?

    init(_ device: Device, _ now: Now) {
        self.id = device.id
        self.platform = device.platform
        self.signedInAt = device.signedInAt
        self.push = device.push
        self.reported = device.reported
        self.voIP = device.voIP
        self.lease = device.lease
        self.leaseUntil = device.lease.until.map { now.wall + ($0 - now.monotonic) }
        self.lastSeenAt = device.lastSeenAt(now)
        self.badge = device.badge.shown
        switch device.lease {
        // A probed device has not gone yet.
        case .foreground, .probing: self.presence = .foreground
        case .background: self.presence = .background
        case .grace, .returning, .gone: self.presence = .away
        }
    }
}

// What a person sees of their own devices. Both ask from a connection, so that nobody sees those of others.
extension ServerCore {
    static let signedOutElsewhere = ServerFrame.Problem(
        code: .kicked, field: "device", rule: "was signed out: by the person, on another device")

    func ownDevices(_ asked: Asked) throws(ServerFrame.Problem) -> [OwnDevice] {
        guard let known = self.turn.sessions[try asked.session()] else { throw Self.unavailable }
        return self.people[known.slot].devices.filter { !$0.isLeaving }.map {
            OwnDevice($0, isCurrent: $0.id == known.device.device, self.turn.now)
        }
    }

    mutating func signOutOther(_ device: DeviceID, _ asked: Asked) throws(ServerFrame.Problem) {
        guard let known = self.turn.sessions[try asked.session()] else { throw Self.unavailable }
        guard device != known.device.device else {
            throw .init(.init(field: "device", rule: "must be another one: this one signs out by `signOut`"))
        }
        guard self.people[known.slot].devices.contains(where: { $0.id == device && !$0.isLeaving }),
            self.people[known.slot].beginSignOut(device)
        else { throw .init(Self.unknownDevice) }
        let key = DeviceKey(user: known.device.user, device: device)
        self.turn.ask(.signOut(key, at: self.turn.now.wall), for: .signOutDevice(asked, key), by: asked.asker)
    }

    static let unknownDevice = InvalidField(
        field: "device", rule: "must be a device of this person that is signed in")
}

extension Device {
    /// Wall milliseconds; nil while it has a connection. When it was heard is forgotten with the person: then this is when
    /// it last connected or reported what it allows.
    func lastSeenAt(_ now: Now) -> Int64? {
        guard self.session == nil else { return nil }
        let heardAt = self.heardAt > 0 ? now.wall - (now.monotonic - self.heardAt) : 0
        return max(self.signedInAt, self.reported?.at ?? 0, heardAt)
    }
}

extension OwnDevice {
    init(_ device: Device, isCurrent: Bool, _ now: Now) {
        let push: PushStatus =
            switch device.push {
            case .none: .none
            case .registered: .registered
            case .quarantined: .quarantined
            case .dead: .dead
            }
        let status = device.reported?.status
        func told(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
        self.init(
            id: device.id, platform: device.platform, isCurrent: isCurrent,
            lastSeenAt: device.lastSeenAt(now), connectedAt: device.signedInAt, push: push,
            appVersion: told(status?.appVersion), systemVersion: told(status?.systemVersion),
            model: told(status?.model))
    }
}

extension ServerCore {
    mutating func listDevices(of user: UserKey, for request: APIRequestID) {
        let now = self.turn.now
        guard let slot = self.busySlot(of: user, for: request, .devices(user)) else { return }
        self.turn.emit(.reply(request, .devices(self.people[slot].devices.map { DeviceInfo($0, now) })))
    }

    /// The store answers in order, so the last device's answer completes the request.
    mutating func signOutAllDevices(of user: UserKey, for request: APIRequestID) {
        guard let slot = self.busySlot(of: user, for: request, .signOutAll(user)) else { return }
        let devices = self.people[slot].devices.map(\.key)
        guard let last = devices.last else { return self.turn.emit(.reply(request, .done)) }
        self.people[slot].beginSignOuts()
        for device in devices {
            self.turn.ask(
                .signOut(device, at: self.turn.now.wall),
                for: device == last ? .api(request, .signOut(device)) : .kick(device))
        }
    }
}

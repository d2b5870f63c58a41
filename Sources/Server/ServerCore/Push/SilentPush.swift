import APNsModel
import StoreModel
package import TidingsModel

/// A push that wakes an app in the background and shows nothing (apns.md §14), which the app's backend asks for.
package struct SilentPush: Hashable, Sendable {
    /// Names the request.
    package var id: String
    /// Nil for all of the person's.
    package var device: DeviceID?
    /// The app's own, which gets it as it is (`ReceivedNotification.data`).
    package var data: JSONObject

    /// Bytes of JSON. What else is in the payload needs 75 of the 96 that are left of 4,096.
    package static let dataBytesMax = 4_000
    /// The key of the payload under which the app's own data travel, as those of calls do.
    static let dataKey = CallInfo.dataKey

    package init(id: String, device: DeviceID? = nil, data: JSONObject = JSONObject()) {
        self.id = id
        self.device = device
        self.data = data
    }

    package func validate() throws(InvalidField) {
        try InvalidField.check(
            JSONValue.object(self.data).serialized.count, atMost: Self.dataBytesMax, "data", unit: " bytes of JSON")
    }

    /// - Parameter tag: by it the SDK knows the push for the server's, and whom it is for.
    /// - Throws: if it does not fit.
    func request(to registration: PushRegistration, for tag: String) throws(InvalidField) -> APNsRequest {
        var custom = [(PushInfo.key, PushInfo.silent(to: tag))]
        if !self.data.members.isEmpty { custom.append((Self.dataKey, .object(self.data))) }
        let bytes = try APNsPayload(contentAvailable: true, custom: JSONObject(custom)).serialized(for: .background)
        // Expiration 0: what APNs keeps for a phone that is off must not be replaced by it (apns.md §15).
        return APNsRequest(
            token: registration.token, topic: registration.topic, pushType: .background, priority: .powerAware,
            expiration: 0, payload: bytes, environment: registration.environment)
    }
}

package struct SilentPushReport: Hashable, Sendable {
    package enum State: Hashable, Sendable, JSONTagged {
        /// Handed to the APNs client.
        case sent
        /// The device has had as many silent pushes in the last hour as iOS lets through. Wall milliseconds at which the next is possible.
        case budgetSpent(nextAt: Int64)
        /// The server was started less than an hour ago, and the device has not connected since: what an earlier process has sent it
        /// is not known. Wall milliseconds as above.
        case budgetUnknown(nextAt: Int64)
        case noToken
        case tokenDead
        case tokenQuarantined(reason: String)
        /// Why, in a word.
        case notSent(reason: String)

        package static let tag = JSONTag("state", meaning: "a state of a push")
    }

    package struct Device: Hashable, Sendable, JSONCodable {
        package var id: DeviceID
        package var state: State

        private enum CodingKeys: String, CodingKey { case id = "device", state = "" }
    }

    /// Wall milliseconds.
    package var sentAt: Int64
    /// Sorted by id.
    package var devices: [Device]
}

// Silent pushes share the few that iOS lets through in an hour with those that tell a phone its badge (BadgePushes.swift).
extension ServerCore {
    mutating func pushSilently(
        _ push: SilentPush, to user: UserKey, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        guard let slot = self.busySlot(of: user, for: request, .silentPush(user, push)) else { return }
        guard self.turn.state == .open else { throw Self.unavailable }
        try self.admitCommand(.messages, of: user.app, "silent_push")
        do throws(InvalidField) { try push.validate() } catch { throw ServerFrame.Problem(error) }
        if let device = push.device, self.people[slot].devices.index(of: device) == nil {
            throw .init(Self.unknownDevice)
        }
        try self.passOnce(.silentPush(user, push), in: user.app, for: request)
    }

    mutating func finishSilent(_ push: SilentPush, to user: UserKey, for request: APIRequestID, at: Int64) {
        // Who is pushed to stays in memory for some time.
        guard let slot = self.slots[user], self.people[slot].state.isReady else {
            return self.turn.emit(.reply(request, .refused(Self.unavailable)))
        }
        var report = SilentPushReport(sentAt: at, devices: [])
        for index in self.people[slot].devices.indices {
            let device = self.people[slot].devices[index].id
            guard push.device == nil || push.device == device else { continue }
            var state = SilentPushReport.State.sent
            switch self.people[slot].devices[index].tryPush(push, &self.turn) {
            case .passes(let passing, let key, let request):
                let id = self.beginPassing(passing)
                self.turn.emit(.push(id, to: key, request))
            case .fails(let reason): state = reason
            }
            report.devices.append(.init(id: device, state: state))
        }
        self.passed.keepPush(.silent(report), as: push.id, in: user.app, self.turn.now)
        self.countDeliveries(report.devices.count, by: nil, in: user.app)
        self.people[slot].arm(&self.turn)
        self.turn.emit(.reply(request, .silentPush(report)))
    }
}

private enum SilentTry {
    case passes(PassingPush, to: DeviceKey, APNsRequest)
    case fails(SilentPushReport.State)
}

extension Device {
    fileprivate mutating func tryPush(_ push: SilentPush, _ turn: inout Turn) -> SilentTry {
        let registration: PushRegistration
        switch self.push {
        case .none: return .fails(.noToken)
        case .dead: return .fails(.tokenDead)
        case .quarantined(_, _, let reason): return .fails(.tokenQuarantined(reason: reason))
        case .registered(let known, _, _): registration = known
        }
        if let wait = self.silentWait(&turn) { return .fails(wait) }
        let app = self.key.user.app
        let lane = turn.lanes.makeIfAllowed(PushLane(registration, in: app), turn.settings)
        if turn.lanes.isHeld(registration, of: self.key) {
            return .fails(.notSent(reason: LegWait.breakerOpen.rawValue))
        }
        if let reason = turn.lanes.reasonNotToPass(lane) { return .fails(.notSent(reason: reason)) }
        let tag = recipientTag(of: self.key, salt: turn.settings.recipientTagSalt)
        guard let request = try? push.request(to: registration, for: tag) else {
            turn.emit(.flagBug("a silent push does not fit"))
            return .fails(.notSent(reason: "payload"))
        }
        self.badge.silent.append(turn.now.monotonic)
        let passing = PassingPush(app: app, id: push.id, lane: lane, subject: .silent(self.key, registration))
        return .passes(passing, to: self.key, request)
    }

    private func silentWait(_ turn: inout Turn) -> SilentPushReport.State? {
        let now = turn.now
        func wall(_ monotonic: Int64) -> Int64 { now.wall + max(0, monotonic - now.monotonic) }
        if self.isSilentBudgetUnknown(&turn) {
            return .budgetUnknown(nextAt: wall(turn.startedAt.monotonic + BadgeState.hour))
        }
        let sent = self.badge.silent.filter { now.monotonic < $0 + BadgeState.hour }
        guard sent.count >= turn.settings.silentPushesPerHour, let first = sent.first else { return nil }
        return .budgetSpent(nextAt: wall(first + BadgeState.hour))
    }
}

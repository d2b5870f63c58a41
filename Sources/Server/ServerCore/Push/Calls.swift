import APNsModel
import StoreModel
import TidingsModel

extension CallPushState {
    init(_ answer: PushAnswer) {
        switch answer {
        case .noCredential: self = .notSent(reason: LegWait.configFault.rawValue)
        case .answered(.accepted(let apnsID, _)): self = .accepted(apnsID: apnsID)
        case .answered(.unknownOutcome): self = .unanswered
        case .answered(.notSent(let reason)), .answered(.stopped(let reason)): self = .notSent(reason: reason)
        case .answered(.refused(let refusal)): self = .refused(reason: refusal.reason.name, status: refusal.status)
        }
    }
}

extension ServerCore {
    /// Rings at the devices of a person that have a token for calls, whatever their connections and settings say: who is called is
    /// asked by the call itself.
    mutating func ring(_ call: Call, in app: AppID, for request: APIRequestID) throws(ServerFrame.Problem) {
        let callee = UserKey(app: app, user: call.callee)
        guard let slot = self.busySlot(of: callee, for: request, .ring(app, call)) else { return }
        guard self.turn.state == .open else { throw Self.unavailable }
        try self.admitCommand(.messages, of: app, "call")
        try self.turn.checkBacklog(of: .backend(app))
        do throws(InvalidField) { try call.validate() } catch { throw ServerFrame.Problem(error) }
        guard !self.people[slot].state.settings.blocked.contains(call.caller) else {
            throw .init(
                code: .blocked, field: "to",
                rule: "must name a person who accepts calls, \"\(call.callee)\" has blocked the caller")
        }
        try self.checkIsNew(call, in: app)
        self.turn.ask(
            .readProfiles(app, [call.caller]),
            for: .api(request, .ring(app, call, at: self.turn.shares.keysUnderWay[request]?.at ?? self.turn.now.wall)),
            by: .backend(app))
    }

    private func checkIsNew(_ call: Call, in app: AppID) throws(ServerFrame.Problem) {
        guard self.passed.call(call.id, in: app, self.turn.now) == nil else {
            throw .init(code: .exists, field: "id", rule: "must be new: the call \"\(call.id)\" has rung already")
        }
    }

    mutating func finishRing(_ call: Call, in app: AppID, _ name: String?, for request: APIRequestID, at: Int64) {
        do throws(ServerFrame.Problem) {
            try self.checkIsNew(call, in: app)
            // Who is called stays in memory for some time.
            guard self.turn.state == .open, let slot = self.slots[UserKey(app: app, user: call.callee)],
                self.people[slot].state.isReady
            else { throw Self.unavailable }
            self.turn.emit(.reply(request, .ringing(at: at)))
            let devices = self.people[slot].devices.map { (key: $0.key, token: $0.voIP) }
            let trace = CallTrace(
                call: call, sentAt: at, devices: devices.map { .init(id: $0.key.device, state: .noToken) })
            self.passed.keepCall(trace, in: app, self.turn.now)
            for case (let key, let token?) in devices {
                self.push(call, named: name, at: at, to: key, token, slot: slot)
            }
            self.countDeliveries(devices.count, by: nil, in: app)
        } catch {
            self.turn.emit(.reply(request, .refused(error)))
        }
    }

    private mutating func push(
        _ call: Call, named name: String?, at: Int64, to device: DeviceKey, _ token: VoIPToken, slot: Int
    ) {
        let registration = token.registration
        let lane = self.turn.lanes.makeIfAllowed(PushLane(registration, in: device.user.app), self.turn.settings)
        let push = PassingPush(
            app: device.user.app, id: call.id.rawValue, lane: lane, subject: .call(device, token, slot: slot))
        // A call cannot wait until an outage is over.
        // A token that APNs has refused is not asked again before the phone tells it anew.
        if self.turn.lanes.isHeld(registration, of: device) {
            return self.passed.record(.notSent(reason: LegWait.breakerOpen.rawValue), of: push)
        }
        if let reason = self.turn.lanes.reasonNotToPass(lane) {
            return self.passed.record(.notSent(reason: reason), of: push)
        }
        guard let request = try? self.callRequest(call, named: name, at: at, to: registration, of: device) else {
            return self.turn.emit(.flagBug("a call does not fit a push"))
        }
        self.passed.record(.pushing, of: push)
        let id = self.beginPassing(push)
        self.turn.emit(.push(id, to: device, request))
    }

    /// - Parameter at: wall milliseconds from which its lifetime counts.
    /// - Throws: if it does not fit.
    func callRequest(
        _ call: Call, named name: String?, at: Int64, to registration: PushRegistration, of device: DeviceKey
    ) throws(InvalidField) -> APNsRequest {
        let info = CallInfo(
            id: call.id, caller: call.caller, callerName: name, hasVideo: call.hasVideo,
            recipientTag: recipientTag(of: device, salt: self.turn.settings.recipientTagSalt))
        var custom = [(PushInfo.key, info.dictionary)]
        if !call.data.members.isEmpty { custom.append((CallInfo.dataKey, .object(call.data))) }
        // Whole seconds, rounded up: a lifetime of half a second is not "one attempt".
        let expiration = call.lifetimeMilliseconds == 0 ? 0 : (at + call.lifetimeMilliseconds + 999) / 1_000
        return APNsRequest(
            token: registration.token, topic: registration.topic, pushType: .voip, priority: .immediate,
            expiration: expiration, payload: try APNsPayload(custom: JSONObject(custom)).serialized(for: .voip),
            environment: registration.environment)
    }

    mutating func forgetVoIPToken(_ refused: VoIPToken, of device: DeviceKey, _ refusal: APNsRefusal) {
        var token = refused
        if let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device) {
            // It may have registered anew since.
            guard let current = self.people[slot].devices[index].voIP, current.registration == refused.registration
            else { return }
            token = current
        }
        guard refusal.invalidSince != nil, refusal.drops(registeredAt: token.at) else { return }
        self.clearVoIPTokens(of: [device])
        self.turn.ask(.setVoIPToken(device, nil, about: token.registration), for: .setVoIPToken(nil))
    }
}

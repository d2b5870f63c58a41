import APNsModel
import DequeModule
import StoreModel
import TidingsModel

struct CallPush: Sendable {
    let app: AppID
    let call: CallID
    let slot: Int
    let device: DeviceKey
    let token: VoIPToken
    let lane: PushLane
}

/// Calls of the last minutes, in memory alone: a call that is over for longer is of no interest, and one that a crash interrupts rings no
/// more.
struct Calls: Sendable {
    private struct Key: Hashable {
        let app: AppID
        let id: CallID
    }

    private struct Kept {
        var trace: CallTrace
        let until: Int64
    }

    static let keptTime: Int64 = 600_000
    static let keptMax = 10_000

    private var traces: [Key: Kept] = [:]
    private var ages: Deque<Key> = []
    private var pushes: [PushID: CallPush] = [:]

    func trace(of id: CallID, in app: AppID, _ now: Now) -> CallTrace? {
        self.traces[Key(app: app, id: id)].flatMap { $0.until > now.monotonic ? $0.trace : nil }
    }

    mutating func begin(_ trace: CallTrace, in app: AppID, _ now: Now) {
        while let oldest = self.ages.first, let kept = self.traces[oldest],
            kept.until <= now.monotonic || self.ages.count >= Self.keptMax
        {
            self.traces[oldest] = nil
            self.ages.removeFirst()
        }
        let key = Key(app: app, id: trace.call.id)
        self.traces[key] = Kept(trace: trace, until: now.monotonic + Self.keptTime)
        self.ages.append(key)
    }

    mutating func begin(_ id: PushID, _ push: CallPush) { self.pushes[id] = push }

    mutating func end(_ id: PushID) -> CallPush? { self.pushes.isEmpty ? nil : self.pushes.removeValue(forKey: id) }

    mutating func record(_ state: CallPushState, of push: CallPush) {
        let key = Key(app: push.app, id: push.call)
        guard let index = self.traces[key]?.trace.devices.firstIndex(where: { $0.id == push.device.device })
        else { return }
        self.traces[key]?.trace.devices[index].state = state
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
            for: .api(request, .ring(app, call, at: self.turn.shares.keys[request]?.at ?? self.turn.now.wall)),
            by: .backend(app))
    }

    private func checkIsNew(_ call: Call, in app: AppID) throws(ServerFrame.Problem) {
        guard self.calls.trace(of: call.id, in: app, self.turn.now) == nil else {
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
            self.calls.begin(trace, in: app, self.turn.now)
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
        let push = CallPush(app: device.user.app, call: call.id, slot: slot, device: device, token: token, lane: lane)
        // A call cannot wait until an outage is over.
        // A token that APNs has refused is not asked again before the phone tells it anew.
        if self.turn.lanes.isHeld(registration, of: device) {
            return self.calls.record(.notSent(reason: LegWait.breakerOpen.rawValue), of: push)
        }
        if let reason = self.turn.lanes.reasonNotToPass(lane) {
            return self.calls.record(.notSent(reason: reason), of: push)
        }
        guard let request = try? self.callRequest(call, named: name, at: at, to: registration, of: device) else {
            return self.turn.emit(.flagBug("a call does not fit a push"))
        }
        self.calls.record(.pushing, of: push)
        let id = self.turn.lanes.nextPush()
        self.calls.begin(id, push)
        self.turn.lanes[lane]?.begin(id, of: slot, at: self.turn.now.monotonic)
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

    /// A refused token is forgotten only where APNs says that it is dead. One that is bad is not asked again (HeldTokens.swift).
    mutating func endCallPush(_ id: PushID, _ push: CallPush, _ answer: PushAnswer) {
        self.report(answer, to: push)
        self.turn.lanes[push.lane]?.end(id, of: push.slot, at: self.turn.now.monotonic)
        switch answer {
        case .noCredential:
            let scope = LaneScope(
                app: push.lane.app, environment: push.lane.environment, topic: push.lane.topic)
            self.handleLaneReport(scope, .paused(LaneOutage(.credential, reason: "NoCredential")))
            self.calls.record(.notSent(reason: LegWait.configFault.rawValue), of: push)
        case .answered(.accepted(let apnsID, _)): self.calls.record(.accepted(apnsID: apnsID), of: push)
        case .answered(.unknownOutcome): self.calls.record(.unanswered, of: push)
        case .answered(.notSent(let reason)), .answered(.stopped(let reason)):
            self.calls.record(.notSent(reason: reason), of: push)
        case .answered(.refused(let refusal)):
            self.calls.record(.refused(reason: refusal.reason.name, status: refusal.status), of: push)
            switch refusal.reaction {
            case .drop: self.forgetVoIPToken(push, refusal)
            case .quarantine:
                self.turn.lanes.hold(push.token.registration, of: push.device, wasAccepted: false, refusal)
            case .bug, .config, .auth, .connection, .backoff: break
            }
        }
        self.pumpLane(push.lane)
        self.watchIdle(push.lane)
    }

    private mutating func forgetVoIPToken(_ push: CallPush, _ refusal: APNsRefusal) {
        var token = push.token
        if let slot = self.slots[push.device.user],
            let index = self.people[slot].devices.index(of: push.device.device)
        {
            // It may have registered anew since.
            guard let current = self.people[slot].devices[index].voIP,
                current.registration == push.token.registration
            else { return }
            token = current
        }
        guard refusal.invalidSince != nil, refusal.drops(registeredAt: token.at) else { return }
        self.clearVoIPTokens(of: [push.device])
        self.turn.ask(.setVoIPToken(push.device, nil, about: token.registration), for: .setVoIPToken(nil))
    }
}

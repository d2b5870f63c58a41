import APNsModel
import DequeModule
import StoreModel
import TidingsModel

/// Device tokens of a lane that APNs has refused as bad, or as of another topic. Such a token is never sent to again (apns.md §10): its messages
/// wait until its phone registers again, the lane's credential is another one, the server is started again, or it shows who is at fault
/// (docs/inside/decisions/0013-tokens-that-never-worked.md).
struct HeldTokens: Sendable {
    struct Token: Sendable {
        let registration: PushRegistration
        /// APNs had accepted a push with it before.
        let wasAccepted: Bool
        let reason: String
    }

    /// Beyond it the oldest are forgotten, and may be sent to once more.
    static let most = 10_000

    private var tokens: [DeviceKey: Token] = [:]
    /// In the order of their refusals; a device may stand here more than once.
    private var order: Deque<DeviceKey> = []
    /// The devices whose fault the next push that APNs accepts will show.
    private var unsettled: Deque<DeviceKey> = []

    var isEmpty: Bool { self.tokens.isEmpty }
    var count: Int { self.tokens.count }

    subscript(device: DeviceKey) -> Token? { self.tokens[device] }

    mutating func hold(_ token: Token, of device: DeviceKey) {
        self.tokens[device] = token
        self.order.append(device)
        self.unsettled.append(device)
        if self.order.count > Self.most, let oldest = self.order.popFirst() { self.tokens[oldest] = nil }
    }

    /// A device that was not in memory when it showed who is at fault.
    mutating func judgeLater(_ device: DeviceKey) {
        if !self.unsettled.contains(device) { self.unsettled.append(device) }
    }

    mutating func nextUnsettled() -> (device: DeviceKey, token: Token)? {
        while let device = self.unsettled.popFirst() {
            if let token = self.tokens[device] { return (device, token) }
        }
        return nil
    }

    mutating func release(_ device: DeviceKey) { self.tokens[device] = nil }

    /// In the order of their refusals.
    mutating func releaseAll() -> [DeviceKey] {
        defer { self = HeldTokens() }
        return self.order.filter { self.tokens.removeValue(forKey: $0) != nil }
    }
}

extension ServerCore {
    /// The lane works. A token that was refused while it was stopped, or that had worked before the lane was known to, is tried once more: its
    /// refusal may have been the lane's. Any other is at fault itself, and not asked. What is in quarantine stays there.
    /// - Parameter before: the lane as it was before APNs accepted the push.
    mutating func settleHeld(of lane: PushLane, before: TokenBurst) {
        guard self.turn.lanes[lane]?.isTripped == false else { return }
        self.turn.lanes[lane]?.quarantined.removeAll()
        while let (device, token) = self.turn.lanes[lane]?.held.nextUnsettled() {
            guard let slot = self.slots[device.user], self.people[slot].state.isReady else { continue }
            let isAtFault = !before.isTripped && (before.works || !token.wasAccepted)
            self.people[slot].settleHeld(token, of: device.device, in: lane, isAtFault: isAtFault, &self.turn)
        }
    }

    /// The app sends with other credentials than before: what APNs has refused with those is asked once more, and what was learnt of the lanes
    /// is forgotten.
    mutating func forgetRefusals(of app: AppID) {
        for lane in self.turn.lanes.states.keys.filter({ $0.app == app }).sorted() {
            if self.turn.lanes[lane]?.burst.state != .closed, self.turn.lanes[lane]?.client.outage == nil {
                self.turn.emit(.clearAlarm(lane))
            }
            self.turn.lanes[lane]?.burst = TokenBurst()
            self.takeBackQuarantines(of: lane)
            for device in self.turn.lanes[lane]?.held.releaseAll() ?? [] {
                guard let slot = self.slots[device.user], self.people[slot].state.isReady else { continue }
                self.people[slot].pump(device.device, &self.turn)
            }
            self.pumpLane(lane)
        }
    }
}

extension Person {
    fileprivate mutating func settleHeld(
        _ token: HeldTokens.Token, of device: DeviceID, in lane: PushLane, isAtFault: Bool, _ turn: inout Turn
    ) {
        guard let index = self.devices.index(of: device), self.devices[index].isHeld(&turn) else { return }
        turn.lanes[lane]?.held.release(self.devices[index].key)
        if isAtFault { self.devices[index].quarantine(token.registration, token.reason, &turn) }
        self.pump(at: index, &turn)
        self.arm(&turn)
    }
}

extension Device {
    mutating func quarantine(_ registration: PushRegistration, _ reason: String, _ turn: inout Turn) {
        turn.lanes[PushLane(registration, in: self.key.user.app)]?.rememberQuarantine(
            .init(device: self.key, before: self.push))
        self.setPush(.quarantined(registration, at: turn.now.wall, reason: reason), &turn)
    }
}

extension PushLane {
    init(_ registration: PushRegistration, in app: AppID) {
        self.init(app: app, environment: registration.environment, topic: registration.topic)
    }
}

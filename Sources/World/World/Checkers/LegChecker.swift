// P6 and P2: every leg ends exactly once, with an end that fits what happened; and what a device has settled is in its store. In the
// end the store itself must tell of every one of these ends.
//
// The legs of a message are those of the devices that were signed in when it was accepted, and one of each person who had none;
// those of a withdrawal, of the devices that had shown the message, or may have.
import APNsModel
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

/// Watches what the store is told of legs.
struct LegChecker: Checker {
    private struct Withdrawal {
        var leg: LegID
        /// Where it stands in the log; a device that has settled it needs to hear nothing.
        var position: LogPosition
    }

    /// What is known of a leg's end.
    private struct Past {
        var end: LegEnd?
        /// The server's life in which it ended last.
        var life: Int?
    }

    /// A device's legs, or of somebody without any those of the person.
    private struct Holder: Hashable {
        var user: UserKey
        var device: DeviceID?

        init(user: UserKey, device: DeviceID?) {
            self.user = user
            self.device = device
        }

        init(_ leg: LegID) { self.init(user: leg.user, device: leg.device) }
    }

    /// The legs that must end.
    private var expected: OrderedSet<LegID> = []
    private var withdrawals: [Withdrawal] = []
    /// Those of both that have begun on a device since it signed out last: a sign-out ends them all.
    private var begun: [DeviceKey: [Withdrawal]] = [:]
    private var ends: [LegID: Past] = [:]
    private var kept: OrderedDictionary<Holder, OrderedSet<LegID>> = [:]
    /// Devices whose person has signed out at some time, by what the person did.
    private var signedOut: OrderedSet<DeviceKey> = []
    private var stored: [DeviceKey: LogPosition] = [:]
    private var settled: [DeviceKey: LogPosition] = [:]
    private var apnsIDs: Set<String> = []
    /// Devices that had a token that is void.
    private var endedTokens: OrderedSet<DeviceID> = []
    /// APNs has taken good tokens for ones of its other side.
    private var refusesTokens = false

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .stored(let position, let key): self.stored[key] = position
        case .signedOut(let key): self.signedOut.append(key)
        case .wrongEnvironment: self.refusesTokens = true
        case .tokenEnded(let device): self.endedTokens.append(device)
        case .pushed(let request, _):
            if let id = request.apnsID { self.apnsIDs.insert(id) }
        case .committed(let command, let result): self.see(command, result, scene, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func see(
        _ command: StoreCommand, _ result: StoreResult, _ scene: Scene, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.accept(let message, _), .accepted(let deliveries, _)):
            for delivery in deliveries { self.expect(message, at: delivery, scene) }
        case (.recall, .recalled(let recall, _, let deliveries, let shown)):
            for leg in shown {
                guard let delivery = deliveries.first(where: { $0.user == leg.user.user }),
                    let device = leg.device.map({ DeviceKey(user: leg.user, device: $0) }),
                    scene.committed.devices[device]?.isSignedOut == false
                else { continue }
                let own = LegID(message: recall.id, user: leg.user, device: leg.device)
                self.withdrawals.append(Withdrawal(leg: own, position: delivery.position))
                self.begun[device, default: []].append(Withdrawal(leg: own, position: delivery.position))
            }
        case (.signOut(let key, _), .done): self.signOut(key, scene)
        case (.setPushState, .taken(let others)): self.endKept(of: others, as: .noToken)
        case (.advance(let key, let settled?, _), .done): self.settled[key] = max(self.settled[key] ?? 0, settled)
        case (.keepLeg(let open), .done):
            // A later life of the server may take up again what the crash let it forget.
            if self.ends[open.leg]?.life == scene.life {
                findings.add("P6", "\(open.leg) was kept open after it had ended in one life of the server")
            }
            self.kept[Holder(open.leg), default: []].append(open.leg)
        case (.endLeg(let end), .done): self.end(end, scene, into: &findings)
        default: break  // tidy: the other commands are about no leg
        }
    }

    /// One leg for each device of a person, or one for somebody who has none and has not sent it.
    private mutating func expect(_ message: Message, at delivery: Delivery, _ scene: Scene) {
        let user = UserKey(app: message.app, user: delivery.user)
        let devices = scene.committed.devices(of: user)
        for (key, record) in devices where record.since < delivery.position {
            let leg = LegID(message: message.id, user: user, device: key.device)
            self.expected.append(leg)
            // Whatever the device has settled: a message's leg ends with the device.
            self.begun[key, default: []].append(Withdrawal(leg: leg, position: .max))
        }
        if devices.isEmpty, message.sender != delivery.user {
            let leg = LegID(message: message.id, user: user, device: nil)
            self.expected.append(leg)
            self.endInStore(leg, as: .noDevice, scene)
        }
    }

    /// The store itself ends everything that was under way to a device.
    private mutating func signOut(_ key: DeviceKey, _ scene: Scene) {
        self.endKept(of: [key], as: .signedOut)
        let settled = self.settled[key] ?? 0
        for begun in self.begun.removeValue(forKey: key) ?? [] where begun.position > settled {
            let leg = begun.leg
            guard self.ends[leg]?.end == nil else { continue }
            let accepted = scene.committed.messages[leg.message]
            let isOwn = accepted?.message.sender == key.user.user && accepted?.device == key.device
            self.endInStore(leg, as: isOwn ? .ownDevice : .signedOut, scene)
        }
    }

    /// The store ends a leg with what gave it cause; nobody may tell it so again.
    private mutating func endInStore(_ leg: LegID, as end: LegEnd, _ scene: Scene) {
        self.ends[leg] = Past(end: end, life: scene.life)
    }

    /// The store itself ends what it keeps open of devices.
    private mutating func endKept(of devices: [DeviceKey], as end: LegEnd) {
        for device in devices {
            for leg in self.kept.removeValue(forKey: Holder(user: device.user, device: device.device)) ?? []
            where self.ends[leg]?.end == nil {
                self.ends[leg, default: Past()].end = end
            }
        }
    }

    private mutating func end(_ end: EndedLeg, _ scene: Scene, into findings: inout Findings) {
        self.kept[Holder(end.leg)]?.remove(end.leg)
        var past = self.ends[end.leg] ?? Past()
        if past.life == scene.life {
            findings.add("P6", "\(end.leg) ended again as \(end.end.name) in one life of the server")
        }
        past.life = scene.life
        // Of several ends the first stays.
        let isFirst = past.end == nil
        if isFirst { past.end = end.end }
        self.ends[end.leg] = past
        guard isFirst else { return }
        guard let accepted = scene.committed.messages[end.leg.message] else { return }
        if let fault = self.misfit(end, accepted, scene) {
            findings.add("P6", "\(end.leg) ended as \(end.end.name): \(fault)")
        }
    }

    /// Why an end does not fit; nil if it does.
    private func misfit(_ end: EndedLeg, _ accepted: StoreView.Accepted, _ scene: Scene) -> String? {
        let message = accepted.message
        let user = end.leg.user.user
        var position: LogPosition { accepted.position(of: user) ?? 0 }
        switch end.end {
        case .ownDevice: return message.sender == user && end.leg.device == accepted.device ? nil : "not its device"
        case .notNotifiable:
            return message.sender == user || !message.flags.contains(.notified) ? nil : "it may be notified of"
        case .settled:
            guard let device = end.leg.device else { return "there is no device" }
            let stored = self.stored[DeviceKey(user: end.leg.user, device: device)] ?? 0
            return stored >= position ? nil : "the device has the log up to \(stored), this is \(position)"
        case .readElsewhere:
            let readUpTo = scene.committed.readUpTo(message.conversation(seenBy: user), by: user)
            let isGone = readUpTo >= position || scene.committed.isDeleted(message.id, by: user)
            return isGone ? nil : "nobody has read it"
        case .recalled: return scene.committed.recalled[message.id] != nil ? nil : "nobody has withdrawn it"
        case .expired: return message.expiresAt ?? .max <= end.at ? nil : "it has no end, or a later one"
        case .muted:
            let isSilenced = scene.committed.held(by: user, at: end.at) {
                !$0.allows(message, for: user, wall: end.at)
            }
            return isSilenced ? nil : "nobody has silenced it"
        case .quietHours:
            let isQuiet = scene.committed.held(by: user, at: end.at) {
                guard let hours = $0.person.quietHours, hours.manner == .drop else { return false }
                return hours.end(at: end.at, in: World.zone) != nil
            }
            return isQuiet ? nil : "these are no quiet hours"
        case .accepted(let apnsID): return self.apnsIDs.contains(apnsID) ? nil : "\(apnsID) was never sent"
        case .noToken: return scene.committed.hasToken(end.leg) ? "the device had a token" : nil
        case .signedOut:
            let isOut = self.signedOut.contains { $0.user == end.leg.user && $0.device == end.leg.device }
            return isOut ? nil : "nobody has signed out there"
        case .noDevice: return end.leg.device == nil ? nil : "there is a device"
        case .tokenDead: return self.hadOtherToken(end.leg) ? nil : "its tokens are all good"
        case .rejected: return self.refusesTokens || self.hadOtherToken(end.leg) ? nil : "its tokens are all good"
        case .tokenQuarantined: return self.refusesTokens ? nil : "APNs has refused no token"
        }
    }

    private func hadOtherToken(_ leg: LegID) -> Bool {
        leg.device.map { self.endedTokens.contains($0) } ?? false
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        var stored: OrderedDictionary<LegID, LegEnd> = [:]
        for message in ending.store.messages {
            for ended in message.ended { stored[ended.leg] = ended.end }
        }
        for leg in self.expected where stored[leg] == nil { findings.add("P6", "\(leg) has no end") }
        for (leg, end) in stored where scene.committed.messages[leg.message] != nil {
            if !self.expected.contains(leg) {
                findings.add("P6", "\(leg) ended as \(end.name), and never began")
            } else if self.ends[leg]?.end != end {
                findings.add(
                    "P6", "\(leg) ended as \(self.ends[leg]?.end?.name ?? "nothing"), the store says \(end.name)")
            }
        }
        for leg in self.kept.values.joined() { findings.add("P6", "\(leg) is still kept open") }
        for leg in ending.store.people.lazy.flatMap(\.record.openLegs) {
            findings.add("P6", "\(leg.leg) is open (\(leg.wait.rawValue)) after everything healed")
        }
        for withdrawal in self.withdrawals where stored[withdrawal.leg] == nil {
            let device = withdrawal.leg.device.map { DeviceKey(user: withdrawal.leg.user, device: $0) }
            // Whoever has settled the log beyond it has it from there.
            if let device, self.settled[device] ?? 0 >= withdrawal.position { continue }
            findings.add("P6", "the withdrawal \(withdrawal.leg) has no end")
        }
    }
}

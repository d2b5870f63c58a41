// P6 and P2: every leg ends exactly once, with an end that fits what happened; and what a device has settled is in its store. In the
// end the store itself must tell of every one of these ends.
//
// The legs of a message are those of the devices that were signed in when it was accepted, and one of each person who had none;
// those of a recall, of the devices that had shown the message, or may have.
import APNsModel
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

/// Watches what the store is told of legs.
struct LegChecker: Checker {
    static let kinds = FactKinds(
        .stored, .signedOut, .wrongEnvironment, .tokenEnded, .pushed, .accept, .recall, .signOut, .setPushState,
        .advance, .keepLeg, .endLeg)

    private struct Recall {
        var recall: MessageID
        var holder: Int
        var device: DeviceKey
        /// Where it stands in the log; a device that has settled it needs to hear nothing.
        var position: LogPosition
    }

    /// What is known of a leg.
    private struct Past {
        var end: LegEnd?
        /// The server's life in which it ended last.
        var life: Int?
        /// It must end.
        var isExpected = false
        /// The store keeps it open.
        var isKept = false
    }

    /// A leg that has begun.
    private struct Begun {
        var place: Place
        /// Where a recall stands in the log.
        var position: LogPosition
    }

    private typealias Place = LegTable<Past>.Place

    private var legs = LegTable<Past>()
    private var recalls: [Recall] = []
    /// By holder, the legs that have begun on a device since it signed out last: a sign-out ends them all.
    private var begun: [Int: [Begun]] = [:]
    /// By holder, what the store keeps open.
    private var kept: OrderedDictionary<Int, [Place]> = [:]
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
        // Most are ends, and a command with its result is much to copy.
        if case .endLeg(let end) = command {
            if case .done = result { self.end(end, scene, into: &findings) }
            return
        }
        switch (command, result) {
        case (.accept(let message, _, _), .accepted(let deliveries, _)):
            for delivery in deliveries { self.expect(message, at: delivery, scene) }
        case (.recall, .recalled(let recall, _, let deliveries, let shown)):
            for leg in shown { self.expect(recall, after: leg, deliveries, scene) }
        case (.signOut(let key, _), .done): self.signOut(key, scene)
        case (.setPushState, .taken(let others)):
            for key in others { self.endKept(of: key, as: .noToken, scene) }
        case (.advance(let key, let settled?, _), .done): self.settled[key] = max(self.settled[key] ?? 0, settled)
        case (.keepLeg(let open), .done): self.keep(open.leg, scene, into: &findings)
        default: break  // tidy: the other commands are about no leg
        }
    }

    /// One leg for each device of a person, or one for somebody who has none and has not sent it.
    private mutating func expect(_ message: Message, at delivery: Delivery, _ scene: Scene) {
        let user = UserKey(app: message.app, user: delivery.user)
        let devices = scene.devices(of: user)
        for (holder, since) in devices where since < delivery.position {
            let place = self.legs.place(message.id, holder, or: Past())
            self.legs[place].isExpected = true
            // Whatever the device has settled: a message's leg ends with the device.
            self.begun[holder, default: []].append(Begun(place: place, position: .max))
        }
        if devices.isEmpty, message.sender != delivery.user, let holder = scene.holders[user, nil] {
            let place = self.legs.place(message.id, holder, or: Past())
            self.legs[place].isExpected = true
            self.endInStore(place, as: .noDevice, scene)
        }
    }

    /// A leg of a recall for a device that has shown the message.
    private mutating func expect(_ recall: Recall, after leg: LegID, _ deliveries: [Delivery], _ scene: Scene) {
        guard let delivery = deliveries.first(where: { $0.user == leg.user.user }),
            let device = leg.device.map({ DeviceKey(user: leg.user, device: $0) }),
            scene.committed.devices[device]?.isSignedOut == false,
            let holder = scene.holders[leg.user, leg.device]
        else { return }
        let place = self.legs.place(recall.id, holder, or: Past())
        self.recalls.append(
            Recall(recall: recall.id, holder: holder, device: device, position: delivery.position))
        self.begun[holder, default: []].append(Begun(place: place, position: delivery.position))
    }

    /// The store itself ends everything that was under way to a device.
    private mutating func signOut(_ key: DeviceKey, _ scene: Scene) {
        self.endKept(of: key, as: .signedOut, scene)
        let settled = self.settled[key] ?? 0
        guard let holder = scene.holders[key.user, key.device] else { return }
        for begun in self.begun.removeValue(forKey: holder) ?? [] where begun.position > settled {
            guard self.legs[begun.place].end == nil else { continue }
            let accepted = scene.committed.messages[self.legs.message(at: begun.place)]
            let isOwn = accepted?.message.sender == key.user.user && accepted?.device == key.device
            self.endInStore(begun.place, as: isOwn ? .ownDevice : .signedOut, scene)
        }
    }

    /// The store ends a leg with what gave it cause; nobody may tell it so again.
    private mutating func endInStore(_ place: Place, as end: LegEnd, _ scene: Scene) {
        self.legs[place].end = end
        self.legs[place].life = scene.life
    }

    private mutating func keep(_ leg: LegID, _ scene: Scene, into findings: inout Findings) {
        let place = self.legs.place(leg.message, scene.holder, or: Past())
        // A later life of the server may take up again what the crash let it forget.
        if self.legs[place].life == scene.life {
            findings.add("P6", "\(leg) was kept open after it had ended in one life of the server")
        }
        guard !self.legs[place].isKept else { return }
        self.legs[place].isKept = true
        self.kept[scene.holder, default: []].append(place)
    }

    /// The store itself ends what it keeps open of a device.
    private mutating func endKept(of key: DeviceKey, as end: LegEnd, _ scene: Scene) {
        guard let holder = scene.holders[key.user, key.device] else { return }
        for place in self.kept.removeValue(forKey: holder) ?? [] {
            self.legs[place].isKept = false
            self.legs[place].end = self.legs[place].end ?? end
        }
    }

    private mutating func end(_ end: EndedLeg, _ scene: Scene, into findings: inout Findings) {
        let place = self.legs.place(end.leg.message, scene.holder, or: Past())
        if self.legs[place].isKept {
            self.legs[place].isKept = false
            self.kept[scene.holder]?.removeAll { $0 == place }
        }
        if self.legs[place].life == scene.life {
            findings.add("P6", "\(end.leg) ended again as \(end.end.name) in one life of the server")
        }
        self.legs[place].life = scene.life
        // Of several ends the first stays.
        guard self.legs[place].end == nil else { return }
        self.legs[place].end = end.end
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
            let isForApp = !message.flags.isSuperset(of: [.notified, .stored])
            return message.sender == user || isForApp ? nil : "it may be notified of"
        case .settled:
            guard let device = end.leg.device else { return "there is no device" }
            let stored = self.stored[DeviceKey(user: end.leg.user, device: device)] ?? 0
            return stored >= position ? nil : "the device has the log up to \(stored), this is \(position)"
        case .readElsewhere:
            let readUpTo = scene.committed.readUpTo(message.conversation(seenBy: user), by: user)
            let isGone = readUpTo >= position || scene.committed.isDeleted(message.id, by: user)
            return isGone ? nil : "nobody has read it"
        case .recalled: return scene.committed.recalled[message.id] != nil ? nil : "nobody has recalled it"
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
        case .accepted where !message.flags.isSuperset(of: [.notified, .stored]): return "nobody may be notified of it"
        case .accepted(let apnsID): return self.apnsIDs.contains(apnsID) ? nil : "\(apnsID) was never sent"
        case .noToken: return scene.committed.hasToken(end.leg) ? "the device had a token" : nil
        case .signedOut:
            let isOut = self.signedOut.contains { $0.user == end.leg.user && $0.device == end.leg.device }
            return isOut ? nil : "nobody has signed out there"
        case .disabled: return "nobody is banned here"
        case .noDevice: return end.leg.device == nil ? nil : "there is a device"
        case .tokenDead: return self.hadOtherToken(end.leg) ? nil : "its tokens are all good"
        case .rejected: return self.refusesTokens || self.hadOtherToken(end.leg) ? nil : "its tokens are all good"
        case .tokenQuarantined:
            // Hostile clients register tokens that APNs has never given anybody.
            let isMadeUp = World.isHostile(end.leg.user.user)
            return self.refusesTokens || isMadeUp ? nil : "APNs has refused no token"
        }
    }

    private func hadOtherToken(_ leg: LegID) -> Bool {
        leg.device.map { self.endedTokens.contains($0) } ?? false
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        let stored = self.stored(in: ending, scene)
        for place in self.legs.allPlaces where self.legs[place].isExpected {
            let (message, holder) = (self.legs.message(at: place), self.legs.holder(at: place))
            guard stored.find(message, holder) == nil else { continue }
            findings.add("P6", "\(scene.holders.leg(of: message, at: holder)) has no end")
        }
        for message in ending.store.messages where scene.committed.messages[message.id] != nil {
            for ended in message.ended { self.compare(ended, scene, into: &findings) }
        }
        for place in self.kept.values.joined() {
            let leg = scene.holders.leg(of: self.legs.message(at: place), at: self.legs.holder(at: place))
            findings.add("P6", "\(leg) is still kept open")
        }
        for leg in ending.store.people.lazy.flatMap(\.record.openLegs) {
            findings.add("P6", "\(leg.leg) is open (\(leg.wait.rawValue)) after everything healed")
        }
        for recall in self.recalls where stored.find(recall.recall, recall.holder) == nil {
            // Whoever has settled the log beyond it has it from there.
            if self.settled[recall.device] ?? 0 >= recall.position { continue }
            let leg = scene.holders.leg(of: recall.recall, at: recall.holder)
            findings.add("P6", "the recall \(leg) has no end")
        }
    }

    /// The legs of which the store tells an end.
    private func stored(in ending: Ending, _ scene: Scene) -> LegTable<Void> {
        var stored = LegTable<Void>()
        for ended in ending.store.messages.lazy.flatMap(\.ended) {
            guard let holder = scene.holders[ended.leg.user, ended.leg.device] else { continue }
            _ = stored.place(ended.leg.message, holder, or: ())
        }
        return stored
    }

    /// The end of a leg of ours in the store is that of which it was told.
    private func compare(_ ended: EndedLeg, _ scene: Scene, into findings: inout Findings) {
        let holder = scene.holders[ended.leg.user, ended.leg.device]
        let past = holder.flatMap { self.legs.find(ended.leg.message, $0) }.map { self.legs[$0] }
        guard let past, past.isExpected else {
            return findings.add("P6", "\(ended.leg) ended as \(ended.end.name), and never began")
        }
        guard past.end != ended.end else { return }
        findings.add(
            "P6", "\(ended.leg) ended as \(past.end?.name ?? "nothing"), the store says \(ended.end.name)")
    }
}

// P6 and P2: every leg ends exactly once, with an end that fits, and what a device has settled is in its store. At the
// end the store itself must tell of every end. A message has a leg on each device that was signed in at its
// acceptance, and one for a person without any; a recall on each device that has shown the message, or may have.
import OrderedCollections
import StoreModel
import TidingsModel

struct LegChecker: Checker {
    static let kinds = FactKinds(
        .stored, .signedOut, .wrongEnvironment, .tokenEnded, .pushed, .accept, .recall, .signOut, .setPushState,
        .advance, .keepLeg, .endLeg, .serverStarted)

    /// How long the store may take to have the ends of all legs of one push, in milliseconds: a slow disk, twice.
    private static let mergedBound: Int64 = 20_000

    private struct PendingRecall {
        var recall: MessageID
        var holder: Int
        var device: DeviceKey
        /// A device that has settled this position needs no leg.
        var position: LogPosition
    }

    private struct Past {
        var end: LegEnd?
        /// The server's life in which it ended last.
        var life: Int?
        var isExpected = false
        var isKept = false
    }

    private struct Begun {
        var place: Place
        var position: LogPosition
    }

    private typealias Place = LegTable<Past>.Place

    private var legs = LegTable<Past>()
    private var recalls: [PendingRecall] = []
    /// By holder, the legs that have begun on a device since it signed out last: a sign-out ends them all.
    private var begun: [Int: [Begun]] = [:]
    private var kept: OrderedDictionary<Int, [Place]> = [:]
    private var signedOut: OrderedSet<DeviceKey> = []
    private var stored: [DeviceKey: LogPosition] = [:]
    private var settled: [DeviceKey: LogPosition] = [:]
    private var apnsIDs: Set<String> = []
    /// Pushes of several messages, by `apns-id`, with the positions of the others that they name.
    private var merged: [String: [LogPosition]] = [:]
    /// Legs that must end by a time, since APNs has accepted the push they went with.
    private var acceptedWith: [(place: Place, due: Int64)] = []
    /// Devices that had a token that is void.
    private var endedTokens: OrderedSet<DeviceID> = []
    /// APNs has taken good tokens for ones of its other environment.
    private var refusesTokens = false

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        if !self.acceptedWith.isEmpty { self.findUnended(state, into: &findings) }
        switch fact {
        case .stored(let position, let key): self.stored[key] = position
        case .signedOut(let key): self.signedOut.append(key)
        case .wrongEnvironment: self.refusesTokens = true
        // A new life decides unanswered legs anew.
        case .serverStarted: self.acceptedWith = []
        case .tokenEnded(let device): self.endedTokens.append(device)
        case .pushed(let request, _):
            guard let id = request.apnsID else { return }
            self.apnsIDs.insert(id)
            guard let counted = request.alert?.counted, !counted.isEmpty else { return }
            findings.reach(.mergedPushes)
            self.merged[id] = counted
        case .committed(let command, let result): self.applyCommand(command, result, state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func applyCommand(
        _ command: StoreCommand, _ result: StoreResult, _ state: CheckerState, into findings: inout Findings
    ) {
        // Most are ends, and a command with its result is much to copy.
        if case .endLeg(let end) = command {
            if case .done = result { self.applyEnd(end, state, into: &findings) }
            return
        }
        switch (command, result) {
        case (.accept(let message, _, _, _, _, _), .accepted(let deliveries, _, _)):
            for delivery in deliveries { self.expectLegs(of: message, at: delivery, state) }
        case (.recall, .recalled(let recall, _, let deliveries, let shown)):
            for leg in shown { self.expectRecallLeg(recall, after: leg, deliveries, state) }
        case (.signOut(let key, _), .done): self.endAll(of: key, state)
        case (.setPushState, .taken(let others)):
            for key in others { self.endKept(of: key, as: .noToken, state) }
        case (.advance(let key, let settled?, _), .done): self.settled[key] = max(self.settled[key] ?? 0, settled)
        case (.keepLeg(let open), .done): self.keepOpen(open.leg, state, into: &findings)
        default: break  // tidy: the other commands are about no leg
        }
    }

    /// Expects one leg for each device of a person, or one for a person who has none and has not sent it.
    private mutating func expectLegs(of message: Message, at delivery: Delivery, _ state: CheckerState) {
        let user = UserKey(app: message.app, user: delivery.user)
        let devices = state.devices(of: user)
        for (holder, since) in devices where since < delivery.position {
            let place = self.legs.findOrAdd(message.id, holder, or: Past())
            self.legs[place].isExpected = true
            // A sign-out ends it whatever the device has settled.
            self.begun[holder, default: []].append(Begun(place: place, position: .max))
        }
        if devices.isEmpty, message.sender != delivery.user, let holder = state.holders[user, nil] {
            let place = self.legs.findOrAdd(message.id, holder, or: Past())
            self.legs[place].isExpected = true
            self.endInStore(place, as: .noDevice, state)
        }
    }

    private mutating func expectRecallLeg(
        _ recall: Recall, after leg: LegID, _ deliveries: [Delivery], _ state: CheckerState
    ) {
        guard let delivery = deliveries.first(where: { $0.user == leg.user.user }),
            let device = leg.device.map({ DeviceKey(user: leg.user, device: $0) }),
            state.committed.devices[device]?.isSignedOut == false,
            let holder = state.holders[leg.user, leg.device]
        else { return }
        let place = self.legs.findOrAdd(recall.id, holder, or: Past())
        self.recalls.append(
            PendingRecall(recall: recall.id, holder: holder, device: device, position: delivery.position))
        self.begun[holder, default: []].append(Begun(place: place, position: delivery.position))
    }

    private mutating func endAll(of key: DeviceKey, _ state: CheckerState) {
        self.endKept(of: key, as: .signedOut, state)
        let settled = self.settled[key] ?? 0
        guard let holder = state.holders[key.user, key.device] else { return }
        for begun in self.begun.removeValue(forKey: holder) ?? [] where begun.position > settled {
            guard self.legs[begun.place].end == nil else { continue }
            let accepted = state.committed.messages[self.legs.message(at: begun.place)]
            let isOwn =
                accepted?.message.sender == key.user.user && accepted?.device == key.device && accepted?.author == nil
            self.endInStore(begun.place, as: isOwn ? .ownDevice : .signedOut, state)
        }
    }

    /// The store ends a leg with what gave it cause; nobody may tell it so again.
    private mutating func endInStore(_ place: Place, as end: LegEnd, _ state: CheckerState) {
        self.legs[place].end = end
        self.legs[place].life = state.life
    }

    private mutating func keepOpen(_ leg: LegID, _ state: CheckerState, into findings: inout Findings) {
        let place = self.legs.findOrAdd(leg.message, state.holder, or: Past())
        // A later life of the server may take up what a crash has lost.
        if self.legs[place].life == state.life {
            findings.add("P6", "\(leg) was kept open after it had ended in one life of the server")
        }
        guard !self.legs[place].isKept else { return }
        self.legs[place].isKept = true
        self.kept[state.holder, default: []].append(place)
    }

    private mutating func endKept(of key: DeviceKey, as end: LegEnd, _ state: CheckerState) {
        guard let holder = state.holders[key.user, key.device] else { return }
        for place in self.kept.removeValue(forKey: holder) ?? [] {
            self.legs[place].isKept = false
            self.legs[place].end = self.legs[place].end ?? end
        }
    }

    private mutating func applyEnd(_ end: EndedLeg, _ state: CheckerState, into findings: inout Findings) {
        let place = self.legs.findOrAdd(end.leg.message, state.holder, or: Past())
        if self.legs[place].isKept {
            self.legs[place].isKept = false
            self.kept[state.holder]?.removeAll { $0 == place }
        }
        if self.legs[place].life == state.life {
            findings.add("P6", "\(end.leg) ended again as \(end.end.name) in one life of the server")
        }
        self.legs[place].life = state.life
        if case .accepted(let id) = end.end { self.expectEnds(with: end.leg, of: id, state) }
        // Of several ends the first stays.
        guard self.legs[place].end == nil else { return }
        self.legs[place].end = end.end
        guard let accepted = state.committed.messages[end.leg.message] else { return }
        if let fault = self.misfit(end, accepted, state) {
            findings.add("P6", "\(end.leg) ended as \(end.end.name): \(fault)")
        }
    }

    /// All messages that went with a push end with it.
    private mutating func expectEnds(with leg: LegID, of apnsID: String, _ state: CheckerState) {
        for position in self.merged.removeValue(forKey: apnsID) ?? [] {
            let accepted = state.committed.messages.values.last { $0.position(of: leg.user.user) == position }
            guard let accepted, let place = self.legs.find(accepted.message.id, state.holder),
                self.legs[place].end == nil
            else { continue }
            self.acceptedWith.append((place, state.now.monotonic + Self.mergedBound))
        }
    }

    private mutating func findUnended(_ state: CheckerState, into findings: inout Findings) {
        self.acceptedWith.removeAll { self.legs[$0.place].end != nil }
        guard let first = self.acceptedWith.first, state.now.monotonic > first.due else { return }
        let leg = state.holders.leg(of: self.legs.message(at: first.place), at: self.legs.holder(at: first.place))
        findings.add("P6", "\(leg) went with a push that APNs has accepted, and has no end")
        self.acceptedWith.removeFirst()
    }

    /// Why an end does not fit; nil if it does.
    private func misfit(_ end: EndedLeg, _ accepted: StoreView.Accepted, _ state: CheckerState) -> String? {
        let message = accepted.message
        let user = end.leg.user.user
        var position: LogPosition { accepted.position(of: user) ?? 0 }
        switch end.end {
        case .ownDevice: return message.sender == user && end.leg.device == accepted.device ? nil : "not its device"
        case .notNotifiable:
            let isForApp = !message.flags.isSuperset(of: [.notified, .stored])
            let isForOthers = end.leg.device.map { !message.isFor($0) } ?? false
            return message.sender == user || isForApp || isForOthers ? nil : "it may be notified of"
        case .blocked: return accepted.isHushed(for: user) ? nil : "nobody had blocked its sender"
        case .accepted where accepted.isHushed(for: user): return "the person had blocked its sender"
        case .settled:
            guard let device = end.leg.device else { return "there is no device" }
            let stored = self.stored[DeviceKey(user: end.leg.user, device: device)] ?? 0
            return stored >= position ? nil : "the device has the log up to \(stored), this is \(position)"
        case .readElsewhere:
            let readUpTo = state.committed.readUpTo(message.conversation(seenBy: user), by: user)
            let isGone = readUpTo >= position || state.committed.isDeleted(message.id, by: user)
            return isGone ? nil : "nobody has read it"
        case .recalled: return state.committed.recalled[message.id] != nil ? nil : "nobody has recalled it"
        case .expired: return message.expiresAt ?? .max <= end.at ? nil : "it has no end, or a later one"
        case .muted:
            let isSilenced = state.committed.held(by: user, at: end.at) {
                !$0.allows(message, for: user, wall: end.at)
            }
            return isSilenced ? nil : "nobody has silenced it"
        case .quietHours:
            let isQuiet = state.committed.held(by: user, at: end.at) {
                guard let hours = $0.person.quietHours, hours.manner == .drop else { return false }
                return hours.end(at: end.at, in: World.zone) != nil
            }
            return isQuiet ? nil : "these are no quiet hours"
        case .accepted where !message.flags.isSuperset(of: [.notified, .stored]): return "nobody may be notified of it"
        case .accepted where end.leg.device.map { !message.isFor($0) } ?? false: return "it is for other devices"
        case .accepted(let apnsID): return self.apnsIDs.contains(apnsID) ? nil : "\(apnsID) was never sent"
        case .noToken: return state.committed.hasToken(end.leg) ? "the device had a token" : nil
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

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        let stored = self.stored(in: ending, state)
        for place in self.legs.allPlaces where self.legs[place].isExpected {
            let (message, holder) = (self.legs.message(at: place), self.legs.holder(at: place))
            guard stored.find(message, holder) == nil else { continue }
            findings.add("P6", "\(state.holders.leg(of: message, at: holder)) has no end")
        }
        for message in ending.store.messages where state.committed.messages[message.id] != nil {
            for ended in message.ended { self.compare(ended, state, into: &findings) }
        }
        for place in self.kept.values.joined() {
            let leg = state.holders.leg(of: self.legs.message(at: place), at: self.legs.holder(at: place))
            findings.add("P6", "\(leg) is still kept open")
        }
        for leg in ending.store.people.lazy.flatMap(\.record.openLegs) {
            findings.add("P6", "\(leg.leg) is open (\(leg.wait.rawValue)) after everything healed")
        }
        for recall in self.recalls where stored.find(recall.recall, recall.holder) == nil {
            // A device that has settled its log beyond it has it from there.
            if self.settled[recall.device] ?? 0 >= recall.position { continue }
            let leg = state.holders.leg(of: recall.recall, at: recall.holder)
            findings.add("P6", "the recall \(leg) has no end")
        }
    }

    private func stored(in ending: Ending, _ state: CheckerState) -> LegTable<Void> {
        var stored = LegTable<Void>()
        for ended in ending.store.messages.lazy.flatMap(\.ended) {
            guard let holder = state.holders[ended.leg.user, ended.leg.device] else { continue }
            _ = stored.findOrAdd(ended.leg.message, holder, or: ())
        }
        return stored
    }

    private func compare(_ ended: EndedLeg, _ state: CheckerState, into findings: inout Findings) {
        let holder = state.holders[ended.leg.user, ended.leg.device]
        let past = holder.flatMap { self.legs.find(ended.leg.message, $0) }.map { self.legs[$0] }
        guard let past, past.isExpected else {
            return findings.add("P6", "\(ended.leg) ended as \(ended.end.name), and never began")
        }
        guard past.end != ended.end else { return }
        findings.add(
            "P6", "\(ended.leg) ended as \(past.end?.name ?? "nothing"), the store says \(ended.end.name)")
    }
}

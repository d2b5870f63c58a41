// P3: it rings at least once. A message that may ring by the rules at its acceptance rings on every phone of its people that lies
// away and ready then, within two minutes after the last thing that can hold it up; in quiet hours that defer it, after their end.
//
// What can hold it up moves the bound: a server that starts, a disk or a wall clock that goes wrong, a bad minute of Apple's, a push that
// is late in the air. Counted apart are phones that could not ring then: no permission, no token the server knows, no network, a Focus,
// not unlocked since a restart, Low Power Mode, full storage. Excused, and counted too, is a phone to which something happens before it
// rings: the app comes to the foreground there or on another phone of its person, a fault of its own, a sign-out; the message is recalled,
// deleted or read, or goes with the push or the fetch of another; the person sets something, or somebody comes or goes in the group;
// it comes in time, into a Focus that has begun since. Quiet hours may begin while it is held up: those that defer move the bound to
// their end, once the store has the leg as waiting for it; of those that drop, and of a level that lets it ring and ends by itself, the
// store must have the end of the leg in time.
import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// A phone of somebody who has the app in the foreground nowhere when a message is accepted.
struct AwayPhone: Hashable {
    var key: DeviceKey
    /// Its push token; nil if it cannot ring now.
    var token: PushToken?
}

/// Watches messages to phones that lie away.
struct RingDueChecker: Checker {
    // Of the time it hears by what comes again and again: by what the core hears, and by what is measured while none runs.
    static let kinds = FactKinds(
        .away, .presented, .moved, .disturbed, .signedOut, .pushed, .fetched, .wrongEnvironment, .serverStarted,
        .clockSet, .held, .setPushState, .signOut, .keepLeg, .endLeg, .recall, .delete, .markRead, .change, .set,
        .heard, .measured)

    /// How long a message may take, in milliseconds: a connection that is dead without a word, the push before it, an extension that
    /// uses up its time.
    static let bound: Int64 = 120_000
    /// How far a jump of the server's clock may move what waits, in milliseconds: `ServerSettings.backOffMax`.
    private static let clockJump: Int64 = 300_000

    private struct Due: Hashable {
        var message: MessageID
        var key: DeviceKey
        var position: LogPosition
        var at: Int64
        /// It waits for the end of quiet hours first.
        var isDeferred: Bool

        func isOf(_ leg: LegID) -> Bool {
            leg.message == self.message && leg.user == self.key.user && leg.device == self.key.device
        }
    }

    private var dues: [Due] = []
    /// When the first of them is due.
    private var earliest = Int64.max
    private var heldUntil: Int64 = 0
    private var heldPhones: OrderedDictionary<DeviceID, Int64> = [:]
    private var registrations: OrderedDictionary<DeviceKey, PushRegistration> = [:]
    /// The message each push tells of, by its `apns-id`; it may count others.
    private var told: [String: MessageID] = [:]
    /// APNs has taken good tokens for ones of its other side.
    private var refusesTokens = false

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        if scene.now.monotonic > self.earliest { self.findOverdue(scene.now.monotonic, into: &findings) }
        switch fact {
        case .away(let message, let phones): self.expect(message, phones, scene, into: &findings)
        case .presented(let record, let key) where record.isRing:
            let count = self.dues.count
            self.dues.removeAll { $0.key == key && $0.message.description == record.identifier }
            guard self.dues.count < count else { return }
            findings.reach(.dueRings)
            self.findEarliest()
        // It came into the list, and a Focus that began since the acceptance left it silent.
        case .presented(let record, let key) where record.reason == .focus && record.list:
            self.drop(into: &findings) { $0.key == key && $0.message.description == record.identifier }
        case .moved(let isInForeground, let key):
            // Whoever looks at one phone is told on that one.
            if isInForeground { self.drop(into: &findings) { $0.key.user == key.user || $0.key.device == key.device } }
        case .disturbed(let key), .signedOut(let key): self.drop(into: &findings) { $0.key == key }
        case .pushed(let request, let key):
            guard let info = request.alert else { return }
            if let id = request.apnsID { self.told[id] = info.message }
            guard !info.counted.isEmpty else { return }
            self.drop(into: &findings) { $0.key == key && info.counted.contains($0.position) }
        case .fetched(let posts, _, let key):
            let messages = posts.map(\.message.message)
            self.drop(into: &findings) { $0.key == key && messages.contains($0.message) }
        case .wrongEnvironment: self.refusesTokens = true
        case .serverStarted: self.hold(until: scene.now.monotonic, on: nil)
        case .clockSet:
            self.hold(until: scene.now.monotonic + Self.clockJump, on: nil)
            // When the hours end, that clock says.
            self.drop(into: &findings, where: \.isDeferred)
        case .held(let until, let device): self.hold(until: until, on: device)
        case .committed(let command, let result): self.see(command, result, scene, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func expect(
        _ id: MessageID, _ phones: [AwayPhone], _ scene: Scene, into findings: inout Findings
    ) {
        guard let accepted = scene.committed.messages[id] else { return }
        let message = accepted.message
        guard message.flags.isSuperset(of: [.notified, .stored]), message.expiresAt == nil else { return }
        for phone in phones {
            let user = phone.key.user.user
            let settings = scene.committed.settings(of: user)
            guard user != message.sender, let position = accepted.position(of: user),
                let device = scene.committed.devices[phone.key], !device.isSignedOut, device.since < position,
                settings.allows(message, for: user, wall: scene.now.wall)
            else { continue }
            let hours = settings.person.quietHours
            let quietEnd = hours?.end(at: scene.now.wall, in: World.zone)
            guard quietEnd == nil || hours?.manner == .defer else { continue }
            guard let token = phone.token, self.registrations[phone.key]?.token == token else {
                findings.reach(.unreadyPhones)
                continue
            }
            let wait = quietEnd.map { $0 - scene.now.wall } ?? 0
            let start = max(scene.now.monotonic + wait, self.heldUntil, self.heldPhones[phone.key.device] ?? 0)
            let due = Due(
                message: id, key: phone.key, position: position, at: start + Self.bound, isDeferred: quietEnd != nil)
            self.dues.append(due)
            self.earliest = min(self.earliest, due.at)
        }
    }

    private mutating func hold(until: Int64, on device: DeviceID?) {
        if let device {
            self.heldPhones[device] = max(self.heldPhones[device] ?? 0, until)
        } else {
            self.heldUntil = max(self.heldUntil, until)
        }
        for index in self.dues.indices where device == nil || self.dues[index].key.device == device {
            self.dues[index].at = max(self.dues[index].at, until + Self.bound)
        }
        self.findEarliest()
    }

    private mutating func see(
        _ command: StoreCommand, _ result: StoreResult, _ scene: Scene, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.setPushState(let key, let state, _), .done), (.setPushState(let key, let state, _), .taken):
            self.take(state, of: key, scene, into: &findings)
        case (.signOut(let key, _), .done): self.forget(key, into: &findings)
        case (.keepLeg(let open), .done): self.postpone(open, scene)
        case (.endLeg(let ended), .done): self.end(ended, scene, into: &findings)
        case (.recall(let operation), .recalled): self.drop(into: &findings) { $0.message == operation.message }
        case (.delete(let user, let deletion, _), .noted):
            self.drop(into: &findings) { $0.key.user == user && deletion.messages.contains($0.message) }
        case (.markRead(let user, let conversation, let upTo, _), .read):
            self.drop(into: &findings) { due in
                let message = scene.committed.messages[due.message]?.message
                return due.key.user == user && due.position <= upTo
                    && message?.conversation(seenBy: user.user) == conversation
            }
        case (.change, .changed(let change?, _)):
            self.drop(into: &findings) {
                scene.committed.messages[$0.message]?.message.conversation == change.conversation
            }
        case (.setConversationSettings(let user, _, _, _), _), (.setPersonSettings(let user, _, _), _),
            (.setBlocked(let user, _, _, _), _):
            self.drop(into: &findings) { $0.key.user == user }
        default: break  // tidy: the other commands hold up no ring
        }
    }

    /// A leg waits. For the end of quiet hours that have begun since the message was accepted, it may.
    private mutating func postpone(_ open: OpenLeg, _ scene: Scene) {
        guard open.wait == .quietHours,
            let hours = scene.committed.settings(of: open.leg.user.user).person.quietHours, hours.manner == .defer,
            let end = hours.end(at: scene.now.wall, in: World.zone)
        else { return }
        let due = scene.now.monotonic + end - scene.now.wall + Self.bound
        for index in self.dues.indices where self.dues[index].isOf(open.leg) {
            self.dues[index].at = max(self.dues[index].at, due)
            self.dues[index].isDeferred = true
        }
        self.findEarliest()
    }

    /// A leg ends. That these ends fit, P6 says.
    private mutating func end(_ ended: EndedLeg, _ scene: Scene, into findings: inout Findings) {
        switch ended.end {
        case .quietHours: self.drop(into: &findings) { $0.isOf(ended.leg) }
        // A level that let it ring has ended by itself, and what is set for the kind or for everything silences it.
        case .muted:
            let user = ended.leg.user.user
            guard let message = scene.committed.messages[ended.leg.message]?.message,
                scene.committed.held(by: user, at: ended.at, { !$0.allows(message, for: user, wall: ended.at) })
            else { return }
            self.drop(into: &findings) { $0.isOf(ended.leg) }
        case .accepted(let id):
            // Of the messages a push counts it names only those of the last places.
            guard let told = self.told[id], told != ended.leg.message else { return }
            self.drop(into: &findings) { $0.isOf(ended.leg) }
        default: break  // tidy: the other ends are judged by what gives them cause
        }
    }

    private mutating func take(
        _ state: PushState, of key: DeviceKey, _ scene: Scene, into findings: inout Findings
    ) {
        guard scene.committed.devices[key]?.isSignedOut == false else { return }
        switch state {
        case .registered(let registration, _, _):
            // Whoever has it as it is has it alone, and what APNs said of one that is somebody else's changes nothing.
            guard self.registrations[key] != registration, scene.committed.registration(of: key) == registration
            else { return }
            var others: [DeviceKey] = []
            for (other, its) in self.registrations
            where its.token == registration.token && its == registration && other != key {
                others.append(other)
            }
            for other in others { self.forget(other, into: &findings) }
            self.registrations[key] = registration
        case .none: self.forget(key, into: &findings)
        case .quarantined(let registration, _, _):
            guard scene.committed.registration(of: key) == registration else { return }
            if self.refusesTokens { self.forget(key, into: &findings) }
        // Whether it is dead the phone knows.
        case .dead: break
        }
    }

    /// The device has no token any more.
    private mutating func forget(_ key: DeviceKey, into findings: inout Findings) {
        self.registrations.removeValue(forKey: key)
        self.drop(into: &findings) { $0.key == key }
    }

    private mutating func drop(into findings: inout Findings, where isExcused: (Due) -> Bool) {
        let count = self.dues.count
        guard count > 0 else { return }
        self.dues.removeAll(where: isExcused)
        guard self.dues.count < count else { return }
        self.findEarliest()
        for _ in self.dues.count..<count { findings.reach(.excusedRings) }
    }

    private mutating func findOverdue(_ now: Int64, into findings: inout Findings) {
        for due in self.dues where now > due.at {
            findings.add("P3", "\(due.key) did not ring for \(due.message), which was due by \(due.at)")
        }
        self.dues.removeAll { now > $0.at }
        self.findEarliest()
    }

    private mutating func findEarliest() { self.earliest = self.dues.lazy.map(\.at).min() ?? .max }
}

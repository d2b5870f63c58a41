// P3: it rings at least once. A message that may ring by the rules at its acceptance rings within two minutes on every
// phone of its people that is away and ready; docs/inside/simulation-checks.md ("What has to ring") says what moves that bound, what
// is counted apart and what is excused.
import ClientCore
import OrderedCollections
import PhoneCore
import StoreModel
import TidingsModel

/// A phone of a person who has the app in the foreground nowhere when a message is accepted.
struct AwayPhone: Hashable {
    var key: DeviceKey
    var token: PushToken?
}

struct RingDueChecker: Checker {
    // `.heard` and, while no server runs, `.measured` tell it the time.
    static let kinds = FactKinds(
        .away, .presented, .nameless, .moved, .disturbed, .signedOut, .pushed, .fetched, .wrongEnvironment,
        .serverStarted,
        .clockSet, .held, .setPushState, .signOut, .keepLeg, .endLeg, .recall, .delete, .markRead, .change, .set,
        .heard, .measured)

    /// In milliseconds: a connection that is dead without a word, the push before it, an extension that uses up its
    /// time.
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
    private var earliest = Int64.max
    private var heldUntil: Int64 = 0
    private var heldPhones: OrderedDictionary<DeviceID, Int64> = [:]
    private var registrations: OrderedDictionary<DeviceKey, PushRegistration> = [:]
    /// The message each push tells of, by its `apns-id`; it may count others.
    private var told: [String: MessageID] = [:]
    /// APNs has taken good tokens for ones of its other environment.
    private var refusesTokens = false
    /// Devices with such a token: nothing is sent to them until a push is accepted, or the server starts again (docs/inside/decisions/0013-tokens-that-never-worked.md).
    private var refused: OrderedSet<DeviceKey> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        if state.now.monotonic > self.earliest { self.findOverdue(state.now.monotonic, into: &findings) }
        switch fact {
        case .away(let message, let phones): self.expectRings(of: message, phones, state, into: &findings)
        case .presented(let record, let key) where record.isRing:
            let count = self.dues.count
            self.dues.removeAll { $0.key == key && $0.message.description == record.identifier }
            guard self.dues.count < count else { return }
            findings.reach(.dueRings)
            self.findEarliest()
        // It came into the list, and a Focus that began since the acceptance left it silent.
        case .presented(let record, let key) where record.reason == .focus && record.list:
            self.excuse(into: &findings) { $0.key == key && $0.message.description == record.identifier }
        case .moved(let isInForeground, let key):
            // A person who looks at one phone sees the message there.
            if isInForeground {
                self.excuse(into: &findings) { $0.key.user == key.user || $0.key.device == key.device }
            }
        // Without a name the kit shows nothing, and says so to the server (S0.4, S3.5).
        case .nameless(let message, let key):
            self.excuse(into: &findings) { $0.key == key && $0.message == message }
        case .disturbed(let key), .signedOut(let key): self.excuse(into: &findings) { $0.key == key }
        case .pushed(let request, let key):
            guard let info = request.alert else { return }
            if let id = request.apnsID { self.told[id] = info.message }
            guard !info.counted.isEmpty else { return }
            self.excuse(into: &findings) { $0.key == key && info.counted.contains($0.position) }
        case .fetched(let posts, _, let key):
            let messages = posts.map(\.message.message)
            self.excuse(into: &findings) { $0.key == key && messages.contains($0.message) }
        case .wrongEnvironment: self.refusesTokens = true
        case .tokenRefused(let token): self.awaitProof(of: token)
        case .serverStarted:
            self.hold(until: state.now.monotonic, on: nil)
            self.releaseRefused(at: state.now.monotonic)
        case .clockSet:
            self.hold(until: state.now.monotonic + Self.clockJump, on: nil)
            // The end of quiet hours follows that clock.
            self.excuse(into: &findings, where: \.isDeferred)
        case .held(let until, let device): self.hold(until: until, on: device)
        case .committed(let command, let result): self.applyCommand(command, result, state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func expectRings(
        of id: MessageID, _ phones: [AwayPhone], _ state: CheckerState, into findings: inout Findings
    ) {
        guard let accepted = state.committed.messages[id] else { return }
        let message = accepted.message
        guard message.flags.isSuperset(of: [.notified, .stored]), message.expiresAt == nil else { return }
        for phone in phones {
            let user = phone.key.user.user
            let settings = state.committed.settings(of: user)
            guard user != message.sender, !accepted.isHushed(for: user), let position = accepted.position(of: user),
                let device = state.committed.devices[phone.key], !device.isSignedOut, device.since < position,
                message.isFor(phone.key.device),
                settings.allows(message, for: user, wall: state.now.wall)
            else { continue }
            let hours = settings.person.quietHours
            let quietEnd = hours?.end(at: state.now.wall, in: World.zone)
            guard quietEnd == nil || hours?.manner == .defer else { continue }
            guard let token = phone.token, self.registrations[phone.key]?.token == token else {
                findings.reach(.unreadyPhones)
                continue
            }
            let wait = quietEnd.map { $0 - state.now.wall } ?? 0
            let start = max(state.now.monotonic + wait, self.heldUntil, self.heldPhones[phone.key.device] ?? 0)
            let at = self.refused.contains(phone.key) ? .max : start + Self.bound
            let due = Due(message: id, key: phone.key, position: position, at: at, isDeferred: quietEnd != nil)
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

    private mutating func awaitProof(of token: PushToken) {
        // Without the fault, APNs is right about the token.
        guard self.refusesTokens else { return }
        for (key, registration) in self.registrations where registration.token == token {
            self.refused.append(key)
            for index in self.dues.indices where self.dues[index].key == key { self.dues[index].at = .max }
        }
        self.findEarliest()
    }

    private mutating func releaseRefused(at now: Int64) {
        guard !self.refused.isEmpty else { return }
        for index in self.dues.indices where self.refused.contains(self.dues[index].key) {
            self.dues[index].at = now + Self.bound
        }
        self.refused = []
        self.findEarliest()
    }

    private mutating func applyCommand(
        _ command: StoreCommand, _ result: StoreResult, _ state: CheckerState, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.setPushState(let key, let push, _), .done), (.setPushState(let key, let push, _), .taken):
            self.applyPushState(push, of: key, state, into: &findings)
        case (.signOut(let key, _), .done): self.forgetRegistration(of: key, into: &findings)
        case (.keepLeg(let open), .done): self.postpone(open, state)
        case (.endLeg(let ended), .done): self.applyEnd(ended, state, into: &findings)
        case (.recall(let operation), .recalled): self.excuse(into: &findings) { $0.message == operation.message }
        case (.delete(let user, let deletion, _), .noted):
            self.excuse(into: &findings) { $0.key.user == user && deletion.messages.contains($0.message) }
        case (.markRead(let user, let conversation, let upTo, _), .read):
            self.excuse(into: &findings) { due in
                let message = state.committed.messages[due.message]?.message
                return due.key.user == user && due.position <= upTo
                    && message?.conversation(seenBy: user.user) == conversation
            }
        case (.change(let operation), .changed(let changes, _)):
            guard !changes.isEmpty else { return }
            self.excuse(into: &findings) {
                state.committed.messages[$0.message]?.message.conversation == operation.conversation
            }
        case (.setConversationSettings(let user, _, _, _), _), (.setPersonSettings(let user, _, _), _),
            (.setBlocked(let user, _, _, _), _):
            self.excuse(into: &findings) { $0.key.user == user }
        default: break  // tidy: the other commands hold up no ring
        }
    }

    /// A leg may wait for the end of quiet hours that have begun since the message was accepted.
    private mutating func postpone(_ open: OpenLeg, _ state: CheckerState) {
        guard open.wait == .quietHours,
            let hours = state.committed.settings(of: open.leg.user.user).person.quietHours, hours.manner == .defer,
            let end = hours.end(at: state.now.wall, in: World.zone)
        else { return }
        let due = state.now.monotonic + end - state.now.wall + Self.bound
        for index in self.dues.indices where self.dues[index].isOf(open.leg) {
            self.dues[index].at = max(self.dues[index].at, due)
            self.dues[index].isDeferred = true
        }
        self.findEarliest()
    }

    private mutating func applyEnd(_ ended: EndedLeg, _ state: CheckerState, into findings: inout Findings) {
        switch ended.end {
        case .quietHours: self.excuse(into: &findings) { $0.isOf(ended.leg) }
        // The level that let it ring has expired, and the setting for its kind or for everything silences it.
        case .muted:
            let user = ended.leg.user.user
            guard let message = state.committed.messages[ended.leg.message]?.message,
                state.committed.held(by: user, at: ended.at, { !$0.allows(message, for: user, wall: ended.at) })
            else { return }
            self.excuse(into: &findings) { $0.isOf(ended.leg) }
        case .accepted(let id):
            self.releaseRefused(at: state.now.monotonic)
            // Of the messages a push counts it names only those of the last places.
            guard let told = self.told[id], told != ended.leg.message else { return }
            self.excuse(into: &findings) { $0.isOf(ended.leg) }
        default: break  // tidy: the other ends are judged by what gives them cause
        }
    }

    private mutating func applyPushState(
        _ push: PushState, of key: DeviceKey, _ state: CheckerState, into findings: inout Findings
    ) {
        guard state.committed.devices[key]?.isSignedOut == false else { return }
        switch push {
        case .registered(let registration, _, _):
            // A registration belongs to one device; what APNs said of another one's changes nothing.
            guard self.registrations[key] != registration, state.committed.registration(of: key) == registration
            else { return }
            self.refused.remove(key)
            var others: [DeviceKey] = []
            for (other, its) in self.registrations
            where its.token == registration.token && its == registration && other != key {
                others.append(other)
            }
            for other in others { self.forgetRegistration(of: other, into: &findings) }
            self.registrations[key] = registration
        case .none: self.forgetRegistration(of: key, into: &findings)
        case .quarantined(let registration, _, _):
            guard state.committed.registration(of: key) == registration else { return }
            if self.refusesTokens { self.forgetRegistration(of: key, into: &findings) }
        // The phone knows whether it is dead.
        case .dead: break
        }
    }

    private mutating func forgetRegistration(of key: DeviceKey, into findings: inout Findings) {
        self.registrations.removeValue(forKey: key)
        self.refused.remove(key)
        self.excuse(into: &findings) { $0.key == key }
    }

    private mutating func excuse(into findings: inout Findings, where isExcused: (Due) -> Bool) {
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

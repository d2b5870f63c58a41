import OrderedCollections
package import TidingsModel

/// Stops the pushes of one lane when they all would fail, and tries one now and then (DESIGN §5 "Queue", P8).
///
/// Refused tokens alone stop it only if they are registrations of different people with which APNs had accepted pushes before: of
/// tokens that never worked anybody can make up as many as they like (docs/decisions/0013-tokens-that-never-worked.md).
package struct Breaker: Hashable, Sendable {
    /// Where the lane stands.
    package enum State: Hashable, Sendable {
        /// Pushes go out.
        case closed
        /// Pushes go out. APNs has refused the tokens of many people, and nothing shows that the lane works.
        case suspect(PushAlarm)
        /// Nothing goes out before `until` (monotonic milliseconds); `tries` pushes were tried in vain since it opened.
        case open(PushAlarm, until: Int64, tries: Int)
        /// The next push is let through as a probe.
        case halfOpen(PushAlarm, tries: Int)
        /// The probe is on its way.
        case probing(PushAlarm, PushID, tries: Int)
    }

    /// Where the lane stands now.
    package private(set) var state: State = .closed
    /// Whether APNs has taken a push since the lane began, its credential was replaced, or tokens stopped it: then environment,
    /// topic and credential belong together, and a token that never worked is itself at fault.
    package private(set) var works = false
    /// How many pushes APNs has taken while the lane was not stopped.
    package private(set) var acceptances: UInt64 = 0
    private var burst = Burst()
    /// Failures of the provider in a row.
    private var failures = 0

    /// Token refusals of one reason in a row.
    private struct Burst: Hashable {
        var reason = ""
        /// When the last one came, in monotonic milliseconds.
        var at: Int64 = 0
        /// Whose they are, as many as are needed.
        var people: OrderedSet<UserKey> = []
        /// Those of them whose registration had been accepted before.
        var known: OrderedSet<UserKey> = []
    }

    /// A closed breaker.
    package init() {}

    /// What a breaker is told.
    package enum Event: Hashable, Sendable {
        /// A push was let through.
        case started(PushID)
        /// APNs took it, or gave an answer that proves that credential and token belong together.
        case worked(PushID)
        /// This person's token was refused for a quarantine reason. `wasAccepted`: APNs had accepted a push with it before.
        case tokenRefused(PushID, reason: String, of: UserKey, wasAccepted: Bool)
        /// Credential or topic were refused, or there is no credential.
        case configRefused(PushID, reason: String)
        /// APNs failed or was not reached.
        case providerFailed(PushID, reason: String)
        /// The answer says nothing about the lane.
        case toldNothing(PushID)
        /// Time has passed.
        case timeReached
    }

    /// What a breaker wants done.
    package enum Effect: Hashable, Sendable {
        /// Tell the operator.
        case raiseAlarm(PushAlarm)
        /// The lane works again.
        case clearAlarm
        /// Pushes that wait may go now: one as a probe, or all if the breaker is closed.
        case release
        /// The lane is at fault: tokens that were put into quarantine since it worked last are taken out again (DESIGN P8).
        case takeBackQuarantines
    }

    /// What holds up the lane's pushes now.
    package var hold: PushFacts.LaneHold {
        switch self.state {
        case .closed, .suspect, .halfOpen: .none
        case .open(let alarm, _, _), .probing(let alarm, _, _):
            switch alarm {
            case .configFault: .configFault
            case .burst: .breakerOpen
            case .providerDown: .providerDown
            }
        }
    }

    /// Whether the lane is stopped but for probes, so that no token may be put into quarantine (DESIGN P8).
    package var isTripped: Bool {
        switch self.state {
        case .closed, .suspect: false
        case .open, .halfOpen, .probing: true
        }
    }

    /// When the next probe is due.
    package var until: Int64? {
        switch self.state {
        case .open(_, let until, _): until
        case .closed, .suspect, .halfOpen, .probing: nil
        }
    }

    /// Takes one event.
    package mutating func handle(
        _ event: Event, at now: Now, settings: ServerSettings, into effects: inout [Effect]
    ) {
        self.state = self.following(event, at: now.monotonic, settings: settings, into: &effects)
    }

    // tidy: long because it is one switch over (state, event).
    private mutating func following(
        _ event: Event, at now: Int64, settings: ServerSettings, into effects: inout [Effect]
    ) -> State {
        switch (self.state, event) {
        // Closed: counts what goes wrong in a row.
        case (.closed, .worked): return self.working()
        case (.suspect, .worked):
            effects.append(.clearAlarm)
            return self.working()
        case (.closed, .tokenRefused(_, let reason, let user, let wasAccepted)),
            (.suspect, .tokenRefused(_, let reason, let user, let wasAccepted)):
            return self.counted(reason, of: user, wasAccepted, at: now, settings, into: &effects)
        case (.closed, .configRefused(_, let reason)), (.suspect, .configRefused(_, let reason)):
            return Self.opened(.configFault(reason: reason), tries: 0, at: now, settings: settings, into: &effects)
        case (.closed, .providerFailed(_, let reason)), (.suspect, .providerFailed(_, let reason)):
            self.failures += 1
            guard self.failures >= settings.providerFailureBurst else { return self.state }
            return Self.opened(.providerDown(reason: reason), tries: 0, at: now, settings: settings, into: &effects)

        // Open: waits.
        case (.open(let alarm, let until, let tries), .timeReached):
            guard now >= until else { return self.state }
            effects.append(.release)
            return .halfOpen(alarm, tries: tries)

        // Half open: one goes out.
        case (.halfOpen(let alarm, let tries), .started(let push)):
            return .probing(alarm, push, tries: tries)

        // Probing: only the probe's own answer counts.
        case (.probing(let alarm, let probe, let tries), .worked(let push)):
            guard push == probe else { return .probing(alarm, probe, tries: tries) }
            effects.append(.clearAlarm)
            effects.append(.release)
            return self.working()
        case (.probing(.burst(let before), let probe, let tries), .tokenRefused(let push, let reason, _, let known)):
            guard push == probe else { return self.state }
            // A token that never worked tells nothing of the lane: the next probe comes no later for it.
            return Self.reopened(
                .burst(reason: before), as: .burst(reason: known ? reason : before), known ? tries : tries - 1, at: now,
                settings, into: &effects)
        case (.probing(_, let probe, _), .tokenRefused(let push, let reason, let user, let wasAccepted)):
            guard push == probe else { return self.state }
            // APNs answers, and takes credential and topic: what stopped the lane is over.
            effects.append(.clearAlarm)
            effects.append(.release)
            self.failures = 0
            self.state = .closed
            return self.counted(reason, of: user, wasAccepted, at: now, settings, into: &effects)
        case (.probing(let alarm, let probe, let tries), .configRefused(let push, let reason)):
            guard push == probe else { return .probing(alarm, probe, tries: tries) }
            return Self.reopened(alarm, as: .configFault(reason: reason), tries, at: now, settings, into: &effects)
        case (.probing(let alarm, let probe, let tries), .providerFailed(let push, let reason)):
            guard push == probe else { return .probing(alarm, probe, tries: tries) }
            return Self.reopened(alarm, as: .providerDown(reason: reason), tries, at: now, settings, into: &effects)
        case (.probing(let alarm, let probe, let tries), .toldNothing(let push)):
            guard push == probe else { return .probing(alarm, probe, tries: tries) }
            effects.append(.release)
            return .halfOpen(alarm, tries: tries)

        // Legal, and nothing changes: pushes that were let through before the breaker opened are answered late.
        case (.closed, .started), (.closed, .toldNothing), (.closed, .timeReached),
            (.suspect, .started), (.suspect, .toldNothing), (.suspect, .timeReached), (.open, .worked),
            (.open, .tokenRefused), (.open, .configRefused), (.open, .providerFailed),
            (.open, .toldNothing), (.open, .started), (.halfOpen, .worked), (.halfOpen, .tokenRefused),
            (.halfOpen, .configRefused), (.halfOpen, .providerFailed), (.halfOpen, .toldNothing),
            (.halfOpen, .timeReached), (.probing, .started), (.probing, .timeReached):
            return self.state
        }
    }

    /// APNs has taken a push.
    private mutating func working() -> State {
        self.burst = Burst()
        self.failures = 0
        self.works = true
        self.acceptances += 1
        return .closed
    }

    /// A token was refused while pushes go out: the lane is stopped, or the operator told, when enough people are concerned.
    private mutating func counted(
        _ reason: String, of user: UserKey, _ wasAccepted: Bool, at now: Int64, _ settings: ServerSettings,
        into effects: inout [Effect]
    ) -> State {
        self.failures = 0
        if self.burst.reason != reason || now - self.burst.at > settings.burstWindow {
            self.burst = Burst(reason: reason)
        }
        self.burst.at = now
        if self.burst.people.count < settings.quarantineBurst { self.burst.people.append(user) }
        if wasAccepted { self.burst.known.append(user) }
        let alarm = PushAlarm.burst(reason: reason)
        var news: [Effect] = []
        if self.burst.known.count >= settings.quarantineBurst {
            let state = Self.opened(alarm, tries: 0, at: now, settings: settings, into: &news)
            if self.state != .suspect(alarm) { effects.append(contentsOf: news) }
            effects.append(.takeBackQuarantines)
            self.works = false
            return state
        }
        guard !self.works, self.burst.people.count >= settings.quarantineBurst else { return self.state }
        if self.state != .suspect(alarm) { effects.append(.raiseAlarm(alarm)) }
        return .suspect(alarm)
    }

    private static func opened(
        _ alarm: PushAlarm, tries: Int, at now: Int64, settings: ServerSettings, into effects: inout [Effect]
    ) -> State {
        effects.append(.raiseAlarm(alarm))
        let wait = BackOff(first: settings.breakerBase, longest: settings.breakerMax).ceiling(afterFailures: tries + 1)
        return .open(alarm, until: now + wait, tries: tries)
    }

    /// The probe failed: another wait, longer; the operator hears of it again only if the reason is another.
    private static func reopened(
        _ before: PushAlarm, as alarm: PushAlarm, _ tries: Int, at now: Int64, _ settings: ServerSettings,
        into effects: inout [Effect]
    ) -> State {
        var news: [Effect] = []
        let state = Self.opened(alarm, tries: tries + 1, at: now, settings: settings, into: &news)
        if alarm != before { effects.append(contentsOf: news) }
        return state
    }
}

import OrderedCollections
package import TidingsModel

/// Stops the pushes of one lane when APNs refuses the tokens of many people in a row, and tries one now and then (design.md §5 "Queue",
/// P8). That APNs itself fails or refuses the credential is no matter of it: the APNs client reports that (`LaneState`).
///
/// Refused tokens alone stop a lane only if they are registrations of different people with which APNs had accepted pushes before: of
/// tokens that never worked anybody can make up as many as they like (docs/inside/decisions/0013-tokens-that-never-worked.md).
///
/// ```text
///            a refusal, and nothing shows that the lane works
///   closed ───────────────────────────────────────────────▶ suspect
///      │ ▲                     worked                          │ │
///      │ └─────────────────────────────────────────────────────┘ │
///      │ a burst of tokens that had worked                       │
///      ▼                                                         │
///    open ◀──────────────────────────────────────────────────────┘
///      │ ▲
///      │ └─────── the probe's token is refused ────────┐
///      │ time             started                      │
///      └───────▶ halfOpen ────────▶ probing ───────────┤
///                    ▲                                 ├── worked ──▶ closed
///                    └───── the answer tells nothing ──┘
/// ```
package struct TokenBurst: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case closed
        /// Pushes go out to tokens that were not refused. APNs has refused some, `isBurst` those of many people, and nothing shows that the lane
        /// works.
        case suspect(reason: String, isBurst: Bool)
        /// Nothing goes out before `until` (monotonic); `tries` pushes were tried in vain since it opened.
        case open(reason: String, until: Int64, tries: Int)
        case halfOpen(reason: String, tries: Int)
        case probing(reason: String, PushID, tries: Int)
    }

    package private(set) var state: State = .closed
    /// Since the lane began or tokens stopped it. Then environment, topic and credential belong together, and a token
    /// that never worked is itself at fault.
    package private(set) var works = false
    private var refusals = Refusals()

    /// Refusals of one reason, in a row.
    private struct Refusals: Hashable {
        var reason = ""
        /// The time of the last one; monotonic.
        var at: Int64 = 0
        /// The people, as many as are needed.
        var people: OrderedSet<UserKey> = []
        /// The people whose registration had been accepted before.
        var known: OrderedSet<UserKey> = []
    }

    package init() {}

    package enum Event: Hashable, Sendable {
        case started(PushID)
        /// Or gave an answer that proves that credential and token belong together.
        case worked(PushID)
        /// For a quarantine reason. `wasAccepted`: APNs had accepted a push with the token before.
        case tokenRefused(PushID, reason: String, of: UserKey, wasAccepted: Bool)
        case toldNothing(PushID)
        case timeReached
    }

    package enum Effect: Hashable, Sendable {
        case raiseAlarm(PushAlarm)
        case clearAlarm
        /// Pushes that wait may go now: one as a probe, or all if it is closed.
        case release
        /// The lane is at fault: tokens that were put into quarantine since it worked last are taken out again (design.md P8).
        case takeBackQuarantines
    }

    package var isHolding: Bool {
        switch self.state {
        case .closed, .suspect, .halfOpen: false
        case .open, .probing: true
        }
    }

    /// No token may be put into quarantine then (design.md P8).
    package var isTripped: Bool {
        switch self.state {
        case .closed, .suspect: false
        case .open, .halfOpen, .probing: true
        }
    }

    /// Apple's word for what it refuses; nil where nothing speaks against the lane.
    package var reason: String? {
        switch self.state {
        case .closed: nil
        case .suspect(let reason, _), .open(let reason, _, _), .halfOpen(let reason, _), .probing(let reason, _, _):
            reason
        }
    }

    package var until: Int64? {
        switch self.state {
        case .open(_, let until, _): until
        case .closed, .suspect, .halfOpen, .probing: nil
        }
    }

    package mutating func handle(
        _ event: Event, at now: Now, settings: ServerSettings, into effects: inout [Effect]
    ) {
        self.state = self.following(event, at: now.monotonic, settings: settings, into: &effects)
    }

    private mutating func following(
        _ event: Event, at now: Int64, settings: ServerSettings, into effects: inout [Effect]
    ) -> State {
        switch (self.state, event) {
        case (.closed, .worked): return self.working()
        case (.suspect, .worked):
            effects.append(.clearAlarm)
            return self.working()
        case (.closed, .tokenRefused(_, let reason, let user, let wasAccepted)),
            (.suspect, .tokenRefused(_, let reason, let user, let wasAccepted)):
            return self.counted(reason, of: user, wasAccepted, at: now, settings, into: &effects)

        case (.open(let reason, let until, let tries), .timeReached):
            guard now >= until else { return self.state }
            effects.append(.release)
            return .halfOpen(reason: reason, tries: tries)

        case (.halfOpen(let reason, let tries), .started(let push)):
            return .probing(reason: reason, push, tries: tries)

        // Only the probe's own answer counts.
        case (.probing(_, let probe, _), .worked(let push)):
            guard push == probe else { return self.state }
            effects.append(.clearAlarm)
            effects.append(.release)
            return self.working()
        case (.probing(let before, let probe, let tries), .tokenRefused(let push, let reason, _, let wasAccepted)):
            guard push == probe else { return self.state }
            // A token that never worked tells nothing of the lane: the next probe comes no later for it.
            let now = Self.opened(
                wasAccepted ? reason : before, tries: wasAccepted ? tries + 1 : tries, at: now, settings: settings)
            if wasAccepted, reason != before { effects.append(.raiseAlarm(.burst(reason: reason))) }
            return now
        case (.probing(let reason, let probe, let tries), .toldNothing(let push)):
            guard push == probe else { return self.state }
            effects.append(.release)
            return .halfOpen(reason: reason, tries: tries)

        // Legal, and nothing changes: pushes that were let through before it opened are answered late.
        case (.closed, .started), (.closed, .toldNothing), (.closed, .timeReached),
            (.suspect, .started), (.suspect, .toldNothing), (.suspect, .timeReached), (.open, .worked),
            (.open, .tokenRefused), (.open, .toldNothing), (.open, .started), (.halfOpen, .worked),
            (.halfOpen, .tokenRefused), (.halfOpen, .toldNothing), (.halfOpen, .timeReached), (.probing, .started),
            (.probing, .timeReached):
            return self.state
        }
    }

    private mutating func working() -> State {
        self.refusals = Refusals()
        self.works = true
        return .closed
    }

    private mutating func counted(
        _ reason: String, of user: UserKey, _ wasAccepted: Bool, at now: Int64, _ settings: ServerSettings,
        into effects: inout [Effect]
    ) -> State {
        if self.refusals.reason != reason || now - self.refusals.at > settings.burstWindow {
            self.refusals = Refusals(reason: reason)
        }
        self.refusals.at = now
        if self.refusals.people.count < settings.quarantineBurst { self.refusals.people.append(user) }
        if wasAccepted { self.refusals.known.append(user) }
        let isStopped = self.refusals.known.count >= settings.quarantineBurst
        guard isStopped || !self.works else { return self.state }
        let isBurst = self.refusals.people.count >= settings.quarantineBurst
        if self.state != .suspect(reason: reason, isBurst: isBurst) {
            effects.append(.raiseAlarm(isBurst ? .burst(reason: reason) : .tokenRefused(reason: reason)))
        }
        guard isStopped else { return .suspect(reason: reason, isBurst: isBurst) }
        effects.append(.takeBackQuarantines)
        self.works = false
        return Self.opened(reason, tries: 0, at: now, settings: settings)
    }

    private static func opened(_ reason: String, tries: Int, at now: Int64, settings: ServerSettings) -> State {
        let wait = BackOff(first: settings.breakerBase, longest: settings.breakerMax).ceiling(afterFailures: tries + 1)
        return .open(reason: reason, until: now + wait, tries: tries)
    }
}

package import TidingsModel

/// Stops the pushes of one lane when they all would fail, and tries one now and then (DESIGN §5 "Queue", P8).
package struct Breaker: Hashable, Sendable {
    /// Where the lane stands.
    package enum State: Hashable, Sendable {
        /// Pushes go out.
        case closed
        /// Nothing goes out before `until` (monotonic milliseconds); `tries` pushes were tried in vain since it opened.
        case open(PushAlarm, until: Int64, tries: Int)
        /// The next push is let through as a probe.
        case halfOpen(PushAlarm, tries: Int)
        /// The probe is on its way.
        case probing(PushAlarm, PushID, tries: Int)
    }

    /// Where the lane stands now.
    package private(set) var state: State = .closed
    /// The quarantine reason of the refusals in a row, how many, and when the last one came.
    private var burstReason = ""
    private var burstCount = 0
    private var burstAt: Int64 = 0
    /// Failures of the provider in a row.
    private var failures = 0

    /// A closed breaker.
    package init() {}

    /// What a breaker is told.
    package enum Event: Hashable, Sendable {
        /// A push was let through.
        case started(PushID)
        /// APNs took it, or gave an answer that proves that credential and token belong together.
        case worked(PushID)
        /// The token was refused for a quarantine reason.
        case tokenRefused(PushID, reason: String)
        /// Credential or topic were refused, or there is no credential.
        case configRefused(PushID, reason: String)
        /// APNs failed or was not reached.
        case providerFailed(PushID, reason: String)
        /// The answer says nothing about the lane.
        case toldNothing(PushID)
        /// An operator has replaced the credential.
        case credentialReplaced
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
    }

    /// What holds up the lane's pushes now.
    package var hold: PushFacts.LaneHold {
        switch self.state {
        case .closed, .halfOpen: .none
        case .open(let alarm, _, _), .probing(let alarm, _, _):
            switch alarm {
            case .configFault: .configFault
            case .burst: .breakerOpen
            case .providerDown: .providerDown
            }
        }
    }

    /// Whether the lane is in doubt, so that no token may be put into quarantine (DESIGN P8).
    package var isTripped: Bool { self.state != .closed }

    /// When the next probe is due.
    package var until: Int64? {
        switch self.state {
        case .open(_, let until, _): until
        case .closed, .halfOpen, .probing: nil
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
        case (.closed, .worked):
            self.burstCount = 0
            self.failures = 0
            return .closed
        case (.closed, .tokenRefused(_, let reason)):
            self.failures = 0
            let isSameBurst = self.burstReason == reason && now - self.burstAt <= settings.burstWindow
            self.burstCount = isSameBurst ? self.burstCount + 1 : 1
            self.burstReason = reason
            self.burstAt = now
            guard self.burstCount >= settings.quarantineBurst else { return .closed }
            return Self.opened(.burst(reason: reason), tries: 0, at: now, settings: settings, into: &effects)
        case (.closed, .configRefused(_, let reason)):
            return Self.opened(.configFault(reason: reason), tries: 0, at: now, settings: settings, into: &effects)
        case (.closed, .providerFailed(_, let reason)):
            self.failures += 1
            guard self.failures >= settings.providerFailureBurst else { return .closed }
            return Self.opened(.providerDown(reason: reason), tries: 0, at: now, settings: settings, into: &effects)

        // Open: waits.
        case (.open(let alarm, let until, let tries), .timeReached):
            guard now >= until else { return self.state }
            effects.append(.release)
            return .halfOpen(alarm, tries: tries)
        case (.open(let alarm, _, let tries), .credentialReplaced):
            effects.append(.release)
            return .halfOpen(alarm, tries: tries)

        // Half open: one goes out.
        case (.halfOpen(let alarm, let tries), .started(let push)):
            return .probing(alarm, push, tries: tries)

        // Probing: only the probe's own answer counts.
        case (.probing(let alarm, let probe, let tries), .worked(let push)):
            guard push == probe else { return .probing(alarm, probe, tries: tries) }
            self.burstCount = 0
            self.failures = 0
            effects.append(.clearAlarm)
            effects.append(.release)
            return .closed
        case (.probing(let alarm, let probe, let tries), .tokenRefused(let push, let reason)):
            guard push == probe else { return .probing(alarm, probe, tries: tries) }
            return Self.reopened(alarm, as: .burst(reason: reason), tries, at: now, settings, into: &effects)
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
        case (.closed, .started), (.closed, .toldNothing), (.closed, .credentialReplaced), (.closed, .timeReached),
            (.open, .worked), (.open, .tokenRefused), (.open, .configRefused), (.open, .providerFailed),
            (.open, .toldNothing), (.open, .started), (.halfOpen, .worked), (.halfOpen, .tokenRefused),
            (.halfOpen, .configRefused), (.halfOpen, .providerFailed), (.halfOpen, .toldNothing),
            (.halfOpen, .credentialReplaced), (.halfOpen, .timeReached), (.probing, .started),
            (.probing, .credentialReplaced), (.probing, .timeReached):
            return self.state
        }
    }

    private static func opened(
        _ alarm: PushAlarm, tries: Int, at now: Int64, settings: ServerSettings, into effects: inout [Effect]
    ) -> State {
        effects.append(.raiseAlarm(alarm))
        let wait = BackOff.ceiling(afterFailures: tries + 1, base: settings.breakerBase, max: settings.breakerMax)
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

package import TidingsModel

/// Foreground, background with a connection, background without (S0.1–S0.7; ios-delivery.md §8).
///
/// ```text
///               enteredBackground              deadline, timeExpired
///  foreground ────────────────────▶ backgroundActive ──────────────▶ hangingUp ◀────────────────────────┐
///   ▲   └── with no time left ─────────────────────────────────────────▲ │  └── woken, with time left ─┐ │
///   │                            transportClosed, timeExpired, deadline  ▼                             ▼ │ rested,
///   │                                                     backgroundSuspended ── woken, with time ──▶ awake  deadline,
///   └── willEnterForeground, from every state                                       left                     timeExpired
/// ```
package struct RunStateMachine: Hashable, Sendable {
    /// Where the app is. `awake` is a stay that began with a wake in the background and ends when its work is done.
    /// `hangingUp` is suspended already for everybody outside; only the background task is still held, until the transport has
    /// closed.
    package enum State: Hashable, Sendable {
        case foreground
        case backgroundActive(hangUpAt: Int64)
        case awake(hangUpAt: Int64)
        case hangingUp(deadline: Int64)
        case backgroundSuspended
    }

    package enum Event: Hashable, Sendable {
        case enteredBackground(remainingMilliseconds: Int64?)
        case willEnterForeground
        case woken(remainingMilliseconds: Int64?)
        case rested
        case timeExpired
        case transportClosed
        case deadline
    }

    package enum Effect: Hashable, Sendable {
        case beginTask
        case endTask
        case report(ReportedRunState)
        case park
        case unpark
        case publish(RunState)
    }

    /// Limits, in milliseconds.
    package struct Settings: Hashable, Sendable {
        /// The two minutes of S0.6.
        package var limitMilliseconds: Int64 = 120_000
        /// The SDK hangs up that long before the end of the background time (ios-delivery.md §8).
        package var marginMilliseconds: Int64 = 5_000
        /// With the closing it stays below the 30 seconds of ios-delivery.md §7.1.
        package var wakeMilliseconds: Int64 = 25_000
        package var closeMilliseconds: Int64 = 2_000

        package init() {}
    }

    package private(set) var state: State
    private let settings: Settings

    /// A push wake starts the process in the background.
    package init(settings: Settings = Settings(), isForeground: Bool) {
        self.settings = settings
        self.state = isForeground ? .foreground : .backgroundSuspended
    }

    package var runState: RunState {
        switch self.state {
        case .foreground: .foreground
        case .backgroundActive, .awake: .backgroundActive
        case .hangingUp, .backgroundSuspended: .backgroundSuspended
        }
    }

    package var nextDeadline: Int64? {
        switch self.state {
        case .foreground, .backgroundSuspended: nil
        case .backgroundActive(let hangUpAt), .awake(let hangUpAt): hangUpAt
        case .hangingUp(let deadline): deadline
        }
    }

    package func reported(at now: Now) -> ReportedRunState {
        switch self.state {
        case .foreground: .foreground
        case .backgroundActive(let hangUpAt), .awake(let hangUpAt):
            .background(remainingMilliseconds: max(0, hangUpAt - now.monotonic))
        case .hangingUp, .backgroundSuspended: .background(remainingMilliseconds: 0)
        }
    }

    package mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        self.state = self.transition(on: event, at: now, into: &effects)
    }

    private func transition(on event: Event, at now: Now, into effects: inout [Effect]) -> State {
        switch (self.state, event) {
        case (.foreground, .enteredBackground(let remaining)):
            return self.linger(remaining: remaining, at: now, into: &effects)
        // Said twice (with scenes, once per scene): the first count holds.
        case (.backgroundActive, .enteredBackground), (.awake, .enteredBackground), (.hangingUp, .enteredBackground):
            return self.state
        // The kit holds a task already, and nothing is left to do under it: an unended one kills the app (ios-delivery.md §8).
        case (.backgroundSuspended, .enteredBackground):
            effects.append(.endTask)
            return .backgroundSuspended

        case (.backgroundActive, .willEnterForeground), (.awake, .willEnterForeground):
            effects += [.endTask, .report(.foreground), .unpark, .publish(.foreground)]
            return .foreground
        case (.hangingUp, .willEnterForeground):
            effects += [.endTask, .unpark, .publish(.foreground)]
            return .foreground
        case (.backgroundSuspended, .willEnterForeground):
            effects += [.unpark, .publish(.foreground)]
            return .foreground
        case (.foreground, .willEnterForeground): return .foreground

        case (.backgroundSuspended, .woken(let remaining)):
            guard let hangUpAt = self.wakeEnd(remaining: remaining, at: now) else { return self.state }
            effects += [.beginTask, .unpark, .publish(.backgroundActive)]
            return .awake(hangUpAt: hangUpAt)
        // The task is still held.
        case (.hangingUp, .woken(let remaining)):
            guard let hangUpAt = self.wakeEnd(remaining: remaining, at: now) else { return self.state }
            effects += [.unpark, .publish(.backgroundActive)]
            return .awake(hangUpAt: hangUpAt)
        case (.awake, .rested): return self.hangUp(at: now, into: &effects)
        // The connection is there already, and stays or ends as it would have.
        case (.foreground, .woken), (.backgroundActive, .woken), (.awake, .woken), (.foreground, .rested),
            (.backgroundActive, .rested), (.hangingUp, .rested), (.backgroundSuspended, .rested):
            return self.state

        case (.backgroundActive, .timeExpired), (.awake, .timeExpired): return self.hangUp(at: now, into: &effects)
        case (.backgroundActive(let hangUpAt), .deadline), (.awake(let hangUpAt), .deadline):
            return now.monotonic >= hangUpAt ? self.hangUp(at: now, into: &effects) : self.state
        case (.hangingUp, .timeExpired), (.hangingUp, .transportClosed):
            effects.append(.endTask)
            return .backgroundSuspended
        case (.hangingUp(let deadline), .deadline):
            guard now.monotonic >= deadline else { return self.state }
            effects.append(.endTask)
            return .backgroundSuspended

        // The task has to end, whatever began it; ending none changes nothing.
        case (.foreground, .timeExpired), (.backgroundSuspended, .timeExpired):
            effects.append(.endTask)
            return self.state
        // Late, or about a transport that ended for another reason.
        case (.foreground, .transportClosed), (.backgroundActive, .transportClosed), (.awake, .transportClosed),
            (.backgroundSuspended, .transportClosed), (.foreground, .deadline), (.backgroundSuspended, .deadline):
            return self.state
        }
    }

    private func linger(remaining: Int64?, at now: Now, into effects: inout [Effect]) -> State {
        let available = remaining.map { $0 - self.settings.marginMilliseconds } ?? self.settings.limitMilliseconds
        let stay = max(0, min(self.settings.limitMilliseconds, available))
        effects.append(.beginTask)
        guard stay > 0 else { return self.hangUp(at: now, into: &effects) }
        effects += [.report(.background(remainingMilliseconds: stay)), .publish(.backgroundActive)]
        return .backgroundActive(hangUpAt: now.monotonic + stay)
    }

    /// Nil if nothing is left.
    private func wakeEnd(remaining: Int64?, at now: Now) -> Int64? {
        let available = remaining.map { $0 - self.settings.marginMilliseconds } ?? self.settings.wakeMilliseconds
        let stay = min(self.settings.wakeMilliseconds, available)
        return stay > 0 ? now.monotonic + stay : nil
    }

    private func hangUp(at now: Now, into effects: inout [Effect]) -> State {
        effects += [.report(.suspending), .park, .publish(.backgroundSuspended)]
        return .hangingUp(deadline: now.monotonic + self.settings.closeMilliseconds)
    }
}

import APNsModel
import TidingsModel

/// Stops sending after a fault of credential, topic or provider, and lets one request at a time find out whether it is over (APNs
/// reference, section 10).
///
/// ```text
///            tripped              admitted, pause over
///   closed ──────────▶ open ───────────────────────────▶ probing
///      ▲                ▲ ▲  tripped by the probe: longer   │ │ │
///      │                │ └──────────────────────────────────┘ │ │
///      │                └── silent: the next one may try ──────┘ │
///      └── healthy ────────────────────────────────────────────────┘
/// ```
struct Breaker: Sendable {
    enum State: Equatable, Sendable {
        case closed
        /// Monotonic.
        case open(until: Int64, failures: Int, cause: String)
        case probing(APNsDispatcher.RequestID, failures: Int, cause: String)
    }

    enum Event: Equatable, Sendable {
        /// By an answer to this request, or by the connection. Jitter: 0 to 999.
        case tripped(by: APNsDispatcher.RequestID?, cause: String, jitter: Int64)
        /// It is the probe if one is due.
        case admitted(APNsDispatcher.RequestID)
        /// It ended with an answer that does not show the fault.
        case healthy(APNsDispatcher.RequestID)
        /// It ended without an answer.
        case silent(APNsDispatcher.RequestID)
    }

    private(set) var state: State = .closed
    let pauses: BackOff

    init(pauses: BackOff) { self.pauses = pauses }

    func refusal(of request: APNsDispatcher.RequestID, at monotonic: Int64) -> String? {
        switch self.state {
        case .closed: nil
        case .open(let until, _, let cause): monotonic < until ? cause : nil
        case .probing(let probe, _, let cause): probe == request ? nil : cause
        }
    }

    func isProbe(_ request: APNsDispatcher.RequestID) -> Bool {
        if case .probing(let probe, _, _) = self.state { probe == request } else { false }
    }

    var until: Int64? { if case .open(let until, _, _) = self.state { until } else { nil } }

    func laneState(_ cause: LaneOutage.Cause, at monotonic: Int64) -> LaneState {
        switch self.state {
        case .closed: .usable
        case .open(let until, _, let reason):
            monotonic < until
                ? .paused(LaneOutage(cause, reason: reason)) : .probeDue(LaneOutage(cause, reason: reason))
        case .probing(_, _, let reason): .paused(LaneOutage(cause, reason: reason))
        }
    }

    mutating func handle(_ event: Event, at monotonic: Int64) {
        self.state = self.transition(on: event, at: monotonic)
    }

    private func transition(on event: Event, at monotonic: Int64) -> State {
        switch (self.state, event) {
        case (.closed, .tripped(_, let cause, let jitter)):
            return .open(
                until: monotonic + self.pauses.wait(afterFailures: 1, jitter: jitter), failures: 1, cause: cause)
        case (.probing(let probe, let failures, _), .tripped(let request, let cause, let jitter)):
            // An answer to what was on its way before the probe tells nothing new.
            guard request == nil || request == probe else { return self.state }
            let pause = self.pauses.wait(afterFailures: failures + 1, jitter: jitter)
            return .open(until: monotonic + pause, failures: failures + 1, cause: cause)
        case (.open(let until, let failures, let cause), .admitted(let request)):
            return monotonic < until ? self.state : .probing(request, failures: failures, cause: cause)
        case (.probing(let probe, _, _), .healthy(let request)):
            return probe == request ? .closed : self.state
        case (.probing(let probe, let failures, let cause), .silent(let request)):
            return probe == request ? .open(until: monotonic, failures: failures, cause: cause) : self.state
        // Answers to requests that were on their way when it opened decide nothing.
        case (.open, .tripped), (.open, .healthy), (.open, .silent): return self.state
        case (.closed, .admitted), (.closed, .healthy), (.closed, .silent): return self.state
        case (.probing, .admitted): return self.state
        }
    }
}

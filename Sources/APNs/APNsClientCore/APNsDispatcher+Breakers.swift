import APNsModel
import TidingsModel

/// What stops the sending after a configuration fault (APNs reference, section 10).
extension APNsDispatcher {
    func breakerRefusal(_ id: RequestID, topic: String, at now: Now) -> String? {
        self.breakers[.credential]?.refusal(of: id, at: now.monotonic)
            ?? self.breakers[.topic(topic)]?.refusal(of: id, at: now.monotonic)
    }

    /// The request may go; if a probe is due, it is the probe.
    mutating func admit(_ id: RequestID, topic: String, at now: Now) {
        guard !self.breakers.isEmpty else { return }
        self.breakers[.credential]?.handle(.admitted(id), at: now.monotonic)
        self.breakers[.topic(topic)]?.handle(.admitted(id), at: now.monotonic)
    }

    /// Whether a queued request meets an open breaker; if so, it has ended. It was under way when the breaker opened.
    mutating func stopped(_ place: Int, at now: Now, into effects: inout [Effect]) -> Bool {
        guard let request = self.requests[place] else { return false }
        guard let cause = self.breakerRefusal(request.id, topic: request.ask.topic, at: now) else {
            self.admit(request.id, topic: request.ask.topic, at: now)
            return false
        }
        let end = request.refusal.outcome ?? .stopped(cause)
        self.finish(place, end, at: now, into: &effects)
        return true
    }

    /// Opens a breaker, and ends what waits behind it.
    ///
    /// - Parameter id: the request whose answer showed the fault; nil if the connection or the credential itself did.
    mutating func trip(
        _ scope: Scope, by id: RequestID?, cause: String, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        let before = self.breakers[scope]?.state
        self.breakers[scope, default: ConfigurationBreaker(pauses: self.configuration.breakerPauses)]
            .handle(.tripped(by: id, cause: cause, jitter: jitter), at: now.monotonic)
        // Answers to what was on its way when the breaker opened change nothing, and nothing waits behind it any more.
        guard self.breakers[scope]?.state != before else { return }
        let words = APNsReason(name: cause).advice.map { "\(cause): \($0)" } ?? cause
        switch scope {
        case .credential: effects.append(.warn("nothing is sent with this credential: \(words)"))
        case .topic(let topic): effects.append(.warn("nothing is sent to topic \(topic): \(words)"))
        }
        for place in self.requests.inOrder() {
            guard let request = self.requests[place] else { continue }
            if case .topic(let topic) = scope, request.ask.topic != topic { continue }
            switch request.state {
            case .inFlight: continue
            case .queued, .waiting, .held:
                let end = request.refusal.outcome ?? .stopped(cause)
                self.finish(place, end, at: now, into: &effects)
            }
        }
    }
}

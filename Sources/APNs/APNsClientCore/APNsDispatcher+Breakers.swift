import APNsModel
import TidingsModel

/// Stops the sending after faults of configuration and of the provider (APNs reference, section 10), and reports it.
extension APNsDispatcher {
    func breakerRefusal(_ id: RequestID, topic: String, at now: Now) -> String? {
        self.breakers[.credential]?.refusal(of: id, at: now.monotonic)
            ?? self.breakers[.topic(topic)]?.refusal(of: id, at: now.monotonic)
    }

    /// The request may go; if a probe is due, it is the probe.
    mutating func admitAsProbe(_ id: RequestID, topic: String, at now: Now) {
        guard !self.breakers.isEmpty else { return }
        self.breakers[.credential]?.handle(.admitted(id), at: now.monotonic)
        self.breakers[.topic(topic)]?.handle(.admitted(id), at: now.monotonic)
    }

    /// Ends a queued request, and returns true, if it meets an open breaker of the configuration: it was under way when that opened.
    mutating func endIfStopped(_ place: Int, at now: Now, into effects: inout [Effect]) -> Bool {
        guard let request = self.requests[place] else { return false }
        guard let cause = self.breakerRefusal(request.id, topic: request.ask.topic, at: now) else {
            self.admitAsProbe(request.id, topic: request.ask.topic, at: now)
            return false
        }
        let end = request.refusal.outcome ?? .stopped(cause)
        self.finish(place, end, at: now, into: &effects)
        return true
    }

    /// Opens a breaker, and ends what waits behind it. What waits for the provider may still go before its deadline.
    ///
    /// - Parameter id: the request whose answer showed the fault; nil if the connection or the credential itself did.
    mutating func trip(
        _ scope: Scope, by id: RequestID?, cause: String, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        let before = self.breakers[scope]?.state
        self.breakers[scope, default: Breaker(pauses: self.configuration.breakerPauses)]
            .handle(.tripped(by: id, cause: cause, jitter: jitter), at: now.monotonic)
        // Answers to what was on its way when the breaker opened change nothing, and nothing waits behind it any more.
        guard let breaker = self.breakers[scope], breaker.state != before else { return }
        if let until = breaker.until { self.setTimer(.pause, at: until) }
        let words = APNsReason(name: cause).advice.map { "\(cause): \($0)" } ?? cause
        switch scope {
        case .credential: effects.append(.warn("nothing is sent with this credential: \(words)"))
        case .topic(let topic): effects.append(.warn("nothing is sent to topic \(topic): \(words)"))
        case .provider: return effects.append(.warn("nothing is sent for a while, APNs fails: \(words)"))
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

    // MARK: The provider

    /// Counts a request that failed on APNs's side. Many in a row, for any recipients, are an outage.
    ///
    /// - Parameter jitter: the whole pause if left out.
    mutating func countProviderFailure(
        by id: RequestID, _ reason: String, jitter: Int64 = 999, at now: Now, into effects: inout [Effect]
    ) {
        self.providerFailures += 1
        guard self.providerFailures >= self.configuration.providerFailuresMax || self.breakers[.provider] != nil
        else { return }
        self.trip(.provider, by: id, cause: reason, jitter: jitter, at: now, into: &effects)
    }

    /// APNs has answered a request, and not with a fault of its own.
    mutating func resetProviderFailures(_ id: RequestID, at now: Now) {
        self.providerFailures = 0
        guard self.breakers[.provider] != nil else { return }
        self.breakers[.provider]?.handle(.healthy(id), at: now.monotonic)
        if self.breakers[.provider]?.state == .closed { self.breakers[.provider] = nil }
    }

    // MARK: The report

    /// Reports changed states before all other effects of an event: a caller that hears of the end of a request knows then if the next one
    /// may go.
    mutating func reportLanes(at now: Now, before index: Int, into effects: inout [Effect]) {
        guard
            !self.breakers.isEmpty || !self.reported.isEmpty || self.connectFailures > 0 || self.sendPauses > 0
                || now.monotonic < self.sendNotBefore
        else { return }
        var states: [String?: LaneState] = [nil: self.laneState(at: now.monotonic)]
        // tidy: order does not leave: each topic has a place of its own.
        for topic in self.reported.keys { states[topic] = states[topic] ?? .usable }
        // tidy: order does not leave: each has a scope of its own.
        for (scope, breaker) in self.breakers {
            if case .topic(let topic) = scope { states[topic] = breaker.laneState(.credential, at: now.monotonic) }
        }
        var reports: [Effect] = []
        for (topic, state) in states.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
            guard state != self.reported[topic] ?? .usable else { continue }
            self.reported[topic] = state == .usable ? nil : state
            reports.append(.reportLane(topic: topic, state))
        }
        effects.insert(contentsOf: reports, at: index)
    }

    /// Returns the state that holds for all topics.
    private func laneState(at monotonic: Int64) -> LaneState {
        var states: [LaneState] = []
        if let breaker = self.breakers[.credential] { states.append(breaker.laneState(.credential, at: monotonic)) }
        if let breaker = self.breakers[.provider] { states.append(breaker.laneState(.provider, at: monotonic)) }
        if monotonic < self.sendNotBefore || self.sendPauses > 0 {
            let outage = LaneOutage(.provider, reason: APNsReason.tooManyProviderTokenUpdates.name)
            states.append(monotonic < self.sendNotBefore ? .paused(outage) : .probeDue(outage))
        }
        // One attempt that fails is no outage, and none is one while another connection works.
        if self.connectFailures >= self.configuration.connectFailuresMax, let fault = self.connectFault,
            !self.connections.contains(where: { $0.isPooled && $0.isProven })
        {
            let outage = LaneOutage(.connection, reason: fault)
            states.append(monotonic < self.connectNotBefore ? .paused(outage) : .probeDue(outage))
        }
        return .worst(of: states)
    }
}

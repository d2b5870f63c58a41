import APNsModel
import TidingsModel

extension APNsDispatcher {
    mutating func handleResponse(
        _ connection: ConnectionID, stream: Int64, _ response: APNsResponse, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let index = self.touchConnection(connection, at: now) else { return }
        let isFirst = !self.connections[index].isProven
        self.connections[index].isProven = true
        self.connections[index].lastUsed = now.monotonic
        self.connections[index].handle(.answered)
        // Reset by us before the answer came: it has ended already.
        guard let place = self.connections[index].streams.close(stream) else {
            return self.closeIfDrained(connection, into: &effects)
        }
        if let id = self.requests[place]?.id {
            if response.status >= 500 {
                let reason = response.refusal?.reason.name ?? "status \(response.status)"
                self.countProviderFailure(by: id, reason, jitter: jitter, at: now, into: &effects)
            } else {
                self.resetProviderFailures(id, at: now)
            }
        }
        if response.isSuccess {
            self.handleAcceptance(place, on: index, response, at: now, into: &effects)
        } else {
            self.handleRefusal(place, on: index, isFirst, response, jitter: jitter, at: now, into: &effects)
        }
        self.closeIfDrained(connection, into: &effects)
    }

    private mutating func handleAcceptance(
        _ place: Int, on index: Int, _ response: APNsResponse, at now: Now, into effects: inout [Effect]
    ) {
        self.resetConnectFailures()
        if self.connections[index].credential == self.credential {
            self.badTokens = nil
            self.sendPauses = 0
            if let topic = self.requests[place]?.ask.topic { self.strayTokens[topic] = .some(nil) }
        }
        if self.requests[place]?.isTokenProbe == true { self.endTokenHold(place) }
        self.finish(place, response.outcome(sentID: nil), at: now, into: &effects)
    }

    private mutating func handleRefusal(
        _ place: Int, on index: Int, _ isFirst: Bool, _ response: APNsResponse, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let refusal = response.refusal, let request = self.requests[place] else { return }
        let (reason, reaction) = (refusal.reason, refusal.reaction)
        let isOfOldCredential = self.connections[index].credential != self.credential
        // A server that cannot serve is as good as one that cannot be reached.
        let isOverloaded = response.status == 503
        if reaction != .connection, !isOverloaded { self.resetConnectFailures() }
        if request.isTokenProbe, reason != .tooManyRequests { self.endTokenHold(place) }
        switch reaction {
        case .config where isOfOldCredential, .auth where isOfOldCredential:
            // It says nothing of the credential in place now, which is worth a try.
            self.retry(place, response, after: 0, at: now, into: &effects)
        case .drop, .quarantine, .bug:
            if reason == .badDeviceToken, !isOfOldCredential {
                self.countBadToken(by: request.id, jitter: jitter, at: now, into: &effects)
            } else if reason == .deviceTokenNotForTopic, !isOfOldCredential {
                self.countStrayToken(by: request, jitter: jitter, at: now, into: &effects)
            }
            self.finish(place, .refused(refusal), at: now, into: &effects)
        case .config: self.refuseForGood(place, refusal, jitter: jitter, at: now, into: &effects)
        case .auth: self.renewToken(for: place, on: index, refusal, jitter: jitter, at: now, into: &effects)
        case .connection:
            self.retireOverloaded(index, isFirst, reason, jitter: jitter, at: now)
            self.retry(place, response, after: 0, at: now, into: &effects)
        case .backoff:
            // Overload is this server's: the next try is on another connection (APNs reference, sections 9 and 10).
            if isOverloaded { self.retireOverloaded(index, isFirst, reason, jitter: jitter, at: now) }
            let asked = response.retryAfter.map { min(max($0, 0), 86_400) * 1_000 }
            if reason == .tooManyRequests, let token = request.ask.token {
                self.holdToken(token, for: place, response, pause: asked, jitter: jitter, at: now, into: &effects)
            } else if reason == .tooManyProviderTokenUpdates, !isOfOldCredential {
                self.pauseSending(for: place, response, pause: asked, jitter: jitter, at: now, into: &effects)
            } else {
                let usual = self.configuration.retryPauses.wait(afterFailures: request.tries, jitter: jitter)
                self.retry(place, response, after: asked ?? usual, at: now, into: &effects)
            }
        }
    }

    private mutating func retireOverloaded(
        _ index: Int, _ isFirst: Bool, _ reason: APNsReason, jitter: Int64, at now: Now
    ) {
        self.connections[index].handle(.retired(.refused))
        // Refused at the first word: the next connection is not opened at once.
        if isFirst { self.pauseConnecting(reason.name, jitter: jitter, at: now) }
    }

    private mutating func resetConnectFailures() {
        guard self.connectFault != nil else { return }
        self.connectFailures = 0
        self.connectFault = nil
    }

    /// Many bad tokens and never a good one are of the other environment (APNs reference, section 9): the sending
    /// stops, and the refusals stay what they are. Once one was good it does not stop any more, for anybody can make
    /// up bad tokens.
    private mutating func countBadToken(
        by id: RequestID, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let count = self.badTokens.map({ $0 + 1 }) else { return }
        self.badTokens = count
        guard let max = self.configuration.badTokensMax, count >= max else { return }
        let cause = "wrong environment: \(max) device tokens in a row are bad"
        self.trip(.credential, by: id, cause: cause, jitter: jitter, at: now, into: &effects)
    }

    private mutating func countStrayToken(
        by request: QueuedRequest, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let count = self.strayTokens[request.ask.topic, default: 0].map({ $0 + 1 }) else { return }
        self.strayTokens[request.ask.topic] = count
        guard let max = self.configuration.badTokensMax, count >= max else { return }
        let cause = "wrong topic: \(max) device tokens in a row are not for it"
        self.trip(.topic(request.ask.topic), by: request.id, cause: cause, jitter: jitter, at: now, into: &effects)
    }

    private mutating func refuseForGood(
        _ place: Int, _ refusal: APNsRefusal, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let request = self.requests[place] else { return }
        let scope: Scope =
            switch refusal.reason {
            case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch, .featureNotEnabled,
                .cannotCreateChannelConfig:
                .topic(request.ask.topic)
            default: .credential
            }
        let cause = refusal.reason.name
        self.trip(scope, by: request.id, cause: cause, jitter: jitter, at: now, into: &effects)
        self.finish(place, .refused(refusal), fault: scope, at: now, into: &effects)
    }

    /// A new token and a new connection, once; the old connection stays stuck (APNs reference, sections 4 and 9).
    private mutating func renewToken(
        for place: Int, on index: Int, _ refusal: APNsRefusal, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let request = self.requests[place], case .inFlight(_, _, let generation) = request.state else { return }
        self.connections[index].handle(.retired(.refused))
        guard !self.isShuttingDown else {
            return self.finish(place, .refused(refusal), at: now, into: &effects)
        }
        guard !request.triedNewToken, self.tokenRule.canReplace(generation: generation, at: now) else {
            return self.refuseForGood(place, refusal, jitter: jitter, at: now, into: &effects)
        }
        if !self.tokenRule.handle(.rejected(generation: generation), at: now).isEmpty { effects.append(.mintToken) }
        self.requests[place]?.triedNewToken = true
        self.enqueue(place)
    }

    private mutating func retry(
        _ place: Int, _ response: APNsResponse, after pause: Int64, at now: Now, into effects: inout [Effect]
    ) {
        let due = now.monotonic + pause
        guard self.mayRetry(place, response, at: due) else {
            return self.finish(place, response.outcome(sentID: nil), at: now, into: &effects)
        }
        guard pause > 0 else { return self.enqueue(place) }
        self.requests.set(place, .waiting(until: due))
        self.setTimer(.retry(self.requests.key(of: place)), at: due)
    }

    /// If so, the refusal is kept as the end in case the deadline passes first.
    mutating func mayRetry(_ place: Int, _ response: APNsResponse, at due: Int64) -> Bool {
        guard let request = self.requests[place], request.tries <= self.configuration.retriesMax,
            due < request.ask.deadline, !self.isShuttingDown
        else { return false }
        self.requests[place]?.refusal = .last(response)
        return true
    }

    /// The provider token stays (APNs reference, section 9).
    private mutating func pauseSending(
        for place: Int, _ response: APNsResponse, pause: Int64?, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        if now.monotonic >= self.sendNotBefore {
            self.sendPauses += 1
            let usual = self.configuration.retryPauses.wait(afterFailures: self.sendPauses, jitter: jitter)
            self.sendNotBefore = now.monotonic + (pause ?? usual)
            effects.append(.warn("APNs wants fewer provider tokens: nothing is sent for a while"))
        } else if let pause {
            self.sendNotBefore = max(self.sendNotBefore, now.monotonic + pause)
        }
        self.setTimer(.pause, at: self.sendNotBefore)
        guard self.mayRetry(place, response, at: self.sendNotBefore) else {
            return self.finish(place, response.outcome(sentID: nil), at: now, into: &effects)
        }
        self.enqueue(place)
    }
}

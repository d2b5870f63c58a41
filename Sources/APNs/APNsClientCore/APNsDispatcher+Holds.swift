import APNsModel
import DequeModule
import TidingsModel

/// Device tokens that have had too many requests (APNs reference, section 12).
extension APNsDispatcher {
    mutating func holdToken(
        _ token: PushToken, for place: Int, _ response: APNsResponse, pause: Int64?, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        let isProbe = self.requests[place]?.isTokenProbe ?? false
        let failures = (self.holds[token]?.failures ?? 0) + (isProbe || self.holds[token] == nil ? 1 : 0)
        let usual = self.configuration.retryPauses.wait(afterFailures: failures, jitter: jitter)
        // Another of those that were on their way does not make the pause longer, unless APNs asks for it.
        let asked = now.monotonic + (pause ?? (isProbe || self.holds[token] == nil ? usual : 0))
        self.holdsMade += 1
        if self.holds[token] == nil {
            self.makeRoomForHold()
            self.holds[token] = TokenHold(until: asked, heldAt: self.holdsMade)
        } else {
            self.holds[token]?.handle(isProbe ? .probeRefused(until: asked) : .refusedAgain(until: asked))
            self.holds[token]?.heldAt = self.holdsMade
        }
        self.requests[place]?.isTokenProbe = false
        var due = asked
        if case .waiting(let until)? = self.holds[token]?.state {
            due = until
            self.setTimer(.token(token), at: until)
        }
        guard self.mayRetry(place, response, at: due) else {
            return self.finish(place, response.outcome(sentID: nil), at: now, into: &effects)
        }
        self.lineUp(place, token)
    }

    mutating func holdBack(_ place: Int) -> Bool {
        guard let request = self.requests[place], !request.isTokenProbe, let token = request.ask.token,
            self.holds[token] != nil
        else { return false }
        self.lineUp(place, token)
        return true
    }

    private mutating func lineUp(_ place: Int, _ token: PushToken) {
        self.requests.set(place, .held)
        while let first = self.holds[token]?.line.first, self.requests.place(of: first) == nil {
            _ = self.holds[token]?.popFirst()
        }
        self.holds[token]?.lineUp(self.requests.key(of: place))
    }

    mutating func startTokenProbe(_ token: PushToken, at now: Now) {
        guard case .waiting(let until)? = self.holds[token]?.state, until <= now.monotonic else { return }
        self.sendTokenProbe(token)
    }

    private mutating func sendTokenProbe(_ token: PushToken) {
        var next: Int?
        while next == nil, let key = self.holds[token]?.popFirst() { next = self.requests.place(of: key) }
        self.holds[token]?.handle(.probed(isAnyone: next != nil))
        guard let next else {
            self.holds[token] = nil
            return
        }
        self.requests[next]?.isTokenProbe = true
        self.enqueue(next)
    }

    mutating func passTokenProbeOn(_ token: PushToken?, at now: Now) {
        guard let token, self.holds[token]?.state == .probing else { return }
        self.sendTokenProbe(token)
    }

    mutating func endTokenHold(_ place: Int) {
        self.requests[place]?.isTokenProbe = false
        guard let token = self.requests[place]?.ask.token else { return }
        self.holds[token]?.handle(.answered)
        guard self.holds[token]?.state == .over else { return }
        self.release(token)
    }

    private mutating func release(_ token: PushToken) {
        guard let hold = self.holds.removeValue(forKey: token) else { return }
        for key in hold.line {
            guard let place = self.requests.place(of: key) else { continue }
            self.enqueue(place)
        }
    }

    /// The token held longest ago goes first, and is held again if APNs says so again.
    private mutating func makeRoomForHold() {
        while self.holds.count >= max(self.configuration.heldTokensMax, 1) {
            // tidy: order does not leave: no two were held at the same count.
            guard let oldest = self.holds.min(by: { $0.value.heldAt < $1.value.heldAt })?.key else { return }
            self.release(oldest)
        }
    }
}

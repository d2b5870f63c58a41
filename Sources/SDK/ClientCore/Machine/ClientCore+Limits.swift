import OrderedCollections
import TidingsModel

// A server holds back a client that asks too much at once (docs/server/protocol.md "Limits"). It says when to try again.
extension ClientCore {
    /// A frame without an answer of its own was not carried out. Sync, reading positions and the push registration
    /// are said again later; the rest is of no interest by then.
    mutating func heldBack(by problem: ServerFrame.Problem, at now: Now) {
        guard self.isOnline, let wait = problem.waitMilliseconds(default: Outbox.unavailableMilliseconds) else {
            return
        }
        self.sayAgainAt = max(self.sayAgainAt ?? 0, now.monotonic + wait)
    }

    mutating func sayAgain(at now: Now, into effects: inout [ClientEffect]) {
        guard let at = self.sayAgainAt, now.monotonic >= at else { return }
        self.sayAgainAt = nil
        for case .ask(let after) in self.sync.repeatQuestion() {
            self.write(.sync(after: after, limit: LogSync.pageSize), into: &effects)
        }
        for (conversation, position) in self.reads {
            self.write(.markRead(conversation, upTo: position), into: &effects)
        }
        if self.registration != nil || self.isUnregistered { self.tellRegistration(into: &effects) }
        self.tellVoIPRegistration(at: now, into: &effects)
    }
}

extension ServerFrame.Problem {
    /// In milliseconds, at most a minute; 0 if the server does not say.
    var retryAfter: Int64 { min(Int64(self.retryAfterMilliseconds ?? 0), 60_000) }

    /// Nil if the same is not to be tried again.
    func waitMilliseconds(default fallback: Int64) -> Int64? {
        switch self.code {
        case .unavailable, .rateLimited, .storageFull:
            self.retryAfterMilliseconds == nil ? fallback : max(1, self.retryAfter)
        case .invalidToken, .expiredToken, .wrongApp, .unsupportedVersion, .malformedFrame, .frameTooLarge,
            .unexpectedFrame, .invalidField, .superseded, .timedOut, .slowReader, .unknownConversation, .unknownMessage,
            .notAMember, .notAllowed, .notAFollower, .blocked, .tooLate, .exists, .unknownObjectName, .kicked,
            .tokenRevoked,
            .disabled, .banned, .muted:
            nil
        }
    }
}

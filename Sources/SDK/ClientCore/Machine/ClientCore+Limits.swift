import OrderedCollections
import TidingsModel

// A server holds back whoever asks too much at once (docs/protocol.md "Limits"). It says when to try again.
extension ClientCore {
    /// A frame without an answer of its own was not carried out. What was not is said again later: a sync that is waited for, how far
    /// conversations were read, and the push registration; the rest is of no interest by then.
    mutating func heldBack(by problem: ServerFrame.Problem, at now: Now) {
        guard self.isOnline, let wait = problem.waitMilliseconds(default: Outbox.unavailableMilliseconds) else {
            return
        }
        self.sayAgainAt = max(self.sayAgainAt ?? 0, now.monotonic + wait)
    }

    /// Says it again if it is time.
    mutating func sayAgain(at now: Now, into effects: inout [ClientEffect]) {
        guard let at = self.sayAgainAt, now.monotonic >= at else { return }
        self.sayAgainAt = nil
        for case .ask(let after) in self.sync.askAgain() {
            self.write(.sync(after: after, limit: LogSync.pageSize), into: &effects)
        }
        for (conversation, position) in self.reads {
            self.write(.markRead(conversation, upTo: position), into: &effects)
        }
        if self.registration != nil || self.isUnregistered {
            self.write(.registerPush(self.registration), into: &effects)
        }
    }
}

extension ServerFrame.Problem {
    /// How long the server asks to wait, in milliseconds, at most a minute; 0 if it does not say.
    var retryAfter: Int64 { min(Int64(self.retryAfterMilliseconds ?? 0), 60_000) }

    /// How long to wait before the same is tried again, in milliseconds; nil if it is not to be tried again.
    func waitMilliseconds(default fallback: Int64) -> Int64? {
        switch self.code {
        case .unavailable, .rateLimited, .storageFull:
            self.retryAfterMilliseconds == nil ? fallback : max(1, self.retryAfter)
        case .invalidToken, .expiredToken, .wrongApp, .unsupportedVersion, .malformedFrame, .frameTooLarge,
            .unexpectedFrame, .invalidField, .superseded, .timedOut, .slowReader, .unknownConversation, .unknownMessage,
            .notAMember, .notAllowed, .blocked, .tooLate, .exists, .unknownObjectName, .kicked, .tokenRevoked,
            .disabled,
            .banned:
            nil
        }
    }
}

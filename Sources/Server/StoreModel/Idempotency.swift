package import TidingsModel

/// A backend's key for a request of the HTTP API, so that its repeat is known (draft-ietf-httpapi-idempotency-key-header). The keys of one
/// app, and of one API key in it, mean nothing to others.
package struct IdempotencyKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var app: AppID
    /// The name of the API key: a new secret under the same name changes nothing.
    package var apiKey: String
    package var text: String

    package init(app: AppID, apiKey: String, text: String) {
        self.app = app
        self.apiKey = apiKey
        self.text = text
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.app, left.apiKey, left.text) < (right.app, right.apiKey, right.text)
    }

    package var description: String { "\(self.app)/\(self.apiKey)/\(self.text)" }
}

/// A request under its key.
package struct IdempotentRequest: Hashable, Sendable {
    package var key: IdempotencyKey
    /// Differs between requests that ask for different things.
    package var fingerprint: [UInt8]
    /// How many answers the app may have kept.
    package var keptMax: Int
    package var at: Int64

    package init(key: IdempotencyKey, fingerprint: [UInt8], keptMax: Int, at: Int64) {
        self.key = key
        self.fingerprint = fingerprint
        self.keptMax = keptMax
        self.at = at
    }
}

/// The part of an answer that is needed to give it again.
package enum IdempotentAnswer: Hashable, Sendable {
    case done
    /// Done, and these people were invited instead of being made members.
    case invited([UserID])
    case accepted(MessageID, sentAt: Int64, isRepeat: Bool)
}

package struct KeptAnswer: Hashable, Sendable {
    package var key: IdempotencyKey
    package var fingerprint: [UInt8]
    package var answer: IdempotentAnswer
    /// When it was asked for.
    package var at: Int64

    package init(_ request: IdempotentRequest, _ answer: IdempotentAnswer) {
        self.init(key: request.key, fingerprint: request.fingerprint, answer: answer, at: request.at)
    }

    package init(key: IdempotencyKey, fingerprint: [UInt8], answer: IdempotentAnswer, at: Int64) {
        self.key = key
        self.fingerprint = fingerprint
        self.answer = answer
        self.at = at
    }

    package func isExpired(at now: Int64) -> Bool { self.at <= now - StoreRules.answerLifetime }
}

extension StoreRules {
    /// 24 hours: long enough for a backend that was down for a night.
    package static let answerLifetime: Int64 = 86_400_000
    /// How many answers that have expired one command forgets, so that none takes long.
    package static let forgottenAtOnce = 100

    /// Returns the answer to keep for the result of a command; nil for a refusal, which has changed nothing and is judged anew.
    package static func answer(to command: StoreCommand, _ result: StoreResult, at wall: Int64) -> IdempotentAnswer? {
        switch result {
        case .changed(_, let invited): invited.isEmpty ? .done : .invited(invited)
        case .done, .noted, .recalled, .read, .control, .labels, .installations: .done
        case .pushJob(let job):
            job == nil ? nil : command.acceptance.map { .accepted($0.id, sentAt: $0.sentAt, isRepeat: false) } ?? .done
        case .accepted: command.acceptance.map { .accepted($0.id, sentAt: $0.sentAt, isRepeat: false) }
        case .duplicate(let id, let sentAt): .accepted(id, sentAt: sentAt, isRepeat: true)
        // Read for a user token, which nobody who is banned gets.
        case .userAccount(let account): account.isBanned(at: wall) ? nil : .done
        // Read for a call: what it says is said to phones, and nothing of it is the answer.
        case .profiles: .done
        case .refused, .taken, .conversation, .history, .settings, .receipts, .unread, .objectNames, .accounts,
            .followers, .following, .people, .conversations, .conversationList, .controlState, .audit, .bans, .invited,
            .mediaUse, .mediaUses, .isSameLog, .storageUse, .unreadable, .device, .user, .page, .trace, .legs, .kept,
            .failed, .pushJobs, .pushStep, .audience, .pushRecipient:
            nil
        }
    }

    /// - Parameter oldest: when the answer was asked for that is forgotten first.
    package static func tooManyKept(_ request: IdempotentRequest, oldest: Int64) -> ServerFrame.Problem {
        .init(
            code: .rateLimited, field: "Idempotency-Key",
            rule: "must wait: the app has used \(request.keptMax) keys in the last 24 hours",
            // A damaged row may have any time.
            retryAfterMilliseconds: UInt32(clamping: max(1, oldest &+ Self.answerLifetime &- request.at)))
    }
}

extension StoreCommand {
    fileprivate var acceptance: (id: MessageID, sentAt: Int64)? {
        switch self {
        case .accept(let message, _, _, _, _, _): (message.id, message.sentAt)
        case .acceptCustom(let operation): (operation.message.id, operation.message.sentAt)
        case .createPush(let job): (job.id, job.createdAt)
        case .once(_, let command): command.acceptance
        default: nil  // tidy: no other command accepts a message
        }
    }
}

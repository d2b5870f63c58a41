public import TidingsModel

/// Why a call of the client failed.
public enum ChatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nobody is signed in on this client: call `connect` first.
    case notSignedIn
    /// A field breaks its rule; nothing was sent or changed.
    case invalid(InvalidField)
    /// The server refused for a reason that has no case of its own here; the problem names the field and the rule.
    case refused(ServerFrame.Problem)
    /// The app's token provider failed.
    case noToken(reason: String)
    /// The server did not welcome this device in time. The client goes on trying; `reason` is the last thing it met.
    case timedOut(reason: String)
    /// The message could not be kept on this device.
    case notSent(reason: String)
    /// The local store cannot be used.
    case store(reason: String)
    /// The call was overtaken by `disconnect`, `signOut` or another person's `connect`.
    case cancelled

    /// There is no connection to the server just now; nothing was changed.
    case notConnected
    /// The connection was lost before the server answered: it may have been done or not. Asking again does no harm.
    case unknownOutcome
    /// Too many calls wait for their answers; nothing was changed.
    case tooManyRequests
    /// The server cannot do it just now; nothing was changed. `reason` is the rule it named.
    case unavailable(reason: String)
    /// There is no such conversation, or it was dissolved.
    case unknownConversation(reason: String)
    /// There is no such message, or it is not one of the person's, or it was recalled.
    case unknownMessage(reason: String)
    /// The person, or another person who was named, is no member of the conversation.
    case notAMember(reason: String)
    /// The person may not do that: it is another person's message or role.
    case notAllowed(reason: String)
    /// The person may not write in the conversation: they are muted there, or only owner and admins write (`ConversationInfo`).
    case muted(reason: String)
    /// The other person has blocked this one; or one of those who were to be made members has.
    case blocked
    /// The time in which a message can be recalled or changed is over.
    case tooLate(reason: String)
    /// There is a conversation of that id already, or there was one.
    case exists(reason: String)
    /// The app's backend has not registered the message type.
    case unknownObjectName(reason: String)
    /// The server refused an upload or a download: its code, such as `media_quota_exceeded` (docs/server/errors.md), empty where it named none, and
    /// the HTTP status.
    case media(code: String, status: Int)

    init(_ problem: ServerFrame.Problem) {
        switch problem.code {
        case .invalidField: self = .invalid(InvalidField(field: problem.field, rule: problem.rule))
        case .unavailable, .rateLimited, .storageFull: self = .unavailable(reason: problem.rule)
        case .unknownConversation: self = .unknownConversation(reason: problem.rule)
        case .unknownMessage: self = .unknownMessage(reason: problem.rule)
        case .notAMember: self = .notAMember(reason: problem.rule)
        case .notAllowed, .notAFollower, .banned: self = .notAllowed(reason: problem.rule)
        case .muted: self = .muted(reason: problem.rule)
        case .blocked: self = .blocked
        case .tooLate: self = .tooLate(reason: problem.rule)
        case .exists: self = .exists(reason: problem.rule)
        case .unknownObjectName: self = .unknownObjectName(reason: problem.rule)
        case .invalidToken, .expiredToken, .wrongApp, .unsupportedVersion, .malformedFrame, .frameTooLarge,
            .unexpectedFrame, .superseded, .timedOut, .slowReader, .kicked, .tokenRevoked, .disabled:
            self = .refused(problem)
        }
    }

    static func check(_ rules: () throws(InvalidField) -> Void) throws(ChatError) {
        do throws(InvalidField) { try rules() } catch { throw .invalid(error) }
    }

    static var unexpectedAnswer: ChatError {
        .refused(
            ServerFrame.Problem(code: .unexpectedFrame, field: "answer", rule: "is not of the kind that was asked"))
    }

    /// One sentence with what to do.
    public var description: String {
        switch self {
        case .notSignedIn: "nobody is signed in: call connect first"
        case .invalid(let field): field.description
        case .refused(let problem): "the server refused: \(problem)"
        case .noToken(let reason): "the token provider failed: \(reason)"
        case .timedOut(let reason): "the server did not answer in time: \(reason)"
        case .notSent(let reason): "the message was not sent: \(reason)"
        case .store(let reason): "the local store cannot be used: \(reason)"
        case .cancelled: "the call was cancelled"
        case .notConnected: "there is no connection to the server: try again when there is"
        case .unknownOutcome: "the connection was lost before the answer: look, or try again"
        case .tooManyRequests: "too many calls wait for their answers: wait for some of them"
        case .unavailable(let reason): "the server cannot do it just now, try again: \(reason)"
        case .unknownConversation(let reason): "there is no such conversation: \(reason)"
        case .unknownMessage(let reason): "there is no such message: \(reason)"
        case .notAMember(let reason): "no member of the conversation: \(reason)"
        case .notAllowed(let reason): "not allowed: \(reason)"
        case .muted(let reason): "the person may not write in the conversation: \(reason)"
        case .blocked: "the other person accepts neither messages from this one, nor to be made a member by them"
        case .tooLate(let reason): "it is too late: \(reason)"
        case .exists(let reason): "it exists already: \(reason)"
        case .media(let code, let status): "the server refused the file: \(code.isEmpty ? "status \(status)" : code)"
        case .unknownObjectName(let reason): "the message type is not registered with the server: \(reason)"
        }
    }
}

import TidingsClient

/// Why something that a person did on a screen did not work, as far as it tells them what to do.
public enum ChatFailure: String, Hashable, Sendable, CaseIterable, Codable {
    /// Nothing more is known.
    case failed
    /// There was no connection.
    case noConnection
    /// The other person accepts no messages of this one.
    case blocked
    /// The person may not write there.
    case muted
    /// The person is no member.
    case notAMember
    /// The person may not do that.
    case notAllowed
    /// The time for it is over.
    case tooLate
    /// Its subject is not there any more.
    case gone
    /// The text is longer than the server takes.
    case tooLong
    /// The server does not take the file.
    case fileRefused

    /// From what a call of the client has thrown.
    public init(_ error: any Error) {
        switch error as? ChatError {
        case .notConnected, .unknownOutcome, .timedOut, .unavailable, .tooManyRequests: self = .noConnection
        case .blocked: self = .blocked
        case .muted: self = .muted
        case .notAMember: self = .notAMember
        case .notAllowed: self = .notAllowed
        case .tooLate: self = .tooLate
        case .unknownMessage, .unknownConversation: self = .gone
        case .invalid(let field): self = field.field == "content" ? .tooLong : .failed
        case .media: self = .fileRefused
        case .notSignedIn, .refused, .noToken, .notSent, .store, .cancelled, .exists, .unknownObjectName, nil:
            self = .failed
        }
    }
}

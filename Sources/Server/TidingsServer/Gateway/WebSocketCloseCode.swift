import TidingsModel

/// RFC 6455 §7.4.1.
enum WebSocketCloseCode: UInt16, Hashable, Sendable {
    case normal = 1000
    case goingAway = 1001
    case protocolError = 1002
    case unsupportedData = 1003
    case invalidPayload = 1007
    case policyViolation = 1008
    case messageTooBig = 1009
    case tryAgainLater = 1013

    init(_ code: ServerFrame.Problem.Code) {
        switch code {
        case .malformedFrame: self = .invalidPayload
        case .frameTooLarge: self = .messageTooBig
        case .unavailable, .rateLimited, .storageFull: self = .tryAgainLater
        case .invalidToken, .expiredToken, .wrongApp, .unsupportedVersion, .unexpectedFrame, .invalidField, .superseded,
            .timedOut, .slowReader, .unknownConversation, .unknownMessage, .notAMember, .notAllowed, .notAFollower,
            .blocked, .tooLate,
            .exists, .unknownObjectName, .kicked, .tokenRevoked, .disabled, .banned, .muted:
            self = .policyViolation
        }
    }
}

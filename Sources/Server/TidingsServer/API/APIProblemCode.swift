import HTTPTypes
import TidingsModel

extension APIProblem {
    /// For a program, and in the problem's type. Every code has one status and one title (RFC 9457 §3.1); `docs/errors.md` has them all.
    enum Code: Hashable, Sendable {
        /// What the core tells, here as to a client of the gateway.
        case told(Told)
        case own(Own)
    }

    /// Those of `ServerFrame.Problem.Code` that can be the answer to a request of the HTTP API.
    enum Told: CaseIterable {
        case unavailable, rateLimited, storageFull, unknownConversation, unknownMessage, notAMember, notAllowed, blocked
        case disabled, banned, exists, tooLate, invalidField, unknownObjectName, timedOut
    }

    /// Those that only the HTTP API has.
    enum Own: String, CaseIterable {
        case malformedJSON = "malformed_json"
        case malformedBody = "malformed_body"
        case badRequest = "bad_request"
        /// Nobody reads it: it is for the audit log.
        case connectionLost = "connection_lost"
        case unauthorized
        case missingScope = "missing_scope"
        case unknownRoute = "unknown_route"
        case methodNotAllowed = "method_not_allowed"
        case bodyTooLarge = "body_too_large"
        case keyInUse = "idempotency_key_in_use"
        case keyReused = "idempotency_key_reused"
        case `internal`
        case starting
        case stopping
        case storageUnwritable = "storage_unwritable"
    }
}

extension APIProblem.Told {
    /// Nil for what only a connection of the gateway is told.
    init?(_ code: ServerFrame.Problem.Code) {
        guard let told = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = told
    }

    var code: ServerFrame.Problem.Code {
        switch self {
        case .unavailable: .unavailable
        case .rateLimited: .rateLimited
        case .storageFull: .storageFull
        case .unknownConversation: .unknownConversation
        case .unknownMessage: .unknownMessage
        case .notAMember: .notAMember
        case .notAllowed: .notAllowed
        case .blocked: .blocked
        case .disabled: .disabled
        case .banned: .banned
        case .exists: .exists
        case .tooLate: .tooLate
        case .invalidField: .invalidField
        case .unknownObjectName: .unknownObjectName
        case .timedOut: .timedOut
        }
    }
}

extension APIProblem.Code {
    static let all: [Self] = APIProblem.Told.allCases.map { .told($0) } + APIProblem.Own.allCases.map { .own($0) }

    var rawValue: String {
        switch self {
        case .told(let told): told.code.rawValue
        case .own(let own): own.rawValue
        }
    }

    var status: HTTPResponse.Status {
        switch self {
        case .told(let told): told.status
        case .own(let own): own.status
        }
    }

    var title: String {
        switch self {
        case .told(let told): told.title
        case .own(let own): own.title
        }
    }
}

extension APIProblem.Told {
    var status: HTTPResponse.Status {
        switch self {
        case .unavailable: .serviceUnavailable
        case .rateLimited: .tooManyRequests
        case .storageFull: .init(code: 507, reasonPhrase: "Insufficient Storage")
        case .unknownConversation, .unknownMessage: .notFound
        case .notAMember, .notAllowed, .blocked, .disabled, .banned: .forbidden
        case .exists, .tooLate: .conflict
        case .invalidField, .unknownObjectName: .badRequest
        case .timedOut: .requestTimeout
        }
    }

    var title: String {
        switch self {
        case .unavailable: "The server cannot take it now"
        case .rateLimited: "Too much in too short a time"
        case .storageFull: "The server's disk is nearly full"
        case .unknownConversation: "There is no such conversation"
        case .unknownMessage: "There is no such message"
        case .notAMember: "Who asks is not in the conversation"
        case .notAllowed: "Who asks may not do that"
        case .blocked: "The recipient refuses messages of the sender"
        case .disabled: "The person is banned"
        case .banned: "The person is banned from the chat room"
        case .exists: "There is one of that name already"
        case .tooLate: "The time for it is over"
        case .invalidField: "A field breaks its rule"
        case .unknownObjectName: "The object name is not registered"
        case .timedOut: "The body did not come in time"
        }
    }
}

extension APIProblem.Own {
    var status: HTTPResponse.Status {
        switch self {
        case .malformedJSON, .malformedBody, .badRequest, .connectionLost: .badRequest
        case .unauthorized: .unauthorized
        case .missingScope: .forbidden
        case .unknownRoute: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .bodyTooLarge: .contentTooLarge
        case .keyInUse: .conflict
        case .keyReused: .unprocessableContent
        case .internal: .internalServerError
        case .starting, .stopping, .storageUnwritable: .serviceUnavailable
        }
    }

    var title: String {
        switch self {
        case .malformedJSON: "The body is not a JSON object"
        case .malformedBody: "The body cannot be read"
        case .badRequest: "The request cannot be read"
        case .connectionLost: "The client hung up"
        case .unauthorized: "The credential is missing or not good"
        case .missingScope: "The API key may not do that"
        case .unknownRoute: "The path is not part of the API"
        case .methodNotAllowed: "The path has other methods"
        case .bodyTooLarge: "The body is too large"
        case .keyInUse: "The first request with the idempotency key is not answered yet"
        case .keyReused: "The idempotency key was used for another request"
        case .internal: "The server failed"
        case .starting: "The server is starting"
        case .stopping: "The server is stopping"
        case .storageUnwritable: "The disk does not take what is written"
        }
    }
}

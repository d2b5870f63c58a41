import HTTPTypes
import TidingsModel

extension APIProblem {
    /// For a program, and in the problem's type. Every code has one status and one title (RFC 9457 §3.1); `docs/server/errors.md` has them all.
    enum Code: Hashable, Sendable {
        /// A problem that the core tells, here as to a client of the gateway.
        case told(Told)
        case own(Own)
    }

    /// The codes of `ServerFrame.Problem.Code` that can be the answer to a request of the HTTP API.
    enum Told: CaseIterable {
        case unavailable, rateLimited, storageFull, unknownConversation, unknownMessage, notAMember, notAllowed, blocked
        case notAFollower, disabled, banned, muted, exists, tooLate, invalidField, unknownObjectName, timedOut
    }

    /// The codes that only the HTTP API has, written in snake case. Nobody reads `connectionLost`: it is for the audit log.
    enum Own: String, CaseIterable {
        case malformedJSON, malformedBody, badRequest, connectionLost, unauthorized, signInRefused, wrongPassword, csrf
        case tlsRequired, localOnly, unknownHost, consoleOff, unknownFile, confirmationNeeded, missingScope, missingRole
        case wrongKey, appSuspended, unknownTransferCoding, unknownContentCoding, unknownExpectation, unknownRoute
        case methodNotAllowed, bodyTooLarge, unknownCall, unknownLiveActivity, unknownChannel, apnsRefused
        case apnsUnanswered, unknownAccount, unknownPush, unknownApp, unknownAPIKey, unknownClientKey
        case unknownTokenSecret, unknownPushCredential, unknownWebhook, unknownDelivery, unknownOperator
        case revisionChanged, secretAlreadyShown, stillNeeded, wrongCredentialState, idempotencyKeyInUse
        case idempotencyKeyReused, `internal`, starting, stopping, storageUnwritable, mediaOff, unknownMedia
        case mediaNotApproved, mediaRejected, mediaTooLarge, mediaTypeRefused, mediaQuotaExceeded, tooManyUploads
        case mediaBusy, wrongOffset, wrongContentType, checksumMismatch, tusVersion, rangeNotSatisfiable, searchOff
        case phonesOff, unknownPhone, phonesUnreachable
    }
}

extension APIProblem.Told {
    /// Nil for what only a connection of the gateway is told.
    init?(_ code: ServerFrame.Problem.Code) {
        guard let told = Self.allCases.first(where: { $0.row.code == code }) else { return nil }
        self = told
    }

    fileprivate var row: (code: ServerFrame.Problem.Code, status: HTTPResponse.Status, title: String) {
        switch self {
        case .unavailable: (.unavailable, .serviceUnavailable, "The server cannot take it now")
        case .rateLimited: (.rateLimited, .tooManyRequests, "Too much in too short a time")
        case .storageFull: (.storageFull, .insufficientStorage, "The server's disk is nearly full")
        case .unknownConversation: (.unknownConversation, .notFound, "There is no such conversation")
        case .unknownMessage: (.unknownMessage, .notFound, "There is no such message")
        case .notAMember: (.notAMember, .forbidden, "Who asks is not in the conversation")
        case .notAllowed: (.notAllowed, .forbidden, "Who asks may not do that")
        case .notAFollower: (.notAFollower, .forbidden, "The recipient does not follow the account")
        case .blocked: (.blocked, .forbidden, "The recipient refuses messages of the sender")
        case .disabled: (.disabled, .forbidden, "The person is banned")
        case .banned: (.banned, .forbidden, "The person is banned from the chat room")
        case .muted: (.muted, .forbidden, "The sender may not write in the conversation")
        case .exists: (.exists, .conflict, "There is one of that name already")
        case .tooLate: (.tooLate, .conflict, "The time for it is over")
        case .invalidField: (.invalidField, .badRequest, "A field breaks its rule")
        case .unknownObjectName: (.unknownObjectName, .badRequest, "The object name is not registered")
        case .timedOut: (.timedOut, .requestTimeout, "The body did not come in time")
        }
    }
}

extension APIProblem.Own {
    var name: String { JSONName.snakeCase(self.rawValue) }

    fileprivate var row: (status: HTTPResponse.Status, title: String) {
        switch self {
        case .malformedJSON: (.badRequest, "The body is not a JSON object")
        case .malformedBody: (.badRequest, "The body cannot be read")
        case .badRequest: (.badRequest, "The request cannot be read")
        case .connectionLost: (.badRequest, "The client hung up")
        case .unauthorized: (.unauthorized, "The credential is missing or not good")
        case .signInRefused: (.unauthorized, "Operator, password or link is not good")
        case .wrongPassword: (.forbidden, "The password is not that of the operator")
        case .csrf: (.forbidden, "The request may be another site's")
        case .tlsRequired: (.forbidden, "The password could be read on the way")
        case .localOnly: (.forbidden, "It is for the server's own machine")
        case .unknownHost: (.misdirectedRequest, "The console does not answer under that name")
        case .consoleOff: (.notFound, "The server has no console")
        case .unknownFile: (.notFound, "The console has no such file")
        case .confirmationNeeded: (.forbidden, "It has to be confirmed")
        case .missingScope: (.forbidden, "The API key may not do that")
        case .missingRole: (.forbidden, "The operator may not do that")
        case .wrongKey: (.forbidden, "The key is of another kind")
        case .appSuspended: (.forbidden, "The app is suspended")
        case .unknownTransferCoding: (.notImplemented, "The body is sent in a coding that is not known")
        case .unknownContentCoding: (.unsupportedMediaType, "The body is in a coding that is not read")
        case .unknownExpectation: (.expectationFailed, "The request expects what no server here does")
        case .unknownRoute: (.notFound, "The path is not part of the API")
        case .methodNotAllowed: (.methodNotAllowed, "The path has other methods")
        case .unknownCall: (.notFound, "There is no such call")
        case .unknownLiveActivity: (.notFound, "There is no such push to a Live Activity")
        case .unknownChannel: (.notFound, "There is no such channel")
        case .apnsRefused: (.badGateway, "APNs refused it")
        case .apnsUnanswered: (.gatewayTimeout, "The answer of APNs was lost")
        case .unknownAccount: (.notFound, "There is no such account")
        case .unknownPush: (.notFound, "There is no such push")
        case .unknownApp: (.notFound, "There is no such app")
        case .unknownAPIKey: (.notFound, "The app has no such API key")
        case .unknownClientKey: (.notFound, "The app has no such client key")
        case .unknownTokenSecret: (.notFound, "The app has no such token secret")
        case .unknownPushCredential: (.notFound, "The app has no such push credential")
        case .unknownWebhook: (.notFound, "The app has no such webhook")
        case .unknownDelivery: (.notFound, "The webhook has no such dead letter")
        case .unknownOperator: (.notFound, "There is no such operator")
        case .revisionChanged: (.preconditionFailed, "The app has changed meanwhile")
        case .secretAlreadyShown: (.conflict, "What was drawn was shown with the first answer")
        case .stillNeeded: (.conflict, "The server cannot do without it")
        case .wrongCredentialState: (.conflict, "The push credential is not in a state for it")
        case .bodyTooLarge: (.contentTooLarge, "The body is too large")
        case .idempotencyKeyInUse: (.conflict, "The first request with the idempotency key is not answered yet")
        case .idempotencyKeyReused: (.unprocessableContent, "The idempotency key was used for another request")
        case .internal: (.internalServerError, "The server failed")
        case .starting: (.serviceUnavailable, "The server is starting")
        case .stopping: (.serviceUnavailable, "The server is stopping")
        case .mediaOff: (.notFound, "The server keeps no media")
        case .unknownMedia: (.notFound, "There is no such media")
        case .mediaNotApproved: (.conflict, "The media is not approved yet")
        case .mediaRejected: (.gone, "The media was rejected")
        case .mediaTooLarge: (.contentTooLarge, "The media is too large")
        case .mediaTypeRefused: (.unsupportedMediaType, "The media is of a type the server does not take")
        case .mediaQuotaExceeded: (.conflict, "The media does not fit in the quota")
        case .tooManyUploads: (.conflict, "Too many uploads are under way")
        case .mediaBusy: (.locked, "Another request writes the media")
        case .wrongOffset: (.conflict, "The upload stands elsewhere")
        case .wrongContentType: (.unsupportedMediaType, "The body is of another type")
        case .checksumMismatch: (.checksumMismatch, "The body is not what its checksum says")
        case .tusVersion: (.preconditionFailed, "Another version of the upload protocol")
        case .rangeNotSatisfiable: (.rangeNotSatisfiable, "None of the bytes asked for is there")
        case .searchOff: (.notFound, "The server keeps no index for message search")
        case .phonesOff: (.notFound, "The server shows no virtual phones")
        case .unknownPhone: (.notFound, "There is no such phone")
        case .phonesUnreachable: (.badGateway, "The host of the virtual phones does not answer")
        case .storageUnwritable: (.serviceUnavailable, "The disk does not take what is written")
        }
    }
}

extension APIProblem.Code {
    static let all: [Self] = APIProblem.Told.allCases.map { .told($0) } + APIProblem.Own.allCases.map { .own($0) }

    private var row: (name: String, status: HTTPResponse.Status, title: String) {
        switch self {
        case .told(let told): (told.row.code.rawValue, told.row.status, told.row.title)
        case .own(let own): (own.name, own.row.status, own.row.title)
        }
    }

    var rawValue: String { self.row.name }
    var status: HTTPResponse.Status { self.row.status }
    var title: String { self.row.title }
}

extension HTTPResponse.Status {
    // HTTPTypes has no names for these.
    fileprivate static var locked: Self { .init(code: 423, reasonPhrase: "Locked") }
    /// The status of tus 1.0, extension "checksum".
    fileprivate static var checksumMismatch: Self { .init(code: 460, reasonPhrase: "Checksum Mismatch") }
    fileprivate static var insufficientStorage: Self { .init(code: 507, reasonPhrase: "Insufficient Storage") }
}

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
        case notAFollower, disabled, banned, muted, exists, tooLate, invalidField, unknownObjectName, timedOut
    }

    /// Those that only the HTTP API has.
    enum Own: String, CaseIterable {
        case malformedJSON = "malformed_json"
        case malformedBody = "malformed_body"
        case badRequest = "bad_request"
        /// Nobody reads it: it is for the audit log.
        case connectionLost = "connection_lost"
        case unauthorized
        case signInRefused = "sign_in_refused"
        case wrongPassword = "wrong_password"
        case csrf
        case tlsRequired = "tls_required"
        case localOnly = "local_only"
        case unknownHost = "unknown_host"
        case consoleOff = "console_off"
        case unknownFile = "unknown_file"
        case confirmationNeeded = "confirmation_needed"
        case missingScope = "missing_scope"
        case missingRole = "missing_role"
        case appSuspended = "app_suspended"
        case unknownTransferCoding = "unknown_transfer_coding"
        case unknownContentCoding = "unknown_content_coding"
        case unknownExpectation = "unknown_expectation"
        case unknownRoute = "unknown_route"
        case methodNotAllowed = "method_not_allowed"
        case bodyTooLarge = "body_too_large"
        case unknownCall = "unknown_call"
        case unknownLiveActivity = "unknown_live_activity"
        case unknownChannel = "unknown_channel"
        case apnsRefused = "apns_refused"
        case apnsUnanswered = "apns_unanswered"
        case unknownAccount = "unknown_account"
        case unknownPush = "unknown_push"
        case unknownApp = "unknown_app"
        case unknownAPIKey = "unknown_api_key"
        case unknownClientKey = "unknown_client_key"
        case unknownTokenSecret = "unknown_token_secret"
        case unknownPushCredential = "unknown_push_credential"
        case unknownWebhook = "unknown_webhook"
        case unknownDelivery = "unknown_delivery"
        case unknownOperator = "unknown_operator"
        case revisionChanged = "revision_changed"
        case secretAlreadyShown = "secret_already_shown"
        case stillNeeded = "still_needed"
        case wrongCredentialState = "wrong_credential_state"
        case keyInUse = "idempotency_key_in_use"
        case keyReused = "idempotency_key_reused"
        case `internal`
        case starting
        case stopping
        case storageUnwritable = "storage_unwritable"
        case mediaOff = "media_off"
        case unknownMedia = "unknown_media"
        case mediaNotApproved = "media_not_approved"
        case mediaRejected = "media_rejected"
        case mediaTooLarge = "media_too_large"
        case mediaTypeRefused = "media_type_refused"
        case mediaQuotaExceeded = "media_quota_exceeded"
        case tooManyUploads = "too_many_uploads"
        case mediaBusy = "media_busy"
        case wrongOffset = "wrong_offset"
        case wrongContentType = "wrong_content_type"
        case checksumMismatch = "checksum_mismatch"
        case tusVersion = "tus_version"
        case rangeNotSatisfiable = "range_not_satisfiable"
        case searchOff = "search_off"
        case phonesOff = "phones_off"
        case unknownPhone = "unknown_phone"
        case phonesUnreachable = "phones_unreachable"
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
        case .keyInUse: (.conflict, "The first request with the idempotency key is not answered yet")
        case .keyReused: (.unprocessableContent, "The idempotency key was used for another request")
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
        case .own(let own): (own.rawValue, own.row.status, own.row.title)
        }
    }

    var rawValue: String { self.row.name }
    var status: HTTPResponse.Status { self.row.status }
    var title: String { self.row.title }
}

extension HTTPResponse.Status {
    // HTTPTypes has no names for these.
    fileprivate static var locked: Self { .init(code: 423, reasonPhrase: "Locked") }
    /// Of tus 1.0, extension "checksum".
    fileprivate static var checksumMismatch: Self { .init(code: 460, reasonPhrase: "Checksum Mismatch") }
    fileprivate static var insufficientStorage: Self { .init(code: 507, reasonPhrase: "Insufficient Storage") }
}

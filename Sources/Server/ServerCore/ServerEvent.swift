package import APNsModel
package import StoreModel
package import TidingsModel

/// One connection of one client. The gateway counts them: a new connection gets a new number, also after a reconnect.
package struct SessionID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    /// Wraps a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: SessionID, right: SessionID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "session \(self.rawValue)" }
}

/// One request of the HTTP API. The API shell counts them.
package struct APIRequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    /// Wraps a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: APIRequestID, right: APIRequestID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "api request \(self.rawValue)" }
}

/// One command handed to the store. The core counts them, 1 first, in the order in which they are to be carried out.
package struct StoreRequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    /// Wraps a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: StoreRequestID, right: StoreRequestID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "store request \(self.rawValue)" }
}

/// One push handed to the APNs client. The core counts them; a resend is a new one (with the same `apns-id` where that matters).
package struct PushID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    /// Wraps a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: PushID, right: PushID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "push \(self.rawValue)" }
}

/// Which pushes share one outcome at APNs: same credential, same side of Apple's, same topic.
package struct PushLane: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Whose credential is used.
    package var app: AppID
    /// Apple's side.
    package var environment: PushEnvironment
    /// The bundle identifier.
    package var topic: String

    /// A lane from its parts.
    package init(app: AppID, environment: PushEnvironment, topic: String) {
        self.app = app
        self.environment = environment
        self.topic = topic
    }

    /// Orders by app, environment, topic.
    package static func < (left: PushLane, right: PushLane) -> Bool {
        if left.app != right.app { return left.app < right.app }
        if left.environment != right.environment { return left.environment.rawValue < right.environment.rawValue }
        return left.topic < right.topic
    }

    /// `app/environment/topic`.
    package var description: String { "\(self.app)/\(self.environment.rawValue)/\(self.topic)" }
}

/// Something that happened outside the core.
package enum ServerEvent: Hashable, Sendable {
    /// The store is open. The first event; what comes earlier is answered `unavailable`.
    case opened(StoreOpening)
    /// A connection was accepted, from this address: of IPv6 the network, for one person has all addresses of it. Empty if it is not
    /// known who is behind the connection, as behind a proxy that does not say. May be answered by `ServerEffect.turnAway`.
    case accepted(SessionID, from: String)
    /// A client said hello on a new connection, and its token was checked; the address as in `accepted`.
    case connected(SessionID, ClientFrame.Hello, TokenVerdict, from: String = "")
    /// A frame after the hello, and its size in bytes.
    case frame(SessionID, ClientFrame, bytes: Int = 0)
    /// Answer to `ServerEffect.checkToken`.
    case tokenChecked(SessionID, RequestNumber, TokenVerdict)
    /// The connection answered a probe (a WebSocket pong). Every frame counts as that, too.
    case heard(SessionID)
    /// The connection is gone, whoever closed it. Unknown sessions are ignored, so it may follow `ServerEffect.close`.
    case disconnected(SessionID)
    /// More bytes wait for this reader than it may leave waiting.
    case backlogExceeded(SessionID)
    /// The store's answer to one command. Answers come in the order of the commands.
    case stored(StoreRequestID, StoreResult)
    /// The APNs client's answer to one push.
    case pushEnded(PushID, APNsOutcome)
    /// There is no credential for this push: it was not sent.
    case credentialMissing(PushID)
    /// How many bytes are free on the store's disk.
    case storageMeasured(free: Int64)
    /// What the time-zone database says of a zone that was asked for; nil if it has none of that name.
    case timeZoneRead(String, TimeZoneFacts?)
    /// `ServerCore.nextDeadline` is reached. Harmless when it comes early or late.
    case timeReached
    /// The process shall stop: clients are asked to reconnect, no lease is ended, nothing new is pushed.
    case drainRequested
    /// A request of the HTTP API, authenticated and parsed.
    case api(APIRequestID, APICommand)
}

/// What the HTTP API asks of the core.
package enum APICommand: Hashable, Sendable {
    /// Send a message as a person. Answers `.accepted` or `.refused`.
    case send(UserKey, MessageDraft)
    /// Create or replace a conversation. Answers `.done` or `.refused`.
    case putConversation(ConversationRecord)
    /// What a client may ask, on behalf of `actor`; nil for the app's backend, which may do everything. Answers `.answer`.
    case request(AppID, actor: UserID?, ClientRequest)
    /// Send a custom message (S4.10) to 1 to 1,000 people; its id and time are the server's. Answers `.accepted` or `.refused`.
    case sendCustom(AppID, CustomMessage, recipients: [UserID], clientMessageID: ClientMessageID)
    /// How much a person has not read, in all and in one conversation. Answers `.unread`.
    case unread(UserKey, ConversationID?)
    /// Register the app's own object names in place of those before. Answers `.done` or `.refused`.
    case setObjectNames(AppID, [ObjectName])
    /// The object names an app has registered. Answers `.objectNames`.
    case objectNames(AppID)
    /// Declare a person an account of a kind that needs one, or no longer; named as its customers see it. Answers `.done` or `.refused`.
    case setAccount(AppID, ConversationID, isDeclared: Bool)
    /// The accounts of an app. Answers `.accounts`.
    case accounts(AppID)
    /// Who may not come into a chat room, on behalf of `actor`; nil for the app's backend. Answers `.bans` or `.refused`.
    case bans(AppID, ConversationID, actor: UserID?)
    /// The life of one message, recall or custom message, live legs included. Answers `.trace`.
    case trace(AppID, MessageID)
    /// Sign a device out: its session ends, its token is forgotten. Answers `.done` or `.refused`.
    case signOut(DeviceKey)
    /// Sign out all devices a person has. Answers `.done`, also if there is none, or `.refused`.
    case signOutAll(UserKey)
    /// The devices on which a person is signed in. Answers `.devices` or `.refused`.
    case devices(UserKey)
    /// Ban a person, let them in again, or revoke their tokens. Answers `.done` or `.refused`.
    case changeAccount(UserKey, AccountChange)
    /// Whether a person is banned, and which of their tokens are good. Answers `.userAccount`.
    case userAccount(UserKey)
    /// What a device's service extension asks, with a token issued at this wall time at a connect with a user token of another
    /// (nil if that did not say). Answered `.refused` with `invalid_token` if the device is signed out, the token was replaced,
    /// or the user token revoked (DESIGN §7 "Extension").
    case fromExtension(DeviceKey, tokenIssuedAt: Int64, userTokenIssuedAt: Int64? = nil, ExtensionRequest)
}

/// What a notification service extension asks.
package enum ExtensionRequest: Hashable, Sendable {
    /// Entries of the person's log (DESIGN §5 "Keep-one"). Answers `.missed`; a message that is not to ring for the person has no
    /// `notified` there.
    case missed(after: LogPosition, limit: Int)
    /// What became of a pushed message on the phone. Answers `.done` or `.refused`.
    case receipt(MessageID, LegReceipt)
}

package import APNsModel
package import StoreModel
package import TidingsModel

/// A reconnect gets a new number from the gateway.
package struct SessionID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: SessionID, right: SessionID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "session \(self.rawValue)" }
}

package struct APIRequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: APIRequestID, right: APIRequestID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "api request \(self.rawValue)" }
}

/// Counted by the core from 1, in the order in which commands are to be carried out.
package struct StoreRequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: StoreRequestID, right: StoreRequestID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "store request \(self.rawValue)" }
}

/// A resend has a new number (and the same `apns-id` where that matters).
package struct PushID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: PushID, right: PushID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "push \(self.rawValue)" }
}

/// Pushes with the same credential, side of Apple's and topic succeed or fail together.
package struct PushLane: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var app: AppID
    package var environment: PushEnvironment
    /// The bundle identifier.
    package var topic: String

    package init(app: AppID, environment: PushEnvironment, topic: String) {
        self.app = app
        self.environment = environment
        self.topic = topic
    }

    package static func < (left: PushLane, right: PushLane) -> Bool {
        (left.app, left.environment.rawValue, left.topic) < (right.app, right.environment.rawValue, right.topic)
    }

    package var description: String { "\(self.app)/\(self.environment.rawValue)/\(self.topic)" }
}

package enum ServerEvent: Hashable, Sendable {
    /// The first event; what comes earlier is answered `unavailable`.
    case opened(StoreOpening)
    /// A connection, with the client's address: of an IPv6 address the network, because one person has all of its addresses. Empty if the
    /// client is not known, for example behind a proxy. May be answered by `ServerEffect.turnAway`.
    case accepted(SessionID, from: String)
    /// The hello's token was checked; the address as in `accepted`.
    case connected(SessionID, ClientFrame.Hello, TokenVerdict, from: String = "")
    /// `bytes` is the size on the wire.
    case frame(SessionID, ClientFrame, bytes: Int = 0)
    /// Answer to `ServerEffect.checkToken`.
    case tokenChecked(SessionID, RequestNumber, TokenVerdict)
    /// A WebSocket pong; every frame counts as one too.
    case heard(SessionID)
    /// Unknown sessions are ignored, so it may follow `ServerEffect.close`.
    case disconnected(SessionID)
    /// More bytes wait for this reader than it may leave waiting.
    case backlogExceeded(SessionID)
    case stored(StoreRequestID, StoreResult)
    /// A read that the core did not ask for has shown that the store has failed, or has set a person aside.
    case storeFault(StoreResult)
    case pushEnded(PushID, APNsOutcome)
    case credentialMissing(PushID)
    /// The APNs client of an app's credential says whether it sends: for one topic, or (nil) for all. What is not reported is usable.
    case laneReported(AppID, PushEnvironment, topic: String?, LaneState)
    /// Answer to `ServerEffect.manageChannels`.
    case channelsAnswered(APIRequestID, ChannelOutcome)
    case storageMeasured(free: Int64)
    /// nil if the time-zone database has no such zone.
    case timeZoneRead(String, TimeZoneFacts?)
    /// Harmless when it comes early or late.
    case timeReached
    /// Clients are asked to reconnect, no lease is ended, nothing new is pushed.
    case drainRequested
    case api(APIRequestID, APICommand)
}

/// Whatever is written, decided or shown with the core's live state. Other reads are asked of the store itself.
package enum APICommand: Hashable, Sendable {
    /// `past` and `author` as in `StoreCommand.accept`.
    case send(UserKey, MessageDraft, past: PastRefusals = [], author: UserID? = nil)
    /// Creates or replaces; answers `.done` or `.refused`.
    case putConversation(ConversationRecord)
    /// `actor` is nil for the app's backend, which may do everything. Answers `.answer`.
    case request(AppID, actor: UserID?, ClientRequest)
    /// S4.10, to 1 to 1,000 people; id and time are the server's. Answers `.accepted` or `.refused`.
    case sendCustom(AppID, CustomMessage, recipients: [UserID], clientMessageID: ClientMessageID)
    /// Marks read as if a device of theirs had: up to a message, or to the end of the log. Answers `.done` or `.refused`.
    case markRead(UserKey, ConversationID, upTo: MessageID?)
    /// Replaces the app's own object names. Answers `.done` or `.refused`.
    case setObjectNames(AppID, [ObjectName])
    /// Named as its customers see it. Answers `.done` or `.refused`.
    case setAccount(AppID, ConversationID, isDeclared: Bool)
    /// Declares it with everything, or replaces it. Answers `.done` or `.refused`.
    indirect case putAccount(AppID, ServiceAccount)
    /// Reads the pushes that wait for APNs and the reasons, and what open legs wait for. Answers `.pushLanes`.
    case pushLanes(AppID)
    /// Previews a push; nothing is sent. Answers `.pushPreview` or `.refused`.
    case previewPush(AppID, PreviewedPush)
    /// A push to an audience. Answers `.pushJob` or `.refused`.
    indirect case createPush(AppID, PushDraft)
    /// Answers `.pushJob`, with nil if the app has no such job, or `.refused`.
    case changePush(AppID, PushJobID, PushJobChange)
    /// Answers `.audience` or `.refused`.
    indirect case countAudience(AppID, PushAudience)
    /// Answers `.done` or `.refused`.
    indirect case setLabels(UserKey, LabelChange)
    /// Sets the profiles of 1 to 1,000 people and accounts, all or none. Answers `.done` or `.refused`.
    case setProfiles(AppID, [UserProfile])
    /// Answers `.ringing` or `.refused`.
    case ring(AppID, Call)
    /// Answers `.call`.
    case call(AppID, CallID)
    /// Answers `.passed` or `.refused`.
    indirect case pushActivity(AppID, LiveActivityPush)
    /// Answers `.activityPush`.
    case activityPush(AppID, String)
    /// Answers `.channels` or `.refused`.
    case channels(AppID, APNsChannelRequest)
    /// Answers `.testPush`, when APNs has answered or some seconds are over, or `.refused`.
    case testPush(DeviceKey, TestPush)
    /// Answers `.silentPush` or `.refused`.
    case silentPush(UserKey, SilentPush)
    /// Traces a message, recall or custom message, live legs included. Answers `.trace`.
    case trace(AppID, MessageID)
    /// A step of a search for legs; with a person, live ones included. Answers `.legs`.
    indirect case legs(LegQuestion)
    /// A step of a search for the open legs of an app, of anybody who is in memory. Answers `.openLegs`.
    indirect case openLegs(OpenLegQuestion)
    /// Registers push tokens that the backend brings. Answers `.installations`, in the same order, or `.refused`.
    case registerInstallations(AppID, [Result<ImportedInstallation, InvalidField>])
    /// Ends its session and forgets its token. Answers `.done` or `.refused`.
    case signOut(DeviceKey)
    /// Answers `.done`, also if there is no device, or `.refused`.
    case signOutAll(UserKey)
    case devices(UserKey)
    case changeAccount(UserKey, AccountChange)
    /// Answers `.mayIssueToken`, or `.refused` with `disabled` for a banned person.
    case issueToken(UserKey)
    /// A token for an anonymous person, asked for from an address (as in `accepted`): a new one, or one whose right to renew their token was
    /// issued at that wall time. Answers `.mayIssueToken`, or `.refused` with `rate_limited`, `disabled` or `token_revoked`.
    case installation(UserKey, renewalIssuedAt: Int64?, from: String)
    /// Carries a command out at most once. A repeat with the same fingerprint gets the first answer; with another `.keyReused`; while the
    /// first is not answered `.keyInUse`.
    indirect case once(IdempotencyKey, fingerprint: [UInt8], APICommand)
    /// Apps, their keys and operators. Answers `.control` or `.refused`; a repeat under an idempotency key `.done`, since what was drawn
    /// for the first is kept nowhere.
    indirect case changeControl(ControlChange)
    /// Reads the rest of limits. Answers `.quotas`.
    case quotas(QuotaQuestion)
    /// Something about media, by a person with a user token issued at that wall time. Answers `.done` or `.mediaUse`, or `.refused` with
    /// `disabled` or `token_revoked`.
    case media(UserKey, tokenIssuedAt: Int64?, MediaQuestion)
    /// The wall times at which the extension's token and the user token of that connect were issued. Answered
    /// `.refused` with `invalid_token` if the device is signed out, the token was replaced, or the user token revoked
    /// (design.md §7 "Extension").
    case fromExtension(DeviceKey, tokenIssuedAt: Int64, userTokenIssuedAt: Int64? = nil, ExtensionRequest)
}

package enum ExtensionRequest: Hashable, Sendable {
    /// Entries of the person's log (design.md §5 "Keep-one"). Answers `.missed`; a message that must not ring has no
    /// `notified` there.
    case missed(after: LogPosition, limit: Int)
    case receipt(MessageID, LegReceipt)
    /// Answers `.mediaUse`; none if the person hides content.
    case media(MediaID, in: MessageID)
}

package enum MediaQuestion: Hashable, Sendable {
    /// Asks if they may ask for anything at all.
    case account
    /// Asks if a message that is there for them names it.
    case read(MediaID, in: MessageID)
}

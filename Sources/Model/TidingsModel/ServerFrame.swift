/// A frame from the server to a client. `TidingsWire` turns it into bytes; docs/server/protocol.md describes it for other languages.
public enum ServerFrame: Hashable, Sendable {
    case welcome(Welcome)
    /// The message is on disk (design.md P1).
    case sendAccepted(SendAccepted)
    /// Nothing was stored.
    case sendRefused(ClientMessageID, Problem)
    /// A new entry, written as it happens.
    case entry(LogEntry)
    /// Answer to `ClientFrame.sync`, oldest first.
    case page(Page)
    case pong(UInt64)
    /// If `isFatal`, the server closes the connection next.
    case problem(Problem, isFatal: Bool)
    /// The server is about to stop: hang up and connect again.
    case reconnect(afterMilliseconds: UInt32)
    case answer(RequestNumber, ClientAnswer)
    case signal(Signal)
    /// Wall milliseconds since 1970: renew the token (`ClientRequest.renewToken`), or the server closes the
    /// connection.
    case tokenExpiring(at: Int64)

    /// The facts that the client needs at the start.
    public struct Welcome: Hashable, Sendable {
        /// The version both speak from now on.
        public var version: UInt32
        /// Wall milliseconds since 1970 at the server.
        public var serverTime: Int64
        /// The head of the person's log.
        public var head: LogPosition
        /// Unread messages without muted conversations.
        public var unread: UInt32
        /// How often the client sends a ping, in milliseconds; after twice this long without a frame the connection is dead.
        public var heartbeatMilliseconds: UInt32
        /// The largest frame the server accepts, in bytes.
        public var frameBytesMax: UInt32
        /// Names this person on this device in push payloads without saying who it is (design.md §7 "Extension").
        public var recipientTag: String
        /// Lets the notification service extension fetch what was missed and write receipts (design.md §7 "Extension").
        public var extensionToken: String
        /// Which store the log comes from: 16 hexadecimal digits; empty from a server that does not say.
        public var storeID: String
        /// Which life of that store: another one after it was restored from a copy; 0 from a server that does not say.
        public var generation: UInt64
        /// The largest frame the server sends, in bytes; 0 from a server that does not say.
        public var serverFrameBytesMax: UInt32
        /// Drawn each time the server opens its store, to be told in the next hello; 0 from a server that does not say.
        public var opening: UInt64
        /// True if the device's entries are not the beginning of this log: an older copy of the store was put back.
        public var isOtherLog: Bool

        /// A welcome from its parts.
        public init(
            version: UInt32, serverTime: Int64, head: LogPosition, unread: UInt32, heartbeatMilliseconds: UInt32,
            frameBytesMax: UInt32, recipientTag: String, extensionToken: String, storeID: String = "",
            generation: UInt64 = 0, serverFrameBytesMax: UInt32 = 0, opening: UInt64 = 0, isOtherLog: Bool = false
        ) {
            self.version = version
            self.serverTime = serverTime
            self.head = head
            self.unread = unread
            self.heartbeatMilliseconds = heartbeatMilliseconds
            self.frameBytesMax = frameBytesMax
            self.recipientTag = recipientTag
            self.extensionToken = extensionToken
            self.storeID = storeID
            self.generation = generation
            self.serverFrameBytesMax = serverFrameBytesMax
            self.opening = opening
            self.isOtherLog = isOtherLog
        }
    }

    /// The server's answer to a send.
    public struct SendAccepted: Hashable, Sendable {
        /// The sender's id of the message.
        public var clientMessageID: ClientMessageID
        /// The message's id.
        public var messageID: MessageID
        /// Wall milliseconds since 1970 at which it was accepted.
        public var sentAt: Int64
        /// The message's position in the sender's own log; 0 for a repeat of an earlier send.
        public var position: LogPosition

        /// An answer from its parts.
        public init(clientMessageID: ClientMessageID, messageID: MessageID, sentAt: Int64, position: LogPosition) {
            self.clientMessageID = clientMessageID
            self.messageID = messageID
            self.sentAt = sentAt
            self.position = position
        }
    }

    /// Entries of the log.
    public struct Page: Hashable, Sendable {
        /// The position the client asked after.
        public var after: LogPosition
        /// Oldest first, without gaps; fewer than asked for when the head is reached or the frame is full.
        public var entries: [LogEntry]
        /// The head of the log.
        public var head: LogPosition
        /// Unread messages without muted conversations.
        public var unread: UInt32
        /// Which of its messages a push tells this device of; nil from a server that does not say.
        public var pushes: Pushes?

        /// A page from its parts.
        public init(after: LogPosition, entries: [LogEntry], head: LogPosition, unread: UInt32, pushes: Pushes? = nil) {
            self.after = after
            self.entries = entries
            self.head = head
            self.unread = unread
            self.pushes = pushes
        }
    }

    /// The state of pushes of a page's messages for the device that asked. For a message in neither list APNs has
    /// accepted the push, or there is nothing to ring for: it is settled or read, or came before the device signed
    /// in.
    public struct Pushes: Hashable, Sendable {
        /// Positions of messages that were not given to APNs, ascending: the device itself has to ring for them.
        public var unsent: [LogPosition]
        /// Positions of messages that are with APNs, whose answer is open, ascending: if it fails, the server pushes again.
        public var underWay: [LogPosition]

        /// Makes the state of a page's pushes from its parts.
        public init(unsent: [LogPosition] = [], underWay: [LogPosition] = []) {
            self.unsent = unsent
            self.underWay = underWay
        }
    }

    /// A problem, described for a program and for a person.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// For a program.
        public var code: Code
        /// The field at fault, or empty.
        public var field: String
        /// The rule it breaks, or what to do, in words.
        public var rule: String
        /// When it is worth trying again, in milliseconds from now; nil if the code alone says what to do.
        public var retryAfterMilliseconds: UInt32?

        /// The code of a problem, as on the wire and in docs/server/errors.md.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case invalidToken = "invalid_token"
            case expiredToken = "expired_token"
            case wrongApp = "wrong_app"
            /// None in common.
            case unsupportedVersion = "unsupported_version"
            /// The bytes are not a frame.
            case malformedFrame = "malformed_frame"
            case frameTooLarge = "frame_too_large"
            /// Something other than hello came first, or hello came twice.
            case unexpectedFrame = "unexpected_frame"
            case invalidField = "invalid_field"
            /// The same device connected again; this is the older connection.
            case superseded
            /// Nothing was heard for too long.
            case timedOut = "timed_out"
            /// The client reads more slowly than the server writes.
            case slowReader = "slow_reader"
            /// Try again.
            case unavailable
            /// Not in this app, or dissolved.
            case unknownConversation = "unknown_conversation"
            /// Not in this app, or not one of the person's.
            case unknownMessage = "unknown_message"
            case notAMember = "not_a_member"
            case notAllowed = "not_allowed"
            /// The account's messages are for its followers, and the recipient is none.
            case notAFollower = "not_a_follower"
            /// The sender is blocked by the recipient, or by a person who was to be made a member.
            case blocked
            case tooLate = "too_late"
            case exists
            /// Not registered in this app.
            case unknownObjectName = "unknown_object_name"
            /// A newer device has taken this one's place; the app allows only so many.
            case kicked
            /// Try again after `retryAfterMilliseconds`.
            case rateLimited = "rate_limited"
            /// The server's disk is nearly full; try again later.
            case storageFull = "storage_full"
            /// By the app's backend; ask for a new one.
            case tokenRevoked = "token_revoked"
            /// The app's backend has disabled the person.
            case disabled
            /// From the chat room.
            case banned
            /// In the conversation: by its owner or admins, or only these may write there.
            case muted
        }

        /// A problem from its parts.
        public init(code: Code, field: String = "", rule: String, retryAfterMilliseconds: UInt32? = nil) {
            self.code = code
            self.field = field
            self.rule = rule
            self.retryAfterMilliseconds = retryAfterMilliseconds
        }

        /// Bad input.
        public init(_ invalid: InvalidField) {
            self.init(code: .invalidField, field: invalid.field, rule: invalid.rule)
        }

        /// `code: field rule`.
        public var description: String {
            "\(self.code.rawValue): \(self.field.isEmpty ? "" : self.field + " ")\(self.rule)"
        }
    }
}

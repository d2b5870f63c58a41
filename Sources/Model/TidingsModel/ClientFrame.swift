/// A frame from a client to the server. `TidingsWire` turns it into bytes; docs/server/protocol.md describes it for other languages.
public enum ClientFrame: Hashable, Sendable {
    case hello(Hello)
    /// Answered by `ServerFrame.sendAccepted` or `.sendRefused` with the same client message id.
    case send(MessageDraft)
    case ack(Ack)
    case runState(ReportedRunState)
    /// Sent after each welcome and whenever it changes (S2.7); nil takes it back. Answered by `ServerFrame.answer`
    /// with the number, which is one of those of requests; without a number only a refusal is told, as a problem.
    case registerPush(PushRegistration?, number: RequestNumber? = nil)
    /// Answered by `ServerFrame.page`.
    case sync(after: LogPosition, limit: UInt32)
    /// Up to and including a position of the person's own log.
    case markRead(ConversationID, upTo: LogPosition)
    /// Heartbeat; answered by `ServerFrame.pong` with the same number.
    case ping(UInt64)
    /// No more legs and pushes for this device.
    case signOut
    /// Told when the app is in the foreground.
    case deviceStatus(DeviceStatus)
    /// The person opened a notification: the receipt `opened` (design.md §5).
    case opened(MessageID)
    /// Answered by `ServerFrame.answer` with the same number.
    case request(RequestNumber, ClientRequest)
    /// Told to people in the foreground, never stored.
    case typing(ConversationID, isTyping: Bool)

    /// Who connects.
    public struct Hello: Hashable, Sendable {
        /// The protocol versions the client speaks, lowest and highest. This build speaks `ProtocolVersion.current`.
        public var versions: ClosedRange<UInt32>
        /// The signed user token.
        public var token: String
        /// The device's id, chosen at first launch and kept.
        public var device: DeviceID
        /// For example `ios`, `linux`, `python`. At most 32 bytes.
        public var platform: String
        /// Where the app is. `.suspending` is not allowed here.
        public var runState: ReportedRunState
        /// The position up to which the device has the log, 0 for none.
        public var after: LogPosition
        /// `Welcome.opening` of the last welcome to that log, 0 for none: the server compares, and says if its log is another one.
        public var opening: UInt64

        /// A hello from its parts.
        public init(
            versions: ClosedRange<UInt32>, token: String, device: DeviceID, platform: String,
            runState: ReportedRunState, after: LogPosition, opening: UInt64 = 0
        ) {
            self.versions = versions
            self.token = token
            self.device = device
            self.platform = platform
            self.runState = runState
            self.after = after
            self.opening = opening
        }
    }

    /// Two numbers and the dispositions between them (design.md §3 "Acks").
    public struct Ack: Hashable, Sendable {
        /// The device's store holds the log without gaps up to here.
        public var stored: LogPosition
        /// How entries were settled, ascending, each from after the one before. Empty if nothing new was settled.
        public var settled: [Settlement]

        /// An ack from its parts.
        public init(stored: LogPosition, settled: [Settlement]) {
            self.stored = stored
            self.settled = settled
        }
    }

    /// Entries up to a position were settled in one way.
    public struct Settlement: Hashable, Sendable {
        /// The last position it covers.
        public var upTo: LogPosition
        /// How.
        public var disposition: Disposition

        /// A settlement from its parts.
        public init(upTo: LogPosition, disposition: Disposition) {
            self.upTo = upTo
            self.disposition = disposition
        }
    }
}

/// Versions of the client protocol.
public enum ProtocolVersion {
    /// The version this build speaks.
    public static let current: UInt32 = 1
    /// All versions this build speaks.
    public static let supported: ClosedRange<UInt32> = 1...1

    /// The highest version both sides speak; nil if there is none.
    public static func negotiate(_ offered: ClosedRange<UInt32>) -> UInt32? {
        let highest = min(offered.upperBound, Self.supported.upperBound)
        return highest >= max(offered.lowerBound, Self.supported.lowerBound) ? highest : nil
    }
}

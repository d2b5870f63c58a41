package import APNsModel
package import TidingsModel

extension APNsDispatcher {
    /// In milliseconds unless the name says otherwise.
    package struct Configuration: Sendable {
        /// 1 or more. While an old one is being replaced there may be one more.
        package var connectionsMax = 4
        /// On one connection, whatever APNs allows; 1 or more.
        package var streamsMax = 1_000
        /// Requests that wait to be sent, or to be sent again.
        package var queueMax = 10_000
        /// The most retries of one request.
        package var retriesMax = 3
        /// Before a request is sent again, before one to a device that had too many, and after too many provider
        /// tokens.
        package var retryPauses = BackOff(first: 1_000, longest: 60_000)
        package var heldTokensMax = 1_000
        /// After every address has failed.
        package var connectPauses = BackOff(first: 1_000, longest: 60_000)
        /// Pauses before a probe after a fault of credential, topic or provider. After an outage of `t` the first request leaves within
        /// 2`t` and the first pause (docs/inside/simulation-checks.md, "When Apple has an outage").
        package var breakerPauses = BackOff(first: 15_000, longest: 600_000)
        /// So many failures of APNs's in a row, whatever they are answers to, stop the sending: status 500 and above, streams that
        /// are reset, connections lost with requests on them, and answers that do not come.
        package var providerFailuresMax = 10
        /// From so many failed attempts to connect in a row on, an outage is reported.
        package var connectFailuresMax = 2
        /// The number of `BadDeviceToken`, before one push was accepted with the credential, that means the wrong environment; and of
        /// `DeviceTokenNotForTopic` for one topic, before one push to it was accepted, the wrong topic. Nil: never, for a sender that knows
        /// more of the tokens.
        package var badTokensMax: Int? = 20
        /// Without a word from APNs.
        package var pingAfter: Int64 = 45_000
        package var pingDeadline: Int64 = 10_000
        /// A connection is replaced then, to follow DNS.
        package var connectionAgeMax: Int64 = 4 * 3_600_000
        /// Without a request; the last connection stays.
        package var idleMax: Int64 = 300_000
        /// For answers after GOAWAY.
        package var drainMax: Int64 = 30_000
        package var shutdownGrace: Int64 = 5_000
        package var token = ProviderTokenRule()
        /// Before another provider token goes out on a connection: 20 minutes by APNs's clock (APNs reference,
        /// section 4), and a minute for what the first one took to get there.
        package var tokenUseMin: Int64 = 1_260_000

        package init() {}
    }

    /// Numbered by the shell; a number is never used twice.
    package struct RequestID: Hashable, Sendable, Comparable {
        package var rawValue: UInt64
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Numbered by the dispatcher from 1.
    package struct ConnectionID: Hashable, Sendable, Comparable {
        package var rawValue: UInt64
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The dispatcher's facts about a request.
    package struct Ask: Hashable, Sendable {
        /// For channels and broadcasts the bundle identifier.
        package var topic: String
        /// Nil without a device.
        package var token: PushToken?
        /// The size of the payload: 0 to 65,535, for which the connection's window must have room.
        package var bytes: Int
        /// Monotonic.
        package var deadline: Int64

        package init(topic: String, token: PushToken?, bytes: Int, deadline: Int64) {
            self.topic = topic
            self.token = token
            self.bytes = bytes
            self.deadline = deadline
        }
    }

    package enum ConnectFault: Hashable, Sendable {
        /// Worth another try.
        case unreachable(String)
        /// The server's certificate is not trusted, ours is refused, or it speaks no HTTP/2: a fault of
        /// configuration.
        case refused(String)
    }

    package enum CloseCause: String, Hashable, Sendable, CaseIterable {
        /// The requests that APNs had seen are answered or no longer awaited.
        case goAway = "go_away"
        /// With a reason that asks for another connection (APNs reference, section 9).
        case refused
        case age
        /// Others stand.
        case idle
        /// PING was not answered.
        case silence
        case credential
        /// APNs would not take the new provider token on this connection yet.
        case token
        /// RFC 9113, section 5.1.1.
        case streams
        case shutdown
    }

    /// A jitter is drawn by the shell, 0 to 999. Events about connections and streams that have ended are late and
    /// change nothing.
    package enum Event: Equatable, Sendable {
        case sendRequested(RequestID, Ask)
        case cancelled(RequestID)
        /// In the order of the resolver; at least one.
        case resolved(ConnectionID, [String])
        /// Or nobody answered in time.
        case resolveFailed(ConnectionID, String, jitter: Int64)
        /// TCP and TLS stand.
        case connected(ConnectionID)
        /// Or not in time.
        case connectFailed(ConnectionID, ConnectFault, jitter: Int64)
        /// SETTINGS came; so many streams are allowed from now on, 0 or more. `Int.max` if the first SETTINGS name no
        /// number (RFC 9113, section 6.5.2). Later SETTINGS without the number are not reported.
        case streamLimitAnnounced(ConnectionID, Int)
        /// WINDOW_UPDATE of the connection (RFC 9113, section 6.9), which starts at 65,535 bytes; or so many bytes of a
        /// stream that is over were never written, so that they are free again.
        case windowOpened(ConnectionID, by: Int64)
        case responded(ConnectionID, stream: Int64, APNsResponse, jitter: Int64)
        /// RST_STREAM with REFUSED_STREAM: certainly not processed (RFC 9113, section 8.7).
        case streamRefused(ConnectionID, stream: Int64)
        /// The stream is over, or its request could not be written, without END_STREAM having been written: certainly not processed.
        /// Comes before `connectionClosed`. What was not written of its bytes is told by `windowOpened`.
        case streamNotSent(ConnectionID, stream: Int64)
        /// The connection did not take the stream, for a reason that is on its way to the dispatcher: `goAwayReceived`,
        /// `streamLimitAnnounced` or `connectionClosed`. Nothing of it was written.
        case streamNotTaken(ConnectionID, stream: Int64)
        /// RST_STREAM with another code, or the response broke a rule.
        case streamReset(ConnectionID, stream: Int64, code: String)
        /// GOAWAY, each one that comes; the debug data is JSON, text or nothing (APNs reference, section 3.3).
        case goAwayReceived(ConnectionID, lastStream: Int64, debugData: [UInt8], jitter: Int64)
        case pingAnswered(ConnectionID)
        /// By itself.
        case connectionClosed(ConnectionID, cause: String, jitter: Int64)
        /// It is used from now on.
        case tokenMinted
        /// Another client of the process has signed a token at that time; otherwise as `tokenMinted`.
        case tokenShared(since: Now)
        case tokenFailed(String, jitter: Int64)
        /// The answer to a `mintToken` from before is not reported any more.
        case credentialReplaced
        /// The time of the last `wake` has come.
        case timePassed
        /// The open requests get a moment.
        case shutdownRequested
    }

    /// In this order.
    package enum Effect: Equatable, Sendable {
        /// Ask the resolver afresh, without a cache, and report `resolved` or `resolveFailed` (APNs reference,
        /// section 3.5). `close` ends it.
        case resolve(ConnectionID)
        /// Connect to one address with the credential in place now; report `connected` or `connectFailed`, in bounded
        /// time. May come again for the same connection with the next address.
        case connect(ConnectionID, address: String)
        /// Send the request on this stream, with the current provider token. Streams come in rising order. If the
        /// connection does not take it any more, report `windowOpened` with its bytes and `streamNotTaken`; if it never
        /// will, `streamNotSent`.
        case openStream(ConnectionID, stream: Int64, RequestID)
        /// With CANCEL.
        case resetStream(ConnectionID, stream: Int64)
        case ping(ConnectionID)
        /// Close, or stop opening; nothing is awaited any more.
        case close(ConnectionID, CloseCause)
        /// Sign a provider token, then report `tokenMinted`, `tokenShared` or `tokenFailed`. With a certificate there is nothing to
        /// sign: report `tokenMinted` at once.
        case mintToken
        case finish(RequestID, APNsOutcome)
        /// Report `timePassed` at this monotonic time; replaces an earlier wake.
        case wake(at: Int64)
        case finishShutdown
        case warn(String)
        /// For one topic, or (nil) for all. Comes before the other effects of its event.
        case reportLane(topic: String?, LaneState)
    }
}

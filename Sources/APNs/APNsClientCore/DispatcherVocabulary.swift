package import APNsModel
package import TidingsModel

extension APNsDispatcher {
    /// The limits and pauses, in milliseconds unless the name says otherwise.
    package struct Configuration: Sendable {
        /// How many connections at most, 1 or more. While an old one is being replaced there may be one more.
        package var connectionsMax = 4
        /// How many streams at most on one connection, whatever APNs allows; 1 or more.
        package var streamsMax = 1_000
        /// How many requests may wait to be sent, or to be sent again.
        package var queueMax = 10_000
        /// How many times a request is sent again at most.
        package var retriesMax = 3
        /// Pauses before a request is sent again, before one to a device that had too many, and before the credential's
        /// next one after too many provider tokens.
        package var retryPauses = BackOff(first: 1_000, longest: 60_000)
        /// How many device tokens may be held back at once; the one held longest ago goes first.
        package var heldTokensMax = 1_000
        /// Pauses between attempts to connect, after every address has failed.
        package var connectPauses = BackOff(first: 1_000, longest: 60_000)
        /// Pauses before a probe after a configuration fault.
        package var breakerPauses = BackOff(first: 30_000, longest: 600_000)
        /// So many `BadDeviceToken`, before one push was accepted with the credential, mean the wrong environment; so many
        /// `DeviceTokenNotForTopic` for one topic, before one push to it was accepted, the wrong topic. Nil: never, for whoever
        /// sends knows more of the tokens.
        package var badTokensMax: Int? = 20
        /// PING after this long without a word from APNs.
        package var pingAfter: Int64 = 45_000
        /// How long the answer to a PING may take.
        package var pingDeadline: Int64 = 10_000
        /// After this long a connection is replaced, to follow DNS.
        package var connectionAgeMax: Int64 = 4 * 3_600_000
        /// After this long without a request a connection is closed, unless it is the last.
        package var idleMax: Int64 = 300_000
        /// How long answers are awaited after GOAWAY.
        package var drainMax: Int64 = 30_000
        /// How long a shutdown waits for answers.
        package var shutdownGrace: Int64 = 5_000
        /// When provider tokens are minted.
        package var token = ProviderTokenRule()
        /// How long a connection has to use one provider token before another one goes out on it: 20 minutes by APNs's clock (APNs
        /// reference, section 4), and a minute for what the first one took to get there.
        package var tokenUseMin: Int64 = 1_260_000

        /// The defaults.
        package init() {}
    }

    /// A request, numbered by the shell; a number is never used twice.
    package struct RequestID: Hashable, Sendable, Comparable {
        /// The number.
        package var rawValue: UInt64
        /// Names a request.
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// In the order of the numbers.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A connection, numbered by the dispatcher from 1.
    package struct ConnectionID: Hashable, Sendable, Comparable {
        /// The number.
        package var rawValue: UInt64
        /// Names a connection.
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// In the order of the numbers.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// What the dispatcher has to know of a request.
    package struct Ask: Hashable, Sendable {
        /// The topic, or for channels and broadcasts the bundle identifier: what a breaker may stop by itself.
        package var topic: String
        /// The device, so that others need not wait when APNs has had too many for this one; nil without a device.
        package var token: PushToken?
        /// The length of the payload, which the connection's window has to have room for; 0 to 65,535.
        package var bytes: Int
        /// Monotonic time at which nobody waits for an answer any more.
        package var deadline: Int64

        /// A request as it came.
        package init(topic: String, token: PushToken?, bytes: Int, deadline: Int64) {
            self.topic = topic
            self.token = token
            self.bytes = bytes
            self.deadline = deadline
        }
    }

    /// Why a connection did not come about.
    package enum ConnectFault: Hashable, Sendable {
        /// The address, the network or the server; worth another try.
        case unreachable(String)
        /// The server's certificate is not trusted, ours is refused, or it speaks no HTTP/2: a matter of configuration.
        case refused(String)
    }

    /// Why the dispatcher closes a connection.
    package enum CloseCause: String, Hashable, Sendable, CaseIterable {
        /// APNs said GOAWAY, and what it had seen is answered or no longer awaited.
        case goAway = "go_away"
        /// APNs refused a request with a reason that asks for another connection (APNs reference, section 9).
        case refused
        /// It was old.
        case age
        /// It had nothing to do, and others stand.
        case idle
        /// PING was not answered.
        case silence
        /// The credential was replaced.
        case credential
        /// The provider token was renewed, and APNs would not take another one on this connection yet.
        case token
        /// Its stream ids are used up (RFC 9113, section 5.1.1).
        case streams
        /// Shutdown.
        case shutdown
    }

    /// What happened. A jitter is drawn by the shell, 0 to 999. Events about connections and streams that have ended
    /// are late and change nothing.
    package enum Event: Equatable, Sendable {
        /// Somebody wants a request sent.
        case sendRequested(RequestID, Ask)
        /// Somebody has lost interest.
        case cancelled(RequestID)
        /// The name has these addresses, in the order of the resolver; at least one.
        case resolved(ConnectionID, [String])
        /// The name has no address, or nobody answered in time.
        case resolveFailed(ConnectionID, String, jitter: Int64)
        /// TCP and TLS stand.
        case connected(ConnectionID)
        /// They do not, or not in time.
        case connectFailed(ConnectionID, ConnectFault, jitter: Int64)
        /// SETTINGS came; so many streams are allowed from now on, 0 or more. `Int.max` if the first SETTINGS name no
        /// number (RFC 9113, section 6.5.2). Later SETTINGS without the number are not reported.
        case streamLimitAnnounced(ConnectionID, Int)
        /// WINDOW_UPDATE of the connection (RFC 9113, section 6.9), which starts at 65,535 bytes; or so many bytes of a
        /// stream that is over were never written, so that they are free again.
        case windowOpened(ConnectionID, by: Int64)
        /// A response is complete.
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
        /// PING was answered.
        case pingAnswered(ConnectionID)
        /// The connection has ended by itself.
        case connectionClosed(ConnectionID, cause: String, jitter: Int64)
        /// A provider token was signed and is used from now on.
        case tokenMinted
        /// None could be signed.
        case tokenFailed(String, jitter: Int64)
        /// Another credential is in place from now on. The answer to a `mintToken` from before is not reported any
        /// more.
        case credentialReplaced
        /// The time of the last `wake` has come.
        case timePassed
        /// No more requests; the open ones get a moment.
        case shutdownRequested
    }

    /// What the shell shall do, in this order.
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
        /// RST_STREAM with CANCEL.
        case resetStream(ConnectionID, stream: Int64)
        /// PING.
        case ping(ConnectionID)
        /// Close, or stop opening; nothing is awaited any more.
        case close(ConnectionID, CloseCause)
        /// Sign a provider token, then report `tokenMinted` or `tokenFailed`. With a certificate there is nothing to
        /// sign: report `tokenMinted` at once.
        case mintToken
        /// The request has ended.
        case finish(RequestID, APNsOutcome)
        /// Report `timePassed` at this monotonic time; replaces an earlier wake.
        case wake(at: Int64)
        /// Everything has ended.
        case finishShutdown
        /// Tell the operator.
        case warn(String)
    }
}

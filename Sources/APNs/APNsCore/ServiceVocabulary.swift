package import APNsModel
package import TidingsModel

extension APNsService {
    package struct ConnectionID: Hashable, Sendable, Comparable {
        package var rawValue: UInt64
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// In the order of the numbers.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A request: the connection and the stream it came on.
    package struct RequestID: Hashable, Sendable {
        package var connection: ConnectionID
        /// The HTTP/2 stream, unique on the connection.
        package var stream: Int64

        package init(connection: ConnectionID, stream: Int64) {
            self.connection = connection
            self.stream = stream
        }
    }

    package struct CourierID: Hashable, Sendable {
        package var rawValue: UInt64
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    }

    package struct DrawnIDs: Hashable, Sendable {
        /// A canonical UUID for a request that brings no `apns-id` or `apns-request-id`.
        package var apnsID: String
        /// The service's own name for the push, never drawn twice. The id of a created channel is made of it.
        package var uniqueID: String

        package init(apnsID: String, uniqueID: String) {
            self.apnsID = apnsID
            self.uniqueID = uniqueID
        }
    }

    package enum Event: Sendable {
        // Providers.

        /// A provider has reached a port; nothing has been exchanged yet. Optional: a shell without TLS begins with
        /// `connectionOpened`.
        case connectionArrived(ConnectionID, ProviderHost)
        case connectionOpened(ConnectionID, ProviderHost, certificate: ClientCertificateFacts?)
        case connectionClosed(ConnectionID)
        case requestReceived(RequestID, WireRequest, token: ProviderTokenFacts, drawn: DrawnIDs)

        // Phones.

        /// A phone has said hello on a courier connection; an older connection of the same phone is given up.
        case phoneConnected(PhoneID, CourierID)
        case courierClosed(CourierID)
        /// An app on a phone wants its token for a topic, suffix included, or that of one of its Live Activities. `drawn`
        /// is used if it has none: hexadecimal, of any even length up to 200.
        case registrationRequested(
            CourierID, id: Int64, topic: String, PushEnvironment, activity: String? = nil, drawn: PushToken)
        /// A Live Activity is over and its token ends; or an app was removed: the tokens of all its topics end.
        case unregistrationRequested(CourierID, topic: String, PushEnvironment, activity: String? = nil)
        case deliveryAcknowledged(CourierID, delivery: Int64)
        /// A phone tells how it is about power; until then it is `awake`.
        case powerReported(CourierID, PhonePower)
        /// A phone tells about one of its apps; until then it is as `AppCondition()` says.
        case appReported(CourierID, topic: String, PushEnvironment, AppCondition)
        case subscriptionChanged(CourierID, ChannelName, isOn: Bool)

        // The operator, and time.

        /// Sets what goes wrong from now on; every rule starts afresh.
        case faultsChanged(FaultPlan)
        case tokenRetired(PushToken, TokenEnd)
        /// A new key is known from now on; one with the same id is replaced.
        case keyAdded(ProviderKey)
        /// Connections bound to it stay, and are refused.
        case keyRevoked(keyID: String)
        case certificateRevoked(fingerprint: String)
        /// A team has a new app; connections bound earlier do not know it (APNs reference, section 4).
        case bundleIDRegistered(teamID: String, bundleID: String)
        /// The broadcast capability of an app. Switching it off deletes all its channels (APNs reference, section 17).
        case broadcastCapabilityChanged(bundleID: String, isOn: Bool)
        /// This server goes away: GOAWAY with `Shutdown` on every connection, and no new one.
        case shutdownBegun
        /// The time last asked for by `Effect.wake` has come.
        case timeReached
    }

    /// What the shell shall do, in this order.
    package enum Effect: Equatable, Sendable {
        // Providers.

        /// Answer a request, that many milliseconds from now: status and `headerFields` of the response, then the body.
        case respond(RequestID, APNsResponse, body: [UInt8], delayMilliseconds: Int64)
        /// Announce a stream limit (a SETTINGS frame).
        case announceStreamLimit(ConnectionID, Int)
        /// End one stream with RST_STREAM and this code (RFC 9113, section 7).
        case resetStream(RequestID, code: UInt32)
        /// Write GOAWAY with this last stream, code and debug data, take no more requests, and close once every stream
        /// up to the last one has been answered.
        case goAway(ConnectionID, lastStream: Int64, code: UInt32, debug: [UInt8])
        /// Cut a provider's connection without a word, answers that wait included.
        case cutConnection(ConnectionID)
        /// Leave the connection open, but read and write nothing on it any more, not even TCP's end.
        case silenceConnection(ConnectionID)
        /// Close a connection that has just arrived, before TLS.
        case refuseConnection(ConnectionID)
        /// End the TLS handshake, or the connection after it, with a fatal alert.
        case alertTLS(ConnectionID, TLSAlert)

        // Phones.

        case welcome(CourierID)
        case confirmRegistration(
            CourierID, id: Int64, topic: String, PushEnvironment, activity: String? = nil, PushToken)
        case push(CourierID, delivery: Int64, AcceptedPush)
        case reject(CourierID, InvalidField)
        case closeCourier(CourierID)

        // Records, and time.

        case log(DeliveryLogEntry)
        /// Keep a record; one with the same kind and key is replaced.
        case save(ServiceRecord)
        case forget(ServiceRecord.Kind, key: String)
        /// Send `timeReached` at this time of the monotonic clock, in milliseconds; the last one asked for counts.
        case wake(at: Int64)
    }
}

/// The host a provider has reached: which side, and for what (APNs reference, section 1).
package struct ProviderHost: Hashable, Sendable {
    package enum Service: String, Hashable, Sendable, CaseIterable {
        case push
        case channels
    }

    package var environment: PushEnvironment
    package var service: Service

    package static func push(_ environment: PushEnvironment) -> Self { Self(environment: environment, service: .push) }
    package static func channels(_ environment: PushEnvironment) -> Self {
        Self(environment: environment, service: .channels)
    }
}

/// A fatal alert of TLS, by the names and codes of RFC 8446, section 6.
package enum TLSAlert: String, Hashable, Sendable, CaseIterable, Codable {
    case handshakeFailure = "handshake_failure"
    case certificateRevoked = "certificate_revoked"
    case certificateExpired = "certificate_expired"
    case unknownCA = "unknown_ca"
    case internalError = "internal_error"

    package var code: UInt8 {
        switch self {
        case .handshakeFailure: 40
        case .certificateRevoked: 44
        case .certificateExpired: 45
        case .unknownCA: 48
        case .internalError: 80
        }
    }
}

/// How a device token ends (APNs reference, section 11).
package enum TokenEnd: String, Hashable, Sendable, CaseIterable, Codable {
    /// The app was removed or the token replaced: 410 `Unregistered`.
    case unregistered
    /// The token has expired: 410 `ExpiredToken`.
    case expired
}

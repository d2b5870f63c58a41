package import APNsModel
package import TidingsModel

extension APNsService {
    package struct ConnectionID: Hashable, Sendable, Comparable {
        package var rawValue: UInt64
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    package struct RequestID: Hashable, Sendable {
        package var connection: ConnectionID
        /// Unique on the connection.
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

        /// Every rule starts afresh.
        case faultsChanged(FaultPlan)
        /// Registers a phone that does not connect; otherwise as `registrationRequested`. Nothing happens if the drawn token is taken.
        case deviceRegistered(DeviceTopic, drawn: PushToken)
        /// On, it begins at zero.
        case tallyChanged(isOn: Bool)
        case tokenRetired(PushToken, TokenEnd)
        /// One with the same id is replaced.
        case keyAdded(ProviderKey)
        /// Connections bound to it stay, and are refused.
        case keyRevoked(keyID: String)
        case certificateRevoked(fingerprint: String)
        /// Connections bound earlier do not know it (APNs reference, section 4).
        case bundleIDRegistered(teamID: String, bundleID: String)
        /// Switching it off deletes all channels of the app (APNs reference, section 17).
        case broadcastCapabilityChanged(bundleID: String, isOn: Bool)
        /// GOAWAY with `Shutdown` on every connection, and no new one.
        case shutdownBegun
        case timeReached
    }

    /// In this order.
    package enum Effect: Equatable, Sendable {
        // Providers.

        /// Answer a request, that many milliseconds from now: status and `headerFields` of the response, then the body.
        case respond(RequestID, APNsResponse, body: [UInt8], delayMilliseconds: Int64)
        case announceStreamLimit(ConnectionID, Int)
        /// RFC 9113, section 7.
        case resetStream(RequestID, code: UInt32)
        /// Take no more requests, and close once every stream up to the last one has been answered.
        case goAway(ConnectionID, lastStream: Int64, code: UInt32, debug: [UInt8])
        /// Answers that wait are lost.
        case cutConnection(ConnectionID)
        /// It stays open, but nothing is read or written any more, not even TCP's end.
        case silenceConnection(ConnectionID)
        /// Before TLS.
        case refuseConnection(ConnectionID)
        /// The handshake, or the connection after it.
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
        /// One with the same kind and key is replaced.
        case save(ServiceRecord)
        case forget(ServiceRecord.Kind, key: String)
        /// Monotonic; the last one asked for counts.
        case wake(at: Int64)
    }
}

/// APNs reference, section 1.
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

/// RFC 8446, section 6.
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

/// APNs reference, section 11.
package enum TokenEnd: String, Hashable, Sendable, CaseIterable, Codable {
    /// The app was removed or the token replaced.
    case unregistered
    case expired
}

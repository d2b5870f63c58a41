package import APNsModel
package import TidingsModel

/// Apple's side as a pure machine: providers' requests and phones come in as events, answers and pushes go out as
/// effects.
///
/// It holds the connections' bindings, the device tokens, the couriers to the phones and the fault plan. Signatures
/// are verified by
/// the shell and enter as facts; token texts and ids are drawn by the shell and passed in.
package struct APNsService: Sendable {
    /// The rules; the defaults are apns.md §20.
    package struct Configuration: Sendable {
        /// The keys it knows.
        package var keys: [ProviderKey]
        /// The stream limit of a connection before its first good token.
        package var streamsBeforeToken: Int
        /// The stream limit after it.
        package var streamsAfterToken: Int
        /// How far a provider token's `iat` may be away, in seconds.
        package var tokenAgeMaxSeconds: Int64
        /// How long a connection must use one provider token before a new one, in seconds.
        package var tokenUpdateMinSeconds: Int64
        /// How long a push is stored at most, in seconds.
        package var storageMaxSeconds: Int64
        /// How many pushes of one app may wait for a connected phone's acknowledgement, 1 or more.
        package var waitingPerAppMax: Int

        /// The rules.
        package init(
            keys: [ProviderKey], streamsBeforeToken: Int = 1, streamsAfterToken: Int = 1_000,
            tokenAgeMaxSeconds: Int64 = 3_600, tokenUpdateMinSeconds: Int64 = 1_200,
            storageMaxSeconds: Int64 = 30 * 86_400, waitingPerAppMax: Int = 64
        ) {
            self.keys = keys
            self.streamsBeforeToken = streamsBeforeToken
            self.streamsAfterToken = streamsAfterToken
            self.tokenAgeMaxSeconds = tokenAgeMaxSeconds
            self.tokenUpdateMinSeconds = tokenUpdateMinSeconds
            self.storageMaxSeconds = storageMaxSeconds
            self.waitingPerAppMax = waitingPerAppMax
        }
    }

    /// A provider's connection, numbered by the shell.
    package struct ConnectionID: Hashable, Sendable, Comparable {
        /// The number.
        package var rawValue: UInt64
        /// Names a connection.
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// In the order of the numbers.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A request: the connection and the stream it came on.
    package struct RequestID: Hashable, Sendable {
        /// The connection.
        package var connection: ConnectionID
        /// The stream's number, unique on the connection.
        package var stream: Int64

        /// Names a request.
        package init(connection: ConnectionID, stream: Int64) {
            self.connection = connection
            self.stream = stream
        }
    }

    /// A phone's connection to the courier, numbered by the shell.
    package struct CourierID: Hashable, Sendable {
        /// The number.
        package var rawValue: UInt64
        /// Names a courier connection.
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    }

    /// Ids drawn by the shell for one request.
    package struct DrawnIDs: Hashable, Sendable {
        /// A canonical UUID for a request that brings none.
        package var apnsID: String
        /// The service's own name for the push.
        package var uniqueID: String

        /// The ids.
        package init(apnsID: String, uniqueID: String) {
            self.apnsID = apnsID
            self.uniqueID = uniqueID
        }
    }

    /// What happened.
    package enum Event: Sendable {
        /// A provider has connected to the host of an environment.
        case connectionOpened(ConnectionID, PushEnvironment)
        /// A provider's connection has ended.
        case connectionClosed(ConnectionID)
        /// A request has come in completely.
        case requestReceived(RequestID, WireRequest, token: ProviderTokenFacts, drawn: DrawnIDs)
        /// A phone has said hello on a courier connection; an older connection of the same phone is given up.
        case phoneConnected(PhoneID, CourierID)
        /// A courier connection has ended.
        case courierClosed(CourierID)
        /// An app on a phone wants its token. `drawn` is used if it has none: 64 hexadecimal digits.
        case registrationRequested(CourierID, id: Int64, topic: String, PushEnvironment, drawn: PushToken)
        /// An app was removed.
        case unregistrationRequested(CourierID, topic: String, PushEnvironment)
        /// A phone has received a push.
        case deliveryAcknowledged(CourierID, delivery: Int64)
        /// The operator ends a token.
        case tokenRetired(PushToken)
        /// The operator sets what goes wrong from now on.
        case faultsChanged(FaultPlan)
    }

    /// What the shell shall do, in this order.
    package enum Effect: Equatable, Sendable {
        /// Answer a request, that many milliseconds from now.
        case respond(RequestID, APNsResponse, delayMilliseconds: Int64)
        /// Announce a stream limit (a SETTINGS frame).
        case announceStreamLimit(ConnectionID, Int)
        /// Cut a provider's connection without a word.
        case cutConnection(ConnectionID)
        /// Greet a phone.
        case welcome(CourierID)
        /// Tell a phone the token of its app.
        case confirmRegistration(CourierID, id: Int64, topic: String, PushEnvironment, PushToken)
        /// Hand a push to a phone.
        case push(CourierID, delivery: Int64, AcceptedPush)
        /// Tell a phone what was wrong with what it said.
        case reject(CourierID, InvalidField)
        /// End a courier connection that was replaced.
        case closeCourier(CourierID)
        /// Write a line of the delivery log.
        case log(DeliveryLogEntry)
    }

    /// The rules it was made with.
    package let configuration: Configuration
    /// What goes wrong at present.
    package internal(set) var faults = FaultPlan()
    var connections: [ConnectionID: ProviderConnection] = [:]
    var registry = DeviceRegistry()
    private var couriers: [PhoneID: Courier] = [:]
    private var courierOfPhone: [PhoneID: CourierID] = [:]
    private var phoneOfCourier: [CourierID: PhoneID] = [:]

    /// A service without connections, phones and faults.
    package init(configuration: Configuration) { self.configuration = configuration }

    /// Every device token ever given out, oldest first.
    package var devices: [RegisteredDevice] { self.registry.devices }

    /// Whether a phone is connected to the courier.
    package func isConnected(_ phone: PhoneID) -> Bool { self.courierOfPhone[phone] != nil }

    /// The stream limit a new connection is greeted with.
    package var initialStreamLimit: Int { self.configuration.streamsBeforeToken }

    /// Handles one event and returns its effects.
    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        var effects: [Effect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    /// Handles one event; events about connections that have ended are late and change nothing.
    package mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        switch event {
        case .connectionOpened(let id, let environment):
            guard !self.faults.outage else { return effects.append(.cutConnection(id)) }
            self.connections[id] = ProviderConnection(
                environment: environment, streamLimit: self.configuration.streamsBeforeToken)
        case .connectionClosed(let id):
            self.connections[id] = nil
        case .requestReceived(let id, let request, let token, let drawn):
            self.receive(id, request, token: token, drawn: drawn, at: now, into: &effects)
        case .phoneConnected(let phone, let courier):
            self.connect(phone, courier, at: now, into: &effects)
        case .courierClosed(let courier):
            guard let phone = self.phoneOfCourier.removeValue(forKey: courier) else { return }
            self.courierOfPhone[phone] = nil
            self.forward(.disconnected, to: phone, at: now, into: &effects)
        case .registrationRequested(let courier, let id, let topic, let environment, let drawn):
            self.register(courier, id: id, topic: topic, environment, drawn: drawn, at: now, into: &effects)
        case .unregistrationRequested(let courier, let topic, let environment):
            guard let phone = self.phone(of: courier, into: &effects) else { return }
            let target = DeviceTopic(phone: phone, topic: topic, environment: environment)
            guard let device = self.registry.unregister(target, wall: now.wall) else { return }
            self.forward(.tokenRetired(device.token), to: phone, at: now, into: &effects)
        case .deliveryAcknowledged(let courier, let delivery):
            guard let phone = self.phone(of: courier, into: &effects) else { return }
            self.forward(.acknowledged(delivery: delivery), to: phone, at: now, into: &effects)
        case .tokenRetired(let token):
            guard let device = self.registry.retire(token, wall: now.wall) else { return }
            self.forward(.tokenRetired(token), to: device.target.phone, at: now, into: &effects)
        case .faultsChanged(let plan):
            self.faults = plan
            guard plan.outage else { return }
            for id in self.connections.keys.sorted() { effects.append(.cutConnection(id)) }
            self.connections = [:]
        }
    }

    // MARK: Phones

    private func phone(of courier: CourierID, into effects: inout [Effect]) -> PhoneID? {
        if let phone = self.phoneOfCourier[courier] { return phone }
        effects.append(.reject(courier, InvalidField(field: "type", rule: "must be hello first")))
        return nil
    }

    private mutating func connect(_ phone: PhoneID, _ courier: CourierID, at now: Now, into effects: inout [Effect]) {
        guard self.phoneOfCourier[courier] == nil else {
            return effects.append(.reject(courier, InvalidField(field: "type", rule: "must be hello only once")))
        }
        if let older = self.courierOfPhone[phone] {
            self.phoneOfCourier[older] = nil
            effects.append(.closeCourier(older))
        }
        self.courierOfPhone[phone] = courier
        self.phoneOfCourier[courier] = phone
        effects.append(.welcome(courier))
        self.forward(.connected, to: phone, at: now, into: &effects)
    }

    private mutating func register(
        _ courier: CourierID, id: Int64, topic: String, _ environment: PushEnvironment, drawn: PushToken, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let phone = self.phone(of: courier, into: &effects) else { return }
        guard APNsFormat.isTopic(topic.utf8) else {
            let fault = InvalidField(field: "topic", rule: "must be a bundle identifier")
            return effects.append(.reject(courier, fault))
        }
        let target = DeviceTopic(phone: phone, topic: topic, environment: environment)
        let token = self.registry.register(target, drawn: drawn, wall: now.wall)
        effects.append(.confirmRegistration(courier, id: id, topic: topic, environment, token))
    }

    mutating func forward(
        _ event: Courier.Event, to phone: PhoneID, at now: Now, into effects: inout [Effect]
    ) {
        var some: [Courier.Effect] = []
        self.couriers[phone, default: Courier(rules: self.configuration)].handle(event, at: now, into: &some)
        for effect in some {
            switch effect {
            case .log(let entry): effects.append(.log(entry))
            case .push(let delivery, let push):
                // A courier pushes only while it is connected, and then the phone has a courier connection.
                if let courier = self.courierOfPhone[phone] { effects.append(.push(courier, delivery: delivery, push)) }
            }
        }
    }
}

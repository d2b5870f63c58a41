package import APNsModel
import HeapModule
package import TidingsModel

/// Apple's side as a pure machine: providers' requests and phones come in as events, answers and pushes go out as
/// effects. Certificates and signatures are verified by the shell and enter as facts; token texts and ids are drawn
/// by the shell.
package struct APNsService: Sendable {
    package let configuration: Configuration
    var connections: [ConnectionID: ProviderConnection] = [:]
    var credentials: Credentials
    var registry = DeviceRegistry()
    var channels = ChannelStore()
    var couriers: [PhoneID: Courier] = [:]
    var phoneOfCourier: [CourierID: PhoneID] = [:]
    var faults = FaultState(FaultPlan())
    var isShuttingDown = false
    var deviceShares: [PushToken: TokenBucket] = [:]
    /// Nil while nobody has asked for it: it grows with the devices.
    package internal(set) var tally: AcceptedTally?
    /// By the operator, since the start.
    var changes: [ServiceRecord.Kind: [String: ServiceRecord]] = [:]
    private var counts: [MetricsKey: TopicMetrics] = [:]
    private var agenda = Heap<Appointment>()
    /// The time that `wake` asked for last.
    private var announced: Int64?

    private enum Matter: Hashable, Sendable {
        case connection(ConnectionID)
        case phone(PhoneID)
    }

    private struct Appointment: Comparable, Sendable {
        var at: Int64
        var matter: Matter

        static func == (left: Self, right: Self) -> Bool { left.at == right.at }
        static func < (left: Self, right: Self) -> Bool { left.at < right.at }
    }

    package init(configuration: Configuration) {
        self.configuration = configuration
        self.credentials = Credentials(configuration)
    }

    // MARK: Looking at it

    /// Since the plan was set.
    package var faultCounts: [FaultCount] { self.faults.counts }

    package var isOut: Bool { self.faults.outage }

    package var connectionCount: Int { self.connections.count }

    /// Oldest first.
    package var devices: [RegisteredDevice] { self.registry.devices }

    /// Nil if it was not registered, or has ended.
    package func token(of target: DeviceTopic) -> PushToken? { self.registry.token(of: target) }

    package func isConnected(_ phone: PhoneID) -> Bool { self.couriers[phone]?.courierID != nil }

    /// Oldest first.
    package func stored(for phone: PhoneID) -> [AcceptedPush] {
        self.couriers[phone]?.waiting.filter(\.isStored).map(\.push) ?? []
    }

    package func initialStreamLimit(hasCertificate: Bool) -> Int {
        self.configuration.streamLimit(hasCertificate: hasCertificate)
    }

    /// Nil if it is good (APNs reference, section 2).
    package func alert(on certificate: ClientCertificateFacts, at now: Now) -> TLSAlert? {
        self.credentials.alert(on: certificate, at: now)
    }

    package var metrics: [(key: MetricsKey, counts: TopicMetrics)] {
        self.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Oldest first, with what became of their broadcasts.
    package func channels(
        of bundleID: String, _ environment: PushEnvironment
    ) -> [(id: APNsChannelID, policy: APNsStoragePolicy, metrics: BroadcastMetrics)] {
        self.channels.channels(ChannelStore.App(bundleID: bundleID, environment: environment)).map {
            ($0.name.id, $0.policy, $0.metrics)
        }
    }

    // MARK: Events

    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        var effects: [Effect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    /// Events about connections that have ended are late and change nothing.
    package mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        let start = effects.count
        self.dispatch(event, at: now, into: &effects)
        for index in effects.indices[start...] {
            guard case .log(let entry) = effects[index] else { continue }
            let key = MetricsKey(topic: entry.topic ?? "", environment: entry.environment ?? .sandbox)
            self.counts[key, default: TopicMetrics()].count(entry.event)
        }
        if let at = self.agenda.min?.at, self.announced.map({ at < $0 }) ?? true {
            self.announced = at
            effects.append(.wake(at: at))
        }
    }

    private mutating func dispatch(_ event: Event, at now: Now, into effects: inout [Effect]) {
        switch event {
        case .connectionArrived(let id, _):
            self.arrive(id, into: &effects)
        case .connectionOpened(let id, let host, let certificate):
            self.open(id, host, certificate, at: now, into: &effects)
        case .connectionClosed(let id):
            self.connections[id] = nil
        case .requestReceived(let id, let request, let token, let drawn):
            self.receive(id, request, token: token, drawn: drawn, at: now, into: &effects)
        case .phoneConnected(let phone, let courier):
            self.connect(phone, courier, at: now, into: &effects)
        case .courierClosed(let courier):
            guard let phone = self.phoneOfCourier.removeValue(forKey: courier) else { return }
            self.forward(.disconnected, to: phone, at: now, into: &effects)
        case .registrationRequested(let courier, let id, let topic, let environment, let activity, let drawn):
            self.register(
                courier, id: id, topic: topic, environment, activity: activity, drawn: drawn, at: now, into: &effects)
        case .unregistrationRequested(let courier, let topic, let environment, let activity):
            guard let phone = self.phone(of: courier, into: &effects) else { return }
            let target = DeviceTopic(phone: phone, topic: topic, environment: environment, activity: activity)
            let ended = self.registry.unregister(
                target, wall: now.wall, acceptedYet: self.configuration.acceptedAfterRemoval)
            for device in ended { self.ended(device, at: now, into: &effects) }
        case .deliveryAcknowledged(let courier, let delivery):
            self.acknowledge(courier, delivery: delivery, at: now, into: &effects)
        case .powerReported(let courier, let power):
            guard let phone = self.phone(of: courier, into: &effects) else { return }
            self.forward(.powerReported(power), to: phone, at: now, into: &effects)
        case .appReported(let courier, let topic, let environment, let condition):
            guard let phone = self.phone(of: courier, into: &effects) else { return }
            let app = DeviceTopic(phone: phone, topic: topic, environment: environment)
            self.forward(.appReported(app, condition), to: phone, at: now, into: &effects)
        case .subscriptionChanged(let courier, let channel, let isOn):
            self.subscribe(courier, to: channel, isOn: isOn, at: now, into: &effects)
        case .deviceRegistered(let target, let drawn):
            guard let (device, isNew) = self.registry.register(target, drawn: drawn, wall: now.wall) else { return }
            if isNew { effects.append(.save(device.record)) }
        case .tallyChanged(let isOn):
            self.tally = isOn ? AcceptedTally() : nil
        case .tokenRetired(let token, let end):
            guard let device = self.registry.retire(token, end, wall: now.wall, acceptedYet: 0) else { return }
            self.ended(device, at: now, into: &effects)
        case .faultsChanged(let plan):
            self.change(plan, into: &effects)
        case .keyAdded, .keyRevoked, .certificateRevoked, .bundleIDRegistered:
            self.change(event, into: &effects)
        case .broadcastCapabilityChanged(let bundleID, let isOn):
            self.switchBroadcast(bundleID, isOn: isOn, into: &effects)
        case .shutdownBegun:
            self.isShuttingDown = true
            for id in self.connections.keys.sorted() { self.closeWithGoAway(id, .shutdown, into: &effects) }
        case .timeReached:
            self.reachTime(at: now, into: &effects)
        }
    }

    // MARK: Time

    private mutating func reachTime(at now: Now, into effects: inout [Effect]) {
        self.announced = nil
        while let appointment = self.agenda.min, appointment.at <= now.monotonic {
            self.agenda.removeMin()
            switch appointment.matter {
            case .phone(let phone):
                // An appointment that was overtaken finds nothing to do.
                guard let at = self.couriers[phone]?.wakeAt, at <= now.monotonic else { continue }
                self.forward(.timeReached, to: phone, at: now, into: &effects)
            case .connection(let id):
                guard let connection = self.connections[id], let idle = self.configuration.idleSeconds else { continue }
                let end = connection.activeAt + idle * 1_000
                if end <= now.monotonic {
                    self.closeWithGoAway(id, .idleTimeout, into: &effects)
                } else {
                    self.agenda.insert(Appointment(at: end, matter: .connection(id)))
                }
            }
        }
    }

    mutating func watch(_ id: ConnectionID, at now: Now) {
        guard let idle = self.configuration.idleSeconds else { return }
        self.agenda.insert(Appointment(at: now.monotonic + idle * 1_000, matter: .connection(id)))
    }

    // MARK: Phones

    mutating func forward(_ event: Courier.Event, to phone: PhoneID, at now: Now, into effects: inout [Effect]) {
        let index: Dictionary<PhoneID, Courier>.Index
        if let found = self.couriers.index(forKey: phone) {
            index = found
        } else {
            self.couriers[phone] = Courier(phone, rules: self.configuration)
            guard let made = self.couriers.index(forKey: phone) else { return }
            index = made
        }
        let before = self.couriers.values[index].wakeAt
        self.couriers.values[index].handle(event, at: now, into: &effects)
        guard let wakeAt = self.couriers.values[index].wakeAt, wakeAt != before else { return }
        self.agenda.insert(Appointment(at: wakeAt, matter: .phone(phone)))
    }
}

import Metrics
import ServerCore
import TidingsModel

/// The server's metrics: their names and what they count.
package enum ServerMetric: String, CaseIterable, Sendable {
    case connections = "tidings.gateway.connections"
    case connectionsAccepted = "tidings.gateway.connections.accepted"
    case connectionsRefused = "tidings.gateway.connections.refused"
    case framesReceived = "tidings.gateway.frames.received"
    case framesSent = "tidings.gateway.frames.sent"
    case signalsDropped = "tidings.gateway.signals.dropped"
    case refusals = "tidings.limits.refused"
    case problems = "tidings.gateway.problems"
    case storeBatch = "tidings.store.batch.commands"
    case storeTime = "tidings.store.batch.seconds"
    case storeFailures = "tidings.store.failures"
    case storeUnreadable = "tidings.store.unreadable"
    case storageFree = "tidings.storage.free.bytes"
    case storageFull = "tidings.storage.full"
    case messagesAccepted = "tidings.messages.accepted"
    case messagesRepeated = "tidings.messages.repeated"
    case legsEnded = "tidings.legs.ended"
    case pushes = "tidings.pushes"
    case pushesInFlight = "tidings.pushes.in.flight"
    case alarms = "tidings.push.alarms"
    case registrationsRefused = "tidings.push.registrations.refused"
    case bugs = "tidings.bugs"
    case apiRequests = "tidings.api.requests"
    case httpConnections = "tidings.http.connections"
    case httpClosed = "tidings.http.connections.closed"
    case acceptFailures = "tidings.accept.failures"
    case logDropped = "tidings.log.dropped"
    case tokenKeys = "tidings.token.keys"

    /// One sentence for the `# HELP` line and the documentation.
    package var summary: String {
        switch self {
        case .connections: "Open connections of the gateway."
        case .connectionsAccepted: "Connections the gateway has accepted."
        case .connectionsRefused: "Connections turned away because gateway.connections_max was reached."
        case .framesReceived: "Frames read from clients."
        case .framesSent: "Frames written to clients."
        case .signalsDropped: "Signals left out because the reader was behind: rooms' messages, typing, presence."
        case .refusals: "What was refused or dropped because somebody has had their share, by scope and kind."
        case .problems: "Fatal problems told to clients, by code."
        case .storeBatch: "Commands handed to the store at a time."
        case .storeTime: "Time from handing a batch to the store until its results were back."
        case .storeFailures: "Batches the store could not write."
        case .storeUnreadable: "Commands refused because stored data they need cannot be read."
        case .storageFree: "Bytes free on the disk of store.path."
        case .storageFull: "1 while sends are refused because less than store.free_bytes_min is free, otherwise 0."
        case .messagesAccepted: "Messages accepted and synced."
        case .messagesRepeated: "Sends that repeated an accepted message."
        case .legsEnded: "Legs that ended, by end."
        case .pushes: "Pushes handed to APNs, by outcome."
        case .pushesInFlight: "Pushes handed to APNs whose outcome is open."
        case .alarms: "Alarms raised for a push lane, by kind."
        case .registrationsRefused: "Push registrations refused for their token's form or their topic."
        case .bugs: "Things our own code must not do."
        case .apiRequests: "Requests of the HTTP API, by route and status class."
        case .httpConnections: "Open connections of the HTTP API and of the routes for phones, by listener."
        case .httpClosed:
            "HTTP connections the server closed for want of room or after a time limit, by listener and reason."
        case .acceptFailures: "Pauses in accepting because there were no files or no memory left, by listener."
        case .logDropped: "Log lines that could not be written."
        case .tokenKeys: "Looks at apps' key sets, by outcome."
        }
    }

    /// The sentences of all metrics by name, for `PrometheusRegistry`.
    package static var help: [String: String] {
        Dictionary(uniqueKeysWithValues: Self.allCases.map { ($0.rawValue, $0.summary) })
    }
}

/// The handles of the server's metrics; all dimensions come from closed sets.
struct ServerMetrics: Sendable {
    let connections: Meter
    let connectionsAccepted: Counter
    let connectionsRefused: Counter
    let framesReceived: Counter
    let framesSent: Counter
    let signalsDropped: Counter
    let storeBatch: Recorder
    let storeTime: Timer
    let storeFailures: Counter
    let storeUnreadable: Counter
    let storageFree: Meter
    let storageFull: Meter
    let messagesAccepted: Counter
    let messagesRepeated: Counter
    let pushesInFlight: Meter
    let registrationsRefused: Counter
    let bugs: Counter
    let logDropped: Counter
    private let problems: [ServerFrame.Problem.Code: Counter]
    private let refusals: [Refusal: Counter]
    private let pushes: [PushOutcome: Counter]
    private let legsEnded: [String: Counter]
    private let tokenKeys: [KeysOutcome: Counter]
    private let factory: any MetricsFactory

    private struct Refusal: Hashable {
        var scope: RateScope
        /// Nil for too many commands that wait for the store.
        var kind: RateKind?
    }

    /// How a push ended, as a dimension.
    enum PushOutcome: String, CaseIterable {
        case accepted
        case refused
        case unknown
        case notSent = "not_sent"
        case noCredential = "no_credential"
    }

    /// What a look at an app's key set brought, as a dimension.
    enum KeysOutcome: String, CaseIterable {
        case read
        case failed
    }

    init(factory: any MetricsFactory) {
        func counter(_ metric: ServerMetric) -> Counter { Counter(label: metric.rawValue, factory: factory) }
        self.connections = Meter(label: ServerMetric.connections.rawValue, factory: factory)
        self.connectionsAccepted = counter(.connectionsAccepted)
        self.connectionsRefused = counter(.connectionsRefused)
        self.framesReceived = counter(.framesReceived)
        self.framesSent = counter(.framesSent)
        self.signalsDropped = counter(.signalsDropped)
        self.storeBatch = Recorder(label: ServerMetric.storeBatch.rawValue, factory: factory)
        self.storeTime = Timer(label: ServerMetric.storeTime.rawValue, factory: factory)
        self.storeFailures = counter(.storeFailures)
        self.storeUnreadable = counter(.storeUnreadable)
        self.storageFree = Meter(label: ServerMetric.storageFree.rawValue, factory: factory)
        self.storageFull = Meter(label: ServerMetric.storageFull.rawValue, factory: factory)
        self.messagesAccepted = counter(.messagesAccepted)
        self.messagesRepeated = counter(.messagesRepeated)
        self.registrationsRefused = counter(.registrationsRefused)
        self.pushesInFlight = Meter(label: ServerMetric.pushesInFlight.rawValue, factory: factory)
        self.bugs = counter(.bugs)
        self.logDropped = counter(.logDropped)
        func counters<Key: Hashable>(
            _ metric: ServerMetric, _ dimension: String, _ keys: [Key], _ name: (Key) -> String
        ) -> [Key: Counter] {
            Dictionary(
                uniqueKeysWithValues: keys.map { key in
                    let dimensions = [(dimension, name(key))]
                    return (key, Counter(label: metric.rawValue, dimensions: dimensions, factory: factory))
                })
        }
        self.problems = counters(.problems, "code", ServerFrame.Problem.Code.allCases, \.rawValue)
        var refusals: [Refusal: Counter] = [:]
        for scope in RateScope.allCases {
            for kind in RateKind.allCases.map(Optional.some) + [nil] {
                let dimensions = [("scope", scope.rawValue), ("kind", kind?.rawValue ?? "backlog")]
                refusals[Refusal(scope: scope, kind: kind)] = Counter(
                    label: ServerMetric.refusals.rawValue, dimensions: dimensions, factory: factory)
            }
        }
        self.refusals = refusals
        self.pushes = counters(.pushes, "outcome", PushOutcome.allCases, \.rawValue)
        self.legsEnded = counters(.legsEnded, "end", Self.legEnds.map(\.name), \.self)
        self.tokenKeys = counters(.tokenKeys, "outcome", KeysOutcome.allCases, \.rawValue)
        self.factory = factory
    }

    /// Counts a look at an app's key set.
    func keysLookedAt(_ outcome: KeysOutcome) { self.tokenKeys[outcome]?.increment() }

    /// Counts a fatal problem.
    func problem(_ code: ServerFrame.Problem.Code) { self.problems[code]?.increment() }

    /// Counts what was refused or dropped because somebody has had their share.
    func refused(_ scope: RateScope, _ kind: RateKind?) {
        self.refusals[Refusal(scope: scope, kind: kind)]?.increment()
    }

    /// Counts the end of a leg.
    func ended(_ end: LegEnd) {
        guard let counter = self.legsEnded[end.name] else { return self.count(.legsEnded, [("end", end.name)]) }
        counter.increment()
    }

    /// One of each end, so that all of them stand in the text from the start.
    private static let legEnds: [LegEnd] = [
        .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .settled(.shown), .readElsewhere, .recalled,
        .expired,
        .muted, .quietHours,
        .noToken, .tokenQuarantined(reason: "", status: 0), .accepted(apnsID: ""), .tokenDead(timestamp: 0),
        .rejected(reason: ""),
    ]

    /// Counts the outcome of a push.
    func pushed(_ outcome: PushOutcome) { self.pushes[outcome]?.increment() }

    /// Counts an alarm.
    func alarm(_ alarm: PushAlarm) {
        let kind =
            switch alarm {
            case .configFault: "config_fault"
            case .burst: "burst"
            case .providerDown: "provider_down"
            }
        self.count(.alarms, [("kind", kind)])
    }

    /// Counts a request of the HTTP API.
    ///
    /// - Parameter route: the route's pattern, never the path asked for.
    func request(route: String, status: Int) {
        self.count(.apiRequests, [("route", route), ("status", "\(status / 100)xx")])
    }

    /// Sets the number of a listener's HTTP connections.
    func httpConnections(_ listener: Listener, _ count: Int) {
        Meter(
            label: ServerMetric.httpConnections.rawValue, dimensions: [("listener", listener.rawValue)],
            factory: self.factory
        ).set(count)
    }

    /// Counts an HTTP connection the server closed.
    func httpClosed(_ listener: Listener, _ reason: HTTPConnections.Closing) {
        self.count(.httpClosed, [("listener", listener.rawValue), ("reason", reason.rawValue)])
    }

    /// Counts that a listener pauses.
    func acceptFailed(_ listener: Listener) { self.count(.acceptFailures, [("listener", listener.rawValue)]) }

    private func count(_ metric: ServerMetric, _ dimensions: [(String, String)]) {
        Counter(label: metric.rawValue, dimensions: dimensions, factory: self.factory).increment()
    }
}

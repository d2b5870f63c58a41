import APNsModel
import Metrics

/// The metrics of a client for operators (docs/server/metrics.md). Every series has the dimensions `client` (its name), `environment` and
/// `service` (`push` or `channels`).
final class ClientMetrics {
    enum Label: String, CaseIterable {
        case requests = "apns.client.requests"
        case refusals = "apns.client.refusals"
        case faults = "apns.client.faults"
        case waiting = "apns.client.waiting"
        case inFlight = "apns.client.in.flight"
        case queueAge = "apns.client.queue.age"
        case answerTime = "apns.client.answer.seconds"
        case connections = "apns.client.connections"
        case opened = "apns.client.connections.opened"
        case closed = "apns.client.connections.closed"
        case streamLimit = "apns.client.stream.limit"
    }

    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private let accepted, refused, unknown, notSent, opened: Counter
    private let waiting, inFlight, connections, streamLimit: Meter
    private let queueAge, answerTime: Timer
    /// By label, then by the value of the last dimension.
    private var counters: [Label: [String: Counter]] = [:]
    private var shown = (waiting: 0, inFlight: 0, connections: 0)

    init(name: String, environment: String, service: String, factory: any MetricsFactory) {
        let dimensions = [("client", name), ("environment", environment), ("service", service)]
        func requests(_ outcome: String) -> Counter {
            Counter(label: Label.requests.rawValue, dimensions: dimensions + [("outcome", outcome)], factory: factory)
        }
        self.dimensions = dimensions
        self.factory = factory
        self.accepted = requests("accepted")
        self.refused = requests("refused")
        self.unknown = requests("unknown")
        self.notSent = requests("not_sent")
        self.waiting = Meter(label: Label.waiting.rawValue, dimensions: dimensions, factory: factory)
        self.inFlight = Meter(label: Label.inFlight.rawValue, dimensions: dimensions, factory: factory)
        self.queueAge = Timer(label: Label.queueAge.rawValue, dimensions: dimensions, factory: factory)
        self.answerTime = Timer(label: Label.answerTime.rawValue, dimensions: dimensions, factory: factory)
        self.connections = Meter(label: Label.connections.rawValue, dimensions: dimensions, factory: factory)
        self.opened = Counter(label: Label.opened.rawValue, dimensions: dimensions, factory: factory)
        self.streamLimit = Meter(label: Label.streamLimit.rawValue, dimensions: dimensions, factory: factory)
    }

    func count(_ outcome: APNsOutcome) {
        switch outcome {
        case .accepted: self.accepted.increment()
        case .refused(let refusal):
            self.refused.increment()
            self.count(.refusals, "reason", refusal.reason.metricName)
        case .unknownOutcome: self.unknown.increment()
        case .notSent, .stopped: self.notSent.increment()
        }
    }

    /// Counts in the series whose last dimension has this value, which is made when it is first needed.
    private func count(_ label: Label, _ dimension: String, _ value: String) {
        if self.counters[label]?[value] == nil {
            self.counters[label, default: [:]][value] = Counter(
                label: label.rawValue, dimensions: self.dimensions + [(dimension, value)], factory: self.factory)
        }
        self.counters[label]?[value]?.increment()
    }

    /// An answer, or what came instead of one, that the client may mend by itself.
    ///
    /// - Parameter fault: a reason's `metricName`, or what became of a stream or a connection.
    func met(_ fault: String) { self.count(.faults, "fault", fault) }

    func waited(_ milliseconds: Int64) { self.queueAge.recordMilliseconds(milliseconds) }

    /// An answer came after so many milliseconds.
    func answered(after milliseconds: Int64) { self.answerTime.recordMilliseconds(milliseconds) }

    func openedConnection() { self.opened.increment() }

    /// - Parameter cause: the dispatcher's, or `lost`, or `connect_failed`.
    func closedConnection(_ cause: String) { self.count(.closed, "cause", cause) }

    /// Sets the number of streams that a connection allows now; does nothing if APNs named none.
    func limited(to streams: Int) { if streams < .max { self.streamLimit.set(streams) } }

    func show(waiting: Int, inFlight: Int, connections: Int) {
        if waiting != self.shown.waiting { self.waiting.set(waiting) }
        if inFlight != self.shown.inFlight { self.inFlight.set(inFlight) }
        if connections != self.shown.connections { self.connections.set(connections) }
        self.shown = (waiting, inFlight, connections)
    }
}

extension APNsReason {
    /// The name as a dimension: free text would make a series of each.
    var metricName: String { if case .unknown = self { "unknown" } else { self.name } }
}

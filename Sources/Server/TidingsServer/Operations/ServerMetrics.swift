import MessageStore
import Metrics
import ServerCore
import StoreModel
import TidingsModel

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
    case pushJobs = "tidings.push.jobs"
    case pushRecipients = "tidings.push.jobs.recipients"
    case credentialExpiry = "tidings.credential.expiry.seconds"
    case bugs = "tidings.bugs"
    case apiRequests = "tidings.api.requests"
    case httpConnections = "tidings.http.connections"
    case httpClosed = "tidings.http.connections.closed"
    case acceptFailures = "tidings.accept.failures"
    case logDropped = "tidings.log.dropped"
    case tokenKeys = "tidings.token.keys"
    case mediaFiles = "tidings.media.files"
    case mediaBytes = "tidings.media.bytes"
    case mediaUploads = "tidings.media.uploads"
    case mediaRemoved = "tidings.media.removed"
    case searchMessages = "tidings.search.messages"
    case searchBehind = "tidings.search.behind.records"
    case searchBytes = "tidings.search.file.bytes"
    case webhookAttempts = "tidings.webhooks.attempts"
    case webhooksPending = "tidings.webhooks.pending"
    case webhooksDead = "tidings.webhooks.dead.letters"
    case webhooksBehind = "tidings.webhooks.behind.records"
    case webhooksDropped = "tidings.webhooks.dropped"

    /// For the `# HELP` line and the documentation.
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
        case .pushes:
            "Pushes handed to APNs, by outcome; those that tell a phone its badge and nothing else are among them."
        case .pushesInFlight: "Pushes handed to APNs whose outcome is open."
        case .alarms: "Alarms raised for a push lane, by kind."
        case .registrationsRefused: "Push registrations refused for their token's form or their topic."
        case .pushJobs: "Push jobs that came to a state, by state."
        case .pushRecipients: "People to whom push jobs have sent a message."
        case .credentialExpiry: "Seconds until the first active push credential expires; ten years if none does."
        case .bugs: "Things our own code must not do."
        case .apiRequests: "Requests of the HTTP API, by route and status class."
        case .httpConnections: "Open connections of the HTTP API and of the routes for phones, by listener."
        case .httpClosed:
            "HTTP connections the server closed for want of room or after a time limit, by listener and reason."
        case .acceptFailures: "Pauses in accepting because there were no files or no memory left, by listener."
        case .logDropped: "Log lines that could not be written."
        case .tokenKeys: "Looks at apps' key sets, by outcome."
        case .mediaFiles: "Files of media, unfinished ones and memories of rejected ones included."
        case .mediaBytes: "Bytes of media that count for quotas: each file as it will be when it is whole."
        case .mediaUploads: "Uploads of media, by what became of them."
        case .mediaRemoved: "Files of media deleted, by reason."
        case .searchMessages: "Messages in the search index."
        case .searchBehind: "Records of the store that the search index has not looked at yet."
        case .searchBytes: "Bytes of the search index's files."
        case .webhookAttempts: "Requests to webhooks, by outcome: delivered, or why not."
        case .webhooksPending: "Deliveries to webhooks that are still to be made."
        case .webhooksDead: "Deliveries to webhooks that were given up and are kept."
        case .webhooksBehind: "Records of the store from which webhooks are not told yet."
        case .webhooksDropped: "Deliveries to webhooks deleted undelivered because too many were kept."
        }
    }

    /// By name, for `PrometheusRegistry`.
    package static var help: [String: String] {
        Dictionary(uniqueKeysWithValues: Self.allCases.map { ($0.rawValue, $0.summary) })
    }
}

/// All dimensions come from closed sets.
struct ServerMetrics: Sendable {
    let connections, storageFree, storageFull, pushesInFlight, mediaFiles, mediaBytes, credentialExpiry: Meter
    private let searchMessages, searchBehind, searchBytes: Meter
    private let webhooksPending, webhooksDead, webhooksBehind: Meter
    let connectionsAccepted, connectionsRefused, framesReceived, framesSent, signalsDropped: Counter
    let storeFailures, storeUnreadable, messagesAccepted, messagesRepeated, registrationsRefused: Counter
    let bugs, logDropped, pushRecipients: Counter
    private let webhooksDropped: Counter
    let storeBatch: Recorder
    let storeTime: Timer
    private let problems: [ServerFrame.Problem.Code: Counter]
    private let refusals: [Refusal: Counter]
    private let pushes: [PushOutcome: Counter]
    private let pushJobs: [PushJob.State: Counter]
    private let legsEnded: [String: Counter]
    private let tokenKeys: [KeysOutcome: Counter]
    private let mediaUploads: [MediaUpload: Counter]
    private let mediaRemovals: [MediaRemoval: Counter]
    private let webhookAttempts: [String: Counter]
    private let factory: any MetricsFactory

    private struct Refusal: Hashable {
        var scope: RateScope
        /// Nil for too many commands that wait for the store.
        var kind: RateKind?
    }

    enum PushOutcome: String, CaseIterable {
        case accepted
        case refused
        case unknown
        case notSent = "not_sent"
        case noCredential = "no_credential"
    }

    enum KeysOutcome: String, CaseIterable {
        case read
        case failed
    }

    enum MediaUpload: String, CaseIterable {
        case begun
        case completed
        /// Its bytes are not of the type it announced.
        case refused
    }

    enum MediaRemoval: String, CaseIterable {
        /// No message names it any more, it got too old, or its upload was left.
        case expired
        /// By its uploader or the backend.
        case deleted
        /// By the backend's verdict.
        case rejected
        /// Its bytes are not of the type it announced.
        case refused
    }

    init(factory: any MetricsFactory) {
        func counter(_ metric: ServerMetric) -> Counter { Counter(label: metric.rawValue, factory: factory) }
        func meter(_ metric: ServerMetric) -> Meter { Meter(label: metric.rawValue, factory: factory) }
        self.connections = meter(.connections)
        self.connectionsAccepted = counter(.connectionsAccepted)
        self.connectionsRefused = counter(.connectionsRefused)
        self.framesReceived = counter(.framesReceived)
        self.framesSent = counter(.framesSent)
        self.signalsDropped = counter(.signalsDropped)
        self.storeBatch = Recorder(label: ServerMetric.storeBatch.rawValue, factory: factory)
        self.storeTime = Timer(label: ServerMetric.storeTime.rawValue, factory: factory)
        self.storeFailures = counter(.storeFailures)
        self.storeUnreadable = counter(.storeUnreadable)
        self.storageFree = meter(.storageFree)
        self.storageFull = meter(.storageFull)
        self.messagesAccepted = counter(.messagesAccepted)
        self.messagesRepeated = counter(.messagesRepeated)
        self.registrationsRefused = counter(.registrationsRefused)
        self.credentialExpiry = meter(.credentialExpiry)
        self.pushesInFlight = meter(.pushesInFlight)
        self.bugs = counter(.bugs)
        self.logDropped = counter(.logDropped)
        self.pushRecipients = counter(.pushRecipients)
        func counters<Key: Hashable>(
            _ metric: ServerMetric, _ keys: [Key], _ dimensions: (Key) -> [(String, String)]
        ) -> [Key: Counter] {
            Dictionary(
                uniqueKeysWithValues: keys.map {
                    ($0, Counter(label: metric.rawValue, dimensions: dimensions($0), factory: factory))
                })
        }
        self.problems = counters(.problems, ServerFrame.Problem.Code.allCases) { [("code", $0.rawValue)] }
        let refusals = RateScope.allCases.flatMap { scope in
            (RateKind.allCases.map(Optional.some) + [nil]).map { Refusal(scope: scope, kind: $0) }
        }
        self.refusals = counters(.refusals, refusals) {
            [("scope", $0.scope.rawValue), ("kind", $0.kind?.rawValue ?? "backlog")]
        }
        self.pushes = counters(.pushes, PushOutcome.allCases) { [("outcome", $0.rawValue)] }
        self.pushJobs = counters(.pushJobs, PushJob.State.allCases) { [("state", $0.rawValue)] }
        self.legsEnded = counters(.legsEnded, LegEnd.names) { [("end", $0)] }
        self.tokenKeys = counters(.tokenKeys, KeysOutcome.allCases) { [("outcome", $0.rawValue)] }
        self.mediaFiles = meter(.mediaFiles)
        self.mediaBytes = meter(.mediaBytes)
        self.mediaUploads = counters(.mediaUploads, MediaUpload.allCases) { [("outcome", $0.rawValue)] }
        self.mediaRemovals = counters(.mediaRemoved, MediaRemoval.allCases) { [("reason", $0.rawValue)] }
        self.searchMessages = meter(.searchMessages)
        self.searchBehind = meter(.searchBehind)
        self.searchBytes = meter(.searchBytes)
        self.webhooksPending = meter(.webhooksPending)
        self.webhooksDead = meter(.webhooksDead)
        self.webhooksBehind = meter(.webhooksBehind)
        self.webhooksDropped = counter(.webhooksDropped)
        self.webhookAttempts = counters(.webhookAttempts, Self.webhookOutcomes) { [("outcome", $0)] }
        self.factory = factory
    }

    func show(_ progress: SearchProgress) {
        self.searchMessages.set(progress.messages)
        self.searchBehind.set(progress.behind)
        self.searchBytes.set(progress.fileBytes)
    }

    /// `overflow` is no end of an attempt.
    private static var webhookOutcomes: [String] {
        ["delivered"] + WebhookFailureReason.allCases.filter { $0 != .overflow }.map(\.rawValue)
    }

    func show(_ totals: WebhookTotals) {
        self.webhooksPending.set(totals.pending)
        self.webhooksDead.set(totals.dead)
        self.webhooksBehind.set(totals.behind)
    }

    func countDroppedWebhookDeliveries(_ count: Int) { self.webhooksDropped.increment(by: count) }

    func countWebhookAttempt(_ end: WebhookAttemptEnd) {
        switch end {
        case .delivered: self.webhookAttempts["delivered"]?.increment()
        case .failed(let failure): self.webhookAttempts[failure.reason.rawValue]?.increment()
        case .withdrawn: break
        }
    }

    func countUpload(_ outcome: MediaUpload) { self.mediaUploads[outcome]?.increment() }

    func countMediaRemoval(_ reason: MediaRemoval) { self.mediaRemovals[reason]?.increment() }

    func countKeyRefresh(_ outcome: KeysOutcome) { self.tokenKeys[outcome]?.increment() }

    func countProblem(_ code: ServerFrame.Problem.Code) { self.problems[code]?.increment() }

    func countRefusal(_ scope: RateScope, _ kind: RateKind?) {
        self.refusals[Refusal(scope: scope, kind: kind)]?.increment()
    }

    func countEnd(_ end: LegEnd) {
        guard let counter = self.legsEnded[end.name] else { return self.count(.legsEnded, [("end", end.name)]) }
        counter.increment()
    }

    func countPushJob(_ state: PushJob.State) { self.pushJobs[state]?.increment() }

    func countPush(_ outcome: PushOutcome) { self.pushes[outcome]?.increment() }

    func countAlarm(_ alarm: PushAlarm) {
        let kind =
            switch alarm {
            case .configFault: "config_fault"
            case .tokenRefused: "token_refused"
            case .burst: "burst"
            case .providerDown: "provider_down"
            }
        self.count(.alarms, [("kind", kind)])
    }

    /// - Parameter route: the route's pattern, never the path asked for.
    func countRequest(route: String, status: Int) {
        self.count(.apiRequests, [("route", route), ("status", "\(status / 100)xx")])
    }

    func setHTTPConnections(_ listener: Listener, _ count: Int) {
        Meter(
            label: ServerMetric.httpConnections.rawValue, dimensions: [("listener", listener.rawValue)],
            factory: self.factory
        ).set(count)
    }

    func countHTTPClosing(_ listener: Listener, _ reason: HTTPConnections.Closing) {
        self.count(.httpClosed, [("listener", listener.rawValue), ("reason", reason.rawValue)])
    }

    func countAcceptFailure(_ listener: Listener) { self.count(.acceptFailures, [("listener", listener.rawValue)]) }

    private func count(_ metric: ServerMetric, _ dimensions: [(String, String)]) {
        Counter(label: metric.rawValue, dimensions: dimensions, factory: self.factory).increment()
    }
}

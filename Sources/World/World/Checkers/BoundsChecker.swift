// Memory: no queue grows without bound while things break, and once all is quiet only what waits for a reason is left.
// The bounds are those of docs/inside/simulation-checks.md.
import APNsClientCore
import ClientCore
import OrderedCollections
import ServerCore
import TidingsModel

struct WorldLoad: Hashable {
    struct Phone: Hashable {
        var key: DeviceKey
        /// A silent push has woken the app, which has 30 seconds to catch up (ios-delivery.md §7.1); its last frames
        /// take as long.
        var isWoken = false
        /// Nil where nobody is signed in or signing out.
        var client: ClientLoad?
        var holdsTask = false
        var pushesAtWork = 0
        /// The most answers one of them waits for, of the server and of the notification centre.
        var waits = 0
        var posts = 0
        var ledger = 0
    }

    var server: ServerLoad?
    /// The load of each APNs client of the server.
    var pools: [APNsDispatcher.Load] = []
    /// The number of clients that wait for their last answers.
    var retiredPools = 0
    var activeCredentials = 0
    var connections = 0
    var apiRequests = 0
    var hasHostileClients = false
    var people = 0
    /// Legs the store keeps for later; only counted when it is quiet.
    var keptLegs = 0
    /// All has healed, and no phone has been in the foreground for minutes.
    var isQuiet = false
    var phones: [Phone] = []

    var poolRequests: Int { self.pools.reduce(0) { $0 + $1.requests } }
}

struct BoundsChecker: Checker {
    static let kinds = FactKinds(.written, .acknowledged, .refused, .refusedWrite, .measured)

    /// Commands the store has not answered: the windows of a session (64 sends, 4 syncs, 16 requests, 16 others),
    /// what each device's legs and cursors lead to, what each person's loading asks, what a backend leads to, and
    /// each request of the HTTP API, of which many may come in one instant.
    static func backlog(_ server: ServerLoad, apiRequests: Int) -> Int {
        100 * server.sessions + 16 * (server.devices + 1) + server.legs + server.people + apiRequests
    }
    /// Ends of legs that hostile clients' messages of a minute bring about on all their devices, if the disk takes as
    /// long.
    static let hostileEnds =
        World.hostilePeople.count * AbuseChecker.messagesPerMinute * AbuseChecker.devices
    /// For each person there is, and as many for the lanes.
    static let timersPerPerson = 64
    /// The lists of the APNs client are cleaned up before what has ended is more than what has not, and 1,024 entries
    /// of each.
    static func listed(_ pool: APNsDispatcher.Load) -> Int {
        8 * pool.requests + 4 * (pool.heldTokens + pool.connections) + 3 * 1_024
    }
    /// Four that take requests, and those that still wait for an answer.
    static let connectionsToAPNs = 8
    /// Requests of the app, and of the client itself.
    static let requests = 128
    static let unsettled = 456
    static let wakes = 16
    static let pushesAtWork = 32
    /// A receipt for the push and for each of the 20 messages an extension may post, and the question for them.
    static let waits = 22
    static let posts = 20

    /// Messages of each device that the server has neither accepted nor refused.
    private var unanswered: OrderedDictionary<DeviceKey, Set<ClientMessageID>> = [:]
    /// Devices whose store has refused a write: they may send again what the server has accepted.
    private var refused: Set<DeviceKey> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .written(let draft, let key): self.unanswered[key, default: []].insert(draft.clientMessageID)
        case .acknowledged(let message, let key): self.unanswered[key]?.remove(message.clientMessageID)
        case .refused(let draft, _, let key): self.unanswered[key]?.remove(draft.clientMessageID)
        case .refusedWrite(let key): self.refused.insert(key)
        case .measured(let load):
            if let server = load.server { self.check(server, load, state, into: &findings) }
            self.checkPools(load, into: &findings)
            for pool in load.pools { self.check(pool, load, into: &findings) }
            for phone in load.phones { self.check(phone, isQuiet: load.isQuiet && !phone.isWoken, into: &findings) }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(_ server: ServerLoad, _ load: WorldLoad, _ state: CheckerState, into findings: inout Findings) {
        func limit(_ what: String, _ count: Int, _ most: Int) { findings.limit("the server", what, count, most) }
        limit("sessions", server.sessions, load.connections)
        limit("people", server.people, load.people)
        limit("pushes", server.pushes, state.committed.devices.count)
        limit("devices in lanes", server.queued, server.devices)
        let backlog =
            Self.backlog(server, apiRequests: load.apiRequests) + (load.hasHostileClients ? Self.hostileEnds : 0)
        limit("commands of the store", server.storeBacklog, backlog)
        limit("timers", server.timers, Self.timersPerPerson * (load.people + 1))
        guard load.isQuiet else { return }
        // Apple holds silent pushes back as long as it likes: one may come, or come again, just before.
        let woken = load.phones.count(where: \.isWoken)
        limit("sessions when all is quiet", server.sessions, woken)
        limit("pushes when all is quiet", server.pushes, 0)
        limit("devices in lanes when all is quiet", server.queued, 0)
        // Made-up tokens wait until APNs accepts a push of the lane, and on a quiet evening there is none.
        let madeUp = load.hasHostileClients ? World.hostilePeople.count * AbuseChecker.devices : 0
        limit("devices with doubtful tokens when all is quiet", server.doubted, madeUp)
        if woken == 0 { limit("commands of the store when all is quiet", server.storeBacklog, 0) }
        limit("listeners when all is quiet", server.listeners, 0)
        limit("legs when all is quiet", server.legs, load.keptLegs)
        limit("people when all is quiet", server.people, server.busyPeople)
    }

    private func checkPools(_ load: WorldLoad, into findings: inout Findings) {
        func limit(_ what: String, _ count: Int, _ most: Int) { findings.limit("the server", what, count, most) }
        limit("requests of its APNs clients", load.poolRequests, load.server?.pushes ?? 0)
        limit("APNs clients", load.pools.count - load.retiredPools, load.activeCredentials)
        if load.isQuiet { limit("retired APNs clients when all is quiet", load.retiredPools, 0) }
    }

    private func check(_ pool: APNsDispatcher.Load, _ load: WorldLoad, into findings: inout Findings) {
        func limit(_ what: String, _ count: Int, _ most: Int) { findings.limit("an APNs client", what, count, most) }
        limit("list entries", pool.listed, Self.listed(pool))
        limit("connections", pool.connections, Self.connectionsToAPNs)
        limit("tokens held back", pool.heldTokens, load.phones.count)
        if load.isQuiet { limit("requests when all is quiet", pool.requests, 0) }
        if load.isQuiet { limit("connections when all is quiet", pool.connections, 1) }
    }

    private func check(_ phone: WorldLoad.Phone, isQuiet: Bool, into findings: inout Findings) {
        func limit(_ what: String, _ count: Int, _ most: Int) { findings.limit("\(phone.key)", what, count, most) }
        limit("pushes at work", phone.pushesAtWork, isQuiet ? 0 : Self.pushesAtWork)
        limit("answers its extension waits for", phone.waits, Self.waits)
        limit("posts of its extension", phone.posts, Self.posts)
        limit("messages in its ledger", phone.ledger, Ledger.capacity + Ledger.slack)
        guard let client = phone.client else { return }
        if client.outbox > 0, !self.refused.contains(phone.key) {
            limit("messages to send", client.outbox, self.unanswered[phone.key]?.count ?? 0)
            if isQuiet { limit("messages to send when all is quiet", client.outbox, 0) }
        }
        limit("requests", client.requests, isQuiet ? 0 : Self.requests)
        limit("runs of entries to settle", client.unsettled, isQuiet ? 0 : Self.unsettled)
        limit("notifications to decide", client.decisions, isQuiet ? 0 : Self.unsettled)
        limit("wakes", client.wakes, isQuiet ? 0 : Self.wakes)
    }
}

extension Findings {
    fileprivate mutating func limit(_ owner: @autoclosure () -> String, _ what: String, _ count: Int, _ most: Int) {
        if count > most { self.add("bounds", "\(owner()) holds \(count) \(what), \(most) at most may be") }
    }
}

import APNsClientCore
import APNsCore
import APNsModel
import OrderedCollections
import ServerCore
import TidingsModel

/// How a client of the server shows Apple who it is.
enum AppleIdentity: Hashable {
    case key(keyID: String)
    case certificate(ClientCertificateFacts)

    var certificate: ClientCertificateFacts? {
        switch self {
        case .key: nil
        case .certificate(let facts): facts
        }
    }
}

/// The APNs clients of one life of the server, and the routes that lead to them.
struct WorldSenders {
    var routes = PushRoutes()
    /// The clients that take pushes.
    var open: [PushClient: UInt64] = [:]
    /// By number: the open ones, and those that wait for their last answers.
    var pools: OrderedDictionary<UInt64, WorldPool> = [:]
    /// In this life.
    var made = 0
}

// What the server's shell does with its APNs clients: each is made by its first push, and closed when its credential is used no longer and
// what it has is answered.
extension World {
    mutating func startSenders() {
        self.senders = WorldSenders()
        self.followCredentials()
    }

    /// The server's process has ended: its sockets are closed, and nobody knows any more what was under way.
    mutating func closeSenders() {
        guard let senders = self.senders else { return }
        self.senders = nil
        self.emit(.pool(.lost))
        for pool in senders.pools.values {
            for number in pool.links.values.sorted() { self.hangUp(number) }
        }
    }

    /// The server's core wants a push sent.
    mutating func send(_ request: APNsRequest, for push: PushID, of app: AppID) {
        self.appendTrace("push \(request.collapseID ?? "-") to \(request.token)")
        do throws(InvalidField) {
            try request.validate()
        } catch {
            self.checkers.foundBug("a push breaks a rule of APNs: \(error)")
        }
        let lane = PushLane(app: app, environment: request.environment, topic: request.topic)
        let wall = self.serverNow.wall
        let (client, effects) = self.senders?.routes.client(for: lane, at: wall) ?? (nil, [])
        self.carryOut(effects)
        guard let client, let pool = self.openedPool(of: client) else {
            self.appendTrace("there is no credential for \(lane)")
            self.emit(.reached(.missingCredentials))
            return self.plan(.server(life: self.life, .credentialMissing(push)), after: 0)
        }
        self.submitRequest(request, for: push, to: pool)
    }

    private mutating func openedPool(of client: PushClient) -> WorldPool? {
        if let number = self.senders?.open[client] { return self.senders?.pools[number] }
        guard let identity = self.credentials.identity(of: client.credential) else {
            self.checkers.foundBug("a push is to go out with \(client.credential), which is gone")
            return nil
        }
        let made = self.senders?.made ?? 0
        // The first client of a life draws what it draws where there are no others.
        let chance = SplitMix64(seed: self.options.seed, stream: .pool, draw: self.life + 1_000_000 * made)
        self.lastPool += 1
        let pool = WorldPool(self.lastPool, client, identity, chance: chance)
        self.senders?.made = made + 1
        self.senders?.open[client] = pool.number
        self.senders?.pools[pool.number] = pool
        // A server that starts is waited for as long.
        if made > 0 { self.emit(.held(until: self.time + self.connectingTime, on: nil)) }
        return pool
    }

    /// The app's records are these now.
    mutating func followCredentials() {
        guard self.senders != nil, let app = self.credentials.app else { return }
        self.emit(.pool(.active(self.credentials.active)))
        let wall = self.serverNow.wall
        let effects = self.senders?.routes.follow(app, at: wall) ?? []
        self.carryOut(effects)
    }

    mutating func reportLanes(of pool: WorldPool, _ topic: String?, _ state: LaneState) {
        // What a retired one says is not about the one that may be in its place.
        guard !pool.isRetired else { return }
        let wall = self.serverNow.wall
        let effects = self.senders?.routes.report(of: pool.client, topic: topic, state, at: wall) ?? []
        self.carryOut(effects)
    }

    mutating func noteAccepted(by pool: WorldPool, topic: String) {
        if pool.identity.certificate != nil { self.emit(.reached(.certificatePushes)) }
        self.carryOut(self.senders?.routes.accepted(by: pool.client, topic: topic) ?? [])
    }

    private mutating func carryOut(_ effects: [PushRoutes.Effect]) {
        for effect in effects {
            switch effect {
            case .report(let lane, let state):
                self.plan(
                    .server(life: self.life, .laneReported(lane.app, lane.environment, topic: lane.topic, state)),
                    after: 0)
            // The store of the server would have it once its disk is synced; here it is at once, which changes no promise: a note that is
            // lost in a crash is made again by the next push.
            case .note(_, let change): self.changeCredentials(change)
            case .retire(let client):
                guard let number = self.senders?.open.removeValue(forKey: client),
                    let pool = self.senders?.pools[number]
                else { break }
                self.appendTrace("the client of \(client.credential) is retired")
                pool.isRetired = true
                self.closeIfRetired(pool)
            }
        }
    }

    mutating func closeIfRetired(_ pool: WorldPool) {
        guard pool.isRetired, pool.requests.isEmpty else { return }
        self.handle(APNsDispatcher.Event.shutdownRequested, of: pool.number)
    }

    mutating func forgetPool(_ pool: WorldPool) {
        for number in pool.links.values.sorted() { self.hangUp(number) }
        self.senders?.pools[pool.number] = nil
    }
}

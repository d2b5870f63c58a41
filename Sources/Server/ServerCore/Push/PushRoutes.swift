package import APNsModel
package import StoreModel
package import TidingsModel

/// One of the server's clients of APNs: there is one for each active credential and side that pushes go out with.
package struct PushClient: Hashable, Sendable, Comparable {
    package var app: AppID
    /// The id of the credential.
    package var credential: String
    package var environment: PushEnvironment

    package init(_ app: AppID, credential: String, _ environment: PushEnvironment) {
        self.app = app
        self.credential = credential
        self.environment = environment
    }

    package static func < (left: PushClient, right: PushClient) -> Bool {
        (left.app, left.credential, left.environment.rawValue) < (
            right.app, right.credential, right.environment.rawValue
        )
    }
}

/// Which client carries the pushes of a lane. A lane goes with one client at a time, so that what the client reports of its credential holds
/// for the lane; when the credentials change, the lane may go over to another, whose reports hold from then on.
package struct PushRoutes: Sendable {
    package enum Effect: Hashable, Sendable {
        /// To the core.
        case report(PushLane, LaneState)
        /// It gets no more pushes; close it when those that it has are answered.
        case retire(PushClient)
        /// To the store: what APNs has shown of a credential.
        case note(AppID, PushCredentialChange)
    }

    private struct Route: Sendable {
        var client: PushClient
        /// Wall time at which its credential expires.
        var until: Int64
    }

    private var credentials: [AppID: [PushCredentialRecord]] = [:]
    private var routes: [PushLane: Route] = [:]
    /// Lanes that no client can carry.
    private var stranded: Set<PushLane> = []
    /// The reports of clients that carry or have carried a lane; by topic, nil for all.
    private var reports: [PushClient: [String?: LaneState]] = [:]

    package init() {}

    // MARK: Credentials

    /// The app's credentials are these now.
    package mutating func follow(_ app: ManagedApp, at wall: Int64) -> [Effect] {
        self.credentials[app.id] = app.pushCredentials
        var effects: [Effect] = []
        // tidy: order does not leave: the lanes are sorted
        for lane in self.routes.keys.filter({ $0.app == app.id }).sorted() {
            self.reroute(lane, at: wall, &effects)
        }
        for lane in self.stranded.filter({ $0.app == app.id }).sorted() { self.reroute(lane, at: wall, &effects) }
        let active = Set(app.pushCredentials.filter { $0.state == .active }.map(\.id))
        // tidy: order does not leave: the clients are sorted
        for client in self.reports.keys.filter({ $0.app == app.id }).sorted() where !active.contains(client.credential)
        {
            self.reports[client] = nil
            effects.append(.retire(client))
        }
        return effects
    }

    // MARK: Pushes

    /// The client that a push goes out with; nil if none can carry it.
    package mutating func client(for lane: PushLane, at wall: Int64) -> (client: PushClient?, effects: [Effect]) {
        if let route = self.routes[lane], wall < route.until { return (route.client, []) }
        var effects: [Effect] = []
        self.reroute(lane, at: wall, &effects)
        return (self.routes[lane]?.client, effects)
    }

    /// The client of the lane cannot be used; other credentials may bring another.
    package mutating func strand(_ lane: PushLane) {
        self.routes[lane] = nil
        self.stranded.insert(lane)
    }

    private mutating func reroute(_ lane: PushLane, at wall: Int64, _ effects: inout [Effect]) {
        let before = self.routes[lane]?.client
        let type = APNsPushType.types(ofTopic: lane.topic).first ?? .alert
        let choice = PushCredentialChoice(environment: lane.environment, topic: lane.topic, type: type)
        guard let record = choice.choose(from: self.credentials[lane.app] ?? [], at: wall) else {
            // The core holds it once it is told that there is no credential, which the next push shows.
            self.routes[lane] = nil
            self.stranded.insert(lane)
            return
        }
        let client = PushClient(lane.app, credential: record.id, lane.environment)
        self.routes[lane] = Route(client: client, until: record.expiresAt ?? .max)
        let wasStranded = self.stranded.remove(lane) != nil
        if self.reports[client] == nil { self.reports[client] = [:] }
        let state = self.state(of: lane, with: client)
        // A lane that is new is usable unless something else is said.
        if before != client, before != nil || wasStranded || state != .usable {
            effects.append(.report(lane, state))
        }
    }

    private func state(of lane: PushLane, with client: PushClient) -> LaneState {
        let reports = self.reports[client] ?? [:]
        return .worst(of: [reports[nil], reports[lane.topic]].compactMap { $0 })
    }

    // MARK: What clients say

    /// Reports of a client that has been retired are about nothing any more.
    package mutating func report(
        of client: PushClient, topic: String?, _ state: LaneState, at wall: Int64
    ) -> [Effect] {
        guard self.reports[client] != nil else { return [] }
        self.reports[client]?[topic] = state == .usable ? nil : state
        var effects: [Effect] = []
        // tidy: order does not leave: the lanes are sorted
        for lane in self.routes.keys.sorted()
        where self.routes[lane]?.client == client && (topic ?? lane.topic) == lane.topic {
            effects.append(.report(lane, self.state(of: lane, with: client)))
        }
        if topic == nil, case .paused(let outage) = state, outage.cause == .credential {
            let record = self.record(of: client)
            let known = record?.proof(in: client.environment)
            let isNews = known?.isGood != false || known?.reason != outage.reason
            if record != nil, isNews || self.isInTurn(client) {
                let proof = PushCredentialRecord.Proof(
                    client.environment, isGood: false, reason: outage.reason, at: wall)
                effects.append(.note(client.app, .noteProof(id: client.credential, proof)))
            }
        }
        return effects
    }

    /// Returns true if lanes go with the client, and another credential could be next: the time of its refusal decides between them.
    private func isInTurn(_ client: PushClient) -> Bool {
        // tidy: order does not leave: is there one
        self.routes.values.contains { $0.client == client }
            && self.credentials[client.app]?.contains { $0.state == .active && $0.id != client.credential } == true
    }

    /// A push was accepted, which shows that credential and topic are good.
    package func accepted(by client: PushClient, topic: String) -> [Effect] {
        guard let record = self.record(of: client) else { return [] }
        let isKnown =
            record.proof(in: client.environment)?.isGood == true && record.isProven(topic, in: client.environment)
        let change = PushCredentialChange.noteAccepted(id: record.id, topic: topic, client.environment)
        return isKnown ? [] : [.note(client.app, change)]
    }

    private func record(of client: PushClient) -> PushCredentialRecord? {
        self.credentials[client.app]?.first { $0.id == client.credential }
    }
}

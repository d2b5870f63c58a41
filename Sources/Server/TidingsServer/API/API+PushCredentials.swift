import APNsClient
import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// An app's push credentials (docs/server/credentials.md). Files are taken, and never given out again.
extension API {
    static let pushCredentialRoutes: [Route] = [
        .managed(.get, "push-credentials", .view, API.pushCredentials),
        .managed(.post, "push-credentials", .administer, API.addPushCredential),
        .managed(.get, "push-credentials/{id}", .view, API.pushCredential),
        .managed(.delete, "push-credentials/{id}", .administer, API.removeCredential),
        .managed(.post, "push-credentials/{id}/prove", .administer, API.proveCredential),
        .managed(.post, "push-credentials/{id}/activate", .administer, API.activate),
        .managed(.post, "push-credentials/{id}/roll-back", .administer) { api in
            { try await api.changePushCredential($0, $1, $2) { .rollBack(id: $0) } }
        },
        .managed(.post, "push-credentials/{id}/retire", .administer) { api in
            { try await api.changePushCredential($0, $1, $2) { .retire(id: $0) } }
        },
    ]

    private func pushCredentials(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        return .json(["push_credentials": app.pushCredentials.map(\.told)])
    }

    private func pushCredential(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        .json(try self.knownCredential(app, context).told)
    }

    private func addPushCredential(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app.id)
        guard let bytes = Base64.decode(Array(try body.string("file").utf8), isStrict: false) else {
            throw InvalidField(field: "file", rule: "must be the file's bytes in Base64")
        }
        let file = try CredentialFile(
            bytes, name: try body.optionalString("name"), password: try body.optionalString("password"),
            keyID: try body.optionalString("key_id"), teamID: try body.optionalString("team_id"))
        let topics = try body.strings("topics", default: [])
        var environments: [PushEnvironment]?
        if let words = try body.optionalStrings("environments") {
            var named: [PushEnvironment] = []
            for (index, word) in words.enumerated() { named.append(try self.word(word, "environments[\(index)]")) }
            environments = named
        }
        try body.refuseUnknown()
        let now = Clocks.now().wall
        if let fault = file.facts.fault(at: now) { throw fault }
        let record = try PushCredentialRecord(
            file, of: app.id, topics: topics, environments: environments, keys: self.apps.keys, at: now)
        context.note.change = record.id
        let changed = try await self.changedApp(context, .changePushCredential(app.id, .add(record)), once, of: app)
        // That of the first request, if this one repeats it.
        let added = changed.pushCredentials.first { $0.fingerprint == record.fingerprint }
        return .json((added ?? record).told, status: .created)
    }

    private func removeCredential(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownCredential(app, context)
        _ = try await self.changedApp(context, .changePushCredential(app.id, .remove(id: record.id)))
        return Response(status: .noContent)
    }

    private func activate(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownCredential(app, context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        let change = PushCredentialChange.activate(
            id: record.id, inPlaceOf: try body.optionalString("in_place_of"),
            unproven: try body.bool("unproven", default: false))
        try body.refuseUnknown()
        return try await self.response(context, to: change, of: record, app, once)
    }

    private func changePushCredential(
        _ app: ManagedApp, _ request: Request, _ context: Context, _ change: (String) -> PushCredentialChange
    ) async throws -> Response {
        let record = try self.knownCredential(app, context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        try body.refuseUnknown()
        return try await self.response(context, to: change(record.id), of: record, app, once)
    }

    private func response(
        _ context: Context, to change: PushCredentialChange, of record: PushCredentialRecord, _ app: ManagedApp,
        _ once: Once?
    ) async throws -> Response {
        let changed = try await self.changedApp(context, .changePushCredential(app.id, change), once, of: app)
        return .json((changed.pushCredentials.first { $0.id == record.id } ?? record).told)
    }

    // MARK: - Proof

    private func proveCredential(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownCredential(app, context)
        let (body, once) = try await self.keyedBody(request, context, app.id)
        let environment: PushEnvironment = try self.word(try body.string("environment"), "environment")
        let topic = try body.optionalString("topic")
        let token = try body.optionalString("token").map { PushToken($0.lowercased()) }
        try body.refuseUnknown()
        guard let topic = topic ?? record.topics.first else {
            throw InvalidField(field: "topic", rule: "must be present: the key is for each topic of its team")
        }
        let client = PushClient(app.id, credential: record.id, environment)
        let (clients, credential) = (try self.clients.orBug(), try self.apps.pushCredential(client).orBug())
        let proof = try await clients.prove(credential, in: environment, topic: topic, token: token)
        var noted = app
        for change in Self.changes(by: proof, of: record.id, topic, environment) {
            noted = try await self.changedApp(context, .changePushCredential(app.id, change), once, of: app)
        }
        return .json([
            "environment": environment, "topic": topic, "verdict": proof.verdict, "reason": proof.reason,
            "meaning": proof.meaning,
            "push_credential": (noted.pushCredentials.first { $0.id == record.id } ?? record).told,
        ])
    }

    /// Returns the changes by a proof; none if it proves nothing.
    private static func changes(
        by proof: CredentialProof, of id: String, _ topic: String, _ environment: PushEnvironment
    ) -> [PushCredentialChange] {
        let isGood: Bool
        switch proof.verdict {
        case .undecided: return []
        case .topicProven: return [.noteAccepted(id: id, topic: topic, environment)]
        case .proven: isGood = true
        case .refused: isGood = false
        }
        return [.noteProof(id: id, .init(environment, isGood: isGood, reason: proof.reason, at: Clocks.now().wall))]
    }

    private func knownCredential(_ app: ManagedApp, _ context: Context) throws -> PushCredentialRecord {
        try Self.record(
            "id", context, among: app.pushCredentials, by: \.id, else: .unknownPushCredential,
            "names no push credential of the app")
    }
}

extension PushCredentialRecord {
    /// Nothing of it is a secret.
    var told: JSONMembers {
        [
            "id": self.id, "kind": self.kind, "state": self.state, "fingerprint": self.fingerprint,
            "key_id": self.keyID, "team_id": self.teamID, "topics": self.topics, "environments": self.environments,
            "created_at": self.createdAt, "expires_at": self.expiresAt, "replaces": self.replaces,
            "proofs": self.proofs.objects { proof in
                ["environment": proof.environment, "good": proof.isGood, "reason": proof.reason, "at": proof.at]
            },
            "proven_topics": self.provenTopics.objects { proven in
                ["topic": proven.topic, "environment": proven.environment, "at": proven.at]
            },
        ]
    }
}

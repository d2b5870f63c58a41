import APNsClient
import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// What an app's pushes go out with (docs/credentials.md). Files are taken, and never given out again.
extension API {
    func addPushCredentials(to app: RouterGroup<Context>) {
        let all = app.group("push-credentials")
        all.get { try await self.pushCredentials($0, $1) }
        all.post { try await self.addPushCredential($0, $1) }
        all.get("{id}") { try await self.pushCredential($0, $1) }
        all.delete("{id}") { try await self.removePushCredential($0, $1) }
        all.post("{id}/prove") { try await self.provePushCredential($0, $1) }
        all.post("{id}/activate") { try await self.activatePushCredential($0, $1) }
        all.post("{id}/roll-back") { request, context in
            try await self.changePushCredential(request, context) { .rollBack(id: $0) }
        }
        all.post("{id}/retire") { request, context in
            try await self.changePushCredential(request, context) { .retire(id: $0) }
        }
    }

    private func pushCredentials(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view)
        let app = try self.known(context)
        return .json(["push_credentials": .array(app.pushCredentials.map(\.told))])
    }

    private func pushCredential(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view)
        return .json(try self.knownCredential(context).record.told)
    }

    private func addPushCredential(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
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

    private func removePushCredential(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownCredential(context)
        _ = try await self.changedApp(context, .changePushCredential(app.id, .remove(id: record.id)))
        return Response(status: .noContent)
    }

    private func activatePushCredential(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownCredential(context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        let change = PushCredentialChange.activate(
            id: record.id, inPlaceOf: try body.optionalString("in_place_of"),
            unproven: try body.bool("unproven", default: false))
        try body.refuseUnknown()
        return try await self.response(context, to: change, of: record, app, once)
    }

    private func changePushCredential(
        _ request: Request, _ context: Context, _ change: (String) -> PushCredentialChange
    ) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownCredential(context)
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

    private func provePushCredential(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownCredential(context)
        let (body, once) = try await self.keyedBody(request, context, app.id)
        let environment: PushEnvironment = try self.word(try body.string("environment"), "environment")
        let topic = try body.optionalString("topic")
        let token = try body.optionalString("token").map { PushToken($0.lowercased()) }
        try body.refuseUnknown()
        guard let topic = topic ?? record.topics.first else {
            throw InvalidField(field: "topic", rule: "must be present: the key is for each topic of its team")
        }
        let client = PushClient(app.id, credential: record.id, environment)
        guard let clients = self.clients, let credential = self.apps.pushCredential(client) else {
            throw APIProblem.bug
        }
        let proof = try await clients.prove(credential, in: environment, topic: topic, token: token)
        var noted = app
        for change in Self.changes(by: proof, of: record.id, topic, environment) {
            noted = try await self.changedApp(context, .changePushCredential(app.id, change), once, of: app)
        }
        return .json([
            "environment": .string(environment.rawValue), "topic": .string(topic),
            "verdict": .string(proof.verdict.rawValue), "reason": .optional(proof.reason),
            "meaning": .string(proof.meaning),
            "push_credential": (noted.pushCredentials.first { $0.id == record.id } ?? record).told,
        ])
    }

    /// What nothing is known by is not noted.
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
        return [
            .noteProof(id: id, .init(environment, isGood: isGood, reason: proof.reason, at: Clocks.now().wall))
        ]
    }

    private func knownCredential(_ context: Context) throws -> (app: ManagedApp, record: PushCredentialRecord) {
        let app = try self.known(context)
        let id = try Self.parameter("id", context)
        guard let record = app.pushCredentials.first(where: { $0.id == id }) else {
            throw APIProblem(.unknownPushCredential, field: "id", rule: "names no push credential of the app")
        }
        return (app, record)
    }
}

extension PushCredentialRecord {
    /// Nothing of it is a secret.
    var told: JSONValue {
        [
            "id": .string(self.id), "kind": .string(self.kind.rawValue), "state": .string(self.state.rawValue),
            "fingerprint": .string(self.fingerprint), "key_id": .optional(self.keyID),
            "team_id": .optional(self.teamID), "topics": .array(self.topics.map { .string($0) }),
            "environments": .array(self.environments.map { .string($0.rawValue) }),
            "created_at": .int(self.createdAt), "expires_at": .optional(self.expiresAt),
            "replaces": .optional(self.replaces),
            "proofs": .array(
                self.proofs.map { proof in
                    [
                        "environment": .string(proof.environment.rawValue), "good": .bool(proof.isGood),
                        "reason": .optional(proof.reason), "at": .int(proof.at),
                    ]
                }),
            "proven_topics": .array(
                self.provenTopics.map { proven in
                    [
                        "topic": .string(proven.topic), "environment": .string(proven.environment.rawValue),
                        "at": .int(proven.at),
                    ]
                }),
        ]
    }
}

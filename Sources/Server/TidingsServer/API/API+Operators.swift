import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Who runs the server, and what each of them may do. The first one is added on the server's own machine (`OperatorKeys`).
extension API {
    static let operatorRoutes: [Route] = [
        .operators(.get, "v1/operators", .view, query: Paging.query, API.operators),
        .operators(.post, "v1/operators", .administer, API.addOperator),
        .operators(.patch, "v1/operators/{name}", .administer, API.setOperatorRole),
        .operators(.post, "v1/operators/{name}/rotate", .administer, API.rotateOperator),
        .operators(.delete, "v1/operators/{name}", .administer, hasBody: true, API.removeOperator),
        .operators(.get, "v1/server", .administer, API.server),
    ]

    private func operators(_ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let (page, next) = try paging.page(of: self.apps.operators, by: \.name, text: \.self, read: { $0 })
        return .json(["operators": page.map { $0.told(self.apps) }, "next": next])
    }

    private func addOperator(_ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, Self.server)
        let name = try body.string("name")
        let role: OperatorRole = try self.word(try body.string("role"), "role")
        try await self.confirm(body, request, context)
        context.note.change = "\(name) \(role.rawValue)"
        let (key, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        let record = OperatorRecord(
            name: name, role: role, hashes: KeyHashes(hash), createdAt: Clocks.now().wall)
        _ = try await self.changed(context, .addOperator(record), once, draws: true)
        return .json(["name": name, "role": role, "key": key], status: .created)
    }

    private func setOperatorRole(_ request: Request, _ context: Context) async throws -> Response {
        let name = try self.knownOperator(context).name
        let body = try await self.body(request)
        let role: OperatorRole = try self.word(try body.string("role"), "role")
        try await self.confirm(body, request, context)
        context.note.change = role.rawValue
        let changed = try await self.changed(context, .setOperatorRole(name: name, role))
        let record = try (changed?.ofOperator).orBug()
        return .json(record.told(self.apps))
    }

    private func rotateOperator(_ request: Request, _ context: Context) async throws -> Response {
        let name = try self.knownOperator(context).name
        let (end, once) = try await self.replacement(request, context, Self.server, usual: 0)
        let (key, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        let change = ControlChange.rotateOperator(name: name, hash: hash, previousEndsAt: end)
        _ = try await self.changed(context, change, once, draws: true)
        return .json(["name": name, "key": key])
    }

    private func removeOperator(_ request: Request, _ context: Context) async throws -> Response {
        let name = try self.knownOperator(context).name
        try await self.confirm(try await self.optionalBody(request), request, context)
        _ = try await self.changed(context, .removeOperator(name: name))
        return Response(status: .noContent)
    }

    /// The operator of the path.
    /// - Throws: status 404.
    func knownOperator(_ context: Context) throws -> OperatorRecord {
        guard let record = self.apps.operatorNamed(try Self.parameter("name", context)) else {
            throw APIProblem(.unknownOperator, field: "name", rule: "names no operator of this server")
        }
        return record
    }

    private func server(_ request: Request, _ context: Context) async throws -> Response {
        guard let status = self.status else { throw APIProblem.notReady }
        let now = Clocks.now().wall
        return .json([
            "started_at": status.startedAt, "uptime_ms": max(0, now - status.startedAt), "version": self.version,
            "schema": status.schema,
            "storage": JSONMembers([
                "state": self.readiness.isStorageFull ? "full" : "ok", "database_bytes": status.databaseBytes,
                "free_bytes": self.disk.free,
            ]),
            "backup": status.backups,
        ])
    }
}

extension OperatorRecord {
    /// Nothing of it is a secret.
    fileprivate func told(_ registry: AppRegistry) -> JSONMembers {
        [
            "name": self.name, "role": self.role, "created_at": self.createdAt,
            "last_used_at": registry.lastUse(of: .ofOperator(name: self.name), stored: self.lastUsedAt),
            "previous_ends_at": self.hashes.previous?.endsAt, "has_password": self.password != nil,
            "sessions": self.sessions.count,
        ]
    }
}

import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Who runs the server, and what each of them may do. The first one is added on the server's own machine (`OperatorKeys`).
extension API {
    func addOperators(to router: Router<Context>) {
        let operators = router.group("v1/operators")
        operators.get { try await self.operators($0, $1) }
        operators.post { try await self.addOperator($0, $1) }
        operators.patch("{name}") { try await self.setOperatorRole($0, $1) }
        operators.post("{name}/rotate") { try await self.rotateOperator($0, $1) }
        operators.delete("{name}") { try await self.removeOperator($0, $1) }
    }

    private func operators(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view, query: Paging.query)
        let paging = try Paging(request)
        let (page, next) = try paging.page(of: self.apps.operators, by: \.name, text: \.self, read: { $0 })
        return .json(["operators": .array(page.map { $0.told(self.apps) }), "next": next])
    }

    private func addOperator(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (body, once) = try await self.keyedBody(request, context, Self.server)
        let name = try body.string("name")
        let role: OperatorRole = try self.word(try body.string("role"), "role")
        try await self.confirm(body, request, context)
        context.note.change = "\(name) \(role.rawValue)"
        let (key, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        let record = OperatorRecord(
            name: name, role: role, hashes: KeyHashes(hash), createdAt: Clocks.now().wall)
        _ = try await self.changed(context, .addOperator(record), once, draws: true)
        return .json(
            ["name": .string(name), "role": .string(role.rawValue), "key": .string(key)], status: .created)
    }

    private func setOperatorRole(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let name = try self.knownOperator(context).name
        let body = try await self.body(request)
        let role: OperatorRole = try self.word(try body.string("role"), "role")
        try await self.confirm(body, request, context)
        context.note.change = role.rawValue
        guard case .ofOperator(let record?)? = try await self.changed(context, .setOperatorRole(name: name, role))
        else {
            throw APIProblem.bug
        }
        return .json(record.told(self.apps))
    }

    private func rotateOperator(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let name = try self.knownOperator(context).name
        let (body, once) = try await self.keyedBody(request, context, Self.server, mayBeEmpty: true)
        let end = try Self.overlapEnd(body, usual: 0)
        try await self.confirm(body, request, context)
        let (key, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        let change = ControlChange.rotateOperator(name: name, hash: hash, previousEndsAt: end)
        _ = try await self.changed(context, change, once, draws: true)
        return .json(["name": .string(name), "key": .string(key)])
    }

    private func removeOperator(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
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
}

extension OperatorRecord {
    /// Nothing of it is a secret.
    fileprivate func told(_ registry: AppRegistry) -> JSONValue {
        [
            "name": .string(self.name), "role": .string(self.role.rawValue), "created_at": .int(self.createdAt),
            "last_used_at": .optional(registry.lastUse(of: .ofOperator(name: self.name), stored: self.lastUsedAt)),
            "previous_ends_at": .optional(self.hashes.previous?.endsAt),
            "has_password": .bool(self.password != nil), "sessions": .int(Int64(self.sessions.count)),
        ]
    }
}

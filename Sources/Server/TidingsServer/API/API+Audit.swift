import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// Who has changed what of apps and operators, and what operators have done in apps (docs/api.md, "Who has changed what").
extension API {
    func addAudit(to router: Router<Context>) {
        router.get("v1/audit") { try await self.audit($0, $1) }
        router.get("v1/apps/{app}/audit") { try await self.appAudit($0, $1) }
    }

    private func audit(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer, query: ["app", "actor"] + Paging.query)
        let app = try request.member("app").map { text throws(InvalidField) in
            try AppID.validated(text, field: "app")
        }
        return try await self.page(AuditQuestion(app: app), request, of: ["app", "actor"]) { $0.json }
    }

    /// Without addresses: those of operators are not the app's business.
    private func appAudit(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace, query: ["actor"] + Paging.query)
        return try await self.page(AuditQuestion(app: app), request, of: ["actor"]) { $0.withoutAddress }
    }

    private func page(
        _ question: AuditQuestion, _ request: Request, of members: [String], _ tell: (AuditRecord) -> JSONValue
    ) async throws -> Response {
        var question = question
        let paging = try Paging(request, of: members)
        question.actor = request.member("actor")
        question.before = try paging.after { Int64(digits: $0) }
        guard
            case .audit(let records, let hasMore) = try await self.result(
                of: .audit(question, limit: paging.limit))
        else { throw APIProblem.bug }
        let next = paging.next(after: records.last.map { "\($0.number)" }, hasMore: hasMore)
        return .json(["records": .array(records.map(tell)), "next": next])
    }
}

extension AuditRecord {
    fileprivate var withoutAddress: JSONValue {
        .members(self.json.members.filter { $0.0 != "address" })
    }
}

extension APIContext {
    /// The operator whose key the request has; nil for an app's, and before the key was looked at.
    var author: ControlAuthor? {
        guard case .ofOperator(let name)? = self.note.caller else { return nil }
        return ControlAuthor(.ofOperator, name: name, address: self.client.text)
    }

    /// What is kept of the call; nil for an app's own, and for one that changes nothing and shows no text.
    func audited(_ app: AppID, _ scope: APIScope, _ request: Request) throws(InvalidField) -> AuditedCall? {
        let isReading = request.method == .get || request.method == .head
        guard self.author != nil, !isReading || scope.role(for: request.method) == .content else { return nil }
        let route = (self.endpointPath ?? "").split(separator: "/").drop { $0 != "{app}" }.dropFirst()
        var subject: [String] = []
        for part in route where part.hasPrefix("{") {
            subject.append(try API.parameter(String(part.dropFirst().dropLast()), self))
        }
        if let user = request.member("user") { subject.append("user=\(user)") }
        return AuditedCall(
            app, action: "\(request.method.rawValue) \(route.joined(separator: "/"))",
            subject: subject.joined(separator: " "))
    }
}

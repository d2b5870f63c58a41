import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Who has changed what of apps and operators, and what operators have done in apps (docs/server/api-apps.md, "Who has changed what").
extension API {
    static let auditRoutes: [Route] = [
        .operators(.get, "v1/audit", .administer, query: ["app", "actor"] + Paging.query, API.audit),
        .app(.get, "audit", .trace, query: ["actor"] + Paging.query, API.appAudit),
    ]

    private func audit(_ request: Request, _ context: Context) async throws -> Response {
        let app = try request.member("app").map { try AppID.validated($0, field: "app") }
        return try await self.page(AuditQuestion(app: app), request, of: ["app", "actor"]) { $0.json }
    }

    /// Without addresses: those of operators are not the app's business.
    private func appAudit(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        return try await self.page(AuditQuestion(app: app), request, of: ["actor"]) { $0.withoutAddress }
    }

    private func page(
        _ question: AuditQuestion, _ request: Request, of members: [String], _ tell: (AuditRecord) -> JSONValue
    ) async throws -> Response {
        var question = question
        let paging = try Paging(request, of: members)
        question.actor = request.member("actor")
        question.before = try paging.after { Int64(digits: $0) }
        let (records, hasMore) = try await self.read(.readAudit(question, limit: paging.limit), \.audit)
        let next = paging.next(after: records.last.map { "\($0.number)" }, hasMore: hasMore)
        return .json(["records": records.map(tell), "next": next])
    }
}

extension AuditRecord {
    fileprivate var withoutAddress: JSONValue { .members(self.json.members.filter { $0.0 != "address" }) }
}

extension APIContext {
    /// The operator whose key the request has; nil for an app's, and before the key was looked at.
    var author: ControlAuthor? {
        guard case .ofOperator(let name)? = self.note.caller else { return nil }
        return ControlAuthor(.ofOperator, name: name, address: self.client.text)
    }

    /// Returns the record of the call; nil for an app's own, and for one that changes nothing and shows no text.
    func audited(
        _ app: AppID, _ scope: APIScope, _ request: Request, ids: [String: String] = [:]
    ) throws(InvalidField) -> AuditedCall? {
        let isReading = request.method == .get || request.method == .head
        guard self.author != nil, !isReading || scope.role(for: request.method) == .content else { return nil }
        let route = (self.endpointPath ?? "").split(separator: "/").drop { $0 != "{app}" }.dropFirst()
        var subject: [String] = []
        for part in route where part.hasPrefix("{") {
            let name = String(part.dropFirst().dropLast())
            let text = if let id = ids[name] { id } else { try API.parameter(name, self) }
            subject.append(name == "type" ? ConversationType(word: text)?.word ?? text : text)
        }
        if let user = request.member("user") { subject.append("user=\(user)") }
        return AuditedCall(
            app, action: "\(request.method.rawValue) \(route.joined(separator: "/"))",
            subject: subject.joined(separator: " "))
    }
}

import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

/// Files, as the app's backend sees them: all of the app's; and its word on each.
extension API {
    func addBackendMedia(to app: RouterGroup<Context>) {
        let group = app.group("media")
        group.get("") { try await self.mediaList($0, $1) }
        group.post("uploads") { request, context in
            try await self.tus(request, context) {
                let owner = try self.backend(request, context)
                return try await self.createUpload(
                    request, owner, try self.uploadKey(request, apiKey: context.note.caller?.idempotencyName))
            }
        }
        self.addUpload(to: group) { try self.backend($0, $1) }
        group.get("{id}") { try await self.backendDownload($0, $1) }
        group.head("{id}") { try await self.backendDownload($0, $1) }
        group.delete("{id}") { try await self.deleteMedia($0, $1) }
        group.put("{id}/verdict") { try await self.judgeMedia($0, $1) }
        app.delete("users/{user}/media") { try await self.deleteMediaOfPerson($0, $1) }
    }

    private func backend(_ request: Request, _ context: Context) throws -> MediaShelf.Owner {
        MediaShelf.Owner(try self.authorize(request, context, .media), nil)
    }

    private func backendDownload(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .media)
        return try await self.served(request, context, app: app, .backend, at: Clocks.now().wall)
    }

    private func deleteMedia(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .media)
        return try await Self.toldAsProblems {
            try await self.shelf().remove(try self.mediaID(context), of: app, .deleted) { _ in true }
            return Response(status: .noContent)
        }
    }

    private func deleteMediaOfPerson(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .media)
        let user = try self.person(context)
        return try await Self.toldAsProblems {
            try await self.shelf().removeAll(of: MediaShelf.Owner(app, user))
            return Response(status: .noContent)
        }
    }

    private func judgeMedia(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .media)
        let body = try await self.body(request)
        let verdict: MediaVerdict = try self.word(try body.string("verdict"), "verdict")
        try body.refuseUnknown()
        return try await Self.toldAsProblems {
            try await self.shelf().setVerdict(try self.mediaID(context), of: app, verdict, at: Clocks.now().wall)
            return Response(status: .noContent)
        }
    }

    private enum StateWord: String, CaseIterable {
        case unfinished
        /// Whole, and without a verdict.
        case unjudged
        case approved
        case rejected

        init(_ record: MediaRecord) {
            switch record.verdict {
            case .approved: self = .approved
            case .rejected: self = .rejected
            case nil: self = record.isWhole ? .unjudged : .unfinished
            }
        }
    }

    private func mediaList(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .media, query: ["state", "user"] + Paging.query)
        let paging = try Paging(request, of: ["state", "user"])
        let state: StateWord? = try request.member("state").map { try self.word($0, "state") }
        let user = try request.member("user").map { try UserID.validated($0, field: "user") }
        let records = try self.shelf().records(of: app) { record in
            (state == nil || StateWord(record) == state) && (user == nil || record.owner == user)
        }
        let (page, next) = try paging.page(of: records, by: \.id, text: \.rawValue) { MediaID($0) }
        return .json(["media": .array(page.map { $0.listed(StateWord($0).rawValue) }), "next": next])
    }
}

extension MediaRecord {
    fileprivate func listed(_ state: String) -> JSONValue {
        [
            "media_id": .string(self.id.rawValue), "user": .optional(self.owner?.rawValue),
            "type": .string(self.kind.rawValue), "name": .optional(self.name), "bytes": .int(self.bytes),
            "offset": .int(self.offset), "created_at": .int(self.createdAt),
            "completed_at": .optional(self.completedAt), "state": .string(state),
        ]
    }
}

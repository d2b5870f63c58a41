import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

/// Files, as the app's backend sees them: all of the app's; and its word on each.
extension API {
    static let backendMediaRoutes: [Route] = [
        .app(.get, "media", .media, query: mediaMembers + Paging.query, API.mediaList),
        .upload(.post, "v1/apps/{app}/media/uploads", by: API.backend, API.createUpload),
        .upload(.head, "v1/apps/{app}/media/uploads/{id}", by: API.backend, API.uploadState),
        .upload(.patch, "v1/apps/{app}/media/uploads/{id}", by: API.backend, API.appendToUpload),
        .upload(.delete, "v1/apps/{app}/media/uploads/{id}", by: API.backend, API.terminateUpload),
        .app(.get, "media/{id}", .media, API.backendDownload),
        .app(.head, "media/{id}", .media, API.backendDownload),
        .app(.delete, "media/{id}", .media, API.deleteMedia),
        .app(.put, "media/{id}/verdict", .media, API.judgeMedia),
        .user(.delete, "media", .media, API.deleteMediaOfPerson),
    ]

    private static let mediaMembers = ["state", "user"]

    private func backend(_ request: Request, _ context: Context) throws -> MediaShelf.Owner {
        MediaShelf.Owner(try self.authorize(request, context, .media), nil)
    }

    private func backendDownload(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        try await self.served(request, context, app: app, .backend, at: Clocks.now().wall)
    }

    private func deleteMedia(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        try await Self.toldAsProblems {
            try await self.shelf().remove(try self.mediaID(context), of: app, .deleted) { _ in true }
            return Response(status: .noContent)
        }
    }

    private func deleteMediaOfPerson(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        try await Self.toldAsProblems {
            try await self.shelf().removeAll(of: MediaShelf.Owner(user.app, user.user))
            return Response(status: .noContent)
        }
    }

    private func judgeMedia(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
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

    private func mediaList(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request, of: Self.mediaMembers)
        let state: StateWord? = try request.member("state").map { try self.word($0, "state") }
        let user = try request.member("user").map { try UserID.validated($0, field: "user") }
        let records = try self.shelf().records(of: app) { record in
            (state == nil || StateWord(record) == state) && (user == nil || record.owner == user)
        }
        let (page, next) = try paging.page(of: records, by: \.id, text: \.rawValue) { MediaID($0) }
        return .json(["media": page.map { $0.listed(StateWord($0).rawValue) }, "next": next])
    }
}

extension MediaRecord {
    fileprivate func listed(_ state: String) -> JSONMembers {
        [
            "media_id": self.id, "user": self.owner, "type": self.kind, "name": self.name, "bytes": self.bytes,
            "offset": self.offset, "created_at": self.createdAt, "completed_at": self.completedAt, "state": state,
        ]
    }
}

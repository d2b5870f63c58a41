import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    static let broadcastChannelRoutes: [Route] = [
        .app(.get, "broadcast-channels", .trace, limited: .requests, query: Self.query + Paging.query, API.channels),
        .app(.post, "broadcast-channels", .messages, limited: .requests, API.createChannel),
        .app(.get, "broadcast-channels/{channel}", .trace, limited: .requests, query: Self.query, API.channel),
        .app(
            .delete, "broadcast-channels/{channel}", .messages, limited: .requests, query: Self.query, API.deleteChannel
        ),
    ]

    private static let query = ["environment", "topic"]

    private func createChannel(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app)
        let storage: ChannelStorage = try self.word(try body.optionalString("storage") ?? "none", "storage")
        let asked = APNsChannelRequest(
            .create(storage.policy), bundleID: try body.string("topic"), requestID: Once.id(once),
            environment: try self.word(try body.string("environment"), "environment"))
        try body.refuseUnknown()
        let id = try await self.ask(asked, of: app, \.created, once: once)
        context.note.made = id.rawValue
        return .json(["id": id, "storage": storage], status: .created)
    }

    private func channels(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request, of: Self.query)
        let ids = try await self.ask(try self.asked(.list, request), of: app, \.list)
        let sorted = ids.map(\.rawValue).sorted()
        let (page, next) = try paging.page(of: sorted, by: \.self, text: \.self, read: { $0 })
        return .json(["channels": page, "next": next])
    }

    private func channel(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = APNsChannelID(try Self.parameter("channel", context))
        let channel = try await self.ask(try self.asked(.read(id), request), of: app, \.channel)
        let storage = ChannelStorage(channel.storagePolicy)
        return .json(["id": channel.id, "storage": storage])
    }

    private func deleteChannel(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = APNsChannelID(try Self.parameter("channel", context))
        try await self.ask(try self.asked(.delete(id), request), of: app, \.deleted)
        return Response(status: .noContent)
    }

    private func asked(
        _ operation: APNsChannelRequest.Operation, _ request: Request
    ) throws(InvalidField) -> APNsChannelRequest {
        guard let topic = request.member("topic") else {
            throw InvalidField(field: "topic", rule: "must be in the query")
        }
        return APNsChannelRequest(
            operation, bundleID: topic, environment: try self.word(request.member("environment") ?? "", "environment"))
    }

    /// - Throws: `APIProblem` for whatever is no success of APNs'.
    private func ask<Answer>(
        _ asked: APNsChannelRequest, of app: AppID, _ answer: KeyPath<APNsChannelAnswer, Answer?>, once: Once? = nil
    ) async throws -> Answer {
        switch try await self.ask(.channels(app, asked), \.channels, once: once) {
        case .answered(.refused(let refusal)) where refusal.reason == .channelNotRegistered:
            throw APIProblem(.unknownChannel, field: "channel", rule: "names no channel of this topic and environment")
        case .answered(.refused(let refusal)):
            throw APIProblem(
                .apnsRefused, rule: "was refused by APNs: \(refusal). \(refusal.meaning)")
        case .answered(.malformed(let what)), .unanswered(let what):
            throw APIProblem(.apnsUnanswered, rule: "may have been done: \(what)")
        case .answered(let told): return try told[keyPath: answer].orBug()
        case .notSent(let why):
            throw APIProblem(
                ServerFrame.Problem(code: .unavailable, rule: "was not sent to APNs: \(why)"))
        case .noCredential:
            throw InvalidField(
                field: "environment", rule: "must be one for which the app has a push credential")
        }
    }
}

/// The API's words for APNs's storage of a channel's messages.
private enum ChannelStorage: String, CaseIterable, JSONWritable {
    case none
    case mostRecent = "most_recent"

    init(_ policy: APNsStoragePolicy) {
        switch policy {
        case .noStorage: self = .none
        case .mostRecentMessage: self = .mostRecent
        }
    }

    var policy: APNsStoragePolicy {
        switch self {
        case .none: .noStorage
        case .mostRecent: .mostRecentMessage
        }
    }
}

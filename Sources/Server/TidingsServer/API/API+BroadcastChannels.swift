import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    func addBroadcastChannels(to app: RouterGroup<Context>) {
        app.get("broadcast-channels") { try await self.channels($0, $1) }
        app.post("broadcast-channels") { try await self.createChannel($0, $1) }
        app.get("broadcast-channels/{channel}") { try await self.channel($0, $1) }
        app.delete("broadcast-channels/{channel}") { try await self.deleteChannel($0, $1) }
    }

    private static let query = ["environment", "topic"]

    private func createChannel(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests)
        let (body, once) = try await self.keyedBody(request, context, app)
        let storage: ChannelStorage = try self.word(try body.optionalString("storage") ?? "none", "storage")
        let asked = APNsChannelRequest(
            .create(storage.policy), bundleID: try body.string("topic"), requestID: Once.id(once),
            environment: try self.word(try body.string("environment"), "environment"))
        try body.refuseUnknown()
        guard case .created(let id) = try await self.channels(asked, of: app, once: once) else { throw APIProblem.bug }
        context.note.made = id.rawValue
        return .json(["id": .string(id.rawValue), "storage": .string(storage.rawValue)], status: .created)
    }

    private func channels(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace, limited: .requests, query: Self.query + Paging.query)
        let paging = try Paging(request, of: Self.query)
        guard case .list(let ids) = try await self.channels(try self.asked(.list, request), of: app) else {
            throw APIProblem.bug
        }
        let sorted = ids.map(\.rawValue).sorted()
        let (page, next) = try paging.page(of: sorted, by: \.self, text: \.self, read: { $0 })
        return .json(["channels": .array(page.map { .string($0) }), "next": next])
    }

    private func channel(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace, limited: .requests, query: Self.query)
        let id = APNsChannelID(try Self.parameter("channel", context))
        guard case .channel(let channel) = try await self.channels(try self.asked(.read(id), request), of: app) else {
            throw APIProblem.bug
        }
        let storage = ChannelStorage(channel.storagePolicy)
        return .json(["id": .string(channel.id.rawValue), "storage": .string(storage.rawValue)])
    }

    private func deleteChannel(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests, query: Self.query)
        let id = APNsChannelID(try Self.parameter("channel", context))
        guard case .deleted = try await self.channels(try self.asked(.delete(id), request), of: app) else {
            throw APIProblem.bug
        }
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
    private func channels(
        _ asked: APNsChannelRequest, of app: AppID, once: Once? = nil
    ) async throws -> APNsChannelAnswer {
        guard case .channels(let outcome) = try await self.result(of: .channels(app, asked), once: once) else {
            throw APIProblem.bug
        }
        switch outcome {
        case .answered(.refused(let refusal)) where refusal.reason == .channelNotRegistered:
            throw APIProblem(.unknownChannel, field: "channel", rule: "names no channel of this topic and environment")
        case .answered(.refused(let refusal)):
            throw APIProblem(
                .apnsRefused, rule: "was refused by APNs: \(refusal). \(refusal.meaning)")
        case .answered(.malformed(let what)), .unanswered(let what):
            throw APIProblem(.apnsUnanswered, rule: "may have been done: \(what)")
        case .answered(let answer): return answer
        case .notSent(let why):
            throw APIProblem(
                ServerFrame.Problem(code: .unavailable, rule: "was not sent to APNs: \(why)"))
        case .noCredential:
            throw InvalidField(
                field: "environment", rule: "must be one for which the app has a push credential")
        }
    }
}

/// What APNs keeps of a channel's messages, as the API calls it.
private enum ChannelStorage: String, CaseIterable {
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

import Hummingbird
import ServerCore
import TidingsModel

extension API {
    func addReading(to app: RouterGroup<Context>) {
        app.post("users/{user}/read") { try await self.markRead($0, $1) }
    }

    private func markRead(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let user = UserKey(app: app, user: try self.person(context))
        let (body, once) = try await self.keyedBody(request, context, app)
        let place = try body.object("conversation")
        let target = try UserID.validated(try place.string("target"), field: "conversation.target")
        let conversation = ConversationID(
            type: try self.word(try place.string("type"), "conversation.type"), target: target.rawValue)
        try place.refuseUnknown()
        let upTo = try body.optionalString("up_to").map { text throws(InvalidField) in
            try self.messageID(text, "up_to")
        }
        try body.refuseUnknown()
        return try await self.execute(.markRead(user, conversation, upTo: upTo), once: once)
    }
}

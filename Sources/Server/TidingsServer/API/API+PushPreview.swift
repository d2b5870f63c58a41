import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    /// What a push would be, before anything is sent. The body has what `POST pushes` takes of its content, or, in `send`, what
    /// `POST messages` takes; in `silent`, `call` and `live_activity` what the routes of those take.
    func previewPush(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests)
        // It changes nothing, and a console asks with each word that is typed.
        context.note.audited = nil
        let (body, once) = try await self.keyedBody(request, context, app)
        let asked: PreviewedPush
        if let push = try await self.previewedBesides(body, in: app) {
            asked = push
        } else {
            asked = .message(try await self.previewedMessage(body, in: app))
        }
        guard case .pushPreview(let preview) = try await self.result(of: .previewPush(app, asked), once: once) else {
            throw APIProblem.bug
        }
        return .json(try preview.json)
    }

    /// Nil for a push of a message.
    private func previewedBesides(_ body: APIBody, in app: AppID) async throws -> PreviewedPush? {
        let (silent, call) = (try body.optionalObject("silent"), try body.optionalObject("call"))
        let activity = try body.optionalObject("live_activity")
        let asked: PreviewedPush
        switch (silent, call, activity) {
        case (nil, nil, nil): return nil
        case (let silent?, nil, nil):
            asked = .silent(SilentPush(id: Once.id(nil), data: try silent.members("data")))
            try silent.refuseUnknown()
        case (nil, let body?, nil):
            let call = try self.call(body, id: Once.id(nil))
            guard case .profiles(let profiles) = try await self.result(of: .profiles(app, [call.caller])) else {
                throw APIProblem.bug
            }
            asked = .call(call, callerName: profiles.first?.profile.name)
        case (nil, nil, let activity?):
            asked = .activity(try self.livePush(activity, id: Once.id(nil), target: .token(PushToken("00"))))
        case (_, _, _):
            throw InvalidField(field: "silent", rule: "must be there, or call, or live_activity: one of them")
        }
        // What is said of messages' pushes stands beside none of them.
        try body.refuseUnknown()
        return asked
    }

    private func previewedMessage(_ body: APIBody, in app: AppID) async throws -> PushPreviewRequest {
        let recipient = try body.optionalString("recipient").map { try UserID.validated($0, field: "recipient") }
        let language = try body.optionalString("language")
        try PersonSettings(language: language).validate()
        var asked = try self.previewRequest(body)
        if let recipient { asked.recipient = recipient }
        asked.language = language
        try body.refuseUnknown()
        try await self.lookUpNames(of: &asked, in: app)
        return asked
    }

    /// Whoever is not named: of no person.
    private static let anybody = UserID("recipient")

    private func previewRequest(_ body: APIBody) throws(InvalidField) -> PushPreviewRequest {
        guard let message = try body.optionalObject("send") else {
            let account = try self.pushAccount(body)
            guard case .message(let draft) = try self.pushBody(body, account) else {
                throw InvalidField(field: "custom", rule: "must be left out: a custom message is never pushed")
            }
            return PushPreviewRequest(draft: draft, account: account, recipient: Self.anybody)
        }
        let sender = try UserID.validated(try message.string("sender"), field: "send.sender")
        // They say nothing of how it looks.
        _ = (try message.bool("ignores_blocks", default: false), try message.optionalString("author"))
        let draft = try self.draft(message)
        let peer = draft.conversation.type.targetIsPeer ? UserID(draft.conversation.target) : Self.anybody
        return PushPreviewRequest(draft: draft, sender: sender, recipient: peer)
    }

    /// As the store tells them with a message: asked one after the other, they may differ by what happens in between.
    private func lookUpNames(of asked: inout PushPreviewRequest, in app: AppID) async throws {
        let sender = asked.sender ?? UserID(asked.account?.target ?? "")
        guard case .profiles(let profiles) = try await self.result(of: .profiles(app, [sender])) else {
            throw APIProblem.bug
        }
        asked.names.sender = profiles.first?.profile.name ?? ""
        asked.names.portrait = profiles.first?.profile.portrait
        guard asked.account == nil, asked.draft.conversation.type.isGroup else { return }
        let question = ClientRequest.conversation(asked.draft.conversation)
        guard case .conversation(let info) = try await self.answer(app, nil, question) else { throw APIProblem.bug }
        asked.names.conversation = info.name
        asked.options = info.push
        if let nickname = info.members.first(where: { $0.id == sender })?.nickname { asked.names.sender = nickname }
    }
}

extension PushPreview {
    fileprivate var json: JSONValue {
        get throws {
            [
                "push_type": .string(self.pushType.rawValue),
                "headers": .members(self.headers.map { ($0.name, .string($0.value)) }),
                "payload": try JSONValue(parsing: self.payload), "bytes": .int(Int64(self.payload.count)),
                "bytes_max": .int(Int64(self.bytesMax)),
                "shown": self.shown?.json ?? .null, "text_mode": .optional(self.textMode?.rawValue),
                "shortened": .array(self.shortened.map { .string($0) }),
            ]
        }
    }
}

extension PushInfo.Text {
    fileprivate var json: JSONValue {
        [
            "title": self.title?.json ?? .null, "subtitle": self.subtitle?.json ?? .null, "body": self.line.json,
        ]
    }
}

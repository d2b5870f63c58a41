import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    /// Previews a push before anything is sent. The body has the content of `POST pushes`, or, in `send`, that of `POST messages`; in
    /// `silent`, `call` and `live_activity` that of their routes.
    func previewPush(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        // It changes nothing, and a console asks with each word that is typed.
        context.note.audited = nil
        let (body, once) = try await self.keyedBody(request, context, app)
        let asked: PreviewedPush
        if let push = try await self.previewedBesides(body, in: app) {
            asked = push
        } else {
            asked = .message(try await self.previewedMessage(body, in: app))
        }
        return .json(try await self.ask(.previewPush(app, asked), \.pushPreview, once: once).json)
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
            asked = .call(call, callerName: try await self.profile(of: call.caller, in: app).name)
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

    /// The recipient if none is named: of no person.
    private static let anybody = UserID("recipient")

    private func previewRequest(_ body: APIBody) throws(InvalidField) -> PushPreviewRequest {
        guard let message = try body.optionalObject("send") else {
            let account = try self.pushAccount(body)
            guard case .message(let draft) = try self.pushBody(body, account) else {
                throw InvalidField(field: "custom", rule: "must be left out: a custom message is never pushed")
            }
            var asked = PushPreviewRequest(draft: draft, account: account, recipient: Self.anybody)
            asked.textMode = try self.textMode(body)
            return asked
        }
        let sender = try UserID.validated(try message.string("sender"), field: "send.sender")
        // They say nothing of how it looks.
        _ = (try message.optionalBool("ignores_blocks"), try message.optionalBool("ignores_ban"))
        _ = try message.optionalString("author")
        let draft = try self.draft(message)
        let peer = draft.conversation.type.targetIsPeer ? UserID(draft.conversation.target) : Self.anybody
        return PushPreviewRequest(draft: draft, sender: sender, recipient: peer)
    }

    /// Looks up the names that the store gives with a message. Asked one after the other, they may differ by events in between.
    private func lookUpNames(of asked: inout PushPreviewRequest, in app: AppID) async throws {
        let sender = asked.sender ?? UserID(asked.account?.target ?? "")
        let profile = try await self.profile(of: sender, in: app)
        asked.names.sender = profile.name ?? ""
        asked.names.portrait = profile.portrait
        guard asked.account == nil, asked.draft.conversation.type.isGroup else { return }
        let info = try await self.ask(app, nil, .conversation(asked.draft.conversation), \.conversation)
        asked.names.conversation = info.name
        asked.options = info.push
        if let nickname = info.members.first(where: { $0.id == sender })?.nickname { asked.names.sender = nickname }
    }
}

extension PushPreview {
    fileprivate var json: JSONMembers {
        get throws {
            [
                "push_type": self.pushType.rawValue,
                "headers": JSONMembers(pairs: self.headers.map { ($0.name, $0.value) }),
                "payload": try JSONValue(parsing: self.payload), "bytes": self.payload.count,
                "bytes_max": self.bytesMax, "shown": self.shown?.json, "text_mode": self.textMode,
                "shortened": self.shortened,
            ]
        }
    }
}

extension PushInfo.Text {
    fileprivate var json: JSONMembers {
        ["title": self.title?.json, "subtitle": self.subtitle?.json, "body": self.line.json]
    }
}

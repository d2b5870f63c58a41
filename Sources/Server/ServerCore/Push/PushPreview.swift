package import APNsModel
package import StoreModel
package import TidingsModel

/// A request to preview a push before it is sent.
package struct PushPreviewRequest: Hashable, Sendable {
    /// Its account; of a message between people nil.
    package var account: ConversationID?
    /// The sender of a message between people.
    package var sender: UserID?
    package var draft: MessageDraft
    package var names: MessageNames
    /// The conversation's options for its messages' notifications.
    package var options: PushOptions?
    /// Who gets it, and in which language they read; nil for the app's.
    package var recipient: UserID
    package var language: String?
    /// The push's own text mode.
    package var textMode: PushTextMode?

    package init(
        draft: MessageDraft, account: ConversationID? = nil, sender: UserID? = nil, names: MessageNames = .init(),
        options: PushOptions? = nil, recipient: UserID, language: String? = nil
    ) {
        self.draft = draft
        self.account = account
        self.sender = sender
        self.names = names
        self.options = options
        self.recipient = recipient
        self.language = language
    }
}

/// A push that is only looked at.
package enum PreviewedPush: Hashable, Sendable {
    indirect case message(PushPreviewRequest)
    case silent(SilentPush)
    /// With what its caller is called.
    indirect case call(Call, callerName: String?)
    indirect case activity(LiveActivityPush)
}

/// A push as it would go to APNs. Ids in it are of no message.
package struct PushPreview: Hashable, Sendable {
    package struct Header: Hashable, Sendable {
        package var name: String
        package var value: String
    }

    package var pushType: APNsPushType
    /// Without ids, and without a topic where the app has no list of them.
    package var headers: [Header]
    /// JSON.
    package var payload: [UInt8]
    package var bytesMax: Int
    /// The text of a message's notification once it is filled in.
    package var shown: PushInfo.Text?
    /// The text mode of a message.
    package var textMode: PushTextMode?
    /// The parts that were left out or shortened so that the rest fits, by name.
    package var shortened: [String] = []
}

extension ServerCore {
    /// Nothing is sent, stored or counted; it is made by what makes those that are sent.
    mutating func previewPush(
        _ asked: PreviewedPush, of app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        try self.admitCommand(.requests, of: app, "push_preview")
        let preview: PushPreview
        do throws(InvalidField) {
            preview =
                switch asked {
                case .message(let asked): try self.preview(asked, of: app)
                case .silent(let push):
                    try Self.within("silent") { () throws(InvalidField) in try self.preview(push, of: app) }
                case .call(let call, let name):
                    try Self.within("call") { () throws(InvalidField) in
                        try self.preview(call, named: name, of: app)
                    }
                case .activity(let push):
                    try Self.within("live_activity") { () throws(InvalidField) in try self.preview(push, of: app) }
                }
        } catch {
            throw ServerFrame.Problem(error)
        }
        self.turn.emit(.reply(request, .pushPreview(preview)))
    }

    /// Names the member of the request in which the field stands.
    private static func within<Value>(
        _ member: String, _ body: () throws(InvalidField) -> Value
    ) throws(InvalidField) -> Value {
        do throws(InvalidField) {
            return try body()
        } catch {
            throw InvalidField(field: "\(member).\(error.field)", rule: error.rule)
        }
    }

    // MARK: Messages

    private mutating func preview(_ asked: PushPreviewRequest, of app: AppID) throws(InvalidField) -> PushPreview {
        if let push = asked.draft.push {
            try self.turn.settings.pushRules(of: app).check(push, isClient: false, isOfMessage: true)
        }
        try asked.draft.validate()
        let message = self.previewedMessage(asked, in: app)
        let shared = SharedMessage(message, names: asked.names)
        let reader = AlertReader(
            user: UserKey(app: app, user: asked.recipient), device: "preview", hidesContent: false,
            language: asked.language, unread: 1, head: 1)
        let bytesMax = APNsPushType.alert.payloadBytesMax
        let alert = try self.turn.alert(of: shared, at: 1, with: [], for: reader, bytesMax: bytesMax)
        let request = APNsRequest(
            alert.bytes, about: message.id, expiry: self.turn.settings.alertExpiry(of: message),
            to: self.previewedRegistration(.alert, of: app))
        return PushPreview(
            pushType: .alert, headers: Self.headers(request.headerFields), payload: request.payload, bytesMax: bytesMax,
            shown: self.turn.text(of: shared, for: reader), textMode: self.turn.settings.textMode(of: message),
            shortened: alert.gaveWay.map(\.rawValue))
    }

    private func previewedMessage(_ asked: PushPreviewRequest, in app: AppID) -> Message {
        let id = MessageID(wallMilliseconds: self.turn.now.wall, node: self.turn.settings.node, counter: 0)
        var draft = asked.draft
        let general = self.turn.settings.pushRules[app]?.options
        let options = asked.options.map { $0.merged(over: general) } ?? general
        draft.push = draft.push.map { $0.merged(over: options) } ?? options
        guard let account = asked.account else {
            return self.message(of: draft, from: UserKey(app: app, user: asked.sender ?? ""), id: id)
        }
        var message = self.template(draft, of: account, in: app, id)
        (message.pushJob, message.textMode) = (id, asked.textMode)
        message.conversation = ConversationID(type: account.type, target: asked.recipient.rawValue)
        return message
    }

    // MARK: Others

    private func preview(_ push: SilentPush, of app: AppID) throws(InvalidField) -> PushPreview {
        try push.validate()
        let device = DeviceKey(user: UserKey(app: app, user: "preview"), device: "preview")
        let tag = recipientTag(of: device, salt: self.turn.settings.recipientTagSalt)
        return Self.preview(try push.request(to: self.previewedRegistration(.background, of: app), for: tag))
    }

    private func preview(_ call: Call, named name: String?, of app: AppID) throws(InvalidField) -> PushPreview {
        try call.validate()
        let device = DeviceKey(user: UserKey(app: app, user: call.callee), device: "preview")
        return Self.preview(
            try self.callRequest(
                call, named: name, at: self.turn.now.wall, to: self.previewedRegistration(.voip, of: app), of: device))
    }

    private func preview(_ push: LiveActivityPush, of app: AppID) throws(InvalidField) -> PushPreview {
        try push.validate()
        try self.checkBundle(push.topic, of: app)
        let bytes = try push.bytes()
        switch push.target {
        case .token(let token): return Self.preview(push.request(to: token, bytes))
        case .channel(let channel):
            let broadcast = push.broadcast(to: channel, bytes)
            return PushPreview(
                pushType: .liveactivity, headers: Self.headers(broadcast.headerFields), payload: bytes,
                bytesMax: APNsBroadcast.payloadBytesMax)
        }
    }

    private static func preview(_ request: APNsRequest) -> PushPreview {
        PushPreview(
            pushType: request.pushType, headers: Self.headers(request.headerFields), payload: request.payload,
            bytesMax: request.pushType.payloadBytesMax)
    }

    /// Returns the registration of no device: the first topic of the app's list, or an empty one.
    private func previewedRegistration(_ pushType: APNsPushType, of app: AppID) -> PushRegistration {
        let bundle = self.turn.settings.pushTopics[app]?.first { APNsFormat.isBundleID($0) }
        return PushRegistration(
            token: "00", environment: .production, topic: bundle.map { pushType.topic(forBundle: $0) } ?? "")
    }

    /// Ids in a preview are of nothing.
    private static func headers(_ fields: [(name: String, value: String)]) -> [PushPreview.Header] {
        let ids: Set = ["apns-id", "apns-collapse-id", "apns-request-id"]
        return fields.filter { !ids.contains($0.name) && !$0.value.isEmpty }.map {
            .init(name: $0.name, value: $0.value)
        }
    }
}

import APNsModel
package import StoreModel
package import TidingsModel

/// What is to be shown of a push before it is sent.
package struct PushPreviewRequest: Hashable, Sendable {
    /// Its account; of a message between people nil.
    package var account: ConversationID?
    /// Of a message between people its sender.
    package var sender: UserID?
    package var draft: MessageDraft
    package var names: MessageNames
    /// What the conversation says of its messages' notifications.
    package var options: PushOptions?
    /// Who gets it, and in which language they read; nil for the app's.
    package var recipient: UserID
    package var language: String?

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

/// A push as it would go to APNs. Ids in it are of no message.
package struct PushPreview: Hashable, Sendable {
    /// JSON.
    package var payload: [UInt8]
    package var bytesMax: Int
    /// What a notification says once the text is in it.
    package var shown: PushInfo.Text
    package var textMode: PushTextMode
    /// What was left out or shortened so that the rest fits, by name.
    package var shortened: [String]

    package init(
        payload: [UInt8], bytesMax: Int, shown: PushInfo.Text, textMode: PushTextMode, shortened: [String]
    ) {
        self.payload = payload
        self.bytesMax = bytesMax
        self.shown = shown
        self.textMode = textMode
        self.shortened = shortened
    }
}

extension ServerCore {
    /// Nothing is sent, stored or counted; the payload is made by what makes those of messages.
    mutating func previewPush(
        _ asked: PushPreviewRequest, of app: AppID, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.requests, of: app, "push_preview", now, &effects)
            try self.checkPush(of: asked.draft, from: app, isClient: false)
            let shared = SharedMessage(self.previewedMessage(asked, in: app, now), names: asked.names)
            let reader = AlertReader(
                user: UserKey(app: app, user: asked.recipient), device: "preview", hidesContent: false,
                language: asked.language, unread: 1, head: 1)
            let bytesMax = APNsPushType.alert.payloadBytesMax
            do throws(InvalidField) {
                try asked.draft.validate()
                let alert = try self.alert(of: shared, at: 1, with: [], for: reader, bytesMax: bytesMax)
                let preview = PushPreview(
                    payload: alert.bytes, bytesMax: bytesMax, shown: self.text(of: shared, for: reader),
                    textMode: self.textMode(of: app), shortened: alert.gaveWay.map(\.rawValue))
                effects.append(.reply(request, .pushPreview(preview)))
            } catch {
                throw ServerFrame.Problem(error)
            }
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    private func previewedMessage(_ asked: PushPreviewRequest, in app: AppID, _ now: Now) -> Message {
        let id = MessageID(wallMilliseconds: now.wall, node: self.settings.node, counter: 0)
        var draft = asked.draft
        let general = self.settings.pushRules[app]?.options
        let options = asked.options.map { $0.merged(over: general) } ?? general
        draft.push = draft.push.map { $0.merged(over: options) } ?? options
        guard let account = asked.account else {
            return self.message(of: draft, from: UserKey(app: app, user: asked.sender ?? ""), id: id, now)
        }
        var message = self.template(draft, of: account, in: app, id, now)
        message.conversation = ConversationID(type: account.type, target: asked.recipient.rawValue)
        return message
    }
}

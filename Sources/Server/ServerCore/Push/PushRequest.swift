import APNsModel
import StoreModel
import TidingsModel

extension ServerCore {
    /// apns.md §13.
    static let sound: APNsPayload.Sound = "default"

    /// The push of one leg (DESIGN §5, §7). `counted` are the positions of the other messages that it counts; the
    /// leg's is the newest. Throws `InvalidField` if the payload cannot be made to fit.
    mutating func pushRequest(
        for id: LegID, _ leg: Leg, with counted: [LogPosition], of slot: Int, to registration: PushRegistration
    ) throws(InvalidField) -> APNsRequest {
        let named: MessageID
        let expiry: Int64
        let payload: [UInt8]
        let bytesMax = APNsPushType.alert.payloadBytesMax
        switch leg.subject {
        case .message(let shared):
            named = shared.message.id
            expiry = min(shared.message.sentAt + self.settings.pushLifetime, shared.message.expiresAt ?? .max)
            payload = try self.alert(of: shared, at: leg.position, with: counted, for: id, slot, bytesMax: bytesMax)
        case .recall(let recall, let wasUnread):
            named = recall.message
            expiry = recall.at + self.settings.pushLifetime
            payload = try self.recall(recall, at: leg.position, wasUnread: wasUnread, for: id, slot)
                .serialized(bytesMax: bytesMax)
        }
        return APNsRequest(
            token: registration.token, topic: registration.topic, pushType: .alert, priority: .immediate,
            expiration: expiry / 1_000, collapseID: named.description, apnsID: apnsID(of: id, attempt: leg.attempts),
            payload: payload,
            environment: registration.environment)
    }

    /// An alert of at most `bytesMax` bytes. The image is left out first: the text says more.
    private mutating func alert(
        of shared: SharedMessage, at position: LogPosition, with counted: [LogPosition], for id: LegID, _ slot: Int,
        bytesMax: Int
    ) throws(InvalidField) -> [UInt8] {
        // One image beside a number of messages would make them look like one.
        if counted.isEmpty, !self.people[slot].settings.person.hidesContent, let image = shared.message.pushImageURL {
            let payload = self.alert(of: shared, at: position, with: counted, imageURL: image, for: id, slot)
            let bytes = try payload.serialized(bytesMax: .max)
            if bytes.count <= bytesMax { return bytes }
        }
        return try self.alert(of: shared, at: position, with: counted, imageURL: nil, for: id, slot)
            .serialized(bytesMax: bytesMax)
    }

    private mutating func alert(
        of shared: SharedMessage, at position: LogPosition, with counted: [LogPosition], imageURL: String?,
        for id: LegID, _ slot: Int
    ) -> APNsPayload {
        let message = shared.message
        let person = self.people[slot].settings.person
        let (tag, words) = self.words(of: slot)
        // Without a text the push keeps the alert's neutral one.
        var text: PushInfo.Text?
        if !person.hidesContent {
            text = PushInfo.Text(
                title: PushText.title(of: message, shared.names),
                // Several may be of several people.
                sender: counted.isEmpty ? PushText.sender(of: message, shared.names) : nil,
                body: counted.isEmpty ? self.alertText(of: shared, tag, words) : words.several(counted.count + 1))
        }
        var custom: [(String, JSONValue)] = []
        if let notification = try? NotificationPayload(message: message, seenBy: id.user.user, at: position) {
            custom.append((NotificationPayload.key, .object(notification.dictionary)))
        }
        var info = self.info(of: message.id, at: position, isRecall: false, text: text, for: id, slot)
        info.imageURL = imageURL
        info.counted = counted.filter { $0 + PushInfo.countedReach >= position }
        custom.append((PushInfo.key, info.dictionary))
        return APNsPayload(
            // Neutral, because it is shown where no extension can check whose phone it is (DESIGN §7).
            alert: .init(body: person.hidesContent ? words.hidden : words.neutral),
            badge: self.people[slot].unread, sound: Self.sound,
            threadID: message.conversation(seenBy: id.user.user).description, category: PushInfo.category,
            mutableContent: true, custom: JSONObject(custom))
    }

    /// Replaces a recalled message silently under its id. Extensions other than ours learn from S2.22 that the badge
    /// goes down.
    private func recall(
        _ recall: Recall, at position: LogPosition, wasUnread: Bool, for id: LegID, _ slot: Int
    ) -> APNsPayload {
        var custom: [(String, JSONValue)] = []
        if let notification = try? NotificationPayload(
            conversationType: recall.conversation.type, senderID: recall.sender, messageType: Self.recallNotice,
            targetID: recall.conversation.target, messageUID: recall.message.description)
        {
            custom.append((NotificationPayload.key, .object(notification.dictionary)))
        }
        let info = self.info(of: recall.message, at: position, isRecall: true, text: nil, for: id, slot)
        custom.append((PushInfo.key, info.dictionary))
        if wasUnread {
            custom.append(("message", .members([("params", .members([("corner_mark_decrease", true)]))])))
        }
        return APNsPayload(
            alert: .init(body: self.words(of: slot).words.recalled), badge: self.people[slot].unread,
            threadID: recall.conversation.description, mutableContent: true, interruptionLevel: .passive,
            custom: JSONObject(custom))
    }

    /// The type shown in place of a recalled message (S0.13).
    private static let recallNotice: ObjectName = "RC:RcNtf"

    private func info(
        of message: MessageID, at position: LogPosition, isRecall: Bool, text: PushInfo.Text?, for id: LegID,
        _ slot: Int
    ) -> PushInfo {
        PushInfo(
            message: message, position: position, badgePosition: self.people[slot].head,
            recipientTag: recipientTag(
                of: DeviceKey(user: id.user, device: id.device ?? ""), salt: self.settings.recipientTagSalt),
            isRecall: isRecall, text: text)
    }

    func words(of slot: Int) -> (tag: String, words: NotificationWords) {
        (self.settings.words[self.people[slot].key.app] ?? AppWords())
            .words(for: self.people[slot].settings.person.language)
    }

    private mutating func alertText(of shared: SharedMessage, _ tag: String, _ words: NotificationWords) -> String {
        if let last = self.lastAlert, last.message === shared, last.tag == tag { return last.text }
        let text = PushText.shortText(of: shared.message, in: words)
        self.lastAlert = (shared, tag, text)
        return text
    }
}

extension Message {
    /// Only an image behind an encrypted connection, with a URL short enough for a push.
    fileprivate var pushImageURL: String? {
        // Other types have none, so their content need not be parsed.
        guard [.image, .gif, .link].contains(self.objectName), let url = self.typedContent.imageURL,
            WebAddress.isSecure(url), url.utf8.count <= PushInfo.imageURLBytesMax
        else { return nil }
        return url
    }
}

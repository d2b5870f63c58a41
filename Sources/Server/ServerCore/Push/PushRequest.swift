import APNsModel
import StoreModel
import TidingsModel

/// Who reads an alert, as far as that decides what it says.
struct AlertReader {
    var user: UserKey
    var device: DeviceID?
    var hidesContent: Bool
    /// Nil for the app's.
    var language: String?
    var unread: Int
    var head: LogPosition
}

extension PersonState {
    func reader(on device: DeviceID? = nil) -> AlertReader {
        AlertReader(
            user: self.key, device: device, hidesContent: self.settings.person.hidesContent,
            language: self.settings.person.language, unread: self.unread, head: self.head)
    }
}

extension APNsPayload.Sound {
    /// apns.md §13.
    static let usual: Self = "default"
}

extension APNsRequest {
    /// - Parameter expiry: wall milliseconds.
    init(_ payload: [UInt8], about message: MessageID, expiry: Int64, to registration: PushRegistration) {
        self.init(
            token: registration.token, topic: registration.topic, pushType: .alert, priority: .immediate,
            expiration: expiry / 1_000, collapseID: message.description, payload: payload,
            environment: registration.environment)
    }
}

extension Turn {
    /// The push of one leg (design.md §5, §7). `counted` are the positions of the other messages that it counts; the
    /// leg's is the newest. Throws `InvalidField` if the payload cannot be made to fit.
    mutating func pushRequest(
        for id: LegID, _ leg: Leg, with counted: [LogPosition], for reader: AlertReader,
        to registration: PushRegistration
    ) throws(InvalidField) -> APNsRequest {
        let named: MessageID
        let expiry: Int64
        let payload: [UInt8]
        let bytesMax = APNsPushType.alert.payloadBytesMax
        switch leg.subject {
        case .message(let shared):
            named = shared.message.id
            expiry = self.settings.alertExpiry(of: shared.message)
            payload = try self.alert(of: shared, at: leg.position, with: counted, for: reader, bytesMax: bytesMax).bytes
        case .recall(let recall, let wasUnread):
            named = recall.message
            expiry = recall.at + self.settings.alertLifetime(self.settings.textMode(of: id.user.app))
            payload = try self.settings.payload(of: recall, at: leg.position, wasUnread: wasUnread, for: reader)
                .serialized(bytesMax: bytesMax)
        }
        var request = APNsRequest(payload, about: named, expiry: expiry, to: registration)
        request.apnsID = apnsID(of: id, attempt: leg.attempts)
        return request
    }

    /// An alert of at most `bytesMax` bytes.
    /// - Returns: what gave way, too.
    mutating func alert(
        of shared: SharedMessage, at position: LogPosition, with counted: [LogPosition], for reader: AlertReader,
        bytesMax: Int
    ) throws(InvalidField) -> (bytes: [UInt8], gaveWay: [AlertParts.Place]) {
        let mode = self.settings.textMode(of: shared.message)
        var parts = AlertParts(counted: counted, options: shared.message.push)
        if reader.hidesContent {
            // Without a text the push keeps the alert's neutral one.
        } else if !counted.isEmpty {
            // They may be of several people, and one image beside a number would make them look like one message.
            parts.text = PushInfo.Text(
                title: mode == .idOnly ? nil : PushText.title(of: shared.message, shared.names).map { .text($0) },
                body: .text(self.settings.words(for: reader).words.several(counted.count + 1)))
        } else if mode != .idOnly {
            parts.text = self.text(of: shared, for: reader)
            parts.imageURL = shared.message.pushImage(from: self.settings.pushRules(of: shared.message.app).imageHosts)
            parts.portrait = self.settings.portrait(
                shared.names.portrait, in: shared.message.conversation, of: shared.message.app)
        }
        if !counted.isEmpty { parts.options = parts.options?.forSeveral }
        var payload = self.settings.payload(of: shared, at: position, parts, for: reader)
        var bytes = try payload.serialized(bytesMax: .max)
        var gaveWay: [AlertParts.Place] = []
        for place in AlertParts.Place.allCases where bytes.count > bytesMax {
            // In this mode the text stands there twice.
            let excess = mode == .alert ? (bytes.count - bytesMax + 1) / 2 : bytes.count - bytesMax
            guard parts.giveWay(place, excess: excess) else { continue }
            gaveWay.append(place)
            payload = self.settings.payload(of: shared, at: position, parts, for: reader)
            bytes = try payload.serialized(bytesMax: .max)
        }
        return (bytes.count <= bytesMax ? bytes : try payload.serialized(bytesMax: bytesMax), gaveWay)
    }

    /// Returns the text of a notification of one message.
    mutating func text(of shared: SharedMessage, for reader: AlertReader) -> PushInfo.Text {
        let (tag, words) = self.settings.words(for: reader)
        return PushInfo.Text(
            of: shared.message, title: PushText.title(of: shared.message, shared.names),
            sender: PushText.sender(of: shared.message, shared.names), body: self.alertText(of: shared, tag, words))
    }

    private mutating func alertText(of shared: SharedMessage, _ tag: String, _ words: NotificationWords) -> String {
        if let last = self.lastAlert, last.message === shared, last.tag == tag { return last.text }
        let text = PushText.shortText(of: shared.message, in: words)
        self.lastAlert = (shared, tag, text)
        return text
    }
}

extension ServerSettings {
    fileprivate func alertLifetime(_ mode: PushTextMode) -> Int64 {
        let most: Int64 = mode == .alert ? Self.alertTextLifetimeMax : .max
        return min(self.pushLifetime, most)
    }

    /// Wall milliseconds.
    func alertExpiry(of message: Message) -> Int64 {
        min(message.sentAt + self.alertLifetime(self.textMode(of: message)), message.expiresAt ?? .max)
    }

    /// Anyone who holds the phone can read the text of such an alert: APNs must not keep it longer (docs/inside/decisions/0008).
    private static let alertTextLifetimeMax: Int64 = 86_400_000

    func textMode(of app: AppID) -> PushTextMode { self.pushTextModes[app] ?? .serviceExtension }

    /// Returns how the text of a message's push reaches the phone. A push without chat is no secret: its text stands in the alert, unless the
    /// push or the app wants it otherwise.
    func textMode(of message: Message) -> PushTextMode {
        if let mode = message.textMode { return mode }
        let mode = self.textMode(of: message.app)
        return message.pushJob != nil && mode == .serviceExtension ? .alert : mode
    }

    /// Only media of the server, or of a host that the app lists for images; nil for kinds of conversations whose notifications are not of
    /// a person, and for one that is too long for a push.
    func portrait(_ portrait: String?, in conversation: ConversationID, of app: AppID) -> String? {
        guard let portrait, conversation.type.isOfPeople else { return nil }
        return PushRules.mayPush(image: portrait, from: self.pushRules(of: app).imageHosts) ? portrait : nil
    }

    fileprivate func payload(
        of shared: SharedMessage, at position: LogPosition, _ parts: AlertParts, for reader: AlertReader
    ) -> APNsPayload {
        let message = shared.message
        let words = self.words(for: reader).words
        let isHidden = reader.hidesContent
        var custom: [(String, JSONValue)] = []
        if let notification = try? NotificationPayload(message: message, seenBy: reader.user.user, at: position) {
            custom.append((NotificationPayload.key, .object(notification.dictionary)))
        }
        var info = self.info(of: message.id, at: position, isRecall: false, text: parts.text, for: reader)
        info.imageURL = parts.imageURL
        info.portrait = parts.portrait
        if !isHidden {
            info.textMode = self.textMode(of: message)
            // Of one message: what counts others is of nobody.
            if parts.counted.isEmpty {
                info.isMention = message.mentions.include(reader.user.user)
                info.isReply = message.answers(reader.user.user)
            }
        }
        info.counted = parts.counted.filter { $0 + PushInfo.countedReach >= position }
        // Neutral unless the app wants it otherwise, because it is shown where no extension can check whose phone it is (design.md §7).
        var alert = APNsPayload.Alert(body: isHidden ? words.hidden : words.neutral)
        if info.textMode == .alert, let text = parts.text {
            alert = APNsPayload.Alert(text)
            // The alert says it, and no name goes before it.
            if text.isTitleChosen { info.text?.title = nil }
            info.text?.subtitle = nil
        }
        custom.append((PushInfo.key, info.dictionary))
        let options = parts.options
        custom += (options?.custom?.members ?? []).map { ($0.key, $0.value) }
        return APNsPayload(
            alert: alert, badge: reader.unread, sound: options.map { $0.apnsSound } ?? .usual,
            threadID: options?.threadID ?? message.conversation(seenBy: reader.user.user).description,
            category: options?.category ?? PushInfo.category, mutableContent: true,
            interruptionLevel: options?.interruptionLevel.flatMap { .init(rawValue: $0.rawValue) },
            relevanceScore: options?.relevance.map { Double($0) / 1_000 }, custom: JSONObject(custom))
    }

    /// Replaces a recalled message silently under its id. Extensions other than ours learn from S2.22 that the badge
    /// goes down.
    fileprivate func payload(
        of recall: Recall, at position: LogPosition, wasUnread: Bool, for reader: AlertReader
    ) -> APNsPayload {
        var custom: [(String, JSONValue)] = []
        if let notification = try? NotificationPayload(
            conversationType: recall.conversation.type, senderID: recall.sender, messageType: Self.recallNotice,
            targetID: recall.conversation.target, messageUID: recall.message.description)
        {
            custom.append((NotificationPayload.key, .object(notification.dictionary)))
        }
        let info = self.info(of: recall.message, at: position, isRecall: true, text: nil, for: reader)
        custom.append((PushInfo.key, info.dictionary))
        if wasUnread {
            custom.append(("message", .members([("params", .members([("corner_mark_decrease", true)]))])))
        }
        return APNsPayload(
            alert: .init(body: self.words(for: reader).words.recalled), badge: reader.unread,
            threadID: recall.conversation.description, mutableContent: true, interruptionLevel: .passive,
            custom: JSONObject(custom))
    }

    /// The type shown in place of a recalled message (S0.13).
    private static let recallNotice: ObjectName = "RC:RcNtf"

    private func info(
        of message: MessageID, at position: LogPosition, isRecall: Bool, text: PushInfo.Text?, for reader: AlertReader
    ) -> PushInfo {
        PushInfo(
            message: message, position: position, badgePosition: reader.head,
            recipientTag: recipientTag(
                of: DeviceKey(user: reader.user, device: reader.device ?? ""), salt: self.recipientTagSalt),
            isRecall: isRecall, text: text)
    }

    func words(for reader: AlertReader) -> (tag: String, words: NotificationWords) {
        (self.words[reader.user.app] ?? AppWords()).words(for: reader.language)
    }
}

extension Message {
    /// Returns the image of a push. An image chosen for the message was checked when it was accepted; its content is the sender's.
    func pushImage(from hosts: [String]) -> String? {
        if let chosen = self.push?.imageURL { return chosen }
        // Other types have none, so their content need not be parsed.
        guard [.image, .gif, .link].contains(self.objectName), let url = self.typedContent.imageURL else { return nil }
        return PushRules.mayPush(image: url, from: hosts) ? url : nil
    }
}

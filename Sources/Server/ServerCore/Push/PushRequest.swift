import APNsModel
package import TidingsModel

extension ServerCore {
    /// The sound of an alert (apns.md §13).
    static let sound = "default"

    /// The push of one leg: an alert that the service extension may replace, with everything it needs to do so (DESIGN §5, §7).
    ///
    /// - Throws: `InvalidField` if the payload cannot be made to fit.
    mutating func request(
        for id: LegID, _ leg: Leg, of slot: Int, to registration: PushRegistration
    ) throws(InvalidField) -> APNsRequest {
        let message = leg.message.message
        let person = self.people[slot].key
        let conversation = message.conversation(seenBy: person.user)
        let device = DeviceKey(user: person, device: id.device ?? "")
        let info = PushInfo(
            message: message.id, position: leg.position, badgePosition: self.people[slot].head,
            recipientTag: recipientTag(of: device, salt: self.settings.recipientTagSalt),
            text: PushInfo.Text(
                title: PushText.title(of: message, seenBy: person.user), body: self.alertText(of: message)))
        var custom: [(String, JSONValue)] = []
        if let notification = try? NotificationPayload(message: message, seenBy: person.user) {
            custom.append((NotificationPayload.key, .object(notification.dictionary)))
        }
        custom.append((PushInfo.key, info.dictionary))
        let payload = APNsPayload(
            // Shown where no extension can check whose phone it is (DESIGN §7): it says nothing.
            alert: .init(body: PushText.neutral),
            badge: self.people[slot].unread, sound: Self.sound, threadID: conversation.description,
            category: PushInfo.category, mutableContent: true, custom: JSONObject(custom))
        return APNsRequest(
            token: registration.token, topic: registration.topic, pushType: .alert, priority: .immediate,
            expiration: (message.sentAt + self.settings.pushLifetime) / 1_000, collapseID: message.id.description,
            apnsID: apnsID(of: id, attempt: leg.attempts),
            payload: try payload.serialized(bytesMax: APNsPushType.alert.payloadBytesMax),
            environment: registration.environment)
    }

    private mutating func alertText(of message: Message) -> String {
        if let last = self.lastAlert, last.message == message.id { return last.text }
        let text = PushText.shortText(of: message)
        self.lastAlert = (message.id, text)
        return text
    }
}

/// The words of a push.
package enum PushText {
    /// What a push says until the service extension on the right person's phone writes the real text.
    package static let neutral = "You have a new message"

    /// The longest real text, in bytes of JSON: more than any phone shows, and little enough for a payload of 4,096 bytes
    /// (apns.md §13).
    package static let bytesMax = 1_024

    /// The title of a notification: the peer, or the group. The server knows no names; the kit puts them in their place.
    package static func title(of message: Message, seenBy user: UserID) -> String {
        message.conversation(seenBy: user).target
    }

    /// The text, shortened at the end of a character if need be.
    package static func shortText(of message: Message) -> String {
        let text = Self.text(of: message)
        return APNsPayload.escapedCount(text.utf8) <= Self.bytesMax
            ? text : APNsPayload.shortened(text, bytesMax: Self.bytesMax)
    }

    /// What stands for a message whose content has no words, by its type (S0.13).
    static let defaults: [ObjectName: String] = [
        "RC:ImgMsg": "[Image]", "RC:GIFMsg": "[Image]", "RC:VcMsg": "[Voice]", "RC:HQVCMsg": "[Voice]",
        "RC:SightMsg": "[Video]", "RC:FileMsg": "[File]", "RC:LBSMsg": "[Location]", "RC:CardMsg": "[Card]",
    ]

    /// The body of the alert: the sender's own push text, a text message's content, or what stands for its type.
    package static func text(of message: Message) -> String {
        if let text = message.pushText, !text.isEmpty { return text }
        if message.objectName == .text, let content = try? JSONValue(parsing: message.content),
            let text = content["content"]?.stringValue, !text.isEmpty
        {
            return text
        }
        return Self.defaults[message.objectName] ?? "New message"
    }
}

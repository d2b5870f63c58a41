/// The SDK's part of a Tidings push beside `aps` and `rc`, under the key `tidings` (design.md §5 "Badge", §7 "Extension").
public struct PushInfo: Hashable, Sendable {
    /// The message: request identifier, `apns-collapse-id` and the ledger's key.
    public var message: MessageID
    /// The message's position in the person's log; a gap to the last known one tells what was overwritten.
    public var position: LogPosition
    /// The log position the badge was computed at; the extension takes a badge only if this is newer than what it
    /// has.
    public var badgePosition: LogPosition
    /// Names the person on this device without saying who it is.
    public var recipientTag: String
    /// The recall of an earlier notification (a recall), not a new one.
    public var isRecall: Bool
    /// The text that the extension writes in place of the alert's neutral one, once it knows that the push is for the person who is signed
    /// in (design.md §7 "Extension"). Nil leaves the neutral text.
    public var text: Text?
    /// How the text reaches the notification. With `idOnly` and no `text` it is to be fetched.
    public var textMode: PushTextMode
    /// The https URL of an image beside the text, or the reference of media (`MediaID.reference`), on the same terms; nil for none.
    public var imageURL: String?
    /// The sender's portrait, for a communication notification: as `imageURL`, on the same terms; nil for none.
    public var portrait: String?
    /// True if the message mentions the recipient.
    public var isMention: Bool
    /// True if the message answers the recipient.
    public var isReply: Bool

    /// Positions of the other messages that the push counts with its own: no further back than `countedReach`,
    /// ascending. The extension posts nothing for them.
    public var counted: [LogPosition]

    /// How far back counted messages are named: as far as an extension fetches.
    public static let countedReach: LogPosition = 20

    /// The longest URL of an image in bytes: a longer one stays out, because a payload has 4,096 (apns.md §13).
    public static let imageURLBytesMax = 1_024

    /// The words of a notification.
    public struct Text: Hashable, Sendable {
        /// The first line; nil for none.
        public var title: PushLine?
        /// True if the title was chosen for the notification, so that no name goes before it.
        public var isTitleChosen: Bool
        /// The line below the title; nil for none.
        public var subtitle: PushLine?
        /// Who has written it, where the text needs that: in a group or discussion. The text is then shown as "sender: text" (S3.5).
        public var sender: String?
        /// The text.
        public var body: PushLine

        /// The words.
        public init(
            title: PushLine? = nil, isTitleChosen: Bool = false, subtitle: PushLine? = nil, sender: String? = nil,
            body: PushLine
        ) {
            self.title = title
            self.isTitleChosen = isTitleChosen
            self.subtitle = subtitle
            self.sender = sender
            self.body = body
        }

        /// Makes a notification's text for a message: the chosen lines take precedence over the names, `title` and `sender`.
        package init(of message: Message, title: String?, sender: String?, body: String) {
            let options = message.push
            self.init(
                title: options?.title ?? title.map { .text($0) }, isTitleChosen: options?.title != nil,
                subtitle: options?.subtitle, sender: sender, body: options?.text ?? .text(body))
        }

        /// The text as a notification shows it: behind the sender's name, if there is one (S3.5). One from the app's tables stands alone:
        /// its arguments name whom the app wants named.
        public var line: PushLine {
            guard let sender = self.sender, case .text(let body) = self.body else { return self.body }
            return .text("\(sender): \(body)")
        }
    }

    /// The key of the dictionary in the payload.
    public static let key = "tidings"
    /// The category of every alert of ours: the app that registers it offers its actions.
    public static let category = "tidings.message"

    /// Push information from its parts.
    public init(
        message: MessageID, position: LogPosition, badgePosition: LogPosition, recipientTag: String,
        isRecall: Bool = false, text: Text? = nil, textMode: PushTextMode = .serviceExtension, imageURL: String? = nil,
        portrait: String? = nil, isMention: Bool = false, isReply: Bool = false, counted: [LogPosition] = []
    ) {
        self.message = message
        self.position = position
        self.badgePosition = badgePosition
        self.recipientTag = recipientTag
        self.isRecall = isRecall
        self.text = text
        self.textMode = textMode
        self.imageURL = imageURL
        self.portrait = portrait
        self.isMention = isMention
        self.isReply = isReply
        self.counted = counted
    }

    /// Reads it from a whole payload; nil for another sender's push, which has none, or a malformed one.
    public init?(userInfo: JSONValue) {
        guard let info = userInfo[Self.key], let message = info["mid"]?.stringValue.flatMap({ MessageID($0) }),
            let position = info["seq"]?.intValue, position > 0, let badgePosition = info["bseq"]?.intValue,
            badgePosition >= 0, let tag = info["to"]?.stringValue
        else { return nil }
        self.init(
            message: message, position: LogPosition(position), badgePosition: LogPosition(badgePosition),
            recipientTag: tag, isRecall: info["recall"]?.boolValue ?? false,
            text: Text(info["text"]),
            textMode: info["mode"]?.stringValue.flatMap { PushTextMode(rawValue: $0) } ?? .serviceExtension,
            imageURL: Self.file(info["image"]), portrait: Self.file(info["portrait"]),
            isMention: info["mention"]?.boolValue ?? false, isReply: info["reply"]?.boolValue ?? false,
            counted: (info["with"]?.arrayValue ?? []).compactMap { LogPosition(exactly: $0.intValue ?? -1) }
                .filter { $0 > 0 && $0 < position })
    }

    /// Returns what a silent push of the app's backend carries under `key`: whom it is for, and nothing else.
    package static func silent(to recipientTag: String) -> JSONValue { ["to": .string(recipientTag)] }

    /// Reads the recipient tag of any push of Tidings: of a message, a number, a call or the backend's data; nil for another sender's.
    package static func recipientTag(in userInfo: JSONValue) -> String? { userInfo[Self.key]?["to"]?.stringValue }

    /// Nothing is fetched over a connection that others can read.
    package static func file(_ json: JSONValue?) -> String? {
        json?.stringValue.flatMap { WebAddress.isSecure($0) || MediaID(reference: $0) != nil ? $0 : nil }
    }

    /// The dictionary as it travels.
    public var dictionary: JSONValue {
        var members: [(String, JSONValue)] = [
            ("mid", .string(self.message.description)), ("seq", .int(self.position)),
            ("bseq", .int(self.badgePosition)),
            ("to", .string(self.recipientTag)),
        ]
        if self.isRecall { members.append(("recall", true)) }
        if let text = self.text { members.append(("text", text.dictionary)) }
        if self.textMode != .serviceExtension { members.append(("mode", .string(self.textMode.rawValue))) }
        if !self.counted.isEmpty { members.append(("with", .array(self.counted.map { .int($0) }))) }
        if let image = self.imageURL { members.append(("image", .string(image))) }
        if let portrait = self.portrait { members.append(("portrait", .string(portrait))) }
        if self.isMention { members.append(("mention", true)) }
        if self.isReply { members.append(("reply", true)) }
        return .members(members)
    }
}

extension PushInfo.Text {
    /// Reads the words; nil without a body.
    public init?(_ json: JSONValue?) {
        guard let json, let body = PushLine(json["body"]) else { return nil }
        self.init(
            title: PushLine(json["title"]), isTitleChosen: json["chosen"]?.boolValue ?? false,
            subtitle: PushLine(json["subtitle"]), sender: json["from"]?.stringValue, body: body)
    }

    /// The words as they travel.
    public var dictionary: JSONValue {
        var members: [(String, JSONValue)] = []
        if let title = self.title { members.append(("title", title.json)) }
        if self.isTitleChosen { members.append(("chosen", true)) }
        if let subtitle = self.subtitle { members.append(("subtitle", subtitle.json)) }
        if let sender = self.sender { members.append(("from", .string(sender))) }
        return .members(members + [("body", self.body.json)])
    }
}

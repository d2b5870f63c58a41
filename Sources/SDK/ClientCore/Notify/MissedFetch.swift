public import TidingsModel

/// Which entries of the person's log the extension asks the server for: when a push tells that APNs has overwritten others
/// (design.md §5 "Keep-one"), because APNs stores one notification per app for a phone that is off; and when a push does not bring its text
/// (`PushTextMode.idOnly`).
public struct MissedFetch: Hashable, Sendable {
    /// The last position the phone needs nothing of any more.
    public var after: LogPosition
    /// The position of the push itself; entries before it are missing.
    public var before: LogPosition

    /// The most entries that are fetched; older ones are seen when the app is opened (design.md §5).
    public static let entriesMax = PushInfo.countedReach

    /// The entries among them that the push itself counts: nothing is posted for them.
    public var counted: [LogPosition]
    /// True if the push's own entry is asked for as well, for its text.
    public var includesPush: Bool
    /// True if only readings and recalls are of interest: nothing is posted for the messages among the entries.
    public var clearsOnly: Bool

    /// A fetch from its parts.
    public init(
        after: LogPosition, before: LogPosition, counted: [LogPosition] = [], includesPush: Bool = false,
        clearsOnly: Bool = false
    ) {
        self.clearsOnly = clearsOnly
        self.after = after
        self.before = before
        self.counted = counted
        self.includesPush = includesPush
    }

    /// Nil if the push has its text, and nothing is missing or the phone's position is not known.
    init?(_ info: PushInfo, _ facts: ExtensionDecision.Facts, wantsText: Bool) {
        let last = info.position - 1
        // Without a position all before the push counts as there.
        let known = min(facts.position ?? last, last)
        guard facts.canFetch, wantsText || known < last else { return nil }
        let entriesMax = Self.entriesMax - (wantsText ? 1 : 0)
        self.init(
            after: max(known, last > entriesMax ? last - entriesMax : 0), before: info.position,
            counted: info.counted, includesPush: wantsText)
    }

    /// Asks what became of the notifications in the list, up to the number's position. Nil if the phone has all of it.
    init?(_ push: BadgeInfo, _ facts: ExtensionDecision.Facts) {
        let last = push.badgePosition
        guard facts.canFetch, let known = facts.position, known < last else { return nil }
        self.init(
            after: max(known, last > Self.entriesMax ? last - Self.entriesMax : 0), before: last + 1, clearsOnly: true)
    }

    /// How many entries are asked for, 1 to 20.
    public var limit: Int { Int(self.before - 1 - self.after) + (self.includesPush ? 1 : 0) }

    /// The path of the request below the server's API, with its query.
    public var path: String { "/v1/extension/missed?after=\(self.after)&limit=\(self.limit)" }
}

/// One message of the server's answer (`/v1/extension/missed`, see /openapi.yaml).
public struct MissedMessage: Hashable, Sendable {
    /// Its position in the person's log.
    public var position: LogPosition
    /// Its id: request identifier and key of the ledger.
    public var message: MessageID
    /// The conversation as the person sees it.
    public var conversation: ConversationID
    /// Who sent it.
    public var sender: UserID
    /// The text of the notification; neutral if the kit hides the texts of messages.
    public var text: PushInfo.Text
    /// The `rc` dictionary for a tap (S0.10–S0.14).
    public var payload: NotificationPayload
    /// How its notification sounds and is grouped; nil for as usual.
    public var options: PushOptions?
    /// Whom it is from; nil leaves it one of the app.
    package var communication: CommunicationForm?

    /// Returns the notification's user info: the `rc` dictionary, and the SDK's members of a push for the same message. By it the kit tells
    /// in the foreground that the extension has silenced it, and for whom it is (design.md P3, P7).
    public func userInfo(recipientTag tag: String) -> JSONValue {
        self.payload.userInfo(
            with: PushInfo(
                message: self.message, position: self.position, badgePosition: self.position, recipientTag: tag),
            custom: self.options?.custom)
    }

    mutating func hide(_ words: NotificationWords) {
        self.text = PushInfo.Text(body: .text(words.hidden))
        self.communication = nil
    }

    package func manner(isSilent: Bool) -> NotificationManner {
        NotificationManner(self.options, of: self.conversation, isSilent: isSilent)
    }

    /// Reads the messages of an answer that a notification may tell of, oldest first: those that are marked as notifiable by
    /// the server, lie before the push, are not counted by it, and were neither recalled nor read meanwhile. Everything else is left out, and so is
    /// an answer that is none.
    ///
    /// - Parameter hidden: what each says where this phone hides their content; nil where it does not.
    static func all(
        in answer: JSONValue, _ fetch: MissedFetch, hidden: String?, names: (NotificationPayload) -> KnownNames
    ) -> [MissedMessage] {
        let entries = answer["entries"]?.arrayValue ?? []
        return entries.prefix(Int(MissedFetch.entriesMax)).compactMap { MissedMessage($0, fetch, hidden, names) }
            .sorted { $0.position < $1.position }
    }

    private init?(
        _ entry: JSONValue, _ fetch: MissedFetch, _ hidden: String?, _ names: (NotificationPayload) -> KnownNames
    ) {
        guard let position = entry["position"]?.intValue.flatMap({ LogPosition(exactly: $0) }), position > fetch.after,
            position < fetch.before, !fetch.counted.contains(position), entry["rings"]?.boolValue == true,
            let message = entry["message_id"]?.stringValue.flatMap({ MessageID($0) }),
            let sender = entry["sender"]?.stringValue, let payload = try? NotificationPayload(userInfo: entry),
            let text = PushInfo.Text(entry["text"])
        else { return nil }
        self.position = position
        self.message = message
        self.sender = UserID(sender)
        self.conversation = payload.conversation
        self.payload = payload
        self.options = PushOptions(stored: entry["push"])
        if entry["hidden"]?.boolValue == true {
            // The person wants it so, and this phone may not know yet: these are the server's words for it.
            self.text = PushInfo.Text(body: text.body)
        } else {
            let known = names(payload)
            self.text =
                hidden.map { PushInfo.Text(body: .text($0)) }
                ?? text.named(known, isGroup: payload.conversationType.isGroup)
            guard hidden == nil else { return }
            // Without portrait, as without image.
            self.communication = CommunicationForm(
                payload, message: message, text: text, names: known, isMention: entry["mention"]?.boolValue ?? false,
                isReply: entry["reply"]?.boolValue ?? false)
        }
    }
}

/// Decides what is done with the fetched messages.
public enum MissedDecision {
    /// One local notification the extension posts.
    public struct Post: Hashable, Sendable {
        /// The message.
        public var message: MissedMessage
        /// True if it is posted without sound and passive.
        public var isSilent: Bool

        /// A post from its parts.
        public init(message: MissedMessage, isSilent: Bool) {
            self.message = message
            self.isSilent = isSilent
        }
    }

    /// The messages whose recall was missed: their notifications are taken out of the notification centre.
    public static func removed(_ answer: JSONValue) -> [MessageID] {
        (answer["entries"]?.arrayValue ?? []).compactMap { $0["recall"]?.stringValue.flatMap { MessageID($0) } }
    }

    /// Returns the messages in the notification centre that were read on other devices, by the read marks of the answer (design.md P6).
    package static func read(_ answer: JSONValue, delivered: [NotificationCenterQueue.Entry]) -> [MessageID] {
        let marks = (answer["entries"]?.arrayValue ?? []).compactMap { entry -> (ConversationID, LogPosition)? in
            guard let read = entry["read"],
                let type = read["type"]?.stringValue.flatMap({ ConversationType(rawValue: $0) }),
                let target = read["target"]?.stringValue,
                let upTo = entry["up_to"]?.intValue.flatMap({ LogPosition(exactly: $0) })
            else { return nil }
            return (ConversationID(type: type, target: target), upTo)
        }
        guard !marks.isEmpty else { return [] }
        return delivered.filter { entry in
            marks.contains { conversation, upTo in
                NotificationClearing.isRead(
                    entry.userInfo, identifier: entry.identifier, thread: entry.thread, in: conversation, upTo: upTo,
                    stored: { _ in nil })
            }
        }.compactMap { MessageID($0.identifier) }
    }

    /// Returns the messages of an answer that are claimed in the ledger and neither shown nor recalled.
    static func claimed(in answer: JSONValue, _ fetch: MissedFetch, by ledger: Ledger) -> [MessageID] {
        MissedMessage.all(in: answer, fetch, hidden: nil, names: { _ in KnownNames() }).map(\.message).filter {
            ledger[$0].map { !$0.isShown && !$0.isRecalled } ?? false
        }
    }

    /// Claims the missed messages; one that is claimed already is shown by its holder. What was recalled meanwhile is marked so. The caller
    /// holds the app group's lock, and marks each one shown after it was posted. One ring in all: if the push itself rings, none of them
    /// does, otherwise the newest (design.md §5). `hidden` is what each says where this phone hides content.
    public static func posts(
        _ answer: JSONValue, _ fetch: MissedFetch, hidden: String?,
        names: (NotificationPayload) -> KnownNames = { _ in KnownNames() }, pushRings: Bool, delivered: Set<MessageID>,
        ledger: inout Ledger, wall: Int64
    ) -> [Post] {
        for message in Self.removed(answer) { ledger.markRecalled(message, by: .pushExtension, wall: wall) }
        if fetch.clearsOnly { return [] }
        var posts: [Post] = []
        for message in MissedMessage.all(in: answer, fetch, hidden: hidden, names: names) {
            let isDelivered = delivered.contains(message.message)
            let claim = ledger.claim(message.message, by: .pushExtension, isDelivered: isDelivered, wall: wall)
            if claim == .granted { posts.append(Post(message: message, isSilent: true)) }
        }
        if !pushRings, !posts.isEmpty { posts[posts.count - 1].isSilent = false }
        return posts
    }
}

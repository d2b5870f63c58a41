public import TidingsModel

/// Decides what the notification service extension does with one push: a pure function of the payload and of what the app group knows
/// (S2.18–S2.22; design.md P3, §5, §7 "Extension").
public enum ExtensionDecision {
    /// The app group's knowledge of the person who is signed in on this phone.
    public enum SignIn: Hashable, Sendable {
        /// The app group cannot be read, for example before the first unlock; or the app has never said.
        case unknown
        /// Nobody is signed in.
        case signedOut
        /// This person.
        case signedIn(recipientTag: String)
    }

    /// Everything the app group and the extension itself know, besides ledger and badge.
    public struct Facts: Hashable, Sendable {
        /// Who is signed in.
        public var signIn: SignIn
        /// True if the message's notification is in the delivered list; nil if the list was not read.
        public var isDelivered: Bool?
        /// The log position the phone has; a push beyond the next one tells that something was overwritten. Nil if unknown.
        public var position: LogPosition?
        /// True if notifications show the text of messages.
        public var showsContent: Bool
        /// True if the extension may show nothing; see `ExtensionDecision.mayFilter`.
        public var isFilteringEntitled: Bool
        /// True if the extension can ask the server.
        public var canFetch: Bool
        /// The names of the push's conversation and sender.
        public var names: KnownNames
        /// The words of notifications beside the messages' own text.
        public var words: NotificationWords

        /// Facts from their parts; by default nobody is known and nothing can be fetched.
        public init(
            signIn: SignIn = .unknown, isDelivered: Bool? = nil, position: LogPosition? = nil,
            showsContent: Bool = true,
            isFilteringEntitled: Bool = false, canFetch: Bool = false, names: KnownNames = KnownNames(),
            words: NotificationWords = .english
        ) {
            self.signIn = signIn
            self.isDelivered = isDelivered
            self.position = position
            self.showsContent = showsContent
            self.isFilteringEntitled = isFilteringEntitled
            self.canFetch = canFetch
            self.names = names
            self.words = words
        }
    }

    /// The changes to the content, in no particular order.
    public struct Changes: Hashable, Sendable {
        /// Nil leaves the badge of the content as it came (S2.20).
        public var badge: Int?
        /// True if the sound is taken away and the level made passive.
        public var isSilent: Bool
        /// True if title, subtitle, text, badge, thread, category, weight and the app's own members are taken away as well: the push is for
        /// another person.
        public var isStripped: Bool
        /// True if nothing of the push is shown at all: only with the filtering entitlement (ios-delivery.md §10). A badge is set all the
        /// same.
        public var isDiscarded: Bool
        /// The title in place of the push's own, which is neutral.
        public var title: PushLine?
        /// The line below the title in place of the push's own.
        public var subtitle: PushLine?
        /// The text in place of the push's own, which is neutral.
        public var body: PushLine?
        /// The text of the message itself, without its sender's name; nil where that is not shown.
        public var message: String?
        /// Where the image is that is shown beside the text, an https URL; nil for none.
        public var imageURL: String?
        /// Whom a notification of a person is from; nil where it stays one of the app.
        package var communication: CommunicationForm?
        /// Notifications to take out of the notification centre.
        public var removed: [MessageID]
        /// The entries to fetch from the server; nil for none.
        public var fetch: MissedFetch?
        /// The log position the phone has after this push alone; nil if it is not known, or something is missing before it.
        public var reached: LogPosition?
        /// The message the server is to be told of as shown; nil for none.
        public var receipt: MessageID?
        /// Why, for traces.
        public var reason: Reason

        /// Changes from their parts; by default none.
        public init(
            badge: Int? = nil, isSilent: Bool = false, isStripped: Bool = false, isDiscarded: Bool = false,
            title: PushLine? = nil, subtitle: PushLine? = nil, body: PushLine? = nil,
            message: String? = nil, imageURL: String? = nil,
            removed: [MessageID] = [], fetch: MissedFetch? = nil, reached: LogPosition? = nil,
            receipt: MessageID? = nil, reason: Reason
        ) {
            self.badge = badge
            self.isSilent = isSilent
            self.isStripped = isStripped
            self.isDiscarded = isDiscarded
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.message = message
            self.imageURL = imageURL
            self.removed = removed
            self.fetch = fetch
            self.reached = reached
            self.receipt = receipt
            self.reason = reason
        }
    }

    /// Why the changes are what they are.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A message this phone has not rung for.
        case rings
        /// A message this phone has rung for already, or is about to.
        case alreadyShown = "already_shown"
        /// The recall of a message, or a push of one that was recalled.
        case recall
        /// Another sender's push.
        case foreign
        /// A number, and no message.
        case badge
        /// The push is for another person than the one who is signed in.
        case wrongRecipient = "wrong_recipient"
        /// Nobody is signed in.
        case signedOut = "signed_out"
        /// Nobody could be asked; the neutral text stays and nothing is counted.
        case unknown
    }

    /// The user info of a push for another person: nothing that could be opened, and a sign that keeps it silent in the foreground.
    public static let strippedUserInfo: JSONValue = .members([(PushInfo.key, .members([]))])

    /// Returns true if an extension may show nothing of a push: with the filtering entitlement, from iOS 13.3. Below, an empty content
    /// falls back to something visible (ios-delivery.md §10).
    ///
    /// - Parameters:
    ///   - isEntitled: whether the extension has the filtering entitlement.
    ///   - version: the system's, `13.3` or `17`; nil or anything else is taken for one that does not filter.
    public static func mayFilter(isEntitled: Bool, version: String?) -> Bool {
        let parts = (version ?? "").split(separator: ".").map { Int($0) ?? 0 }
        guard isEntitled, let major = parts.first else { return false }
        return major > 13 || major == 13 && parts.dropFirst().first ?? 0 >= 3
    }

    /// In milliseconds; nil if it can be decided now. The app has claimed the message and not shown it yet: it may do
    /// so at once, or be dead, and then nobody else would ring (design.md P3).
    package static func wait(userInfo: JSONValue, signIn: SignIn, ledger: Ledger, wall: Int64) -> Int64? {
        guard let info = PushInfo(userInfo: userInfo), !info.isRecall,
            signIn == .signedIn(recipientTag: info.recipientTag)
        else { return nil }
        return ledger.kitClaimLeft(info.message, wall: wall)
    }

    /// Decides, and writes ledger and badge under the caller's lock. Nil if the delivered list has to be looked at first; nothing was
    /// changed then. `isRecall` is the app's own test for other senders' pushes (S2.22).
    public static func changes(
        userInfo: JSONValue, facts: Facts, ledger: inout Ledger, badge: inout Badge?,
        isRecall: (JSONValue) -> Bool = CornerMarkDecrease.isSet(in:), wall: Int64
    ) -> Changes? {
        guard let info = PushInfo(userInfo: userInfo) else {
            if let push = BadgeInfo(userInfo: userInfo) { return Self.changes(for: push, facts, badge: &badge) }
            badge?.pushedByAnother(isRecall: isRecall(userInfo))
            return Changes(badge: badge?.shown, reason: .foreign)
        }
        switch facts.signIn {
        case .unknown: return Changes(reason: .unknown)
        case .signedOut: return Self.stripped(.signedOut, facts)
        case .signedIn(let tag) where tag != info.recipientTag:
            return Self.stripped(.wrongRecipient, facts)
        case .signedIn: break
        }
        let absolute = userInfo["aps"]?["badge"]?.intValue.flatMap { Int(exactly: $0) }
        // A push of the recalled message may be at work beside this one, or come late.
        if info.isRecall { ledger.markRecalled(info.message, by: .pushExtension, wall: wall) }
        if ledger[info.message]?.isRecalled == true {
            Self.count(absolute, info, in: &badge)
            var changes = Self.recalled(info.message, facts, badge: badge)
            // The push of a recall says so in the server's words, which may be of a language this phone has none in.
            let said = info.isRecall ? AlertText(userInfo: userInfo).body : ""
            if !said.isEmpty { changes.body = .text(said) }
            // It may have taken the place of alerts at APNs: they ring all the same.
            changes.fetch = MissedFetch(info, facts, wantsText: false)
            changes.reached = Self.reached(info, facts)
            return changes
        }
        let claim = ledger.claim(info.message, by: .pushExtension, isDelivered: facts.isDelivered, wall: wall)
        if claim == .lookAtDelivered { return nil }
        Self.count(absolute, info, in: &badge)
        var changes = Changes(
            badge: badge?.shown,
            fetch: MissedFetch(
                info, facts, wantsText: info.textMode == .idOnly && info.text == nil && facts.showsContent),
            reached: Self.reached(info, facts),
            receipt: info.message, reason: .alreadyShown)
        if facts.showsContent, let text = info.text {
            changes.show(text, of: userInfo, info.message, facts.names, countsOthers: !info.counted.isEmpty)
            changes.imageURL = info.imageURL
            changes.communication?.mark(
                isMention: info.isMention, isReply: info.isReply, portrait: info.portrait)
        } else if info.textMode == .alert {
            // The alert says what this phone hides.
            (changes.title, changes.subtitle) = ("", "")
            changes.body = .text(facts.words.hidden)
        }
        switch claim {
        case .granted:
            // Whatever becomes of this process, the system shows the push: claimed is shown.
            ledger.markShown(info.message, by: .pushExtension, wall: wall)
            changes.reason = .rings
        case .alreadyShown, .recalled:
            changes.isSilent = true
            changes.isDiscarded = facts.isFilteringEntitled
            if changes.isDiscarded { changes.imageURL = nil }
        case .heldByAnother, .lookAtDelivered:
            // Another process of the extension is at work on it, or `wait` was not asked: the entry is there, without a ring.
            changes.isSilent = true
        }
        return changes
    }

    /// A number alone: the ledger is not asked, and nothing is shown or counted. An older one leaves the number that is there. What was read
    /// elsewhere is asked for, so that it leaves the list.
    private static func changes(for push: BadgeInfo, _ facts: Facts, badge: inout Badge?) -> Changes {
        switch facts.signIn {
        case .unknown: return Self.hidden(facts.isFilteringEntitled)
        case .signedOut: return Self.stripped(.signedOut, facts)
        case .signedIn(let tag) where tag != push.recipientTag: return Self.stripped(.wrongRecipient, facts)
        case .signedIn: break
        }
        badge?.pushed(absolute: push.badge, position: push.badgePosition)
        return Changes(
            badge: badge?.shown, isSilent: true, isDiscarded: facts.isFilteringEntitled,
            fetch: MissedFetch(push, facts), reason: .badge)
    }

    /// Returns the changes for a push of the number whose recipient cannot be determined now.
    static func hidden(_ isFilteringEntitled: Bool) -> Changes {
        Changes(isSilent: true, isDiscarded: isFilteringEntitled, reason: .unknown)
    }

    private static func reached(_ info: PushInfo, _ facts: Facts) -> LogPosition? {
        facts.position.map { $0 + 1 } == info.position ? info.position : nil
    }

    /// Returns the changes for a recalled message, no matter if its recall or a late push of its own comes first.
    static func recalled(_ message: MessageID, _ facts: Facts, badge: Badge?) -> Changes {
        Changes(
            badge: badge?.shown, isSilent: true, isDiscarded: facts.isFilteringEntitled, title: "", subtitle: "",
            body: .text(facts.words.recalled), removed: facts.isFilteringEntitled ? [message] : [], reason: .recall)
    }

    static func stripped(_ reason: Reason, _ facts: Facts) -> Changes {
        Changes(
            isSilent: true, isStripped: true, isDiscarded: facts.isFilteringEntitled, body: .text(facts.words.stripped),
            reason: reason)
    }

    private static func count(_ absolute: Int?, _ info: PushInfo, in badge: inout Badge?) {
        guard let absolute else { return }
        badge?.pushed(absolute: absolute, position: info.badgePosition)
    }
}

extension ExtensionDecision.Changes {
    /// `userInfo` has the conversation's kind, in its `rc` dictionary.
    fileprivate mutating func show(
        _ text: PushInfo.Text, of userInfo: JSONValue, _ message: MessageID, _ names: KnownNames,
        countsOthers: Bool = false
    ) {
        let payload = try? NotificationPayload(userInfo: userInfo)
        let shown = text.named(
            names, isGroup: payload?.conversationType.isGroup == true, countsOthers: countsOthers)
        self.title = shown.title
        self.subtitle = shown.subtitle
        self.body = shown.body
        self.message = text.body.plain
        // What counts other messages is of nobody.
        guard let payload, !countsOthers else { return }
        self.communication = CommunicationForm(
            payload, message: message, text: text, names: names, isMention: false, isReply: false)
    }

    /// Shows the server's answer about the push's own message, if it was asked for (`PushTextMode.idOnly`). Without an entry the neutral
    /// alert stays: the message was recalled or deleted meanwhile.
    /// - Returns: where the image is that only the answer names; who fetches it sees to it that the connection is encrypted.
    mutating func showFetched(_ answer: JSONValue, of info: PushInfo, _ names: KnownNames) -> String? {
        let id = info.message.description
        guard let entry = answer["entries"]?.arrayValue?.first(where: { $0["message_id"]?.stringValue == id }),
            let text = PushInfo.Text(entry["text"])
        else { return nil }
        if entry["hidden"]?.boolValue == true {
            // The person has asked for it since: these are the server's words for it.
            self.body = text.body
            return nil
        }
        self.show(text, of: entry, info.message, names)
        if !self.isDiscarded { self.imageURL = entry["image"]?.stringValue }
        self.communication?.mark(
            isMention: entry["mention"]?.boolValue ?? false, isReply: entry["reply"]?.boolValue ?? false,
            portrait: PushInfo.file(entry["portrait"]))
        return self.imageURL
    }
}

public import TidingsModel

/// What the notification service extension does with one push: a pure function of the payload and of what the app group
/// knows (S2.18–S2.22; DESIGN P3, §5, §7 "Extension").
public enum ExtensionDecision {
    /// What the app group holds of the person who is signed in on this phone.
    public enum SignIn: Hashable, Sendable {
        /// The app group cannot be read, for example before the first unlock.
        case unknown
        /// Nobody is signed in.
        case signedOut
        /// This person.
        case signedIn(recipientTag: String)
    }

    /// The changes to the content, in no particular order.
    public struct Changes: Hashable, Sendable {
        /// Nil leaves the badge of the content as it came (S2.20).
        public var badge: Int?
        /// Whether the sound is taken away and the level made passive.
        public var isSilent: Bool
        /// Whether title, subtitle, text and badge are taken away as well: the push is for somebody else.
        public var isStripped: Bool
        /// Whether nothing of the push is shown at all: only with the filtering entitlement (ios-delivery.md §10). A badge
        /// is set all the same.
        public var isDiscarded: Bool
        /// A fixed text in place of the push's own.
        public var body: String?
        /// Notifications to take out of the notification centre.
        public var removed: [MessageID]
        /// Why, for traces.
        public var reason: Reason

        /// Changes from their parts; by default none.
        public init(
            badge: Int? = nil, isSilent: Bool = false, isStripped: Bool = false, isDiscarded: Bool = false,
            body: String? = nil, removed: [MessageID] = [], reason: Reason
        ) {
            self.badge = badge
            self.isSilent = isSilent
            self.isStripped = isStripped
            self.isDiscarded = isDiscarded
            self.body = body
            self.removed = removed
            self.reason = reason
        }
    }

    /// Why the changes are what they are.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A message this phone has not rung for.
        case rings
        /// A message this phone has rung for already, or is about to.
        case alreadyShown = "already_shown"
        /// The withdrawal of a message.
        case recall
        /// Another sender's push.
        case foreign
        /// For somebody else than the person who is signed in.
        case wrongRecipient = "wrong_recipient"
        /// Nobody is signed in.
        case signedOut = "signed_out"
    }

    /// The text that stands where a message was withdrawn.
    public static let recallText = "A message was withdrawn"
    /// The text of a push for somebody else. Without the filtering entitlement an empty content would bring the push's own
    /// text back (ios-delivery.md §10).
    public static let strippedText = "You have a notification"

    /// Decides, and writes ledger and badge. The caller holds the app group's lock around it and stores both.
    ///
    /// - Parameters:
    ///   - badge: nil if none is stored (S2.20).
    ///   - isDelivered: whether the message's notification is in the delivered list; nil if nobody has looked.
    ///   - isFilteringEntitled: whether the extension has the filtering entitlement, so that it may show nothing.
    ///   - isRecall: the app's own test for other senders' pushes; S2.22 by default.
    ///   - wall: wall milliseconds of this phone.
    /// - Returns: nil if the delivered list has to be looked at first; nothing was changed then.
    public static func changes(
        userInfo: JSONValue, signIn: SignIn, ledger: inout Ledger, badge: inout Badge?, isDelivered: Bool?,
        isFilteringEntitled: Bool = false, isRecall: (JSONValue) -> Bool = CornerMarkDecrease.isSet(in:), wall: Int64
    ) -> Changes? {
        guard let info = PushInfo(userInfo: userInfo) else {
            badge?.pushedByAnother(isRecall: isRecall(userInfo))
            return Changes(badge: badge?.shown, reason: .foreign)
        }
        switch signIn {
        case .signedOut: return Self.stripped(.signedOut, isDiscarded: isFilteringEntitled)
        case .signedIn(let tag) where tag != info.recipientTag:
            return Self.stripped(.wrongRecipient, isDiscarded: isFilteringEntitled)
        case .signedIn, .unknown: break
        }
        let absolute = userInfo["aps"]?["badge"]?.intValue.flatMap { Int(exactly: $0) }
        if info.isRecall {
            Self.count(absolute, info, in: &badge)
            return Changes(
                badge: badge?.shown, isSilent: true, isDiscarded: isFilteringEntitled, body: Self.recallText,
                removed: isFilteringEntitled ? [info.message] : [], reason: .recall)
        }
        switch ledger.claim(info.message, by: .pushExtension, isDelivered: isDelivered, wall: wall) {
        case .lookAtDelivered: return nil
        case .granted:
            // Whatever becomes of this process, the system shows the push: claimed is shown.
            ledger.markShown(info.message, by: .pushExtension, wall: wall)
            Self.count(absolute, info, in: &badge)
            return Changes(badge: badge?.shown, reason: .rings)
        case .alreadyShown:
            Self.count(absolute, info, in: &badge)
            return Changes(
                badge: badge?.shown, isSilent: true, isDiscarded: isFilteringEntitled, reason: .alreadyShown)
        case .heldByAnother:
            // Whoever holds the claim may die before it shows: the entry stays in the list, without a ring.
            Self.count(absolute, info, in: &badge)
            return Changes(badge: badge?.shown, isSilent: true, reason: .alreadyShown)
        }
    }

    private static func stripped(_ reason: Reason, isDiscarded: Bool) -> Changes {
        Changes(
            isSilent: true, isStripped: true, isDiscarded: isDiscarded, body: Self.strippedText, reason: reason)
    }

    private static func count(_ absolute: Int?, _ info: PushInfo, in badge: inout Badge?) {
        guard let absolute else { return }
        badge?.pushed(absolute: absolute, position: info.badgePosition)
    }
}

public import TidingsModel

// Seconds may lie between the extension's decision and its answer: it waits for its receipt, for what was overwritten, for an image.
// Its other runs and the app go on meanwhile.
extension ExtensionDecision {
    /// The changes as they are to be answered, asked for just before (design.md P4, P7, §5 "Recall"): a message that was recalled since is
    /// answered as its recall, a push for a person who has left is stripped, what is to be hidden by now is not said, and the number
    /// is the one with the greatest log position. The caller holds the app group's lock. Of the facts only sign-in, hiding, filtering and words count.
    public static func answer(
        _ changes: Changes, userInfo: JSONValue, facts: Facts, ledger: Ledger, badge: Badge?
    ) -> Changes {
        var answer = changes
        answer.badge = badge?.shown ?? changes.badge
        let info = PushInfo(userInfo: userInfo)
        guard let recipientTag = info?.recipientTag ?? BadgeInfo(userInfo: userInfo)?.recipientTag else {
            return answer
        }
        switch changes.reason {
        case .wrongRecipient, .signedOut, .unknown: return changes
        case .rings, .alreadyShown, .recall, .foreign, .badge: break
        }
        switch facts.signIn {
        case .unknown: return changes
        case .signedOut: return Self.stripped(.signedOut, facts)
        case .signedIn(let tag) where tag != recipientTag:
            return Self.stripped(.wrongRecipient, facts)
        case .signedIn: break
        }
        // What was decided says it, also by a key of the app's, or the push's own alert does.
        if !facts.showsContent, changes.reason != .recall, changes.body != nil || info?.textMode == .alert {
            answer.hide(facts.words)
        }
        guard let info, changes.reason != .recall, ledger[info.message]?.isRecalled == true else { return answer }
        // The process that heard of the recall has removed what was in the list.
        answer = Self.recalled(info.message, facts, badge: badge)
        answer.removed = []
        return answer
    }
}

extension ExtensionDecision.Changes {
    /// Hides title, text, image and sender. Sound and number stay.
    fileprivate mutating func hide(_ words: NotificationWords) {
        (self.title, self.subtitle, self.body) = ("", "", .text(words.hidden))
        (self.message, self.imageURL, self.communication) = (nil, nil, nil)
    }
}

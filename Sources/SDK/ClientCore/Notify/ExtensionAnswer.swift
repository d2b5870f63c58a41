public import TidingsModel

// Seconds may lie between the extension's decision and its answer: it waits for its receipt, for what was overwritten, for an image.
// Its other runs and the app go on meanwhile.
extension ExtensionDecision {
    /// The changes as they are to be answered, asked just before: whoever answers last decides what stands in the list and on the
    /// icon (DESIGN P4, P7, §5 "Recall").
    ///
    /// A message that was recalled since is answered as its recall, a push for somebody who has left is stripped, and the
    /// number is the newest known one, whose log position is the greatest. The caller holds the app group's lock around it.
    ///
    /// - Parameters:
    ///   - changes: what was decided; answered as it is where nothing has changed, or nobody can be asked.
    ///   - userInfo: the push's user info.
    ///   - facts: who is signed in, whether nothing may be shown, and the words; the rest is not looked at.
    ///   - ledger: what was shown and recalled.
    ///   - badge: nil if none is stored (S2.20).
    public static func answer(
        _ changes: Changes, userInfo: JSONValue, facts: Facts, ledger: Ledger, badge: Badge?
    ) -> Changes {
        var answer = changes
        answer.badge = badge?.shown ?? changes.badge
        guard let info = PushInfo(userInfo: userInfo) else { return answer }
        switch changes.reason {
        case .wrongRecipient, .signedOut, .unknown: return changes
        case .rings, .alreadyShown, .recall, .foreign: break
        }
        switch facts.signIn {
        case .unknown: return changes
        case .signedOut: return Self.stripped(.signedOut, facts)
        case .signedIn(let tag) where tag != info.recipientTag:
            return Self.stripped(.wrongRecipient, facts)
        case .signedIn: break
        }
        guard changes.reason != .recall, ledger[info.message]?.isRecalled == true else { return answer }
        // Whoever heard of the recall has taken out what stood in the list.
        answer = Self.recalled(info.message, facts, badge: badge)
        answer.removed = []
        return answer
    }
}

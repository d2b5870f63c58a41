// A push tells what the message says now: the newest content the server knows of, and nothing older.
import OrderedCollections
import TidingsModel

struct WordsChecker: Checker {
    static let kinds = FactKinds(.pushed)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        // One that counts several messages says how many they are.
        guard case .pushed(let request, let key) = fact, let info = request.alert, info.counted.isEmpty,
            let body = info.text?.body.plain, let message = state.committed.messages[info.message]?.message
        else { return }
        let content = state.known.contents[message.id] ?? message.content
        guard let words = (try? JSONValue(parsing: content))?["content"]?.stringValue,
            // Mostly they stand at the end; to look everywhere takes long.
            !body.hasSuffix(words), !body.contains(words),
            !Self.counts(body, at: info.position, message, for: key.user.user, state)
        else { return }
        findings.add("edit", "a push of \(message.id) tells \(key) \(body), it says \(words)")
    }

    /// Returns true if a push says how many messages it counts, and the others stand too far back in the log to be named.
    private static func counts(
        _ body: String, at position: LogPosition, _ message: Message, for user: UserID, _ state: CheckerState
    ) -> Bool {
        let conversation = message.conversation(seenBy: user)
        let others = state.committed.messages.values.count { other in
            guard let place = other.position(of: user), place + PushInfo.countedReach < position else { return false }
            return other.message.conversation(seenBy: user) == conversation
        }
        let several = NotificationWords.english.several
        return others > 0 && (2...others + 1).contains { body == several.replacing("{count}", with: "\($0)") }
    }
}

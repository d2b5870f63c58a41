// A push tells what the message says now: the newest content the server knows of, and nothing older.
import APNsModel
import OrderedCollections
import ServerCore
import TidingsModel

/// Watches pushes that are handed over.
struct WordsChecker: Checker {
    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        // One that counts several messages says how many they are.
        guard case .pushed(let request, let key) = fact, let info = request.alert, info.counted.isEmpty,
            let text = info.text, let message = scene.committed.messages[info.message]?.message
        else { return }
        let content = scene.known.contents[message.id] ?? message.content
        guard let words = (try? JSONValue(parsing: content))?["content"]?.stringValue, !text.body.contains(words),
            !self.counts(text.body, info, message, for: key.user.user, scene)
        else { return }
        findings.add("edit", "a push of \(message.id) tells \(key) \(text.body), it says \(words)")
    }

    /// Whether a text counts several messages, all others of which stand too far back in the log to be named.
    private func counts(
        _ text: String, _ info: PushInfo, _ message: Message, for user: UserID, _ scene: Scene
    ) -> Bool {
        guard let number = Int(text.prefix(while: \.isNumber)), number > 1, text == "\(number) new messages" else {
            return false
        }
        let conversation = message.conversation(seenBy: user)
        let earlier = scene.committed.messages.values.count { other in
            guard other.message.conversation(seenBy: user) == conversation, let position = other.position(of: user)
            else { return false }
            return position + PushInfo.countedReach < info.position
        }
        return earlier >= number - 1
    }
}

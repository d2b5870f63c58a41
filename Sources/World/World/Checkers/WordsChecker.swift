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
        guard let words = (try? JSONValue(parsing: content))?["content"]?.stringValue, !text.body.contains(words) else {
            return
        }
        findings.add("edit", "a push of \(message.id) tells \(key) \(text.body), it says \(words)")
    }
}

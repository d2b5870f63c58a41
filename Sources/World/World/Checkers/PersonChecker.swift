// P7: a phone shows, opens and hands over only what is for the person who is signed in on it; everything else is stripped. Another app
// on the same server, whose people and messages have the same names, gets nothing and gives nothing.
import ClientCore
import OrderedCollections
import TidingsModel

/// Watches what phones show, while people sign in and out on them.
struct PersonChecker: Checker {
    private var left: Set<DeviceKey> = []

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .neighbourTold(let message):
            if scene.committed.messages[message] != nil {
                findings.add("P7", "another app is told of \(message) as its own")
            }
        case .signedOut(let key): self.left.insert(key)
        case .signedIn(let key): self.left.remove(key)
        case .extended(let message, let isQuiet, let text, let key):
            let isStripped = isQuiet && text == ExtensionDecision.strippedText
            let isOwn = scene.committed.messages[message]?.position(of: key.user.user) != nil
            if self.left.contains(key) || !isOwn, !isStripped {
                findings.add("P7", "\(key) shows \(message), which is for somebody else")
            }
        case .fetched(let posts, _, let key):
            for post in posts
            where self.left.contains(key)
                || scene.committed.messages[post.message.message]?.position(of: key.user.user) == nil
            {
                findings.add("P7", "\(key) posts \(post.message.message), which is for somebody else")
            }
        case .posted(let notification, let key, _):
            if self.left.contains(key) { findings.add("P7", "\(key) posts \(notification.message) for nobody") }
        case .opened(_, let message, let key):
            if self.left.contains(key) { findings.add("P7", "\(key) opens \(message) for nobody") }
        case .handedOver(let messages, _, let key):
            if self.left.contains(key), let first = messages.first {
                findings.add("P7", "\(key) hands over \(first.message.id) for nobody")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }
}

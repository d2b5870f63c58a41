// P7: a phone shows, opens and hands over only what is for the person who is signed in on it; everything else is stripped. Another app
// on the same server, whose people and messages have the same names, gets nothing and gives nothing.
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

struct PersonChecker: Checker {
    static let kinds = FactKinds(
        .otherTenantNotified, .signedOut, .signedIn, .extended, .fetched, .posted, .opened, .handedOver, .told,
        .presented, .shown, .rangInForeground)

    /// How long what the app had answered when its person signed out may take to the screen, in milliseconds.
    static let answerTolerance: Int64 = 100

    private var left: [DeviceKey: Int64] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .otherTenantNotified(let message):
            if state.committed.messages[message] != nil {
                findings.add("P7", "another app is told of \(message) as its own")
            }
        case .signedOut(let key): self.left[key] = state.now.monotonic
        case .signedIn(let key): self.left[key] = nil
        case .extended(let message, let isQuiet, let text, let key):
            let isStripped = isQuiet && [nil, NotificationWords.english.stripped].contains(text)
            let isOwn = state.committed.messages[message]?.position(of: key.user.user) != nil
            if self.left[key] != nil || !isOwn, !isStripped {
                findings.add("P7", "\(key) shows \(message), which is for somebody else")
            }
        case .fetched(let posts, _, let key):
            for post in posts
            where self.left[key] != nil
                || state.committed.messages[post.message.message]?.position(of: key.user.user) == nil
            {
                findings.add("P7", "\(key) posts \(post.message.message), which is for somebody else")
            }
        case .posted(let notification, let key, _):
            if self.left[key] != nil { findings.add("P7", "\(key) posts \(notification.message) for nobody") }
        case .opened(_, let message, let key):
            if self.left[key] != nil { findings.add("P7", "\(key) opens \(message) for nobody") }
        case .handedOver(let messages, _, let key):
            if self.left[key] != nil, let first = messages.first {
                findings.add("P7", "\(key) hands over \(first.message.id) for nobody")
            }
        case .told(let message, let user, let key):
            let hasLeft = self.left[key].map { state.now.monotonic - $0 > Self.answerTolerance } ?? false
            if hasLeft || user != key.user {
                let what = message.map { "\($0)" } ?? "a push"
                findings.add("P7", "the app of \(key) is told of \(what), which is for \(user)")
            }
        case .rangInForeground(let message, let key):
            let isOwn = state.committed.messages[message]?.message.sender == key.user.user
            if self.left[key] != nil { findings.add("P7", "\(key) rings in the foreground for \(message), for nobody") }
            if isOwn { findings.add("P3", "\(key) rings in the foreground for \(message), which is its own") }
        case .exposed(let message, let byAlert, let key):
            // What such an app gives up (docs/inside/decisions/0008).
            if byAlert { return findings.reach(.exposedTexts) }
            findings.add("P7", "\(key) shows the text of \(message), which is for somebody else")
        case .presented(let record, let key) where record.isRing && record.reason == .willPresent:
            // The app is in the foreground and was asked: it knows whether anybody is signed in.
            if let since = self.left[key], state.now.monotonic - since > Self.answerTolerance {
                findings.add("P7", "\(key) rings in the foreground for \(record.identifier), and nobody is signed in")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }
}

// A recalled or deleted message is presented no more: no push of it goes out once the server's core knows, and no
// phone that knows lets it ring or tells what it said. No push of a message that was read goes out once the core
// knows. What is under way already is not called back: the recall follows it.
import ClientCore
import OrderedCollections
import TidingsModel

struct RecallChecker: Checker {
    static let kinds = FactKinds(.applied, .signedOut, .pushed, .posted, .extended, .fetched)

    /// The messages that a phone knows to be recalled or deleted, by its log or by a push.
    private var gone: [DeviceKey: Set<MessageID>] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .applied(let entries, let key):
            for entry in entries { self.learn(entry.body, key) }
        case .signedOut(let key): self.gone[key] = nil
        case .pushed(let request, let key):
            guard let info = request.alert else { return }
            self.checkPush(info, key, state, into: &findings)
        case .posted(let notification, let key, _):
            guard !notification.isSilent else { return }
            self.checkRing(notification.message, key, into: &findings)
        case .extended(let message, let isQuiet, let text, let key):
            if !isQuiet { self.checkRing(message, key, into: &findings) }
            self.checkText(text, of: message, key, into: &findings)
            if text == NotificationWords.english.recalled { self.gone[key, default: []].insert(message) }
        case .fetched(let posts, _, let key):
            for post in posts where !post.isSilent { self.checkRing(post.message.message, key, into: &findings) }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func learn(_ body: LogEntry.Body, _ key: DeviceKey) {
        switch body {
        case .recall(let recall): self.gone[key, default: []].insert(recall.message)
        case .deletion(let deletion):
            self.gone[key, default: []].formUnion(deletion.messages)
        case .message, .read, .custom, .edit, .conversationSettings, .personSettings, .blocked, .change, .unknown: break
        }
    }

    private func checkPush(_ info: PushInfo, _ key: DeviceKey, _ state: CheckerState, into findings: inout Findings) {
        let user = key.user.user
        if state.known.recalled[info.message] != nil {
            findings.add("recall", "a push of \(info.message) went to \(key) after it was recalled")
        }
        if state.known.isDeleted(info.message, by: user) {
            findings.add("recall", "a push of \(info.message) went to \(key) after \(user) had deleted it")
        }
        guard let message = state.committed.messages[info.message]?.message else { return }
        if info.position <= state.known.readUpTo(message.conversation(seenBy: user), by: user) {
            findings.add("recall", "a push of \(info.message) went to \(key) after \(user) had read it")
        }
    }

    private func checkText(_ text: String?, of message: MessageID, _ key: DeviceKey, into findings: inout Findings) {
        guard let text, self.gone[key]?.contains(message) == true,
            ![NotificationWords.english.recalled, NotificationWords.english.stripped, ""].contains(text)
        else { return }
        findings.add("recall", "\(key) shows \"\(text)\" of \(message), of which it knows that it is gone")
    }

    private func checkRing(_ message: MessageID, _ key: DeviceKey, into findings: inout Findings) {
        guard self.gone[key]?.contains(message) == true else { return }
        findings.add("recall", "\(key) lets \(message) ring, of which it knows that it is gone")
    }
}

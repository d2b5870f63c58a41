// A notification names who has written its message, and the group: by a name they have or had, never by an id, and never by another's. Where the
// server has a name, a push and what shows its message's text tell it; where the app knows nobody's, the kit posts nothing.
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

struct NamesChecker: Checker {
    static let kinds = FactKinds(.lacks, .pushed, .posted, .shown)

    private static let separator = ": "

    private var nameless: Set<DeviceID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .lacksNames(let device): self.nameless.insert(device)
        case .pushed(let request, let key):
            guard let info = request.alert, let accepted = state.committed.messages[info.message] else { return }
            self.check(info, of: accepted, to: key, state, into: &findings)
        case .posted(let notification, let key, _):
            // What takes a recalled one's place names nobody.
            guard self.nameless.contains(key.device), !notification.isSilent,
                notification.conversation.type != .customerService
            else { return }
            findings.add("names", "\(key) posts \(notification.message), and its app knows no name")
        case .shown(let request, let key):
            guard let message = MessageID(request.identifier), let accepted = state.committed.messages[message] else {
                return
            }
            self.check(request.content, of: accepted, on: key, state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(
        _ info: PushInfo, of accepted: StoreView.Accepted, to key: DeviceKey, _ state: CheckerState,
        into findings: inout Findings
    ) {
        let message = accepted.message
        if let portrait = info.portrait,
            !World.isPushedPortrait(portrait) || !state.names.isPortrait(portrait, of: message.sender)
        {
            findings.add("names", "a push of \(message.id) to \(key) shows \(portrait), and is of \(message.sender)")
        }
        guard let text = info.text else { return }
        let isGroup = message.conversation.hasMembers
        self.check(text.title?.plain ?? "", isPerson: !isGroup, of: message, "a push to \(key)", state, &findings)
        if let sender = text.sender, !state.names.isOf(message.sender, sender, in: message.conversation) {
            findings.add("names", "a push of \(message.id) to \(key) names \(sender), and is of \(message.sender)")
        }
        guard state.names.knowsSender(of: accepted), message.push?.title == nil else { return }
        // One that counts several is of nobody in a group.
        let lacksSender = isGroup && text.sender == nil && info.counted.isEmpty && !Self.mayCount(text)
        // Where the app wants no text of messages in pushes, one that counts several has nobody's name either.
        if text.title == nil && info.textMode != .idOnly || lacksSender {
            findings.add("names", "a push of \(message.id) to \(key) does not name \(message.sender)")
        }
    }

    /// Returns true if it may count others, which stand too far back in the log to be named.
    private static func mayCount(_ text: PushInfo.Text) -> Bool {
        text.body.plain?.hasSuffix(NotificationWords.english.several.replacing("{count}", with: "")) ?? false
    }

    private func check(
        _ content: NotificationContent, of accepted: StoreView.Accepted, on key: DeviceKey, _ state: CheckerState,
        into findings: inout Findings
    ) {
        let message = accepted.message
        let isGroup = message.conversation.hasMembers
        let isPerson = !isGroup || content.communication != nil
        // It needs no name of its own (S3.5).
        if message.conversation.type != .customerService || content.title != Gate.customerServiceName {
            self.check(content.title, isPerson: isPerson, of: message, "\(key)", state, &findings)
        }
        if content.communication != nil, !content.subtitle.isEmpty,
            !isGroup || !state.names.isOf(message.conversation, content.subtitle)
        {
            findings.add("names", "\(key) shows \(content.subtitle) below \(message.id), of \(message.conversation)")
        }
        let sender = content.body.firstRange(of: Self.separator).map { content.body[..<$0.lowerBound] }
        if let sender, !state.names.isOf(message.sender, String(sender), in: message.conversation) {
            findings.add("names", "\(key) shows \(content.body) of \(message.id), of \(message.sender)")
        }
        let lacksSender = isGroup && content.communication == nil && sender == nil
        guard content.title.isEmpty || lacksSender, state.names.knowsSender(of: accepted),
            Self.says(content, message, state)
        else { return }
        findings.add("names", "\(key) shows \(content.body) of \(message.id), and does not name \(message.sender)")
    }

    private func check(
        _ title: String, isPerson: Bool, of message: Message, _ place: String, _ state: CheckerState,
        _ findings: inout Findings
    ) {
        guard !title.isEmpty, message.push?.title != .text(title) else { return }
        let isRight =
            isPerson
            ? state.names.isOf(message.sender, title, in: message.conversation)
            : state.names.isOf(message.conversation, title)
        guard !isRight else { return }
        findings.add(
            "names",
            "\(place) says \"\(title)\" above \(message.id), of \(message.sender) in \(message.conversation)")
    }

    private static func says(_ content: NotificationContent, _ message: Message, _ state: CheckerState) -> Bool {
        let json = state.committed.contents[message.id] ?? message.content
        guard let words = (try? JSONValue(parsing: json))?["content"]?.stringValue, !words.isEmpty else { return false }
        return content.body.hasSuffix(words)
    }
}

// A notification comes as its message asks: with its level and in its thread, as a push and as a local notification. One that counts several
// messages asks for nothing that is of one of them.
import ClientCore
import OrderedCollections
import TidingsModel

struct OptionsChecker: Checker {
    static let kinds = FactKinds(.pushed, .posted)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .pushed(let request, let key):
            guard let info = request.alert, let message = state.committed.messages[info.message]?.message else {
                return
            }
            guard info.counted.isEmpty else {
                if request.level != nil || request.hasCustom || info.text?.subtitle != nil {
                    findings.add("options", "a push of several to \(key) has the options of \(info.message)")
                }
                return
            }
            if message.push?.threadID != nil { findings.reach(.pushesWithOptions) }
            let thread = message.push?.threadID ?? message.conversation(seenBy: key.user.user).description
            let hasLevel = request.level == message.push?.interruptionLevel?.rawValue || Self.mayCount(request, info)
            if !hasLevel || request.thread != thread {
                findings.add("options", "a push of \(info.message) to \(key) has other options than its message")
            }
        case .posted(let notification, let key, _):
            guard !notification.isSilent, let message = state.committed.messages[notification.message]?.message
            else { return }
            if message.push?.threadID != nil { findings.reach(.notificationsWithOptions) }
            if notification.options?.withoutWords != message.push?.withoutWords {
                findings.add("options", "\(key) posts \(notification.message) with other options than the message has")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }

    /// Returns true if a push without a level may count others, which stand too far back in the log to be named.
    private static func mayCount(_ request: SentPush, _ info: PushInfo) -> Bool {
        guard request.level == nil, let body = info.text?.body.plain else { return request.level == nil }
        return body.hasSuffix(NotificationWords.english.several.replacing("{count}", with: ""))
    }
}

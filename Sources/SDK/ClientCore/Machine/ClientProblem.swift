public import TidingsModel

/// Something the app's developer should know: published as an event and written to the log.
public enum ClientProblem: Hashable, Sendable, CustomStringConvertible {
    /// A name was missing, so no local notification was shown (S0.4, S3.5).
    case nameMissing(message: MessageID, conversation: ConversationID)
    /// The local store was damaged, or of another version: it was renamed, and the log is synced again.
    case storeSetAside(path: String)
    /// A file of this device could not be read or written.
    case storeFault(reason: String)
    /// Other code has written to the badge's copy in the app group's user defaults, to no effect (S2.16). `written` is nil for what is no whole
    /// number, `kept` for no number.
    case badgeOverwritten(key: String, written: Int?, kept: Int?)
    /// The system gave no device token (S2.8).
    case pushRegistrationFailed(reason: String)
    /// The server has refused the push registration, so that no push comes: of which field, and by which rule, it says.
    case pushRegistrationRefused(ServerFrame.Problem)
    /// The system takes no request for a background refresh.
    case backgroundRefreshRefused(reason: String)
    /// A reply could not be kept: no one signed in while the app was awake for it.
    case replyLost(conversation: ConversationID)

    /// The server has refused what the person has set on this device: what held before holds again.
    case settingRefused(ServerFrame.Problem)
    /// A chat room cannot be heard any more after a lost connection.
    case roomLost(ConversationID, ServerFrame.Problem)

    /// One sentence with what to do.
    public var description: String {
        switch self {
        case .nameMissing(let message, let conversation):
            "no local notification for \(message) in \(conversation): the user, group or member info provider is not set, "
                + "does not know the name, or did not answer in time"
        case .storeSetAside(let path):
            "the local store was damaged or of another version, and moved to \(path); messages are synced again"
        case .storeFault(let reason): "a file of this device cannot be used: \(reason)"
        case .badgeOverwritten(let key, let written, let kept):
            "\(written.map { "\($0)" } ?? "something else") was written under \"\(key)\" in the app group's user defaults, where the badge is "
                + "only copied to; \(kept.map { "\($0)" } ?? "nothing") stands there again: use BadgeStore to change it"
        case .pushRegistrationFailed(let reason): "the system gave no device token: \(reason)"
        case .pushRegistrationRefused(let problem): "the server has refused the push registration: \(problem)"
        case .backgroundRefreshRefused(let reason): "the system takes no background refresh: \(reason)"
        case .settingRefused(let problem): "a setting was taken back, the server refused it: \(problem)"
        case .roomLost(let room, let problem): "\(room) is not heard any more, enter it again: \(problem)"
        case .replyLost(let conversation): "the reply in \(conversation) was lost: nobody signed in to send it"
        }
    }
}

import TidingsModel

/// An action that a person can take on a message, in the order of its menu.
public enum MessageAction: Hashable, Sendable, CaseIterable {
    /// Send it again.
    case retry
    /// Take back what is on its way.
    case cancel
    /// Answer it.
    case reply
    /// Copy what it says.
    case copy
    /// Change what it says.
    case edit
    /// Take it back from everybody.
    case recall
    /// See who has read it.
    case readers
    /// Delete it on the person's own devices.
    case delete

    /// The symbol beside it.
    var symbol: String {
        switch self {
        case .retry: "arrow.clockwise"
        case .cancel: "xmark"
        case .reply: "arrowshape.turn.up.left"
        case .copy: "doc.on.doc"
        case .edit: "pencil"
        case .recall: "arrow.uturn.backward"
        case .readers: "eye"
        case .delete: "trash"
        }
    }

    /// Returns the title in the menu.
    public func title(in words: ChatWords) -> String {
        switch self {
        case .retry: words.retry
        case .cancel: words.cancel
        case .reply: words.reply
        case .copy: words.copy
        case .edit: words.edit
        case .recall: words.recall
        case .readers: words.readers
        case .delete: words.delete
        }
    }

    /// The facts that decide which actions there are.
    struct Facts {
        var conversation: ConversationID
        /// True if the person may write there now.
        var mayWrite = true
        /// The person's role there; nil for no member.
        var role: MemberRole?
        var recallLimit: Int64?
        var showsMarks = true
        var now: Int64
    }

    static func available(for row: MessageRow, _ facts: Facts) -> [MessageAction] {
        self.allCases.filter { $0.isPossible(with: row, facts) }
    }

    private func isPossible(with row: MessageRow, _ facts: Facts) -> Bool {
        let isRoom = facts.conversation.type == .chatRoom
        let isSent = row.message != nil
        let hasText = row.objectName == .text || row.objectName == .reference
        switch self {
        case .retry: return row.state?.isFailed == true
        case .cancel:
            if case .uploading = row.state { return true }
            return false
        case .reply: return isSent && facts.mayWrite
        case .copy: return hasText
        case .edit: return isSent && row.isOwn && hasText && facts.mayWrite && !isRoom
        case .recall: return isSent && !isRoom && Self.mayRecall(row, facts)
        case .readers:
            let isGroup = !facts.conversation.type.targetIsPeer
            return isSent && row.isOwn && isGroup && !isRoom && facts.showsMarks
        case .delete: return row.state?.isFailed == true || isSent && !isRoom
        }
    }

    private static func mayRecall(_ row: MessageRow, _ facts: Facts) -> Bool {
        if facts.role == .owner || facts.role == .admin { return true }
        guard row.isOwn else { return false }
        return facts.recallLimit.map { facts.now - row.sentAt <= $0 } ?? true
    }
}

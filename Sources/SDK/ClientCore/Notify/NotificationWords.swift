import TidingsModel

/// The names the app's providers gave earlier, as far as the extension may know them; the server knows ids only.
public struct KnownNames: Hashable, Sendable {
    /// The sender's.
    public var sender: String?
    /// The group's; nil for other conversations.
    public var group: String?

    /// Names; by default none.
    public init(sender: String? = nil, group: String? = nil) {
        self.sender = sender
        self.group = group
    }
}

extension PushInfo.Text {
    /// Title: the group's name, otherwise the sender's. Text in a group: "sender: text" (ios-delivery.md §1.3, as in
    /// the kit's own notification).
    func named(_ names: KnownNames, isGroup: Bool) -> PushInfo.Text {
        guard isGroup else { return PushInfo.Text(title: names.sender ?? self.title, body: self.body) }
        return PushInfo.Text(
            title: names.group ?? self.title, body: names.sender.map { "\($0): \(self.body)" } ?? self.body)
    }
}

extension ConversationType {
    /// Several people talk here, so a text needs its sender's name.
    var isGroup: Bool {
        switch self {
        case .group, .discussion: true
        case .direct, .customerService, .system, .appPublicService, .publicService, .pushService, .chatRoom: false
        }
    }
}

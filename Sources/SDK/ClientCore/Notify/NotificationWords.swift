import TidingsModel

/// The names the app's providers gave earlier, as far as the extension may know them. They go before the server's, which the push brings.
public struct KnownNames: Hashable, Sendable {
    /// The sender's.
    public var sender: String?
    /// The group's; nil for other conversations.
    public var group: String?
    /// How many members the group has.
    public var memberCount: Int?

    /// Names; by default none.
    public init(sender: String? = nil, group: String? = nil, memberCount: Int? = nil) {
        self.sender = sender
        self.group = group
        self.memberCount = memberCount
    }
}

extension PushInfo.Text {
    /// Title: the group's name, otherwise the sender's. Text in a group: "sender: text" (ios-delivery.md §1.3, as in
    /// the kit's own notification). What counts other messages, which may be of other people, names nobody. A title that was chosen for
    /// the notification stays.
    func named(_ names: KnownNames, isGroup: Bool, countsOthers: Bool = false) -> PushInfo.Text {
        var named = self
        let known = isGroup ? names.group : names.sender
        if !self.isTitleChosen, let known { named.title = .text(known) }
        named.sender = isGroup && !countsOthers ? names.sender ?? self.sender : nil
        named.body = named.line
        named.sender = nil
        return named
    }
}

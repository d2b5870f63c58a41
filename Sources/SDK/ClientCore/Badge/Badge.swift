public import TidingsModel

/// The number on the icon, shared by the app and its extension through the app group: `server` (unread messages outside
/// muted conversations) plus `foreign` (other senders' pushes since the app was last active). design.md §5 "Badge", S2.13.
///
/// No stored badge means: change nothing (S2.20). That is the shell's nil.
public struct Badge: Hashable, Sendable {
    /// Unread messages outside muted conversations, 0 or more.
    public private(set) var server: Int
    /// Other senders' pushes; may be negative, but never below −`server`.
    public private(set) var foreign: Int
    /// The log position `server` was computed at.
    public private(set) var position: LogPosition

    /// A badge from its parts, clamped to the rules.
    public init(server: Int = 0, foreign: Int = 0, position: LogPosition = 0) {
        self.server = max(0, server)
        self.foreign = max(-max(0, server), foreign)
        self.position = position
    }

    /// The number on the icon, 0 or more.
    public var shown: Int { self.server + self.foreign }

    /// The app stopped being active (S2.17): the local store counts, foreign pushes are seen.
    public mutating func resigned(unread: Int, position: LogPosition) {
        self = Badge(server: unread, foreign: 0, position: position)
    }

    /// The kit posts a local notification for the entry at `position`. An older entry than the badge's changes nothing.
    public mutating func posted(unread: Int, position: LogPosition) {
        guard position >= self.position else { return }
        self = Badge(server: unread, foreign: self.foreign, position: position)
    }

    /// A Tidings push with an absolute number; taken only if it was computed at a later position. Returns whether it was.
    @discardableResult
    public mutating func pushed(absolute: Int, position: LogPosition) -> Bool {
        guard position > self.position else { return false }
        self = Badge(server: absolute, foreign: self.foreign, position: position)
        return true
    }

    /// Another sender's push (S2.19): one more, or one less for a recall.
    public mutating func pushedByAnother(isRecall: Bool) {
        self = Badge(server: self.server, foreign: self.foreign + (isRecall ? -1 : 1), position: self.position)
    }

    package mutating func restarted() {
        self = Badge(server: self.server, foreign: self.foreign, position: 0)
    }

    /// The app sets the number itself: counted as the server's, at the same position.
    public mutating func set(_ number: Int) {
        self = Badge(server: max(0, number), foreign: 0, position: self.position)
    }
}

/// Where a push says that it recalls a message (S2.22).
public enum CornerMarkDecrease {
    /// The path of the flag in the user info.
    public static let keyPath = ["message", "params", "corner_mark_decrease"]

    /// `message.params.corner_mark_decrease` as a Boolean; any missing step, and any other type, is "not a recall".
    public static func isSet(in userInfo: JSONValue) -> Bool {
        var value: JSONValue? = userInfo
        for key in Self.keyPath { value = value?[key] }
        return value?.boolValue ?? false
    }
}

package import TidingsModel

/// Which screens show which conversation: what the first has begun with the server, the last one ends.
@MainActor package struct OpenScreens {
    private struct Screen { weak var object: AnyObject? }
    private var screens: [ConversationID: [Screen]] = [:]

    package init() {}

    package mutating func add(_ screen: AnyObject, of conversation: ConversationID) {
        self.screens[conversation] = self.others(than: screen, of: conversation) + [Screen(object: screen)]
    }

    /// Returns whether it was the last one.
    package mutating func remove(_ screen: AnyObject, of conversation: ConversationID) -> Bool {
        let others = self.others(than: screen, of: conversation)
        self.screens[conversation] = others.isEmpty ? nil : others
        return others.isEmpty
    }

    private func others(than screen: AnyObject, of conversation: ConversationID) -> [Screen] {
        (self.screens[conversation] ?? []).filter { $0.object != nil && $0.object !== screen }
    }
}

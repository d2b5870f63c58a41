import StoreMachine
import StoreModel
import TidingsModel

extension CommandGenerator {
    /// Mostly drafts, which replace each other.
    mutating func conversationState() -> StoreCommand {
        let change: ConversationStateChange =
            switch self.number(0..<10) {
            case 0..<2: .pinned(self.chance(70))
            case 2: .archived(self.chance(70))
            case 3..<5: .hidden(upTo: self.chance(70) ? self.earlier().id : nil)
            case 5: .draft(self.pick([String(repeating: "x", count: 4_097), ""]))
            case 6: .draft(nil)
            default: .draft(self.pick(["d", "dd", "\u{0}", String(repeating: "d", count: 4_096)]))
            }
        return .setConversationState(self.userKey(), self.conversation(), change, at: self.time())
    }
}

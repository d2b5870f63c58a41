// Where a conversation stands in a person's list is changed one thing at a time: a level leaves pin, archive, hiding and draft as they are, and each
// of these the others (docs/inside/decisions/0039). That every phone holds it is the business of ConvergenceChecker, that it rings and counts as before
// of the others.
import StoreModel
import TidingsModel

struct ListChecker: Checker {
    static let kinds = FactKinds(.set)

    private struct Place: Hashable {
        var user: UserID
        var conversation: ConversationID
    }

    private enum Part: String {
        case level
        case pin
        case archive
        case hiding
        case draft
    }

    private var known: [Place: ConversationSettings] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .committed(let command, .noted(.conversationSettings(let conversation, let after)?, let to)) = fact,
            let user = to.first?.user
        else { return }
        let place = Place(user: user, conversation: conversation)
        let before = self.known[place] ?? ConversationSettings()
        self.known[place] = after
        let meant = Self.part(command)
        for part in Self.changed(before, after) where part != meant {
            findings.add("lists", "\(user) changed the \(meant?.rawValue ?? "?") of \(conversation), and the \(part)")
        }
        guard case .setConversationState(_, _, let change, _) = command else { return }
        findings.reach(.listChanges)
        if !Self.holds(change, after) { findings.add("lists", "\(user) set \(change) for \(conversation): \(after)") }
    }

    private static func part(_ command: StoreCommand) -> Part? {
        switch command {
        case .setConversationSettings, .endLevel: .level
        case .setConversationState(_, _, .pinned, _): .pin
        case .setConversationState(_, _, .archived, _): .archive
        case .setConversationState(_, _, .hidden, _): .hiding
        case .setConversationState(_, _, .draft, _): .draft
        default: nil  // tidy: the other commands are not about one conversation's settings
        }
    }

    private static func changed(_ before: ConversationSettings, _ after: ConversationSettings) -> [Part] {
        var parts: [Part] = []
        if before.level != after.level || before.levelUntil != after.levelUntil { parts.append(.level) }
        if before.pinnedAt != after.pinnedAt { parts.append(.pin) }
        if before.isArchived != after.isArchived { parts.append(.archive) }
        if before.hiddenUpTo != after.hiddenUpTo { parts.append(.hiding) }
        if before.draft != after.draft { parts.append(.draft) }
        return parts
    }

    private static func holds(_ change: ConversationStateChange, _ after: ConversationSettings) -> Bool {
        switch change {
        case .pinned(let isPinned): (after.pinnedAt != nil) == isPinned
        case .archived(let isArchived): after.isArchived == isArchived
        case .hidden(nil): after.hiddenUpTo == nil
        case .hidden(let upTo?): after.hiddenUpTo.map { $0 >= upTo } ?? false
        case .draft(let text): after.draft?.text == text
        }
    }
}

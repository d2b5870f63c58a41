import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The list of a person's conversations in a run` {
    /// What the store says has become of ann's conversation with bob.
    private func noted(_ command: StoreCommand, _ after: ConversationSettings, in story: inout Story) {
        let delivery = Delivery(user: "ann", position: 1, unread: 0)
        story.emit(.committed(command, .noted(.conversationSettings(withBob, after), deliveries: [delivery])))
    }

    @Test func `is changed one thing at a time`() {
        var story = Story(ListChecker())
        let changes: [ConversationStateChange] = [
            .pinned(true), .archived(true), .hidden(upTo: MessageID(rawValue: 7)), .draft("Hi"), .pinned(false),
        ]
        for change in changes { story.commit(.setConversationState(ann1.user, withBob, change, at: story.now)) }
        let quiet = ConversationSettings(level: .mentions, levelUntil: story.now + 1)
        story.commit(.setConversationSettings(ann1.user, withBob, quiet, at: story.now))
        story.commit(.endLevel(ann1.user, withBob, at: story.now + 1))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.listChanges] == 5)
    }

    @Test func `is found where a level takes a pin off, or a pin a draft`() {
        var story = Story(ListChecker())
        var after = ConversationSettings()
        (after.pinnedAt, after.draft) = (1, ConversationDraft(text: "Hi", writtenAt: 1))
        self.noted(.setConversationState(ann1.user, withBob, .pinned(true), at: 1), after, in: &story)
        #expect(story.broken == ["lists"])
        after.pinnedAt = nil
        after.level = .blocked
        self.noted(.setConversationSettings(ann1.user, withBob, after, at: 1), after, in: &story)
        #expect(story.broken == ["lists", "lists"])
    }

    @Test func `is found where what was asked for did not come`() {
        let wrong: [ConversationStateChange] = [
            .pinned(true), .archived(true), .hidden(upTo: MessageID(rawValue: 7)), .draft("Hi"),
        ]
        for change in wrong {
            var story = Story(ListChecker())
            let command = StoreCommand.setConversationState(ann1.user, withBob, change, at: 1)
            self.noted(command, ConversationSettings(), in: &story)
            #expect(story.broken == ["lists"], "\(change)")
        }
    }
}

import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that nothing rings in the foreground that the phone has` {
    private func entry(_ message: Message) -> LogEntry { LogEntry(position: 1, body: .message(message)) }

    @Test func `finds a ring for what the store has had for a while`() {
        var story = Story(FrontRingChecker())
        let message = story.accepted()
        story.emit(.applied([self.entry(message)], on: ann1))
        story.wait(100)
        // Answered before, and on its way to the screen.
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        story.wait(1)
        story.emit(.appStarted(ann1))
        // In the background the app is not asked, and another phone has not heard of it.
        story.emit(.presented(record(message), on: ann1))
        story.emit(.presented(record(message, reason: .willPresent), on: ann2))
        story.emit(.presented(record(message, banner: false, reason: .willPresent), on: ann1))
        #expect(story.broken == [])
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        #expect(story.broken == ["P3"])
    }

    @Test func `takes nothing for known that was deleted, or was another person's`() {
        var story = Story(FrontRingChecker())
        let (first, second) = (story.accepted(), story.accepted())
        story.emit(.applied([self.entry(first), self.entry(second)], on: ann1))
        let deletion = Deletion(conversation: toAnn, messages: [first.id])
        story.emit(.applied([LogEntry(position: 2, body: .deletion(deletion))], on: ann1))
        story.wait(1_000)
        story.emit(.presented(record(first, reason: .willPresent), on: ann1))
        story.emit(.signedOut(ann1))
        story.emit(.presented(record(second, reason: .willPresent), on: ann1))
        #expect(story.broken == [])
    }

    @Test func `finds a second ring of one process, and none of another, or of another person`() {
        var story = Story(FrontRingChecker())
        let message = story.accepted()
        // In the background the app is not asked.
        story.emit(.presented(record(message), on: ann1))
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        story.emit(.presented(record(message, reason: .willPresent), on: ann2))
        story.emit(.appStarted(ann1))
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        story.emit(.signedOut(ann1))
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        #expect(story.broken == [])
        story.emit(.presented(record(message, banner: false, reason: .willPresent), on: ann1))
        #expect(story.broken == [])
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        #expect(story.broken == ["P3"])
    }

    @Test func `expects no process to remember more than it has to`() {
        var story = Story(FrontRingChecker())
        let first = story.accepted()
        story.emit(.presented(record(first, reason: .willPresent), on: ann1))
        for _ in 0..<128 { story.emit(.presented(record(story.accepted(), reason: .willPresent), on: ann1)) }
        story.emit(.presented(record(first, reason: .willPresent), on: ann1))
        #expect(story.broken == [])
    }
}

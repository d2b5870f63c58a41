import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that a tap opens one right conversation` {
    @Test func `finds one that opens it twice, another, or none`() {
        var story = Story(TapChecker())
        let (first, second, third) = (story.accepted(), story.accepted(), story.accepted())
        story.emit(.tapped(first.id, on: ann1))
        story.emit(.opened(withBob, of: first.id, on: ann1))
        #expect(story.broken == [])
        story.emit(.opened(withBob, of: first.id, on: ann1))
        story.emit(.tapped(second.id, on: ann1))
        story.emit(.opened(team, of: second.id, on: ann1))
        story.emit(.tapped(third.id, on: ann1))
        story.checkEnding()
        #expect(story.broken == ["P5", "P5", "P5"])
    }

    @Test func `excuses one that something came between`() {
        var story = Story(TapChecker())
        story.emit(.tapped(story.accepted().id, on: ann1))
        story.emit(.disturbed(ann1))
        story.checkEnding()
        #expect(story.broken == [])
    }
}

import ClientCore
import Testing
import TidingsModel

@testable import World

@Suite struct `Options of notifications in a run` {
    private static let loud = PushOptions(
        interruptionLevel: .timeSensitive, threadID: "desk", custom: JSONObject([("order", 7)]))

    private static func story(_ options: PushOptions?) -> (Story, Message) {
        var story = Story(OptionsChecker())
        var message = story.message(from: "bob", to: toAnn)
        message.push = options
        story.accept(message)
        return (story, message)
    }

    @Test func `are those of the message in its push`() {
        var (story, message) = Self.story(Self.loud)
        story.push(message, text: "1", options: Self.loud)
        #expect(story.broken == [])
        story.push(message, text: "1", options: PushOptions(threadID: "desk"))
        #expect(story.broken == ["options"])
        (story, message) = Self.story(Self.loud)
        // It may count others that it does not name.
        story.push(message, text: "2 new messages", options: PushOptions(threadID: "desk"))
        #expect(story.broken == [])
        story.push(message)
        #expect(story.broken == ["options"])
        (story, message) = Self.story(nil)
        story.push(message)
        #expect(story.broken == [])
        story.push(message, options: PushOptions(threadID: "desk"))
        #expect(story.broken == ["options"])
    }

    @Test func `are none of one message's where several are counted`() {
        var (story, message) = Self.story(Self.loud)
        story.push(message, at: 2, counted: [1], options: PushOptions(threadID: "desk"))
        #expect(story.broken == [])
        story.push(message, at: 2, counted: [1], options: Self.loud)
        #expect(story.broken == ["options"])
        (story, message) = Self.story(Self.loud)
        story.push(message, at: 2, counted: [1], options: PushOptions(custom: Self.loud.custom))
        #expect(story.broken == ["options"])
    }

    @Test func `are those of the message in its local notification`() throws {
        let (begun, message) = Self.story(Self.loud)
        var story = begun
        var posted = try notification(message)
        posted.options = Self.loud
        story.emit(.posted(posted, on: ann1, story.disk(of: ann1)))
        // What stands where a message was recalled has none.
        story.emit(.posted(try notification(message, isSilent: true), on: ann1, story.disk(of: ann1)))
        #expect(story.broken == [])
        story.emit(.posted(try notification(message), on: ann1, story.disk(of: ann1)))
        #expect(story.broken == ["options"])
    }
}

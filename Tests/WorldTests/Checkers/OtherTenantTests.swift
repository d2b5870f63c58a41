import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that another app on the server is not heard` {
    @Test func `finds its message on a phone of ours, though the person has the same name`() {
        var story = Story(PersonChecker())
        var message = story.message()
        message.app = World.otherTenant
        story.accept(message)
        story.emit(.extended(message.id, isQuiet: false, text: "hi", on: ann1))
        #expect(story.broken == ["P7"])
    }

    @Test func `finds that it is told of a message of ours as its own`() {
        var story = Story(PersonChecker())
        var theirs = story.message()
        theirs.app = World.otherTenant
        story.accept(theirs)
        story.emit(.otherTenantNotified(theirs.id))
        #expect(story.broken == [])
        story.emit(.otherTenantNotified(story.accepted().id))
        #expect(story.broken == ["P7"])
    }

    @Test func `takes its settings and its log for nobody's of ours`() {
        var story = Story(ConvergenceChecker())
        story.commit(.signIn(DeviceKey(user: theirs, device: ann1.device), platform: "ios", at: story.now))
        story.commit(.setBlocked(theirs, "bob", true, at: story.now))
        story.checkEnding()
        #expect(story.broken == [])
    }

    private let theirs = UserKey(app: World.otherTenant, user: "ann")
}

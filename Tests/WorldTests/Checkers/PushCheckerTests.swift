import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import World

private let registration = PushRegistration(token: "00", environment: .sandbox, topic: "com.example.chat")

@Suite struct `The promises about what a push says` {
    @Test func `finds a number that is not the unread ones of its place`() {
        for (badge, place, broken) in [(2, 2, []), (1, 2, ["P4"]), (2, 1, ["P4"]), (1, 1, ["P4"]), (0, 9, ["P4"])] {
            var story = Story(PushedBadgeChecker())
            _ = story.accepted()
            let second = story.accepted()
            story.push(second, at: 2, badge: (badge, LogPosition(place)))
            #expect(story.broken == broken, "\(badge) at \(place)")
        }
    }

    @Test func `takes a number of a later place than the message's`() {
        var story = Story(PushedBadgeChecker())
        let message = story.accepted()
        story.commit(.markRead(UserKey(app: World.app, user: "ann"), withBob, upTo: 1, at: story.now))
        story.push(message, badge: (0, 2))
        #expect(story.broken == [])
    }

    @Test func `finds a push to a token that another has registered since`() {
        var story = Story(TokenChecker())
        let message = story.accepted()
        story.commit(.setPushState(ann1, .registered(registration, at: story.now)))
        story.push(message, to: ann1)
        story.commit(.setPushState(bob1, .registered(registration, at: story.now)), isHeard: false)
        story.push(message, to: ann1)
        #expect(story.broken == [])
        story.emit(.heard)
        story.push(message, to: ann1)
        #expect(story.broken == ["P7"])
    }

    @Test func `lets a phone have its token again when the other has gone`() {
        var story = Story(TokenChecker())
        let message = story.accepted()
        story.commit(.setPushState(bob1, .registered(registration, at: story.now)))
        story.commit(.signOut(bob1, at: story.now))
        story.push(message, to: ann1)
        #expect(story.broken == [])
    }

    @Test func `finds a push that tells what a message said before it was edited`() {
        var story = Story(WordsChecker())
        let message = story.accepted()
        story.push(message, text: "bob: 1")
        let edit = EditOperation(
            app: World.app, message: message.id, actor: "bob", content: "{\"content\":\"better\"}", window: 120_000,
            at: story.now)
        story.commit(.edit(edit), isHeard: false)
        story.push(message, text: "bob: 1")
        #expect(story.broken == [])
        story.emit(.heard)
        story.push(message, text: "bob: better")
        story.push(message)
        #expect(story.broken == [])
        story.push(message, text: "bob: 1")
        #expect(story.broken == ["edit"])
    }

    @Test func `takes a number of messages for what a push says only if there are so many too far back to be named`() {
        var story = Story(WordsChecker())
        for _ in 0..<3 { _ = story.accepted() }
        let newest = story.accepted()
        story.push(newest, at: 23, text: "3 new messages")
        #expect(story.broken == [])
        story.push(newest, at: 23, text: "5 new messages")
        #expect(story.broken == ["edit"])
        story.push(newest, at: 4, text: "2 new messages")
        #expect(story.broken == ["edit", "edit"])
    }
}

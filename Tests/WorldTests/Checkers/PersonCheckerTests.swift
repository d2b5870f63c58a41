import ClientCore
import OrderedCollections
import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that nobody reads what is another's` {
    @Test func `finds a push of another's that is not stripped`() {
        var story = Story(PersonChecker())
        let message = story.accepted()
        let stranger = DeviceKey(user: UserKey(app: World.app, user: "eve"), device: ann1.device)
        story.emit(.extended(message.id, isQuiet: false, text: "hi", on: ann1))
        story.emit(.extended(message.id, isQuiet: true, text: NotificationWords.english.stripped, on: stranger))
        story.emit(.extended(message.id, isQuiet: true, text: nil, on: stranger))
        #expect(story.broken == [])
        story.emit(.extended(message.id, isQuiet: true, text: "hi", on: stranger))
        story.emit(.extended(message.id, isQuiet: false, text: NotificationWords.english.stripped, on: stranger))
        #expect(story.broken == ["P7", "P7"])
    }

    @Test func `finds the text of another's push, and counts it apart where the app wants texts in alerts`() {
        var story = Story(PersonChecker())
        let message = story.accepted()
        story.emit(.exposed(message.id, byAlert: true, on: ann1))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.exposedTexts] == 1)
        story.emit(.exposed(message.id, byAlert: false, on: ann1))
        #expect(story.broken == ["P7"])
    }

    @Test func `finds a ring in the foreground when nobody is signed in`() {
        var story = Story(PersonChecker())
        let message = story.accepted()
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        story.emit(.signedOut(ann1))
        story.wait(100)
        // Answered before, and on its way to the screen.
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        story.wait(1)
        story.emit(.presented(record(message), on: ann1))
        #expect(story.broken == [])
        story.emit(.presented(record(message, reason: .willPresent), on: ann1))
        #expect(story.broken == ["P7"])
    }

    @Test func `finds an app that is told of what is for another, or for nobody any more`() {
        var story = Story(PersonChecker())
        let message = story.accepted()
        story.emit(.told(message.id, for: ann1.user, on: ann1))
        #expect(story.broken == [])
        story.emit(.told(message.id, for: bob1.user, on: ann1))
        #expect(story.broken == ["P7"])
        story.emit(.signedOut(ann1))
        story.wait(100)
        // What it was at when they left.
        story.emit(.told(nil, for: ann1.user, on: ann1))
        #expect(story.broken == ["P7"])
        story.wait(1)
        story.emit(.told(nil, for: ann1.user, on: ann1))
        #expect(story.broken == ["P7", "P7"])
    }

    @Test func `finds whatever a phone shows after its person has left`() throws {
        var story = Story(PersonChecker())
        let message = story.accepted()
        story.emit(.signedOut(ann1))
        story.emit(.extended(message.id, isQuiet: true, text: "hi", on: ann1))
        story.emit(.posted(try notification(message), on: ann1, WorldDisk()))
        story.emit(.opened(withBob, of: message.id, on: ann1))
        story.emit(.fetched([.init(message: try missed(message), isSilent: true)], pushRings: true, on: ann1))
        let custom = CustomMessage(id: message.id, content: "{}", sentAt: 0)
        story.emit(.handedOver([(position: LogPosition(1), message: custom)], isInForeground: true, on: ann1))
        #expect(story.broken == ["P7", "P7", "P7", "P7", "P7"])
        story.emit(.signedIn(ann1))
        story.emit(.extended(message.id, isQuiet: false, text: "hi", on: ann1))
        #expect(story.broken.count == 5)
    }
}

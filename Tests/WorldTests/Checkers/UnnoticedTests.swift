import StoreModel
import Testing
import TidingsModel

@testable import World

/// What promises look for since broken rules had gone unnoticed (Tests/Mutation/unnoticed.toml).
@Suite struct `What went unnoticed` {
    @Test func `is a read cursor that goes back`() {
        var story = Story(BadgeChecker())
        _ = story.accepted()
        _ = story.accepted()
        story.commit(.markRead(ann1.user, withBob, upTo: 2, at: story.now))
        story.commit(.markRead(ann1.user, withBob, upTo: 1, at: story.now))
        #expect(story.broken == [])
        let back = StoreCommand.markRead(ann1.user, withBob, upTo: 1, at: story.now)
        story.emit(.committed(back, .read(position: 4, unread: 1)))
        #expect(story.broken == ["P4"])
    }

    @Test func `is a message that went with an accepted push and has no end`() {
        var story = Story(LegChecker())
        let messages = [story.accepted(), story.accepted()]
        story.push(messages[1], at: 2, counted: [1])
        story.end(messages[1].id, on: ann1, as: .accepted(apnsID: "apns-1"))
        story.wait(20_000)
        story.emit(.stored(upTo: 0, on: bob1))
        #expect(story.broken == [])
        story.wait(1)
        story.emit(.stored(upTo: 0, on: bob1))
        #expect(story.broken == ["P6"])
    }

    @Test func `is none if it ends too, or a server starts`() {
        var story = Story(LegChecker())
        let messages = [story.accepted(), story.accepted(), story.accepted()]
        story.push(messages[1], at: 2, counted: [1])
        for message in messages.prefix(2) { story.end(message.id, on: ann1, as: .accepted(apnsID: "apns-1")) }
        story.push(messages[2], at: 3, to: ann2, counted: [1, 2])
        story.end(messages[2].id, on: ann2, as: .accepted(apnsID: "apns-1"))
        story.emit(.serverStarted)
        story.wait(60_000)
        story.emit(.stored(upTo: 0, on: bob1))
        #expect(story.broken == [])
    }

    private func waiting(_ story: inout Story, for wait: LegWait = .throttled) -> Message {
        let message = story.accepted()
        let leg = LegID(message: message.id, user: ann1.user, device: ann1.device)
        story.commit(.keepLeg(OpenLeg(leg: leg, position: 1, wait: wait, notBefore: story.now + 5_000)))
        return message
    }

    @Test func `is a wait that is over and leads to nothing`() {
        var story = Story(WaitChecker())
        _ = self.waiting(&story)
        story.wait(5_000 + WaitChecker.bound)
        story.emit(.heard)
        #expect(story.broken == [])
        story.wait(1)
        story.emit(.heard)
        #expect(story.broken == ["P6"])
    }

    @Test(arguments: 0..<5) func `is none after a push, an end, another wait, a look at the app or a new server`(
        what: Int
    ) {
        var story = Story(WaitChecker())
        let message = self.waiting(&story)
        switch what {
        case 0: story.push(message)
        case 1: story.end(message.id, on: ann1, as: .recalled)
        case 2:
            let leg = LegID(message: message.id, user: ann1.user, device: ann1.device)
            story.commit(.keepLeg(OpenLeg(leg: leg, position: 1, wait: .quietHours, notBefore: story.now + 5_000)))
        case 3: story.emit(.moved(isInForeground: true, on: ann1))
        default: story.emit(.serverStarted)
        }
        story.wait(1_000_000)
        story.emit(.heard)
        #expect(story.broken == [])
    }

    @Test func `is a push for somebody else that is shown`() {
        var story = Story(RecipientChecker())
        let message = story.accepted()
        let stripped = "You have a notification"
        story.emit(.extendedForAnother(message.id, isQuiet: true, text: stripped, on: bob1))
        story.emit(.extendedForAnother(message.id, isQuiet: true, text: nil, on: bob1))
        #expect(story.broken == [])
        story.emit(.extendedForAnother(message.id, isQuiet: true, text: "secret", on: bob1))
        story.emit(.extendedForAnother(message.id, isQuiet: false, text: stripped, on: bob1))
        #expect(story.broken == ["P7", "P7"])
    }
}

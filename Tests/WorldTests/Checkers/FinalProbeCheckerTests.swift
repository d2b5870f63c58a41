import StoreModel
import Testing
import TidingsModel

@testable import PhoneCore
@testable import World

private func ring(_ message: Message, banner: Bool = true) -> PresentationRecord {
    PresentationRecord(
        identifier: message.id.description, isRemote: true, banner: banner, list: true,
        reason: banner ? .system : .passive)
}

private func phone(
    _ key: DeviceKey, mayRing: Bool = true, icon: Int = 1, shown: [FinalProbePhone.Notification] = []
) -> FinalProbePhone {
    FinalProbePhone(key: key, mayRing: mayRing, icon: icon, shown: shown)
}

@Suite struct `The promise that it rings once all has healed` {
    @Test func `finds the phone that stays silent, and the one that rings twice`() {
        var story = Story(FinalProbeChecker())
        let message = story.accepted(from: World.caller)
        story.emit(.presented(ring(message), on: ann1))
        story.emit(.presented(ring(message), on: ann2))
        story.emit(.finalProbeEnded([phone(ann1), phone(ann2), phone(bob1)]))
        #expect(story.broken == [])
        story.emit(.presented(ring(message), on: ann1))
        story.emit(.finalProbeEnded([phone(ann1), phone(ann2)]))
        #expect(story.broken == ["P3"])

        var silent = Story(FinalProbeChecker())
        let unheard = silent.accepted(from: World.caller)
        silent.emit(.presented(ring(unheard, banner: false), on: ann1))
        silent.emit(.finalProbeEnded([phone(ann1), phone(ann2, mayRing: false)]))
        #expect(silent.broken == ["P3"])
    }

    @Test func `finds a number on the icon that is not what is unread`() {
        var story = Story(FinalProbeChecker())
        let message = story.accepted(from: World.caller)
        story.emit(.presented(ring(message), on: ann1))
        story.emit(.finalProbeEnded([phone(ann1, icon: 0)]))
        #expect(story.broken == ["P4"])
    }

    /// A call that was recalled, after it has rung so many times on the first phone.
    private func recalled(rings: Int) -> (story: Story, identifier: String) {
        var story = Story(FinalProbeChecker())
        let message = story.accepted(from: World.caller)
        for _ in 0..<rings { story.emit(.presented(ring(message), on: ann1)) }
        _ = story.recall(message)
        return (story, message.id.description)
    }

    @Test func `lets a recalled call ring once or not at all, and no longer count`() {
        for rings in 0...2 {
            var story = self.recalled(rings: rings).story
            story.emit(.finalProbeEnded([phone(ann1, icon: 0), phone(ann2, icon: 0)]))
            #expect(story.broken == (rings > 1 ? ["P3"] : []))
        }
        var counted = self.recalled(rings: 1).story
        counted.emit(.finalProbeEnded([phone(ann1, icon: 1)]))
        #expect(counted.broken == ["P4"])
    }

    @Test(arguments: [("A message was recalled", []), ("Are you there?", ["recall"])])
    func `finds what is to be read of a recalled call`(text: String, broken: [String]) {
        var (story, identifier) = self.recalled(rings: 1)
        story.emit(
            .finalProbeEnded([
                phone(
                    ann1, icon: 0,
                    shown: [.init(identifier: identifier, text: text), .init(identifier: "x", text: "y")])
            ]))
        #expect(story.broken == broken)
    }
}

import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

private func ring(_ message: Message, banner: Bool = true) -> PresentationRecord {
    PresentationRecord(
        identifier: message.id.description, isRemote: true, banner: banner, list: true,
        reason: banner ? .system : .passive)
}

private func phone(_ key: DeviceKey, mayRing: Bool = true, icon: Int = 1) -> RollCallPhone {
    RollCallPhone(key: key, mayRing: mayRing, icon: icon)
}

@Suite struct `The promise that it rings once all has healed` {
    @Test func `finds the phone that stays silent, and the one that rings twice`() {
        var story = Story(RollCallChecker())
        let message = story.accepted(from: World.caller)
        story.tell(.presented(ring(message), on: ann1))
        story.tell(.presented(ring(message), on: ann2))
        story.tell(.rollCallEnded([phone(ann1), phone(ann2), phone(bob1)]))
        #expect(story.broken == [])
        story.tell(.presented(ring(message), on: ann1))
        story.tell(.rollCallEnded([phone(ann1), phone(ann2)]))
        #expect(story.broken == ["P3"])

        var silent = Story(RollCallChecker())
        let unheard = silent.accepted(from: World.caller)
        silent.tell(.presented(ring(unheard, banner: false), on: ann1))
        silent.tell(.rollCallEnded([phone(ann1), phone(ann2, mayRing: false)]))
        #expect(silent.broken == ["P3"])
    }

    @Test func `finds a number on the icon that is not what is unread`() {
        var story = Story(RollCallChecker())
        let message = story.accepted(from: World.caller)
        story.tell(.presented(ring(message), on: ann1))
        story.tell(.rollCallEnded([phone(ann1, icon: 0)]))
        #expect(story.broken == ["P4"])
    }
}

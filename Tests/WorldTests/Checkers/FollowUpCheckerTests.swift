import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import World

extension Story {
    /// The server keeps the leg of a recall.
    fileprivate mutating func keep(_ recall: Recall?, on key: DeviceKey) {
        guard let recall else { return }
        let leg = LegID(message: recall.id, user: key.user, device: key.device)
        self.commit(
            .keepLeg(OpenLeg(leg: leg, position: 2, wait: .inFlight, apnsID: nil, attempts: 0, notBefore: nil)))
    }
}

@Suite struct `The promise that a recall follows its message` {
    @Test(arguments: [LegEnd.accepted(apnsID: "apns-1"), .settled(.shown), .settled(.notified)])
    func `finds a phone that has shown a message and is not told`(end: LegEnd) {
        for isKept in [true, false] {
            var story = Story(FollowUpChecker())
            let message = story.accepted()
            story.end(message.id, on: ann1, as: end)
            let recall = story.recall(message)
            if isKept { story.keep(recall, on: ann1) }
            story.checkEnding()
            #expect(story.broken == (isKept ? [] : ["recall"]))
        }
    }

    @Test func `finds it when the device has settled the log beyond the recall`() {
        var story = Story(FollowUpChecker())
        let message = story.accepted()
        story.end(message.id, on: ann1, as: .accepted(apnsID: "apns-1"))
        _ = story.recall(message)
        story.commit(.advance(ann1, settled: 1, decided: nil))
        #expect(story.broken == [])
        story.commit(.advance(ann1, settled: 2, decided: nil))
        #expect(story.broken == ["recall"])
    }

    @Test func `finds a push that was on its way and came through`() {
        var story = Story(FollowUpChecker())
        let message = story.accepted()
        _ = story.recall(message)
        story.end(message.id, on: ann1, as: .accepted(apnsID: "apns-1"))
        story.checkEnding()
        #expect(story.broken == ["recall"])

        var followed = Story(FollowUpChecker())
        let other = followed.accepted()
        followed.keep(followed.recall(other), on: ann1)
        followed.end(other.id, on: ann1, as: .accepted(apnsID: "apns-1"))
        followed.checkEnding()
        #expect(followed.broken == [])
    }

    @Test func `asks nothing of devices that have shown nothing, have signed out, or whose server crashed`() {
        var story = Story(FollowUpChecker())
        let message = story.accepted()
        story.end(message.id, on: ann1, as: .muted)
        story.end(message.id, on: ann2, as: .accepted(apnsID: "apns-1"))
        _ = story.recall(message)
        story.commit(.signOut(ann2, at: story.now))
        story.checkEnding()
        #expect(story.broken == [])

        var crashed = Story(FollowUpChecker())
        let lost = crashed.accepted()
        crashed.end(lost.id, on: ann1, as: .accepted(apnsID: "apns-1"))
        _ = crashed.recall(lost)
        crashed.emit(.serverStarted)
        crashed.commit(.advance(ann1, settled: 2, decided: nil))
        crashed.checkEnding()
        #expect(crashed.broken == [])
    }
}

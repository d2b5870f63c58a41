import OrderedCollections
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that every leg ends once, as it should` {
    /// A message of bob's to ann, with an end for each of the three devices.
    private func ended(_ story: inout Story, ann ends: [LegEnd] = [.muted, .muted]) -> Message {
        story.commit(
            .setConversationSettings(ann1.user, withBob, ConversationSettings(level: .blocked), at: story.now))
        story.wait(1)
        let message = story.accepted()
        story.end(message.id, on: bob1, as: .ownDevice)
        for (key, end) in zip([ann1, ann2], ends) { story.end(message.id, on: key, as: end) }
        return message
    }

    @Test func `is silent when they all have`() {
        var story = Story(LegChecker())
        _ = self.ended(&story)
        story.checkEnding()
        #expect(story.broken == [])
    }

    @Test func `finds one without an end, and one that is kept open`() {
        var story = Story(LegChecker())
        let message = self.ended(&story, ann: [.muted])
        let leg = LegID(message: message.id, user: ann2.user, device: ann2.device)
        story.commit(.keepLeg(OpenLeg(leg: leg, position: 2, wait: .quietHours)))
        story.checkEnding()
        // It has no end, it is kept, and the store has it open.
        #expect(story.broken == ["P6", "P6", "P6"])
    }

    @Test func `finds one that ends again in one life of the server, not in the next`() {
        var story = Story(LegChecker())
        let message = self.ended(&story)
        story.emit(.serverStarted)
        story.end(message.id, on: ann1, as: .muted)
        #expect(story.broken == [])
        story.end(message.id, on: ann1, as: .muted)
        #expect(story.broken == ["P6"])
    }

    @Test func `finds one that is opened again after its end`() {
        var story = Story(LegChecker())
        let message = self.ended(&story)
        let leg = LegID(message: message.id, user: ann2.user, device: ann2.device)
        story.emit(.committed(.keepLeg(OpenLeg(leg: leg, position: 2, wait: .quietHours)), .done))
        #expect(story.broken == ["P6"])
    }

    @Test func `wants the end of what was under way when a device signed out from the store, and from nobody else`() {
        var story = Story(LegChecker())
        story.emit(.signedOut(ann2))
        let message = story.accepted()
        story.end(message.id, on: bob1, as: .ownDevice)
        story.end(message.id, on: ann1, as: .notNotifiable)
        story.checkEnding()
        // The first has an end that does not fit, the second none.
        #expect(story.broken == ["P6", "P6"])
        story.commit(.signOut(ann2, at: story.now))
        story.checkEnding()
        #expect(story.broken == ["P6", "P6"])
        story.end(message.id, on: ann2, as: .signedOut)
        #expect(story.broken == ["P6", "P6", "P6"])
    }

    @Test func `wants the end of whoever has no device from the store, and from nobody else`() {
        var story = Story(LegChecker())
        let message = story.accepted(to: ConversationID(type: .direct, target: "eve"))
        story.end(message.id, on: bob1, as: .ownDevice)
        story.checkEnding()
        #expect(story.broken == [])
        let leg = LegID(message: message.id, user: UserKey(app: World.app, user: "eve"), device: nil)
        story.commit(.endLeg(EndedLeg(leg: leg, end: .noDevice, at: story.now)))
        #expect(story.broken == ["P6"])
    }

    @Test func `finds an end that the store does not tell of`() {
        var story = Story(LegChecker())
        let message = self.ended(&story, ann: [.muted])
        let leg = LegID(message: message.id, user: ann2.user, device: ann2.device)
        story.emit(.committed(.endLeg(EndedLeg(leg: leg, end: .muted, at: story.now)), .done))
        #expect(story.broken == [])
        story.checkEnding()
        #expect(story.broken == ["P6"])
    }

    @Test func `takes a dead or refused token for what it is, and only then`() {
        let refused = LegEnd.rejected(reason: "BadDeviceToken")
        for (fact, fitting) in [
            (Fact.tokenEnded("ann-1"), [LegEnd.tokenDead(timestamp: 1), refused]),
            (.wrongEnvironment, [.tokenQuarantined(reason: "BadDeviceToken", status: 400), refused]),
        ] {
            for end in fitting {
                var story = Story(LegChecker())
                _ = self.ended(&story, ann: [end, .muted])
                #expect(story.broken == ["P6"])
                story = Story(LegChecker())
                story.emit(fact)
                _ = self.ended(&story, ann: [end, .muted])
                #expect(story.broken == [])
            }
        }
    }

    @Test func `finds one that never began`() {
        var story = Story(LegChecker())
        let message = self.ended(&story)
        let stranger = DeviceKey(user: UserKey(app: World.app, user: "eve"), device: "eve-1")
        story.commit(
            .setConversationSettings(stranger.user, withBob, ConversationSettings(level: .blocked), at: story.now))
        story.wait(1)
        story.end(message.id, on: stranger, as: .muted)
        story.checkEnding()
        #expect(story.broken == ["P6"])
    }

    @Test(
        arguments: [
            .ownDevice, .notNotifiable, .readElsewhere, .recalled, .expired, .quietHours, .accepted(apnsID: "never"),
            .noDevice, .rejected(reason: "BadTopic"), .settled(.shown),
        ] as [LegEnd])
    func `finds an end that does not fit`(end: LegEnd) {
        var story = Story(LegChecker())
        _ = self.ended(&story, ann: [end, .muted])
        #expect(story.broken == ["P6"])
    }

    @Test func `knows the ends that fit`() {
        var story = Story(LegChecker())
        story.emit(.stored(upTo: 9, on: ann1))
        let settled = story.accepted()
        story.end(settled.id, on: ann1, as: .settled(.shown))
        story.push(settled, to: ann2)
        story.end(settled.id, on: ann2, as: .accepted(apnsID: "apns-1"))
        let quiet = story.accepted(flags: .stored)
        story.end(quiet.id, on: ann1, as: .notNotifiable)
        let recalled = story.accepted()
        _ = story.recall(recalled)
        story.end(recalled.id, on: ann1, as: .recalled)
        let read = story.accepted()
        story.commit(.markRead(ann1.user, withBob, upTo: 5, at: story.now))
        story.end(read.id, on: ann1, as: .readElsewhere)
        let unsaid = story.accepted()
        let hours = QuietHours(start: 0, end: 2, timeZone: "Etc/UTC", manner: .drop)
        story.commit(.setPersonSettings(ann1.user, PersonSettings(quietHours: hours), at: story.now))
        story.end(unsaid.id, on: ann1, as: .quietHours)
        #expect(story.broken == [])
    }

    @Test func `wants muted to have been so at that moment`() {
        var story = Story(LegChecker())
        let message = story.accepted()
        story.wait(1)
        story.commit(
            .setConversationSettings(ann1.user, withBob, ConversationSettings(level: .blocked), at: story.now))
        story.wait(1)
        story.commit(.setConversationSettings(ann1.user, withBob, ConversationSettings(), at: story.now))
        story.wait(1)
        story.end(message.id, on: ann1, as: .muted)
        #expect(story.broken == ["P6"])
    }

    @Test func `wants an end of the recall on the device that had shown the message, or its word that it knows`() {
        var story = Story(LegChecker())
        story.emit(.stored(upTo: 9, on: ann1))
        let message = story.accepted()
        for key in [ann1, ann2, bob1] {
            story.push(message, to: key)
            story.end(message.id, on: key, as: key == bob1 ? .ownDevice : .accepted(apnsID: "apns-1"))
        }
        let recall = story.recall(message)
        story.commit(.advance(ann1, settled: 2, decided: nil))
        story.checkEnding()
        #expect(story.broken == ["P6"])
        story.end(recall?.id ?? message.id, on: ann2, as: .accepted(apnsID: "apns-1"))
        story.checkEnding()
        #expect(story.broken == ["P6"])
    }
}

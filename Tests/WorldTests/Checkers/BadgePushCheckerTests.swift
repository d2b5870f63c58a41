import APNsModel
import ClientCore
import StoreModel
import Testing
import TidingsModel

@testable import PhoneCore
@testable import World

@Suite struct `The promises about a push that is nothing but a number` {
    /// In an alert for the extension, or alone.
    private func push(
        _ story: inout Story, alone: Bool = false, sound: Bool = false, isPassive: Bool = true, expiration: Int64 = 0
    ) {
        let info = BadgeInfo(badge: 1, badgePosition: 2, recipientTag: "tag")
        var payload = APNsPayload(badge: 1)
        if !alone {
            payload = APNsPayload(
                alert: .init(body: "You have a notification"), sound: sound ? "default" : nil, mutableContent: true,
                interruptionLevel: isPassive ? .passive : nil, custom: JSONObject([(PushInfo.key, info.dictionary)]))
        }
        let request = APNsRequest(
            token: "00", topic: "com.example.chat", priority: .powerAware, expiration: expiration,
            collapseID: BadgeInfo.identifier, payload: (try? payload.serialized(bytesMax: 4_096)) ?? [],
            environment: .sandbox)
        story.emit(.pushed(SentPush(request), to: ann1))
    }

    private func reduce(
        _ story: inout Story, at position: LogPosition, of owner: DeviceKey? = ann1, to after: Badge, shown: Int?
    ) {
        let push = BadgeInfo(badge: 1, badgePosition: position, recipientTag: "tag")
        story.emit(
            .reduced(push, of: owner, from: Badge(server: 2, position: 8), to: after, shown: shown, on: ann1))
    }

    @Test func `finds one that would ring, or that APNs may keep`() {
        for (sound, isPassive, expiration, broken) in [
            (false, true, 0, []), (true, true, 0, ["P3"]), (false, false, 0, ["P3"]), (false, true, 9, ["P2"]),
        ] as [(Bool, Bool, Int64, [String])] {
            var story = Story(BadgePushChecker())
            self.push(&story, sound: sound, isPassive: isPassive, expiration: expiration)
            #expect(story.broken == broken)
        }
    }

    @Test func `finds one that follows an alert within a minute`() {
        for (wait, broken) in [(59_999, ["P2"]), (60_000, [])] as [(Int64, [String])] {
            var story = Story(BadgePushChecker())
            let message = story.accepted()
            story.push(message)
            story.wait(wait)
            self.push(&story)
            #expect(story.broken == broken)
        }
        // Another life of the server knows nothing of it.
        var story = Story(BadgePushChecker())
        let message = story.accepted()
        story.push(message)
        story.emit(.serverStarted)
        self.push(&story)
        #expect(story.broken == [])
    }

    @Test func `finds the seventh of an hour where nobody compares`() {
        for alone in [true, false] {
            var story = Story(BadgePushChecker())
            for _ in 0..<7 {
                #expect(story.broken == [])
                story.wait(500_000)
                self.push(&story, alone: alone)
            }
            #expect(story.broken == (alone ? ["P4"] : []))
        }
    }

    @Test func `finds a number that undoes a newer one, and one that is somebody else's`() {
        let before = Badge(server: 2, position: 8)
        let after = Badge(server: 1, position: 9)
        for (position, owner, number, shown, broken) in [
            (9, ann1, after, 1, []), (8, ann1, before, 2, []), (8, ann1, Badge(server: 1, position: 8), 1, ["P4"]),
            (7, ann1, Badge(server: 1, position: 7), 1, ["P4"]), (9, bob1, before, nil, []),
            (9, bob1, before, 2, ["P7"]), (9, nil, before, 2, ["P7"]),
        ] as [(LogPosition, DeviceKey?, Badge, Int?, [String])] {
            var story = Story(BadgePushChecker())
            self.reduce(&story, at: position, of: owner, to: number, shown: shown)
            #expect(story.broken == broken, "\(position)")
        }
    }

    @Test func `finds one that stands in the list, unless no extension could decide`() {
        let stands = PresentationRecord(
            identifier: BadgeInfo.identifier, isRemote: true, banner: false, list: true, reason: .passive)
        var story = Story(BadgePushChecker())
        story.emit(.unextended(identifier: BadgeInfo.identifier, on: ann1))
        story.emit(.presented(stands, on: ann1))
        #expect(story.broken == [])
        story.emit(.presented(stands, on: ann1))
        #expect(story.broken == ["P3"])
    }
}

import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import World

private let mallory = DeviceKey(user: UserKey(app: World.app, user: "mallory"), device: "made-up-1")

@Suite struct `The promise that hostile clients stay among themselves` {
    private static func story() -> Story {
        var story = Story(AbuseChecker())
        story.commit(.signIn(mallory, platform: "none", at: story.now))
        return story
    }

    @Test func `finds that somebody who wrote like a person was told to wait`() {
        var story = Self.story()
        let draft = MessageDraft(clientMessageID: "c", conversation: toAnn, objectName: .text, content: "{}")
        story.emit(.refused(draft, .init(code: .blocked, rule: "x"), to: bob1))
        #expect(story.broken == [])
        story.emit(.refused(draft, .init(code: .rateLimited, rule: "x"), to: bob1))
        #expect(story.broken == ["abuse"])
    }

    @Test func `finds more messages of one in a minute than the limits let through`() {
        var story = Self.story()
        for _ in 0..<AbuseChecker.messagesPerMinute { _ = story.accepted(from: "mallory") }
        #expect(story.broken == [])
        _ = story.accepted(from: "mallory")
        #expect(story.broken == ["abuse"])
        story.wait(60_000)
        _ = story.accepted(from: "mallory")
        #expect(story.broken == ["abuse"])
    }

    @Test func `finds a message where they may not write`() {
        var story = Self.story()
        story.commit(.putConversation(teamRecord))
        story.emit(
            .committed(
                .accept(message: story.message(from: "mallory", to: team), senderDevice: nil), .accepted(deliveries: [])
            ))
        #expect(story.broken == ["abuse"])
        story.emit(
            .committed(
                .accept(message: story.message(from: "bob", to: team), senderDevice: nil), .accepted(deliveries: [])))
        #expect(story.broken == ["abuse"])
    }

    @Test func `finds that a connection is told again and again who types`() {
        var story = Self.story()
        for _ in 0..<AbuseChecker.typingPerSecond { story.emit(.hostile(.relayed(to: SessionID(1)))) }
        story.emit(.hostile(.relayed(to: SessionID(2))))
        story.wait(1_000)
        story.emit(.hostile(.relayed(to: SessionID(1))))
        #expect(story.broken == [])
        for _ in 0..<AbuseChecker.typingPerSecond { story.emit(.hostile(.relayed(to: SessionID(1)))) }
        #expect(story.broken == ["abuse"])
    }

    @Test func `finds a text that is told after it was recalled, and what a group told a stranger`() {
        var story = Self.story()
        let message = story.accepted()
        let entry = LogEntry(position: 1, body: .message(message))
        story.emit(.hostile(.toldEntry(entry)))
        #expect(story.broken == [])
        _ = story.recall(message)
        story.emit(.hostile(.toldEntry(entry)))
        story.emit(.hostile(.granted(.conversation(team))))
        #expect(story.broken == ["abuse", "abuse"])
    }

    @Test func `finds more devices than may stay and sign in, also after a crash`() {
        func signIn(_ story: inout Story, _ numbers: Range<Int>) {
            for number in numbers {
                let key = DeviceKey(user: mallory.user, device: DeviceID("d\(number)"))
                story.commit(.signIn(key, platform: "none", at: story.now))
            }
        }
        var story = Self.story()
        signIn(&story, 1..<2 * AbuseChecker.devices)
        #expect(story.broken == [])
        story.emit(.serverStarted)
        signIn(&story, 40..<40 + AbuseChecker.devices)
        #expect(story.broken == [])
        signIn(&story, 60..<61)
        #expect(story.broken == ["abuse"])
    }

    @Test func `finds that a token nobody has is pushed to again and again`() {
        var story = Self.story()
        let registration = PushRegistration(token: "ab", environment: .sandbox, topic: "com.example.chat")
        let push = SentPush(
            APNsRequest(
                token: "ab", topic: "com.example.chat", collapseID: nil, apnsID: "apns-1", payload: [],
                environment: .sandbox))
        story.commit(.setPushState(mallory, .registered(registration, at: story.now)))
        for _ in 0..<AbuseChecker.pushesPerRegistration { story.emit(.pushed(push, to: mallory)) }
        #expect(story.broken == [])
        // What APNs said of it is no registration.
        let quarantined = PushState.quarantined(registration, at: story.now, reason: "BadDeviceToken")
        story.commit(.setPushState(mallory, quarantined, about: registration))
        story.commit(.setPushState(mallory, .registered(registration, at: story.now), about: registration))
        story.emit(.pushed(push, to: mallory))
        #expect(story.broken == ["abuse"])
        story.commit(.setPushState(mallory, .registered(registration, at: story.now)))
        story.emit(.pushed(push, to: mallory))
        #expect(story.broken == ["abuse"])
    }

    @Test func `finds that they change what is another's`() throws {
        var story = Self.story()
        let message = story.accepted()
        let recall = RecallOperation(
            id: MessageID(rawValue: 900), app: World.app, message: message.id, actor: "mallory", window: 1,
            at: story.now)
        story.commit(.recall(recall))
        #expect(story.broken == [])
        let told = Recall(
            id: MessageID(rawValue: 900), message: message.id, conversation: toAnn, sender: "mallory", at: story.now)
        story.emit(.committed(.recall(recall), .recalled(told, of: message, deliveries: [], shown: [])))
        let edit = EditOperation(
            app: World.app, message: message.id, actor: "mallory", content: "{}", window: 1, at: story.now)
        let said = Edit(message: message.id, conversation: toAnn, content: "{}", at: story.now)
        story.emit(.committed(.edit(edit), .noted(.edit(said), deliveries: [])))
        #expect(story.broken == ["abuse", "abuse"])
    }

    @Test func `finds a receipt for what they never got`() {
        var story = Self.story()
        let message = story.accepted()
        let leg = LegID(message: message.id, user: mallory.user, device: mallory.device)
        var ending = story.ending()
        story.checkers.checkEnding(ending)
        #expect(story.broken == [])
        ending.store.messages[0].receipts.append(.init(leg: leg, receipt: .opened, at: story.now))
        story.checkers.checkEnding(ending)
        #expect(story.broken == ["abuse"])
    }
}

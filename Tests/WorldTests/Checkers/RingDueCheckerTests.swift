import APNsModel
import ClientCore
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import PhoneCore
@testable import World

private let registration = PushRegistration(token: "0a", environment: .sandbox, topic: "com.example.chat")

private func ring(_ message: Message, sound: Bool = true) -> PresentationRecord {
    PresentationRecord(
        identifier: message.id.description, isRemote: true, list: true, sound: sound, reason: sound ? .system : .passive
    )
}

/// A story in which ann's first phone has a token and lies away.
private func newStory() -> Story {
    var story = Story(RingDueChecker())
    story.commit(.setPushState(ann1, .registered(registration, at: story.now)))
    return story
}

extension Story {
    /// A message is accepted while ann's first phone lies away.
    fileprivate mutating func due(token: PushToken? = "0a", flags: MessageFlags = .normal) -> Message {
        let message = self.accepted(flags: flags)
        self.emit(.away(message.id, [AwayPhone(key: ann1, token: token)]))
        return message
    }

    /// Longer than any message may take.
    fileprivate mutating func waitTooLong() {
        self.wait(RingDueChecker.bound + 1)
        self.emit(.heard)
    }
}

@Suite struct `The promise that it rings at least once` {
    @Test func `finds the phone that stays silent, and counts the one that rings`() {
        var silent = newStory()
        let unheard = silent.due()
        silent.emit(.presented(ring(unheard, sound: false), on: ann1))
        silent.wait(RingDueChecker.bound)
        silent.emit(.heard)
        #expect(silent.broken == [])
        silent.wait(1)
        silent.emit(.heard)
        #expect(silent.broken == ["P3"])
        #expect(silent.checkers.marks[.dueRings] == 0)

        var story = newStory()
        let message = story.due()
        story.emit(.presented(ring(message), on: ann1))
        story.waitTooLong()
        #expect(story.broken == [])
        #expect(story.checkers.marks[.dueRings] == 1)
        #expect(story.checkers.marks[.excusedRings] == 0)
    }

    @Test func `takes a ring on one phone for none on another`() {
        var story = newStory()
        let message = story.due()
        story.emit(.presented(ring(message), on: bob1))
        story.waitTooLong()
        #expect(story.broken == ["P3"])
    }

    @Test(
        arguments: [
            .held(until: 60_000, on: nil), .held(until: 60_000, on: "ann-1"), .clockSet(ahead: -1_000),
        ] as [Fact])
    func `waits longer while something holds it up`(fact: Fact) {
        for isBefore in [true, false] {
            var story = newStory()
            if isBefore { story.emit(fact) }
            _ = story.due()
            if !isBefore { story.emit(fact) }
            story.waitTooLong()
            #expect(story.broken == [])
            story.wait(300_000)
            story.emit(.heard)
            #expect(story.broken == ["P3"])
        }
    }

    @Test func `counts anew from the start of a server, and not from what holds up another phone`() {
        var story = newStory()
        _ = story.due()
        story.wait(RingDueChecker.bound)
        story.emit(.serverStarted)
        story.emit(.held(until: 10_000_000, on: "bob-1"))
        story.wait(RingDueChecker.bound)
        story.emit(.heard)
        #expect(story.broken == [])
        story.wait(1)
        story.emit(.heard)
        #expect(story.broken == ["P3"])
    }

    @Test(
        arguments: [
            .moved(isInForeground: true, on: ann1), .moved(isInForeground: true, on: ann2), .disturbed(ann1),
            .signedOut(ann1),
        ] as [Fact])
    func `excuses a phone to which something happens, and says so`(fact: Fact) {
        var story = newStory()
        _ = story.due()
        story.emit(fact)
        story.waitTooLong()
        #expect(story.broken == [])
        #expect(story.checkers.marks[.excusedRings] == 1)
    }

    @Test(
        arguments: [
            .moved(isInForeground: false, on: ann1), .moved(isInForeground: true, on: bob1), .disturbed(bob1),
            .appEnded(ann1),
        ] as [Fact])
    func `excuses nobody for what happens to others`(fact: Fact) {
        var story = newStory()
        _ = story.due()
        story.emit(fact)
        story.waitTooLong()
        #expect(story.broken == ["P3"])
    }

    @Test func `excuses what is recalled, deleted, read, or silenced meanwhile`() {
        let ann = UserKey(app: World.app, user: "ann")
        let actions: [(inout Story, Message) -> Void] = [
            { story, message in _ = story.recall(message) },
            { $0.commit(.delete(ann, Deletion(conversation: withBob, messages: [$1.id]), at: $0.now)) },
            { story, _ in story.commit(.markRead(ann, withBob, upTo: 1, at: story.now)) },
            { story, _ in story.commit(.setBlocked(ann, "bob", true, at: story.now)) },
            { story, _ in story.commit(.setPushState(ann1, .none)) },
            { story, _ in story.commit(.setPushState(bob1, .registered(registration, at: story.now))) },
        ]
        for action in actions {
            var story = newStory()
            let message = story.due()
            action(&story, message)
            story.waitTooLong()
            #expect(story.broken == [])
            #expect(story.checkers.marks[.excusedRings] == 1)
        }
    }

    @Test func `believes a server that sets a token aside only if APNs has refused one, and none that says it is dead`()
    {
        for (isRefused, state) in [
            (true, PushState.quarantined(registration, at: 0, reason: "BadDeviceToken")),
            (false, .quarantined(registration, at: 0, reason: "BadDeviceToken")), (false, .dead(timestamp: 0)),
        ] {
            var story = newStory()
            if isRefused { story.emit(.wrongEnvironment) }
            _ = story.due()
            story.commit(.setPushState(ann1, state))
            story.waitTooLong()
            #expect(story.broken == (isRefused ? [] : ["P3"]))
        }
    }

    @Test func `waits for a token that APNs has refused by a fault until a push is accepted or the server starts`() {
        let ends: [(inout Story, Message) -> Void] = [
            { story, message in story.emit(.serverStarted) },
            { story, message in
                let leg = LegID(message: message.id, user: bob1.user, device: bob1.device)
                story.commit(.endLeg(EndedLeg(leg: leg, end: .accepted(apnsID: "A"), at: story.now)))
            },
        ]
        for end in ends {
            var story = newStory()
            story.emit(.wrongEnvironment)
            let message = story.due()
            story.emit(.tokenRefused(registration.token))
            _ = story.due()
            story.waitTooLong()
            #expect(story.broken == [])
            end(&story, message)
            story.waitTooLong()
            #expect(story.broken == ["P3", "P3"])
        }
        // A server that made APNs refuse it has no excuse.
        var story = newStory()
        _ = story.due()
        story.emit(.tokenRefused(registration.token))
        story.waitTooLong()
        #expect(story.broken == ["P3"])
    }

    @Test func `asks for no ring where none is due`() {
        var story = newStory()
        _ = story.due(flags: [.stored, .counted])
        let own = story.accepted(from: "ann", to: withBob)
        story.emit(.away(own.id, [AwayPhone(key: ann1, token: "0a")]))
        #expect(story.checkers.marks[.unreadyPhones] == 0)
        _ = story.due(token: nil)
        _ = story.due(token: "0b")
        #expect(story.checkers.marks[.unreadyPhones] == 2)
        story.commit(
            .setConversationSettings(
                UserKey(app: World.app, user: "ann"), withBob, ConversationSettings(level: .mentions),
                at: story.now))
        _ = story.due()
        story.waitTooLong()
        #expect(story.broken == [])
    }

    @Test func `asks for it after quiet hours that defer, and not at all in those that drop`() {
        for manner in [QuietHours.Manner.defer, .drop] {
            var story = newStory()
            var person = PersonSettings()
            // The story begins at midnight.
            person.quietHours = QuietHours(start: 0, end: 10, timeZone: "Etc/UTC", manner: manner)
            story.commit(.setPersonSettings(UserKey(app: World.app, user: "ann"), person, at: story.now))
            _ = story.due()
            story.wait(600_000)
            story.emit(.heard)
            #expect(story.broken == [])
            story.waitTooLong()
            #expect(story.broken == (manner == .defer ? ["P3"] : []))
        }
    }

    @Test func `waits for the end of quiet hours that begin meanwhile, if the store has the leg as waiting for it`() {
        let ann = UserKey(app: World.app, user: "ann")
        for (manner, wait, isExcused) in [
            (QuietHours.Manner.defer, LegWait.quietHours, true), (.defer, .providerDown, false),
            (.drop, .quietHours, false),
        ] {
            var story = newStory()
            var person = PersonSettings()
            // The story begins at midnight.
            person.quietHours = QuietHours(start: 1, end: 10, timeZone: "Etc/UTC", manner: manner)
            story.commit(.setPersonSettings(ann, person, at: story.now))
            let message = story.due()
            story.wait(60_000)
            let leg = LegID(message: message.id, user: ann, device: ann1.device)
            story.commit(.keepLeg(OpenLeg(leg: leg, position: 1, wait: wait)))
            story.wait(540_000)
            story.emit(.heard)
            #expect(story.broken == (isExcused ? [] : ["P3"]))
            story.waitTooLong()
            #expect(story.broken == ["P3"])
        }
    }

    @Test func `excuses what the store knows as silenced by quiet hours, and what went with the push of another`() {
        let ends: [(LegEnd, DeviceKey, isExcused: Bool)] = [
            (.quietHours, ann1, true), (.quietHours, ann2, false), (.muted, ann1, false),
            (.accepted(apnsID: "apns-1"), ann1, true), (.accepted(apnsID: "apns-1"), ann2, false),
            (.accepted(apnsID: "apns-2"), ann1, false),
        ]
        for (end, key, isExcused) in ends {
            var story = newStory()
            let first = story.due()
            story.push(story.accepted(), at: 40)
            story.end(first.id, on: key, as: end)
            story.waitTooLong()
            #expect(story.broken == (isExcused ? [] : ["P3"]))
            #expect(story.checkers.marks[.excusedRings] == (isExcused ? 1 : 0))
        }
    }

    @Test
    func `excuses what a level silences since one that let it ring has ended by itself, if the store has the end`() {
        let ann = UserKey(app: World.app, user: "ann")
        for (isEnded, isOver, isExcused) in [(true, true, true), (true, false, false), (false, true, false)] {
            var story = newStory()
            // What is set for all conversations of two, and for a minute otherwise for this one.
            story.commit(.setPersonSettings(ann, PersonSettings(levels: [.direct: .blocked]), at: story.now))
            story.commit(
                .setConversationSettings(
                    ann, withBob, ConversationSettings(level: .all, levelUntil: story.now + 60_000), at: story.now))
            let message = story.due()
            #expect(story.checkers.marks[.unreadyPhones] == 0)
            story.wait(isOver ? 60_000 : 30_000)
            if isEnded { story.end(message.id, on: ann1, as: .muted) }
            story.waitTooLong()
            #expect(story.broken == (isExcused ? [] : ["P3"]))
        }
    }

    @Test func `takes the end of a message with its own push for no ring`() {
        var story = newStory()
        let message = story.due()
        story.push(message)
        story.end(message.id, on: ann1, as: .accepted(apnsID: "apns-1"))
        story.waitTooLong()
        #expect(story.broken == ["P3"])
    }

    @Test func `excuses a message that a Focus leaves silent, and only on the phone to which it has come`() {
        func held(_ message: Message, _ reason: PresentationReason, list: Bool = true) -> PresentationRecord {
            PresentationRecord(identifier: message.id.description, isRemote: true, list: list, reason: reason)
        }
        var story = newStory()
        let message = story.due()
        story.emit(.presented(held(message, .focus), on: ann1))
        story.waitTooLong()
        #expect(story.broken == [])
        #expect(story.checkers.marks[.excusedRings] == 1)
        #expect(story.checkers.marks[.dueRings] == 0)

        for (reason, isListed, key) in [
            (PresentationReason.focus, true, ann2), (.focus, false, ann1), (.passive, true, ann1),
            (.filtered, true, ann1), (.notAuthorized, true, ann1),
        ] {
            var silent = newStory()
            let unheard = silent.due()
            silent.emit(.presented(held(unheard, reason, list: isListed), on: key))
            silent.waitTooLong()
            #expect(silent.broken == ["P3"])
        }

        var other = newStory()
        _ = other.due()
        other.emit(.presented(held(other.accepted(), .focus), on: ann1))
        other.waitTooLong()
        #expect(other.broken == ["P3"])
    }

    @Test func `excuses a message that another push counts`() {
        var story = newStory()
        let first = story.due()
        let second = story.accepted()
        story.push(second, at: 2, counted: [1])
        story.waitTooLong()
        #expect(story.broken == [])
        #expect(first.id != second.id)
    }
}

import ClientCore
import OrderedCollections
import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that it rings once` {
    @Test func `finds the second ring, not the second entry of the list`() throws {
        var story = Story(RingChecker())
        let message = story.accepted()
        story.push(message)
        story.emit(.extended(message.id, isQuiet: false, text: "", on: ann1))
        story.emit(.presented(record(message), on: ann1))
        story.emit(.extended(message.id, isQuiet: true, text: "", on: ann1))
        story.emit(.presented(record(message, banner: false), on: ann1))
        #expect(story.broken == [])
        story.emit(.posted(try notification(message), on: ann1, WorldDisk()))
        story.emit(.presented(record(message, isRemote: false), on: ann1))
        #expect(story.broken == ["P3"])
        #expect(story.checkers.rings == 2)
    }

    @Test func `finds a ring that nobody has caused`() {
        var story = Story(RingChecker())
        let message = story.accepted()
        story.emit(.presented(record(message), on: ann1))
        story.push(message)
        story.emit(.presented(record(message, isRemote: false), on: ann1))
        #expect(story.broken == ["P3", "P3"])
    }

    /// Once decided: by an extension. Twice: the kit wanted to show it before, and its post has never come.
    @Test(arguments: [1, 2]) func `counts apart where no extension could run, and once for each push`(decided: Int) {
        var story = Story(RingChecker())
        let message = story.accepted()
        story.push(message)
        for _ in 1...decided { story.emit(.extended(message.id, isQuiet: false, text: "", on: ann1)) }
        story.emit(.presented(record(message), on: ann1))
        story.emit(.unextended(identifier: message.id.description, on: ann1))
        story.emit(.presented(record(message), on: ann1))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.secondRings] == 1)
        story.emit(.presented(record(message), on: ann1))
        #expect(story.broken == ["P3"])
        #expect(story.checkers.marks[.secondRings] == 1)
    }

    @Test func `counts apart what the system shows for the person before, where no extension could run`() {
        var story = Story(RingChecker())
        let message = story.accepted()
        let next = DeviceKey(user: UserKey(app: World.app, user: "eve"), device: ann1.device)
        story.push(message)
        story.emit(.unextended(identifier: message.id.description, on: ann1))
        story.emit(.signedOut(ann1))
        story.emit(.signedIn(next))
        // In the foreground the app is asked, and knows better.
        story.emit(.presented(record(message, reason: .willPresent), on: next))
        #expect(story.broken == ["P3"])
        story.emit(.presented(record(message), on: next))
        #expect(story.broken == ["P3"])
        #expect(story.checkers.marks[.strayRings] == 1)
        story.emit(.presented(record(message), on: next))
        #expect(story.broken == ["P3", "P3"])
    }

    @Test func `lets ring what was answered when the person signed out, and nothing later`() {
        var story = Story(RingChecker())
        let (first, second) = (story.accepted(), story.accepted())
        for message in [first, second] {
            story.push(message)
            story.emit(.extended(message.id, isQuiet: false, text: "", on: ann1))
        }
        story.emit(.signedOut(ann1))
        story.wait(100)
        story.emit(.presented(record(first), on: ann1))
        #expect(story.broken == [])
        story.wait(1)
        story.emit(.presented(record(second), on: ann1))
        #expect(story.broken == ["P3"])
    }

    @Test func `counts apart the banner of what a system before iOS 15 could not silence, once and without sound`()
        throws
    {
        var story = Story(RingChecker())
        let message = story.accepted()
        story.push(message)
        func banner(sound: Bool = false) -> Fact {
            var record = record(message)
            record.sound = sound
            return .presented(record, on: ann1)
        }
        story.emit(.lacksLevels(ann1.device))
        story.emit(.extended(message.id, isQuiet: false, text: "", on: ann1))
        story.emit(banner(sound: true))
        // A second push of it, the recall in its place, and what was fetched.
        story.emit(.extended(message.id, isQuiet: true, text: "", on: ann1))
        story.emit(banner())
        story.emit(.posted(try notification(message, isSilent: true), on: ann1, WorldDisk()))
        story.emit(banner())
        story.emit(.fetched([.init(message: try missed(message), isSilent: true)], pushRings: true, on: ann1))
        story.emit(banner())
        #expect(story.broken == [])
        #expect(story.checkers.marks[.unsilenced] == 3)
        #expect(story.checkers.rings == 1)
        story.emit(banner())
        #expect(story.broken == ["P3"])
        story.emit(.extended(message.id, isQuiet: true, text: "", on: ann1))
        story.emit(banner(sound: true))
        #expect(story.broken == ["P3", "P3"])
    }

    @Test func `counts nothing apart where the system knows what is passive`() {
        var story = Story(RingChecker())
        let message = story.accepted()
        story.push(message)
        story.emit(.extended(message.id, isQuiet: true, text: "", on: ann1))
        story.emit(.presented(record(message), on: ann1))
        #expect(story.broken == ["P3"])
        #expect(story.checkers.marks[.unsilenced] == 0)
    }

    @Test func `lets what is fetched ring once in all`() throws {
        var story = Story(RingChecker())
        let (first, second) = (story.accepted(), story.accepted())
        let posts = try [first, second].map { try missed($0) }
        story.emit(.fetched(posts.map { MissedDecision.Post(message: $0, isSilent: true) }, pushRings: true, on: ann1))
        story.emit(.presented(record(first, isRemote: false, banner: false), on: ann1))
        #expect(story.broken == [])
        story.emit(.fetched([MissedDecision.Post(message: posts[0], isSilent: false)], pushRings: false, on: ann1))
        story.emit(.presented(record(first, isRemote: false), on: ann1))
        #expect(story.broken == [])
        story.emit(.fetched([MissedDecision.Post(message: posts[1], isSilent: false)], pushRings: true, on: ann1))
        story.emit(
            .fetched(posts.map { MissedDecision.Post(message: $0, isSilent: false) }, pushRings: false, on: ann1))
        #expect(story.broken == ["P3", "P3"])
    }
}

@Suite struct `The promise that what is silenced is silent` {
    private func silence(_ story: inout Story, _ level: NotificationLevel, of conversation: ConversationID = withBob) {
        story.commit(
            .setConversationSettings(ann1.user, conversation, ConversationSettings(level: level), at: story.now))
    }

    @Test func `finds a push through a level, once the core knows of it`() {
        var story = Story(LevelChecker())
        let message = story.accepted()
        let command = StoreCommand.setConversationSettings(
            ann1.user, withBob, ConversationSettings(level: .blocked), at: story.now)
        story.commit(command, isHeard: false)
        story.push(message)
        #expect(story.broken == [])
        story.emit(.heard)
        story.push(message)
        #expect(story.broken == ["level"])
    }

    @Test func `knows all that is committed in a new life of the server`() {
        var story = Story(LevelChecker())
        let message = story.accepted()
        story.commit(
            .setConversationSettings(ann1.user, withBob, ConversationSettings(level: .blocked), at: story.now),
            isHeard: false)
        story.emit(.serverStarted)
        story.push(message)
        #expect(story.broken == ["level"])
    }

    @Test func `lets a mention through where the level does`() {
        var story = Story(LevelChecker())
        story.commit(.putConversation(teamRecord))
        self.silence(&story, .mentions, of: team)
        story.push(story.accepted(to: team, mentions: .everyone))
        #expect(story.broken == [])
        story.push(story.accepted(to: team))
        #expect(story.broken == ["level"])
    }

    @Test func `lets a push pass when the level's time is over`() {
        var story = Story(LevelChecker())
        let settings = ConversationSettings(level: .blocked, levelUntil: story.now + 1_000)
        story.commit(.setConversationSettings(ann1.user, withBob, settings, at: story.now))
        let message = story.accepted()
        story.push(message)
        story.wait(1_000)
        story.push(message)
        #expect(story.broken == ["level"])
    }

    @Test func `finds a push in quiet hours`() {
        var story = Story(LevelChecker())
        let message = story.accepted()
        // The world begins at midnight.
        let hours = QuietHours(start: 1, end: 2, timeZone: "Etc/UTC")
        story.commit(.setPersonSettings(ann1.user, PersonSettings(quietHours: hours), at: story.now))
        story.push(message)
        story.wait(60_000)
        story.push(message)
        story.wait(60_000)
        story.push(message)
        #expect(story.broken == ["quiet hours"])
    }

    @Test func `finds a message that an extension is told to show`() {
        var story = Story(LevelChecker())
        let message = story.accepted()
        func answer(rings: Bool) -> JSONValue {
            ["entries": [["message_id": .string(message.id.description), "rings": .bool(rings)]]]
        }
        story.emit(.toldMissed(answer(rings: true), to: ann1))
        self.silence(&story, .blocked)
        story.emit(.toldMissed(answer(rings: false), to: ann1))
        #expect(story.broken == [])
        story.emit(.toldMissed(answer(rings: true), to: ann1))
        #expect(story.broken == ["level"])
    }

    @Test func `finds a local notification in quiet hours, but for the time a phone's clock may be behind`() {
        var story = Story(LevelChecker())
        let message = story.accepted()
        let hours = QuietHours(start: 1, end: 3, timeZone: "Etc/UTC")
        story.commit(.setPersonSettings(ann1.user, PersonSettings(quietHours: hours), at: story.now))
        let late = story.accepted()
        let disk = story.disk(of: ann1)
        story.wait(62_000)
        story.emit(.passedGate(late.id, on: ann1, disk))
        story.wait(60_000)
        story.emit(.passedGate(message.id, on: ann1, disk))
        #expect(story.broken == [])
        story.emit(.passedGate(late.id, on: ann1, disk))
        #expect(story.broken == ["quiet hours"])
    }

    @Test func `finds a local notification the phone's own log silences`() {
        var story = Story(LevelChecker())
        let before = story.accepted()
        self.silence(&story, .blocked)
        let after = story.accepted()
        let disk = story.disk(of: ann1)
        story.emit(.passedGate(before.id, on: ann1, disk))
        #expect(story.broken == [])
        story.emit(.passedGate(after.id, on: ann1, disk))
        #expect(story.broken == ["level"])
    }
}

@Suite struct `The promise that what is recalled stays recalled` {
    @Test func `finds a push once the core knows`() {
        var story = Story(RecallChecker())
        let message = story.accepted()
        _ = story.recall(message, isHeard: false)
        story.push(message)
        #expect(story.broken == [])
        story.emit(.heard)
        story.push(message)
        #expect(story.broken == ["recall"])
    }

    @Test func `finds a push of what was deleted or read`() {
        var story = Story(RecallChecker())
        let (deleted, read) = (story.accepted(), story.accepted())
        story.commit(.delete(ann1.user, Deletion(conversation: withBob, messages: [deleted.id]), at: story.now))
        story.push(deleted)
        #expect(story.broken == ["recall"])
        story.push(read, at: 2)
        story.commit(.markRead(ann1.user, withBob, upTo: 2, at: story.now))
        story.push(read, at: 2)
        #expect(story.broken == ["recall", "recall"])
    }

    @Test func `finds a push of a group to somebody who was taken out of it since`() {
        var story = Story(RecallChecker())
        let create = ConversationAction.create(name: "Team", portrait: nil, members: ["bob"])
        for action in [create, .remove(["bob"])] {
            let message = action == create ? nil : story.accepted(from: "ann", to: team)
            if let message { story.push(message, at: 2, to: bob1) }
            #expect(story.broken == [])
            story.commit(
                .change(
                    ConversationOperation(
                        app: World.app, conversation: team, action: action, actor: "ann", at: story.now)))
            if let message { story.push(message, at: 2, to: bob1) }
        }
        #expect(story.broken == ["recall"])
    }

    @Test func `finds a phone that knows and lets it ring, by either callback path`() throws {
        var story = Story(RecallChecker())
        let message = story.accepted()
        let recalled = story.recall(message)
        let recall = try #require(recalled)
        story.emit(.extended(message.id, isQuiet: false, text: "", on: ann1))
        story.emit(.applied([LogEntry(position: 2, body: .recall(recall))], on: ann1))
        story.emit(.extended(message.id, isQuiet: false, text: "", on: ann2))
        story.emit(.extended(message.id, isQuiet: true, text: "", on: ann1))
        story.emit(.posted(try notification(message, isSilent: true), on: ann1, WorldDisk()))
        #expect(story.broken == [])
        story.emit(.extended(message.id, isQuiet: false, text: "", on: ann1))
        story.emit(.posted(try notification(message), on: ann1, WorldDisk()))
        #expect(story.broken == ["recall", "recall"])
    }
}

extension `The promise that what is recalled stays recalled` {
    @Test func `finds a phone that knows and tells what it said`() throws {
        var story = Story(RecallChecker())
        let message = story.accepted()
        let recalled = story.recall(message)
        let recall = try #require(recalled)
        story.emit(.extended(message.id, isQuiet: false, text: "hi", on: ann1))
        // One phone hears of it by a push, the other in its log.
        story.emit(.extended(message.id, isQuiet: true, text: "A message was recalled", on: ann1))
        story.emit(.applied([LogEntry(position: 2, body: .recall(recall))], on: ann2))
        for text in ["A message was recalled", "You have a notification", ""] {
            story.emit(.extended(message.id, isQuiet: true, text: text, on: ann1))
            story.emit(.extended(message.id, isQuiet: true, text: text, on: ann2))
        }
        #expect(story.broken == [])
        story.emit(.extended(message.id, isQuiet: true, text: "hi", on: ann1))
        story.emit(.extended(message.id, isQuiet: true, text: "hi", on: ann2))
        #expect(story.broken == ["recall", "recall"])
    }
}

@Suite struct `The promise that hidden content stays hidden` {
    private func hide(_ story: inout Story) {
        story.commit(.setPersonSettings(ann1.user, PersonSettings(hidesContent: true), at: story.now))
    }

    @Test func `finds a push that says what the message says`() {
        var story = Story(HiddenChecker())
        let message = story.accepted()
        story.push(message, text: "secret")
        self.hide(&story)
        story.push(message)
        #expect(story.broken == [])
        story.push(message, text: "secret")
        #expect(story.broken == ["hidden"])
    }

    @Test func `finds an answer to an extension that does`() {
        var story = Story(HiddenChecker())
        self.hide(&story)
        story.emit(.toldMissed(["entries": [["text": ["body": "New message"]]]], to: ann1))
        #expect(story.broken == [])
        story.emit(.toldMissed(["entries": [["text": ["title": "bob", "body": "secret"]]]], to: ann1))
        #expect(story.broken == ["hidden"])
    }

    @Test func `finds a local notification that does, on a phone that knows`() throws {
        var story = Story(HiddenChecker())
        let message = story.accepted()
        self.hide(&story)
        let disk = story.disk(of: ann1)
        story.emit(.posted(try notification(message), on: ann1, disk))
        #expect(story.broken == [])
        story.emit(.applied(disk.log, on: ann1))
        story.emit(.posted(try notification(message, title: ""), on: ann1, disk))
        #expect(story.broken == [])
        story.emit(.posted(try notification(message), on: ann1, disk))
        #expect(story.broken == ["hidden"])
    }
}

import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that reading on another phone lowers the number` {
    private func phone(
        _ key: DeviceKey, icon: Int, mayRing: Bool = true, mayBeWoken: Bool = true
    ) -> FinalProbePhone {
        FinalProbePhone(key: key, mayRing: mayRing, mayBeWoken: mayBeWoken, icon: icon)
    }

    private func silentPush(to key: DeviceKey, in story: inout Story) {
        let request = APNsRequest(
            token: "00", topic: "com.example.chat", pushType: .background, priority: .powerAware, collapseID: "badge",
            payload: Array("{}".utf8), environment: .sandbox)
        story.emit(.pushed(SentPush(request), to: key))
    }

    /// ann has two unread messages and both phones show it; then she reads one of them on her first.
    private func read(_ story: inout Story, upTo position: LogPosition = 1) {
        _ = story.accepted()
        _ = story.accepted()
        story.emit(.finalProbeEnded([self.phone(ann1, icon: 2), self.phone(ann2, icon: 2)]))
        story.commit(.markRead(ann1.user, withBob, upTo: position, at: story.now))
    }

    private func end(_ story: inout Story, with phone: FinalProbePhone) {
        story.emit(.readingProbeEnded([self.phone(ann1, icon: 2, mayBeWoken: false), phone]))
    }

    @Test func `finds the phone that is away and shows what it showed before`() {
        var story = Story(ReadElsewhereChecker())
        self.read(&story)
        self.end(&story, with: self.phone(ann2, icon: 1))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.loweredNumbers] == 1)

        for icon in [0, 2] {
            var story = Story(ReadElsewhereChecker())
            self.read(&story)
            self.end(&story, with: self.phone(ann2, icon: icon))
            #expect(story.broken == ["P4"])
        }
    }

    @Test func `asks nothing of phones that cannot be woken, or when nothing was lowered`() {
        var story = Story(ReadElsewhereChecker())
        self.read(&story)
        self.end(&story, with: self.phone(ann2, icon: 2, mayRing: false))
        #expect(story.broken == [])

        var asleep = Story(ReadElsewhereChecker())
        self.read(&asleep)
        self.end(&asleep, with: self.phone(ann2, icon: 2, mayBeWoken: false))
        #expect(asleep.broken == [])

        var unread = Story(ReadElsewhereChecker())
        self.read(&unread, upTo: 0)
        self.end(&unread, with: self.phone(ann2, icon: 2))
        #expect(unread.broken == [])
        #expect(unread.checkers.marks[.loweredNumbers] == 0)
    }

    @Test func `lets system and APNs keep a silent push from the app`() {
        var story = Story(ReadElsewhereChecker())
        story.emit(.wakeHeld(ann2.device))
        self.read(&story)
        story.emit(.wakeHeld(ann2.device))
        self.end(&story, with: self.phone(ann2, icon: 2))
        #expect(story.broken == [])

        // An earlier one, or another phone's.
        var earlier = Story(ReadElsewhereChecker())
        earlier.emit(.wakeHeld(ann2.device))
        self.read(&earlier)
        earlier.emit(.wakeHeld(bob1.device))
        self.end(&earlier, with: self.phone(ann2, icon: 2))
        #expect(earlier.broken == ["P4"])
    }

    @Test(arguments: [(2, 0, ["P4"]), (3, 0, []), (3, 3_900_000, ["P4"])] as [(Int, Int64, [String])])
    func `lets the server send three in an hour`(count: Int, wait: Int64, broken: [String]) {
        var story = Story(ReadElsewhereChecker())
        for _ in 0..<count { self.silentPush(to: ann2, in: &story) }
        story.wait(wait)
        self.read(&story)
        // The one that is asked for.
        self.silentPush(to: ann2, in: &story)
        self.end(&story, with: self.phone(ann2, icon: 2))
        #expect(story.broken == broken)
    }

    @Test(arguments: [(true, 0, []), (true, 3_600_000, ["P4"]), (false, 0, ["P4"])] as [(Bool, Int64, [String])])
    func `lets a server whose clock was set since it started wait for an hour`(
        isSince: Bool, wait: Int64, broken: [String]
    ) {
        var story = Story(ReadElsewhereChecker())
        if !isSince { story.emit(.clockSet(ahead: 60_000)) }
        story.emit(.serverStarted)
        if isSince { story.emit(.clockSet(ahead: 0)) }
        story.wait(wait)
        self.read(&story)
        self.end(&story, with: self.phone(ann2, icon: 2))
        #expect(story.broken == broken)
    }
}

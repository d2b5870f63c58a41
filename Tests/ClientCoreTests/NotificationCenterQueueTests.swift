import Requirements
import Testing
import TidingsModel

@testable import ClientCore

/// The app group as two processes change it.
private struct Group: ExtensionGroup {
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var position: LogPosition?
    var showsContent = true
    var extensionFilters = false
    var words = NotificationWords.english
    var ledger = Ledger()
    var badge: Badge?
    func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }
}

private typealias Effect = NotificationCenterQueue.Effect
private typealias Entry = NotificationCenterQueue.Entry

private let wall: Int64 = 1_800_000_000_000

/// The work of one process of the kit.
private struct Bench {
    var queue = NotificationCenterQueue()
    var group: Group? = Group()
    var major = 17
    var process: UInt64 = 2
    var hasGroup = true
    private var last: NotificationCenterQueue.Number = 0

    mutating func handle(_ event: NotificationCenterQueue.Event) -> [Effect] {
        var effects: [Effect] = []
        let facts = NotificationCenterQueue.Facts(
            process: self.process, major: self.major, wall: wall, hasGroup: self.hasGroup,
            position: { $0 == id(108) ? 8 : nil })
        self.queue.handle(event, group: &self.group, facts: facts, into: &effects)
        return effects
    }

    /// The first request is number 1, and so on.
    mutating func request(_ work: NotificationCenterQueue.Work) -> [Effect] {
        self.last += 1
        return self.handle(.requested(work, self.last))
    }
}

private func payload(of message: Message) -> NotificationPayload {
    do { return try NotificationPayload(message: message, seenBy: alice, at: 1) } catch { fatalError("\(error)") }
}

private func notification(
    _ position: LogPosition, unread: Int = 1, isSilent: Bool = false, setsBadge: Bool = true
) -> LocalNotification {
    LocalNotification(
        message: id(100 + position), conversation: withBob, title: "Bob", body: "hi",
        payload: payload(of: message(100 + position)),
        isSilent: isSilent, setsBadge: setsBadge, unread: unread, position: position, recipientTag: "tag")
}

private func listed(_ position: LogPosition, in type: ConversationType = .direct, tag: String? = "tag") -> Entry {
    var shown = notification(position)
    shown.recipientTag = tag
    shown.payload = payload(of: message(100 + position, in: type))
    return Entry(
        identifier: shown.message.description, userInfo: shown.userInfo,
        thread: (type == .direct ? withBob : team).description)
}

private let foreign = Entry(identifier: "own", userInfo: ["aps": ["alert": "the app's own"]], thread: "")
private func posted(_ position: LogPosition, _ result: PostResult = .shown) -> NotificationCenterQueue.Answer {
    .client(.notificationPosted(id(100 + position), result))
}

@Suite struct `The work at the notification centre` {
    @Test(.requirement("S2.11")) func `is done one after the other, though the numbers are counted at once`() {
        var bench = Bench()
        bench.group?.badge = Badge()
        let (first, second) = (notification(1), notification(2, unread: 2))
        #expect(bench.request(.post(first)) == [.post(first, badge: 1, 1)])
        #expect(bench.request(.post(second)) == [])
        #expect(bench.request(.clearRead(withBob, upTo: 1)) == [])
        #expect(bench.group?.badge == Badge(server: 2, position: 2))
        #expect(bench.queue.count == 3)
        // The icon has 1 by now and should have 2.
        #expect(bench.handle(.posted(.shown, 1)) == [.showBadge(2, 1)])
        #expect(bench.handle(.badgeShown(1)) == [.finish(1, posted(1)), .post(second, badge: 2, 2)])
        #expect(bench.handle(.posted(.notAuthorized, 2)) == [.finish(2, posted(2, .notAuthorized)), .list(3)])
        #expect(
            bench.handle(.listed([listed(1)], 3))
                == [.remove([id(101).description]), .finish(3, .client(.notificationWorkDone))])
        #expect(bench.queue.count == 0)
    }

    @Test func `is not disturbed by an answer that comes twice, late, or to nothing`() {
        var bench = Bench()
        let (first, second) = (notification(1), notification(2))
        _ = bench.request(.post(first))
        _ = bench.request(.post(second))
        #expect(bench.handle(.badgeShown(1)) == [])
        #expect(bench.handle(.listed([], 1)) == [])
        #expect(bench.handle(.posted(.shown, 2)) == [])
        #expect(bench.handle(.posted(.shown, 1)) == [.finish(1, posted(1)), .post(second, badge: nil, 2)])
        #expect(bench.handle(.posted(.failed, 1)) == [])
        #expect(bench.handle(.posted(.shown, 2)) == [.finish(2, posted(2))])
    }

    @Test func `waits for an answer that never comes, and a claim does not wait with it`() {
        var bench = Bench()
        _ = bench.request(.post(notification(1)))
        #expect(bench.request(.clearConversation(withBob)) == [])
        #expect(bench.request(.claim(id(102))) == [.list(3)])
        #expect(bench.handle(.listed([], 3)) == [.finish(3, .client(.ringClaimed(id(102), .granted)))])
        #expect(bench.group?.ledger[id(101)] == nil)
        #expect(bench.group?.ledger[id(102)]?.isShown == false)
    }

    @Test(.requirement("S2.19")) func `writes no number over one that the extension has counted meanwhile`() {
        var bench = Bench()
        bench.group?.badge = Badge()
        #expect(bench.request(.countResigned(unread: 2, position: 2)) == [.showBadge(2, 1)])
        for shown in 3...5 {
            bench.group?.badge?.pushedByAnother(isRecall: false)
            #expect(bench.handle(.badgeShown(1)) == [.showBadge(shown, 1)])
        }
        // It gives up: the extension's number is shown by the system.
        bench.group?.badge?.pushedByAnother(isRecall: false)
        #expect(bench.handle(.badgeShown(1)) == [.finish(1, .client(.notificationWorkDone))])
        // When its turn has come, a number that waited is what is stored then.
        _ = bench.request(.post(notification(3, setsBadge: false)))
        #expect(bench.request(.countUnread(0, position: 3)) == [])
        bench.group?.badge?.pushedByAnother(isRecall: false)
        #expect(
            bench.handle(.posted(.shown, 2)) == [
                .finish(2, posted(3)), .showBadge(bench.group?.badge?.shown ?? -1, 3),
            ])
    }

    @Test(.requirement("S2.11")) func `writes the stored number after a notification that brought an older one`() {
        var bench = Bench()
        bench.group?.badge = Badge()
        let shown = notification(1)
        #expect(bench.request(.post(shown)) == [.post(shown, badge: 1, 1)])
        bench.group?.badge?.pushedByAnother(isRecall: false)
        #expect(bench.handle(.posted(.shown, 1)) == [.showBadge(2, 1)])
        #expect(bench.handle(.badgeShown(1)) == [.finish(1, posted(1))])
        // One that brought no number leaves the icon alone.
        let plain = notification(2, setsBadge: false)
        #expect(bench.request(.post(plain)) == [.post(plain, badge: nil, 2)])
        bench.group?.badge?.pushedByAnother(isRecall: false)
        #expect(bench.handle(.posted(.shown, 2)) == [.finish(2, posted(2))])
    }

    @Test(.requirement("S2.20")) func `changes no number where none is stored`() {
        var bench = Bench()
        #expect(
            bench.request(.countUnread(1, position: 1)) == [.finish(1, .client(.notificationWorkDone))])
        #expect(bench.group?.badge == nil)
    }

    @Test(.requirement("S2.17"))
    func `shows the number of an app that stops being active, also before the process ends`() {
        var bench = Bench()
        #expect(bench.request(.countResigned(unread: 2, position: 4)) == [.showBadge(2, 1)])
        #expect(bench.group?.badge == Badge(server: 2, position: 4))
        // Though the last one has not been answered.
        #expect(
            bench.request(.countAtTermination(unread: 3, position: 5)) == [
                .showBadgeBeforeReturning(3), .finish(2, nil),
            ])
        #expect(bench.group?.badge == Badge(server: 3, position: 5))
        bench = Bench()
        bench.group = nil
        #expect(bench.request(.countResigned(unread: 2, position: 4)) == [.showBadge(2, 1)])
    }

    @Test func `tells the kit's machine of a number that a silent push has brought`() {
        var bench = Bench()
        bench.group?.badge = Badge(server: 1, position: 1)
        let push = BadgeInfo(badge: 4, badgePosition: 9, recipientTag: "tag")
        func count(isActive: Bool, managesBadge: Bool) -> [Effect] {
            bench.request(.countPush(push, isActive: isActive, managesBadge: managesBadge, 7))
        }
        #expect(count(isActive: true, managesBadge: true) == [.finish(1, .kit(.badgeCounted(.stays, 7)))])
        #expect(count(isActive: false, managesBadge: false) == [.finish(2, .kit(.badgeCounted(.stays, 7)))])
        #expect(count(isActive: false, managesBadge: true) == [.finish(3, .kit(.badgeCounted(.shows(4), 7)))])
        #expect(bench.request(.showPushedBadge(4, 7)) == [.showBadge(4, 4)])
        #expect(bench.handle(.badgeShown(4)) == [.finish(4, .kit(.badgeShown(7)))])
        bench.group = nil
        #expect(count(isActive: false, managesBadge: true) == [.finish(5, .kit(.badgeCounted(.stays, 7)))])
    }
}

@Suite struct `A recall at the notification centre` {
    @Test func `puts its replacement where the notification is, with the stored number`() {
        var bench = Bench()
        bench.group?.badge = Badge(server: 2, position: 1)
        let replacement = notification(2, unread: 1, isSilent: true)
        #expect(bench.request(.recall(id(102), replacement: replacement)) == [.list(1)])
        #expect(bench.handle(.listed([foreign, listed(2)], 1)) == [.post(replacement, badge: 1, 1)])
        bench.group?.badge?.pushedByAnother(isRecall: false)
        #expect(bench.handle(.posted(.shown, 1)) == [.showBadge(2, 1)])
        // The replacement's own end is nobody's: the ledger says "recalled" already.
        #expect(bench.handle(.badgeShown(1)) == [.finish(1, .client(.notificationWorkDone))])
    }

    @Test func `posts nothing where it is not, takes it out before iOS 15, and without a replacement`() {
        var bench = Bench()
        let replacement = notification(2, isSilent: true)
        _ = bench.request(.recall(id(102), replacement: replacement))
        #expect(bench.handle(.listed([listed(1)], 1)) == [.finish(1, .client(.notificationWorkDone))])
        let removed: [Effect] = [.remove([id(102).description]), .finish(2, .client(.notificationWorkDone))]
        _ = bench.request(.recall(id(102), replacement: nil))
        #expect(bench.handle(.listed([listed(2)], 2)) == removed)
        bench.major = 14
        _ = bench.request(.recall(id(102), replacement: replacement))
        #expect(bench.handle(.listed([listed(2)], 3)).first == removed.first)
    }
}

@Suite struct `Clearing the notification centre` {
    @Test func `takes out what was read, by the notification's place or the store's`() {
        var bench = Bench()
        _ = bench.request(.clearRead(withBob, upTo: 8))
        let entries = [listed(7), listed(9), listed(8, tag: nil), listed(6, in: .group), foreign]
        #expect(
            bench.handle(.listed(entries, 1)) == [
                .remove([id(107).description, id(108).description]), .finish(1, .client(.notificationWorkDone)),
            ])
    }

    @Test func `takes out all of a conversation that is opened, and removes nothing where nothing is`() {
        var bench = Bench()
        _ = bench.request(.clearConversation(withBob))
        #expect(
            bench.handle(.listed([listed(9), listed(6, in: .group)], 1)) == [
                .remove([id(109).description]), .finish(1, nil),
            ])
        _ = bench.request(.clearConversation(withBob))
        #expect(bench.handle(.listed([], 2)) == [.finish(2, nil)])
    }

    @Test func `leaves nothing of a person who has left, and posts nothing more of theirs`() {
        var bench = Bench()
        let (first, second) = (notification(1), notification(2))
        _ = bench.request(.post(first))
        _ = bench.request(.post(second))
        _ = bench.request(.countUnread(1, position: 2))
        #expect(bench.request(.clearAll(showsZero: true)) == [.finish(2, posted(2, .failed))])
        #expect(
            bench.handle(.posted(.shown, 1)) == [
                .finish(1, posted(1)), .finish(3, .client(.notificationWorkDone)), .showBadge(0, 4),
            ])
        #expect(bench.handle(.badgeShown(4)) == [.removeScheduledAndList(4)])
        #expect(
            bench.handle(.listed([listed(1), foreign], 4)) == [.remove([id(101).description]), .finish(4, nil)])
        #expect(bench.request(.clearAll(showsZero: false)) == [.removeScheduledAndList(5)])
    }
}

@Suite struct `A claim of the kit's` {
    @Test func `goes by the delivered list, then by the ledger`() {
        var bench = Bench()
        func claim(_ entries: [Entry], _ number: NotificationCenterQueue.Number) -> [Effect] {
            #expect(bench.request(.claim(id(101))) == [.list(number)])
            return bench.handle(.listed(entries, number))
        }
        #expect(claim([listed(1)], 1) == [.finish(1, .client(.ringClaimed(id(101), .alreadyShown)))])
        bench.group?.ledger = Ledger()
        #expect(claim([listed(2)], 2) == [.finish(2, .client(.ringClaimed(id(101), .granted)))])
        #expect(bench.request(.markShown(id(101))) == [.finish(3, nil)])
        #expect(claim([], 4) == [.finish(4, .client(.ringClaimed(id(101), .alreadyShown)))])
        #expect(bench.request(.markRecalled(id(101))) == [.finish(5, nil)])
        #expect(claim([], 6) == [.finish(6, .client(.ringClaimed(id(101), .recalled)))])
    }

    @Test func `is given back, but not by another process`() {
        var bench = Bench()
        _ = bench.request(.claim(id(101)))
        _ = bench.handle(.listed([], 1))
        bench.process = 3
        _ = bench.request(.releaseClaim(id(101)))
        #expect(bench.group?.ledger[id(101)] != nil)
        bench.process = 2
        _ = bench.request(.releaseClaim(id(101)))
        #expect(bench.group?.ledger[id(101)] == nil)
    }

    @Test func `fails where the app group cannot be used, and needs none where there is none`() {
        var bench = Bench()
        bench.group = nil
        _ = bench.request(.claim(id(101)))
        #expect(bench.handle(.listed([], 1)) == [.finish(1, .client(.ringClaimFailed(id(101))))])
        bench.hasGroup = false
        _ = bench.request(.claim(id(101)))
        #expect(bench.handle(.listed([], 2)) == [.finish(2, .client(.ringClaimed(id(101), .granted)))])
        _ = bench.request(.claim(id(101)))
        #expect(
            bench.handle(.listed([Entry(identifier: id(101).description, userInfo: [:], thread: "")], 3))
                == [.finish(3, .client(.ringClaimed(id(101), .alreadyShown)))])
    }

    @Test func `of a process that was killed is settled by the delivered list`() {
        var bench = Bench()
        #expect(bench.request(.recoverClaims) == [.finish(1, nil)])
        for message in [id(101), id(102)] {
            _ = bench.group?.ledger.claim(message, by: .kit(process: 1), isDelivered: false, wall: wall)
        }
        #expect(bench.request(.recoverClaims) == [.list(2)])
        #expect(bench.handle(.listed([listed(1)], 2)) == [.finish(2, nil)])
        #expect(bench.group?.ledger[id(101)]?.isShown == true)
        #expect(bench.group?.ledger[id(102)] == nil)
    }
}

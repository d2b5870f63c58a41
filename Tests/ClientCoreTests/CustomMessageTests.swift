import Requirements
import Testing
import TidingsModel

@testable import ClientCore

private func custom(_ number: UInt64) -> LogEntry.Body {
    .custom(CustomMessage(id: id(number), title: "update", content: "module 7", sentAt: 1))
}

@Suite struct `A custom message` {
    @Test(.requirement("S4.10"))
    func `is stored and handed over in the foreground, and is nothing to count or to ring for`() {
        var core = ClientCore.online()
        let entry = LogEntry(position: 1, body: custom(5))
        #expect(core.handle(.frameReceived(1, .entry(entry)), at: at(1)) == [.storeEntries([entry])])
        #expect(
            core.handle(.entriesStored(upTo: 1, unread: 0), at: at(1)) == [
                .publishEntries([entry]), .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 1), .handOverCustomMessages(wall: nil),
            ])
    }

    @Test(.requirement("S4.10", "S4.11"))
    func `waits in the background and is handed over with the next foreground, once`() {
        var core = ClientCore.inBackground()
        let entry = LogEntry(position: 1, body: custom(5))
        #expect(
            core.hear(entry, unread: 0, at: at(11)) == [
                .publishEntries([entry]), .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 1),
            ])
        #expect(
            core.handle(.appWillEnterForeground, at: at(12)) == [
                .endBackgroundTask, .sendFrame(1, .runState(.foreground)), .publishRunState(.foreground),
                .handOverCustomMessages(wall: nil), .readDeviceStatus,
            ])
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(13))
        #expect(!core.handle(.appWillEnterForeground, at: at(14)).contains { $0.handsOver })
    }

    @Test(.requirement("S4.10"))
    func `survives the process and is handed over by the next one, if that is in the foreground`() {
        var inForeground = ClientCore.fresh(.init(stored: 1, settled: 1, hasCustomMessages: true))
        #expect(inForeground.handle(.connectRequested, at: at(0)).contains(.handOverCustomMessages(wall: nil)))
        #expect(!inForeground.handle(.connectRequested, at: at(1)).contains { $0.handsOver })
        var asleep = ClientCore.fresh(.init(stored: 1, settled: 1, hasCustomMessages: true), isForeground: false)
        #expect(asleep.handle(.connectRequested, at: at(0)) == [])
        #expect(asleep.handle(.appWillEnterForeground, at: at(1)).contains(.handOverCustomMessages(wall: nil)))
    }

    @Test func `that expires waits for the server's clock, because the device's decides nothing`() {
        var core = ClientCore.fresh(.init(stored: 1, settled: 1, hasCustomMessages: true))
        #expect(core.handle(.connectRequested, at: at(0)).contains(.handOverCustomMessages(wall: nil)))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.connectionOpened(1), at: at(0))
        // The server's clock is an hour behind this phone's.
        let server = at(5).wall - 3_600_000
        let effects = core.handle(.frameReceived(1, welcome(head: 1, serverTime: server)), at: at(5))
        #expect(effects.filter(\.handsOver) == [.handOverCustomMessages(wall: server)])
        // From then on it runs with the time that passes here.
        let entry = LogEntry(position: 2, body: custom(6))
        #expect(
            core.hear(entry, unread: 0, at: at(8)).filter(\.handsOver)
                == [.handOverCustomMessages(wall: server + 3_000)])
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(9))
        #expect(!core.handle(.appWillEnterForeground, at: at(10)).contains { $0.handsOver })
    }
}

extension ClientEffect {
    fileprivate var handsOver: Bool { if case .handOverCustomMessages = self { true } else { false } }
}

@Suite struct `A recalled message` {
    private let entry = LogEntry(
        position: 2, body: .recall(Recall(id: id(9_999), message: id(101), conversation: withBob, sender: bob, at: 9)))

    private func replacement() throws -> LocalNotification {
        LocalNotification(
            message: id(101), conversation: withBob, title: "", body: "A message was recalled",
            payload: try NotificationPayload(
                conversationType: .direct, senderID: bob, messageType: "RC:RcNtf", targetID: "bob",
                messageUID: id(101).description),
            isSilent: true, unread: 0, position: 2, recipientTag: "tag")
    }

    /// In the background, its notification shown.
    private func shown(kit: KitSettings = KitSettings()) -> ClientCore {
        var core = ClientCore.inBackground(kit: kit)
        _ = core.hear(ClientCoreTests.entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        _ = core.handle(.notificationPosted(id(101), .shown), at: at(11))
        return core
    }

    @Test func `has its notification replaced, silently, and lowers the badge`() throws {
        var core = self.shown()
        #expect(
            core.hear(self.entry, unread: 0, at: at(12)) == [
                .publishEntries([self.entry]), .markRecalled(id(101)),
                .recallNotification(id(101), replacement: try self.replacement()),
                .lowerBadge(unread: 0, position: 2), .sendFrame(1, ack(2, (2, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 2),
            ])
    }

    @Test func `does not let its push ring that comes only now`() throws {
        var core = ClientCore.online()
        let effects = core.hear(LogEntry(position: 1, body: self.entry.body), unread: 0, at: at(12))
        #expect(effects.contains(.markRecalled(id(101))))
        var ledger = Ledger()
        ledger.markRecalled(id(101), by: .kit(process: 1), wall: 12_000)
        #expect(ledger.claim(id(101), by: .pushExtension, wall: 60_000) == .recalled)
    }

    @Test func `has its notification only taken out where none may be shown`() {
        var off = self.shown()
        _ = off.handle(.kitConfigured(KitSettings(isLocalNotificationEnabled: false)), at: at(11))
        #expect(
            off.hear(self.entry, unread: 0, at: at(12)).contains(.recallNotification(id(101), replacement: nil)))
        var muted = self.shown()
        _ = muted.handle(.settingRequested(level(withBob, .blocked)), at: at(11))
        #expect(
            muted.hear(self.entry, unread: 0, at: at(12)).contains(.recallNotification(id(101), replacement: nil)))
        var inForeground = ClientCore.online(.init(stored: 1, settled: 1))
        #expect(
            inForeground.hear(self.entry, unread: 0, at: at(12)).contains(
                .recallNotification(id(101), replacement: nil)))
    }

    @Test func `is not shown if it is recalled before its names are known, nor left where an extension has`() throws {
        var core = ClientCore.inBackground()
        _ = core.hear(ClientCoreTests.entry(1), at: at(11))
        #expect(
            core.hear(self.entry, unread: 0, at: at(12)) == [
                .publishEntries([self.entry]), .markRecalled(id(101)),
                .recallNotification(id(101), replacement: try self.replacement()),
                .lowerBadge(unread: 0, position: 2), .sendFrame(1, ack(2, (2, .suppressed(.recalled)))),
                .storeSettled(upTo: 2),
            ])
        #expect(core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(12)) == [])
    }

    @Test func `gives its claim back if it is recalled while it waits for one`() throws {
        var core = ClientCore.inBackground()
        _ = core.hear(ClientCoreTests.entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        #expect(
            core.hear(self.entry, unread: 0, at: at(12)).prefix(4) == [
                .publishEntries([self.entry]), .markRecalled(id(101)), .releaseClaim(id(101)),
                .recallNotification(id(101), replacement: try self.replacement()),
            ])
        #expect(core.handle(.ringClaimed(id(101), .granted), at: at(12)) == [])
    }

    @Test func `is not shown if the extension has heard of the recall first`() {
        var core = ClientCore.inBackground()
        _ = core.hear(ClientCoreTests.entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        #expect(
            core.handle(.ringClaimed(id(101), .recalled), at: at(12)) == [
                .sendFrame(1, ack(1, (1, .suppressed(.recalled)))), .storeSettled(upTo: 1),
            ])
    }

    /// `NotificationCenterQueue` does it after the post, whatever becomes of that.
    @Test func `is taken back at once if it is being posted`() throws {
        var core = ClientCore.inBackground()
        _ = core.hear(ClientCoreTests.entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        #expect(
            core.hear(self.entry, unread: 0, at: at(12)).prefix(3) == [
                .publishEntries([self.entry]), .markRecalled(id(101)),
                .recallNotification(id(101), replacement: try self.replacement()),
            ])
        #expect(
            core.handle(.notificationPosted(id(101), .shown), at: at(12)) == [
                .markShown(id(101)), .sendFrame(1, ack(2, (2, .notified))), .storeSettled(upTo: 2),
            ])
    }
}

@Suite struct `A person who signs out without a connection` {
    @Test func `is forgotten here at once, and the server is told with the next connection`() {
        var core = ClientCore.online()
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(1))
        let effects = core.handle(.signOutRequested, at: at(2))
        #expect(effects.first == .keepPendingSignOut)
        #expect(effects.last == .forgetPerson)
        _ = core.handle(.connectionOpened(2), at: at(3))
        #expect(
            core.handle(.frameReceived(2, welcome(head: 9)), at: at(3)) == [
                .publishStatus(.connected), .finishConnect(nil), .sendFrame(2, .signOut),
                .sendFrame(2, .ping(ClientCore.signOutPing)),
            ])
        _ = core.handle(.frameReceived(2, .pong(ClientCore.signOutPing)), at: at(3))
        #expect(core.handle(.connectionClosed(2, reason: "by the server"), at: at(3)).last == .pendingSignOutEnded)
        #expect(core.nextDeadline == nil)
    }

    @Test func `is told by the next process`() {
        var core = ClientCore.fresh(.init(isLeaving: true))
        core.goOnline(1, head: 9, at: at(0))
        _ = core.handle(.frameReceived(1, .pong(ClientCore.signOutPing)), at: at(1))
        #expect(core.handle(.connectionClosed(1, reason: "by the server"), at: at(1)).contains(.pendingSignOutEnded))
        #expect(!core.isOnline)
        #expect(core.storedPosition == 0)
    }

    @Test func `has nothing left to say when the server does not take the token`() {
        var core = ClientCore.fresh(.init(isLeaving: true))
        core.openConnection()
        let problem = ServerFrame.Problem(code: .invalidToken, rule: "is not signed by this server")
        #expect(
            core.handle(.frameReceived(1, .problem(problem, isFatal: true)), at: at(1)).contains(.pendingSignOutEnded))
    }
}

@Suite struct `A user token that runs out` {
    @Test func `in the middle of a session is replaced without the person noticing`() {
        var core = ClientCore.online()
        let problem = ServerFrame.Problem(code: .expiredToken, field: "token", rule: "has expired")
        #expect(
            core.handle(.frameReceived(1, .problem(problem, isFatal: true)), at: at(9))
                == [.close(1), .publishStatus(.connecting), .askToken(alice)])
        _ = core.handle(.tokenProvided("fresh"), at: at(9))
        #expect(core.handle(.connectionOpened(2), at: at(9)) == [.sendFrame(2, hello(token: "fresh"))])
    }
}

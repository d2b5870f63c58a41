import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `An app that is woken in the background` {
    /// Started there, signed in, nothing said yet.
    private func asleep(_ restored: ClientCore.Restored = .init()) -> ClientCore {
        var core = ClientCore.fresh(restored, isForeground: false)
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        _ = core.handle(.connectRequested, at: at(0))
        return core
    }

    /// Woken, and welcomed by a server whose log reaches to `head`.
    private func awake(head: LogPosition, _ restored: ClientCore.Restored = .init()) -> ClientCore {
        var core = self.asleep(restored)
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: 30_000), at: at(1))
        _ = core.handle(.tokenProvided("token"), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(1))
        _ = core.handle(.frameReceived(1, welcome(head: head, heartbeat: 600_000)), at: at(2))
        return core
    }

    @Test func `connects for the wake, as an app that is in the background for a moment`() {
        var core = self.asleep()
        #expect(
            core.handle(.wakeBegan(1, remainingMilliseconds: 30_000), at: at(1)) == [
                .beginBackgroundTask, .publishStatus(.connecting), .askToken(alice),
                .publishRunState(.backgroundActive),
            ])
        _ = core.handle(.tokenProvided("token"), at: at(2))
        #expect(
            core.handle(.connectionOpened(1), at: at(3))
                == [.sendFrame(1, hello(.background(remainingMilliseconds: 23_000)))])
    }

    @Test func `says goodbye and answers when the transport has closed, if there was nothing new`() {
        var core = self.asleep()
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: 30_000), at: at(1))
        _ = core.handle(.tokenProvided("token"), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(1))
        #expect(
            core.handle(.frameReceived(1, welcome(head: 0)), at: at(2)).suffix(4) == [
                .sendFrame(1, .runState(.suspending)), .close(1), .publishStatus(.suspended),
                .publishRunState(.backgroundSuspended),
            ])
        #expect(
            core.handle(.connectionClosed(1, reason: "closed"), at: at(2))
                == [.finishWake(1, .noData), .endBackgroundTask])
        #expect(core.nextDeadline == nil)
    }

    @Test(.requirement("S1.8", "S4.13"))
    func `stores what it missed, acknowledges it, and leaves the ringing to the push`() {
        var core = self.awake(head: 2)
        let page = ServerFrame.Page(after: 0, entries: [entry(1), entry(2)], head: 2, unread: 2)
        #expect(core.handle(.frameReceived(1, .page(page)), at: at(3)) == [.storeEntries([entry(1), entry(2)])])
        #expect(
            core.handle(.entriesStored(upTo: 2, unread: 2), at: at(3)) == [
                .publishEntries([entry(1), entry(2)]), .sendFrame(1, ack(2)), .sendFrame(1, .runState(.suspending)),
                .close(1), .publishStatus(.suspended), .publishRunState(.backgroundSuspended), recipient(2),
            ])
        #expect(core.settledPosition == 0)
        #expect(
            core.handle(.connectionClosed(1, reason: "closed"), at: at(3))
                == [.finishWake(1, .newData), .endBackgroundTask])
    }

    @Test func `settles what arrives while it is awake before it answers`() {
        var core = self.awake(head: 1)
        // The missing entry is asked for; a live one arrives in front of the answer's storing.
        let page = ServerFrame.Page(after: 0, entries: [entry(1, message(101, flags: .stored))], head: 1, unread: 0)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(3))
        _ = core.handle(.frameReceived(1, .entry(entry(2))), at: at(3))
        _ = core.handle(.entriesStored(upTo: 1, unread: 0), at: at(3))
        #expect(core.runState == .backgroundActive)
        _ = core.handle(.entriesStored(upTo: 2, unread: 1), at: at(3))
        _ = core.handle(.namesResolved(id(102), ResolvedNames(user: "Bob")), at: at(3))
        _ = core.handle(.ringClaimed(id(102), .granted), at: at(3))
        #expect(core.runState == .backgroundActive)
        let effects = core.handle(.notificationPosted(id(102), .shown), at: at(4))
        #expect(effects.first == .markShown(id(102)))
        #expect(effects.contains(.close(1)))
        #expect(core.runState == .backgroundSuspended)
    }

    @Test func `sends what waits, and answers when the server has it`() {
        var core = self.awake(head: 0, .init(outbox: [draft("c1")]))
        #expect(core.runState == .backgroundActive)
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 1, position: 1)
        _ = core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(3))
        #expect(core.handle(.entriesStored(upTo: 1, unread: 0), at: at(3)).contains(.close(1)))
        #expect(
            core.handle(.connectionClosed(1, reason: "closed"), at: at(3))
                == [.finishWake(1, .newData), .endBackgroundTask])
    }

    @Test(.requirement("S1.8")) func `answers though the server never does, once, in less than thirty seconds`() {
        var core = self.asleep()
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: nil), at: at(1))
        #expect(core.nextDeadline == 26_000)
        #expect(
            core.handle(.deadlineReached, at: at(26)) == [
                .publishStatus(.suspended), .publishRunState(.backgroundSuspended), .finishWake(1, .failed),
                .endBackgroundTask,
            ])
        #expect(core.handle(.deadlineReached, at: at(28)) == [])
    }

    @Test func `answers though its transport never closes`() {
        var core = self.awake(head: 0)
        #expect(core.nextDeadline == 4_000)
        #expect(core.handle(.deadlineReached, at: at(4)) == [.finishWake(1, .noData), .endBackgroundTask])
    }

    @Test func `answers at once when the system leaves it no time`() {
        var core = self.asleep()
        #expect(
            core.handle(.wakeBegan(1, remainingMilliseconds: 4_000), at: at(1)) == [.finishWake(1, .failed)])
    }

    @Test func `answers at once when it is in the foreground or lingering, and connected`() {
        var inForeground = ClientCore.online()
        #expect(inForeground.handle(.wakeBegan(1, remainingMilliseconds: nil), at: at(1)) == [.finishWake(1, .noData)])
        var lingering = ClientCore.inBackground()
        #expect(lingering.handle(.wakeBegan(1, remainingMilliseconds: 9_000), at: at(11)) == [.finishWake(1, .noData)])
        #expect(lingering.isOnline)
    }

    @Test func `answers when the person signs out meanwhile`() {
        var core = self.asleep()
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: nil), at: at(1))
        let effects = core.handle(.disconnectRequested, at: at(2))
        #expect(effects.filter { $0 == .finishWake(1, .failed) }.count == 1)
    }

    @Test func `answers every wake, each once`() {
        var core = self.awake(head: 0)
        var answers: [ClientEffect] = []
        // The second wake comes while the connection of the first is closing, and gets none of its own.
        for (event, now) in [
            (.wakeBegan(2, remainingMilliseconds: 20_000), 3), (.deadlineReached, 4),
            (.connectionClosed(1, reason: "x"), 5), (.deadlineReached, 40), (.deadlineReached, 60),
        ] as [(ClientEvent, Double)] {
            answers += core.handle(event, at: at(now)).filter { if case .finishWake = $0 { true } else { false } }
        }
        #expect(answers == [.finishWake(1, .noData), .finishWake(2, .failed)])
    }

    @Test func `stays connected when the person opens it meanwhile`() {
        var core = self.awake(head: 1)
        #expect(
            core.handle(.appWillEnterForeground, at: at(3)).prefix(3) == [
                .endBackgroundTask, .sendFrame(1, .runState(.foreground)), .publishRunState(.foreground),
            ])
        #expect(core.isOnline)
    }
}

@Suite struct `A count that changes in the background` {
    @Test func `lowers the badge when another device reads`() {
        var core = ClientCore.inBackground()
        let read = LogEntry(position: 1, body: .read(conversation: withBob, upTo: 1))
        _ = core.handle(.frameReceived(1, .entry(read)), at: at(11))
        #expect(
            core.handle(.entriesStored(upTo: 1, unread: 0), at: at(11)) == [
                .publishEntries([read]), .clearNotifications(withBob, upTo: 1), .lowerBadge(unread: 0, position: 1),
                .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))), .storeSettled(upTo: 1),
            ])
    }

    @Test(.requirement("S2.12")) func `lowers the badge when the app itself marks as read`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.markReadRequested(withBob, upTo: 4), at: at(11))
        #expect(core.handle(.unreadCounted(0), at: at(11)) == [.lowerBadge(unread: 0, position: 0)])
    }

    @Test(arguments: [0, 1, 2])
    func `writes what has changed while the app was inactive when it is in the background`(unread: Int) {
        var core = ClientCore.online(.init(unread: 1), heartbeat: 600_000)
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        #expect(core.handle(.appWillResignActive, at: at(1)) == [.writeBadge(unread: 1, position: 0)])
        #expect(core.handle(.unreadCounted(unread), at: at(2)) == [])
        let effects = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(3))
        #expect(effects.contains(.lowerBadge(unread: unread, position: 0)) == (unread != 1))
        _ = core.handle(.appWillEnterForeground, at: at(4))
        #expect(
            !core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(5)).contains {
                if case .lowerBadge = $0 { true } else { false }
            })
    }

    @Test func `leaves the badge alone in the foreground`() {
        var core = ClientCore.online()
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        #expect(core.handle(.unreadCounted(0), at: at(11)) == [])
    }
}

@Suite struct `What the person allows` {
    private let status = DeviceStatus(
        authorization: .authorized, alert: true, sound: false, badge: true, lockScreen: true, notificationCenter: true,
        backgroundRefresh: .available, systemVersion: "15.0")

    @Test func `is told to the server after the welcome and at each foreground`() {
        var core = ClientCore.fresh()
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        core.openConnection()
        #expect(core.handle(.frameReceived(1, welcome()), at: at(0)).contains(.readDeviceStatus))
        var told = self.status
        told.iconNumber = .kit
        #expect(core.handle(.deviceStatusRead(self.status), at: at(1)) == [.sendFrame(1, .deviceStatus(told))])
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(2))
        #expect(core.handle(.appWillEnterForeground, at: at(3)).contains(.readDeviceStatus))
    }

    @Test func `says who sets the number on the icon, and again when that changes`() {
        var status = self.status
        var core = ClientCore.online()
        func told(_ settings: KitSettings, extensionFilters: Bool) -> DeviceStatus.IconNumber? {
            _ = core.handle(.kitConfigured(settings), at: at(1))
            let event = ClientEvent.deviceStatusRead(status, extensionFilters: extensionFilters)
            guard case .sendFrame(_, .deviceStatus(let status))? = core.handle(event, at: at(2)).first else {
                return nil
            }
            return status.iconNumber
        }
        #expect(told(KitSettings(), extensionFilters: false) == .kit)
        #expect(told(KitSettings(), extensionFilters: true) == .serviceExtension)
        // An alert that is not discarded would show a banner there.
        status.systemVersion = "14.8"
        #expect(told(KitSettings(), extensionFilters: true) == .kit)
        status.systemVersion = "26.0"
        #expect(told(KitSettings(managesBadge: false), extensionFilters: true) == .app)
        #expect(core.handle(.kitConfigured(KitSettings()), at: at(3)) == [.readDeviceStatus])
        #expect(core.handle(.kitConfigured(KitSettings()), at: at(3)) == [])
    }

    @Test func `is not asked for without the kit`() {
        var core = ClientCore.fresh()
        core.openConnection()
        #expect(!core.handle(.frameReceived(1, welcome()), at: at(0)).contains(.readDeviceStatus))
    }
}

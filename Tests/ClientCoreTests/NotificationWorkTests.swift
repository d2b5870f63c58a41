import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A reading position that comes from elsewhere` {
    private func push(_ position: LogPosition, in conversation: ConversationID = withBob) throws -> JSONValue {
        let payload = try NotificationPayload(
            conversationType: conversation.type, senderID: bob, messageType: .text, targetID: conversation.target,
            messageUID: id(100 + position).description)
        let info = PushInfo(
            message: id(100 + position), position: position, badgePosition: position, recipientTag: "tag")
        let rc = payload.userInfo.objectValue?.members ?? []
        return .members(rc.map { ($0.key, $0.value) } + [(PushInfo.key, info.dictionary)])
    }

    private func isCleared(
        _ userInfo: JSONValue, identifier: String = "x", upTo position: LogPosition,
        stored: (MessageID) -> LogPosition? = { _ in nil }
    ) -> Bool {
        NotificationClearing.isRead(
            userInfo, identifier: identifier, thread: "PR:bob", in: withBob, upTo: position, stored: stored)
    }

    @Test func `clears what it covers and nothing after it`() throws {
        #expect(self.isCleared(try self.push(3), upTo: 3))
        #expect(!self.isCleared(try self.push(4), upTo: 3))
        #expect(!self.isCleared(try self.push(3, in: team), upTo: 9))
    }

    @Test func `asks the local store where the notification does not tell`() throws {
        let payload = try NotificationPayload(message: message(104), seenBy: alice, at: 4)
        #expect(self.isCleared(payload.userInfo, upTo: 4) { $0 == id(104) ? 4 : nil })
        #expect(!self.isCleared(payload.userInfo, upTo: 3) { $0 == id(104) ? 4 : nil })
        #expect(!self.isCleared(payload.userInfo, upTo: 9))
        #expect(self.isCleared([:], identifier: id(104).description, upTo: 4) { $0 == id(104) ? 4 : nil })
    }

    @Test func `tells the kit up to where, not up to now`() {
        var core = ClientCore.inBackground()
        let read = LogEntry(position: 5, body: .read(conversation: withBob, upTo: 2))
        _ = core.hear(entry(1), at: at(11))
        var effects: [ClientEffect] = []
        for position in LogPosition(2)...4 { effects += core.hear(entry(position), at: at(11)) }
        effects += core.hear(read, at: at(12))
        #expect(effects.contains(.clearNotifications(withBob, upTo: 2)))
    }
}

@Suite struct `A wake with work on the notification centre` {
    /// Woken, online, and everything stored but one entry, which is on its way.
    private func woken(by entry: LogEntry) -> ClientCore {
        var core = ClientCore.fresh(isForeground: false)
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: 30_000), at: at(1))
        _ = core.handle(.tokenProvided("token"), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(1))
        _ = core.handle(.frameReceived(1, welcome(head: 1, heartbeat: 600_000)), at: at(2))
        let page = ServerFrame.Page(after: 0, entries: [entry], head: 1, unread: 0)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(2))
        return core
    }

    @Test func `does not end before all of it is done`() {
        var core = self.woken(by: LogEntry(position: 1, body: .read(conversation: withBob, upTo: 1)))
        let effects = core.handle(.entriesStored(upTo: 1, unread: 0), at: at(3))
        #expect(effects.contains(.clearNotifications(withBob, upTo: 1)))
        #expect(effects.contains(.lowerBadge(unread: 0, position: 1)))
        #expect(core.runState == .backgroundActive)
        #expect(core.handle(.notificationWorkDone, at: at(3)) == [])
        #expect(core.handle(.notificationWorkDone, at: at(3)).contains(.close(1)))
        #expect(
            core.handle(.connectionClosed(1, reason: "closed"), at: at(3))
                == [.finishWake(1, .newData), .endBackgroundTask])
    }

    @Test func `waits for a recall as well`() {
        let recall = Recall(id: MessageID(rawValue: 9_999), message: id(7), conversation: withBob, sender: bob, at: 0)
        var core = self.woken(by: LogEntry(position: 1, body: .recall(recall)))
        _ = core.handle(.entriesStored(upTo: 1, unread: 0), at: at(3))
        _ = core.handle(.notificationWorkDone, at: at(3))
        #expect(core.runState == .backgroundActive)
        _ = core.handle(.notificationWorkDone, at: at(3))
        #expect(core.runState == .backgroundSuspended)
    }

    @Test(.requirement("S1.8")) func `ends at its deadline though the work never does`() {
        var core = self.woken(by: LogEntry(position: 1, body: .read(conversation: withBob, upTo: 1)))
        _ = core.handle(.entriesStored(upTo: 1, unread: 0), at: at(3))
        var effects: [ClientEffect] = []
        while effects.allSatisfy({ $0 != .finishWake(1, .newData) }), let deadline = core.nextDeadline {
            #expect(deadline <= 31_000)
            effects += core.handle(.deadlineReached, at: Now(monotonic: deadline, wall: deadline))
        }
        #expect(effects.contains(.finishWake(1, .newData)))
    }
}

@Suite struct `A ledger that cannot be asked` {
    @Test func `leaves the message to the server's push, unsettled and unclaimed`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        #expect(core.handle(.ringClaimFailed(id(101)), at: at(11)) == [])
        #expect(core.settledPosition == 0)
        #expect(core.handle(.ringClaimed(id(101), .granted), at: at(11)) == [])
    }
}

@Suite struct `A notification of the kit's` {
    @Test(.requirement("S3.10")) func `names message, place and person as a push does, beside the rc dictionary`()
        throws
    {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        let effects = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        guard case .postNotification(let notification)? = effects.first else {
            Issue.record("nothing was posted: \(effects)")
            return
        }
        #expect(
            PushInfo(userInfo: notification.userInfo)
                == PushInfo(message: id(101), position: 1, badgePosition: 1, recipientTag: "tag"))
        #expect(
            try NotificationPayload(userInfo: notification.userInfo)
                == NotificationPayload(message: message(101), seenBy: alice, at: 1))
    }
}

import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A message that comes in the foreground, for another screen` {
    private let settled: [ClientEffect] = [.sendFrame(1, ack(1, (1, .shown))), .storeSettled(upTo: 1)]
    private let banner = LocalNotification(
        message: id(101), conversation: withBob, title: "Bob", body: "hi",
        payload: (try? NotificationPayload(message: message(101), seenBy: alice, at: 1))
            ?? { preconditionFailure("a direct message has a payload") }(),
        unread: 1, position: 1, recipientTag: "tag")

    private static func core(_ change: (inout KitSettings) -> Void = { _ in }) -> ClientCore {
        var kit = KitSettings()
        kit.ringsInForeground = true
        change(&kit)
        var core = ClientCore.online(heartbeat: 600_000)
        _ = core.handle(.kitConfigured(kit), at: at(0))
        return core
    }

    /// Whether it is on the way to ring.
    private func rings(_ entry: LogEntry, in core: inout ClientCore) -> Bool {
        core.hear(entry, at: at(1)).contains { if case .resolveNames = $0 { true } else { false } }
    }

    @Test(.requirement("S4.2", "S4.6")) func `is settled at once, claims the ledger, and rings`() {
        var core = Self.core()
        #expect(
            core.hear(entry(1), at: at(1)) == [
                .publishEntries([entry(1)]), .resolveNames(id(101), NameQuestion(sender: bob, group: nil)),
            ] + self.settled)
        #expect(core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(1)) == [.claimRing(id(101))])
        #expect(
            core.handle(.ringClaimed(id(101), .granted), at: at(1))
                == [.ringInForeground(self.banner), .markShown(id(101))])
        #expect(core.nextDeadline == Self.core().nextDeadline)
    }

    @Test func `rings only where the app has asked for it, and not for the conversation on the screen`() {
        var off = Self.core { $0.ringsInForeground = false }
        #expect(!self.rings(entry(1), in: &off))
        var open = Self.core { $0.activeConversation = withBob }
        #expect(!self.rings(entry(1), in: &open))
        #expect(self.rings(entry(2, message(102, in: .group)), in: &open))
    }

    @Test func `does not ring for what would not ring in the background`() {
        var core = Self.core()
        #expect(!self.rings(entry(1, message(101, from: alice, in: .group)), in: &core))
        #expect(!self.rings(entry(2, message(102, flags: [.stored, .counted])), in: &core))
        #expect(!self.rings(entry(3, message(103, flags: [.notified])), in: &core))
        _ = core.handle(.settingRequested(level(withBob, .blocked)), at: at(1))
        #expect(!self.rings(entry(4), in: &core))
    }

    @Test func `does not ring for what has expired when it comes, or while the app is asked for its name`() {
        var core = Self.core()
        var over = message(101)
        over.expiresAt = at(1).wall
        #expect(!self.rings(entry(1, over), in: &core))
        var brief = message(102)
        brief.expiresAt = at(2).wall
        for number: UInt64 in [102, 103] {
            brief.id = id(number)
            #expect(self.rings(entry(number - 100, brief), in: &core))
        }
        let names = ResolvedNames(user: "Bob")
        #expect(core.handle(.namesResolved(id(102), names), at: at(1.999)) == [.claimRing(id(102))])
        #expect(core.handle(.namesResolved(id(103), names), at: at(2)) == [])
        #expect(core.handle(.deadlineReached, at: at(4)) == [], "nor is the app told that a name was missing")
    }

    @Test func `does not ring for what is caught up with`() {
        var core = Self.core()
        _ = core.reconnect(2, head: 2, at: at(5))
        let page = ServerFrame.Page(after: 0, entries: [entry(1), entry(2)], head: 2, unread: 2)
        _ = core.handle(.frameReceived(2, .page(page)), at: at(6))
        let effects = core.handle(.entriesStored(upTo: 2, unread: 2), at: at(6))
        #expect(effects.contains(.publishEntries([entry(1), entry(2)])))
        #expect(!effects.contains { if case .resolveNames = $0 { true } else { false } })
        // What comes after it does.
        let live = entry(3)
        _ = core.handle(.frameReceived(2, .entry(live)), at: at(7))
        #expect(
            core.handle(.entriesStored(upTo: 3, unread: 3), at: at(7))
                .contains(.resolveNames(id(103), NameQuestion(sender: bob, group: nil))))
    }

    @Test func `does not ring where something else has rung for it`() {
        for claim in [RingClaim.alreadyShown, .heldByAnother, .lookAtDelivered, .recalled] {
            var core = Self.core()
            _ = core.hear(entry(1), at: at(1))
            _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(1))
            #expect(core.handle(.ringClaimed(id(101), claim), at: at(1)) == [])
        }
    }

    @Test func `does not ring when the person has opened its conversation while the app was asked`() {
        var core = Self.core()
        _ = core.hear(entry(1), at: at(1))
        var kit = KitSettings()
        kit.ringsInForeground = true
        kit.activeConversation = withBob
        _ = core.handle(.kitConfigured(kit), at: at(1))
        #expect(core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(1)) == [])
        #expect(core.handle(.deadlineReached, at: at(3)) == [])
    }

    @Test func `does not ring without its name, and the app is told`() {
        var core = Self.core()
        _ = core.hear(entry(1), at: at(1))
        #expect(
            core.handle(.deadlineReached, at: at(3))
                == [.publishProblem(.nameMissing(message: id(101), conversation: withBob))])
    }

    @Test func `does not ask the app's callback, which is about local notifications`() {
        var core = Self.core { $0.hasDelegate = true }
        _ = core.hear(entry(1), at: at(1))
        #expect(core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(1)) == [.claimRing(id(101))])
    }

    @Test func `does not ring any more when the person has left the app, and its claim is given back`() {
        var core = Self.core()
        _ = core.hear(entry(1), at: at(1))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(1))
        #expect(
            core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(2)).contains(.releaseClaim(id(101))))
        #expect(core.handle(.ringClaimed(id(101), .granted), at: at(2)) == [])
        var early = Self.core()
        _ = early.hear(entry(1), at: at(1))
        let effects = early.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(2))
        #expect(!effects.contains(.releaseClaim(id(101))))
        #expect(early.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(2)) == [])
    }

    @Test func `does not ring when it is recalled first, and is taken back where an extension has shown it`() {
        var core = Self.core()
        _ = core.hear(entry(1), at: at(1))
        let recall = Recall(id: id(900), message: id(101), conversation: withBob, sender: bob, at: 0)
        #expect(
            core.hear(LogEntry(position: 2, body: .recall(recall)), at: at(1)).contains(
                .recallNotification(id(101), replacement: nil)))
        #expect(core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(1)) == [])
    }
}

import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A message that arrives in the background` {
    private let shown = LocalNotification(
        message: id(101), conversation: withBob, title: "Bob", body: "hi",
        payload: (try? NotificationPayload(message: message(101), seenBy: alice, at: 1))
            ?? { preconditionFailure("a direct message has a payload") }(),
        unread: 3, position: 1, recipientTag: "tag")

    @Test(.requirement("S0.4", "S3.1", "S3.9"))
    func `asks for the names, claims, posts, and settles only when the notification centre has it`() {
        var core = ClientCore.inBackground()
        #expect(
            core.hear(entry(1), unread: 3, at: at(11)) == [
                .publishEntries([entry(1)]), .resolveNames(id(101), NameQuestion(sender: bob, group: nil)),
                .sendFrame(1, ack(1)),
            ])
        #expect(
            core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11)) == [.claimRing(id(101))])
        #expect(core.handle(.ringClaimed(id(101), .granted), at: at(11)) == [.postNotification(self.shown)])
        #expect(
            core.handle(.notificationPosted(id(101), .shown), at: at(11)) == [
                .markShown(id(101)), .sendFrame(1, ack(1, (1, .notified))), .storeSettled(upTo: 1),
            ])
    }

    @Test func `is shown as the message asks, which a push does too`() throws {
        let options = PushOptions(
            title: "Order", subtitle: .localized(key: "FROM", arguments: ["Ada"]), text: "Ready", sound: "horn.caf",
            category: "ORDER", interruptionLevel: .timeSensitive, relevance: 750, threadID: "orders",
            custom: JSONObject([("order", 7)]))
        var asked = entry(1)
        guard case .message(var message) = asked.body else { return }
        message.push = options
        asked.body = .message(message)
        var core = ClientCore.inBackground()
        _ = core.hear(asked, unread: 3, at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        var expected = self.shown
        expected.title = "Order"
        expected.subtitle = .localized(key: "FROM", arguments: ["Ada"])
        expected.body = "Ready"
        expected.options = options.withoutTexts
        #expect(core.handle(.ringClaimed(id(101), .granted), at: at(11)) == [.postNotification(expected)])
        #expect(expected.userInfo["order"] == 7)
        #expect(expected.userInfo["rc"] == self.shown.userInfo["rc"])
        var manner = expected.manner(category: "tidings.message")
        #expect(manner.sound == .named("horn.caf"))
        #expect(manner.level == .timeSensitive)
        #expect(manner.relevance == 750)
        #expect([manner.category, manner.thread] == ["ORDER", "orders"])
        expected.isSilent = true
        manner = expected.manner(category: "tidings.message")
        #expect(manner.sound == nil)
        #expect(manner.level == .passive)
        #expect(manner.relevance == 0)
        let usual = self.shown.manner(category: "tidings.message")
        #expect(usual.sound == .standard)
        #expect([usual.category, usual.thread] == ["tidings.message", "PR:bob"])
        #expect(
            expected.lookedUp { key, arguments in "\(key) of \(arguments[0])" }.subtitle == "FROM of Ada")
    }

    @Test func `is shown as usual where content is hidden, but for its sound`() {
        var asked = entry(1)
        guard case .message(var message) = asked.body else { return }
        message.push = PushOptions(title: "Order", subtitle: "Desk", text: "Ready", sound: "horn.caf")
        asked.body = .message(message)
        var core = ClientCore.inBackground(kit: KitSettings(showsContent: false))
        _ = core.hear(asked, unread: 3, at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        guard case .postNotification(let posted)? = core.handle(.ringClaimed(id(101), .granted), at: at(11)).first
        else { return #expect(Bool(false)) }
        #expect(posted.title == "")
        #expect(posted.subtitle == nil)
        #expect(posted.body == .text(NotificationWords.english.hidden))
        #expect(posted.options == PushOptions(sound: "horn.caf"))
    }

    @Test(.requirement("S3.4", "S3.6", "S3.7"))
    func `asks the app's callback before anything is shown, and true means that the app did it`() {
        var core = ClientCore.inBackground(kit: KitSettings(hasDelegate: true))
        _ = core.hear(entry(1), at: at(11))
        #expect(
            core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
                == [.askDelegate(message(101), senderName: "Bob")])
        #expect(
            core.handle(.delegateAnswered(id(101), handled: true), at: at(11))
                == [.sendFrame(1, ack(1, (1, .appHandled))), .storeSettled(upTo: 1)])
        _ = core.hear(entry(2), at: at(12))
        _ = core.handle(.namesResolved(id(102), ResolvedNames(user: "Bob")), at: at(12))
        #expect(core.handle(.delegateAnswered(id(102), handled: false), at: at(12)) == [.claimRing(id(102))])
        // Without a callback nobody is asked, and the default is shown.
        var without = ClientCore.inBackground(kit: KitSettings(hasDelegate: false))
        _ = without.hear(entry(1), at: at(11))
        #expect(
            without.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11)) == [.claimRing(id(101))])
    }

    @Test(.requirement("S0.4", "S3.5"))
    func `is not shown without a name, and a provider silent for two seconds has none`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        let missing: [ClientEffect] = [
            .publishProblem(.nameMissing(message: id(101), conversation: withBob)),
            .sendFrame(1, ack(1, (1, .suppressed(.providerMissing)))), .storeSettled(upTo: 1),
        ]
        #expect(core.handle(.namesResolved(id(101), ResolvedNames()), at: at(11)) == missing)
        _ = core.hear(entry(2), at: at(12))
        #expect(core.nextDeadline == 14_000)
        #expect(
            core.handle(.deadlineReached, at: at(14))
                == [
                    .publishProblem(.nameMissing(message: id(102), conversation: withBob)),
                    .sendFrame(1, ack(2, (2, .suppressed(.providerMissing)))), .storeSettled(upTo: 2),
                ])
        #expect(core.handle(.namesResolved(id(102), ResolvedNames(user: "Bob")), at: at(15)) == [])
    }

    @Test(.requirement("S3.7")) func `is shown though the app's callback is silent`() {
        var core = ClientCore.inBackground(kit: KitSettings(hasDelegate: true))
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        #expect(core.handle(.deadlineReached, at: at(13)) == [.claimRing(id(101))])
    }

    @Test(arguments: [RingClaim.alreadyShown, .heldByAnother, .lookAtDelivered])
    func `does not ring a second time when the push has rung`(claim: RingClaim) {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        #expect(
            core.handle(.ringClaimed(id(101), claim), at: at(11))
                == [.sendFrame(1, ack(1, (1, .suppressed(.alreadyShown)))), .storeSettled(upTo: 1)])
    }

    @Test func `gives its claim back when notifications are not allowed`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        #expect(
            core.handle(.notificationPosted(id(101), .notAuthorized), at: at(11)) == [
                .releaseClaim(id(101)), .sendFrame(1, ack(1, (1, .suppressed(.notAuthorized)))),
                .storeSettled(upTo: 1),
            ])
    }

    @Test func `is left to the server's push when the notification centre fails`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        #expect(core.handle(.notificationPosted(id(101), .failed), at: at(11)) == [.releaseClaim(id(101))])
        #expect(core.settledPosition == 0)
    }

    @Test(.requirement("S0.5")) func `is left to the app when only the core library runs`() {
        var core = ClientCore.inBackground(kit: nil)
        #expect(
            core.hear(entry(1), at: at(11)) == [
                .publishEntries([entry(1)]), .sendFrame(1, ack(1, (1, .leftToApp))), .storeSettled(upTo: 1),
            ])
    }

    @Test func `waits for the one before it to be decided`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.hear(entry(2, message(102, flags: .stored)), at: at(11))
        #expect(core.settledPosition == 0)
        #expect(
            core.handle(.namesResolved(id(101), ResolvedNames()), at: at(11)) == [
                .publishProblem(.nameMissing(message: id(101), conversation: withBob)),
                .sendFrame(1, ack(2, (1, .suppressed(.providerMissing)), (2, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 2),
            ])
    }

    @Test func `is settled by the screen when the app comes to the foreground first`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        let effects = core.handle(.appWillEnterForeground, at: at(12))
        #expect(
            effects.suffix(4) == [
                .releaseClaim(id(101)), .sendFrame(1, ack(1, (1, .shown))), .storeSettled(upTo: 1), .readDeviceStatus,
            ])
        #expect(core.handle(.ringClaimed(id(101), .granted), at: at(12)) == [])
    }

    @Test func `is marked in the ledger though the app came to the foreground while it was posted`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        _ = core.handle(.appWillEnterForeground, at: at(12))
        #expect(core.handle(.notificationPosted(id(101), .shown), at: at(12)) == [.markShown(id(101))])
    }

    @Test func `is the push's business when it was missed before the stay, which ends with it`() {
        var core = ClientCore.fresh()
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(2))
        _ = core.handle(.frameReceived(1, welcome(head: 1)), at: at(2))
        let page = ServerFrame.Page(after: 0, entries: [entry(1)], head: 1, unread: 1)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(2))
        #expect(
            core.handle(.entriesStored(upTo: 1, unread: 1), at: at(2))
                == [
                    .publishEntries([entry(1)]), .sendFrame(1, ack(1)), .sendFrame(1, .runState(.suspending)),
                    .close(1),
                    .publishStatus(.suspended), .publishRunState(.backgroundSuspended),
                    .storeRecipient(Recipient(tag: "tag", extensionToken: "extension", position: 1)),
                ])
        #expect(core.runState == .backgroundSuspended)
    }

    @Test func `is shown though its connection was lost for a moment during the stay`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(11))
        _ = core.handle(.deadlineReached, at: at(12))
        _ = core.handle(.connectionOpened(2), at: at(12))
        _ = core.handle(.frameReceived(2, welcome(head: 1)), at: at(12))
        let page = ServerFrame.Page(after: 0, entries: [entry(1)], head: 1, unread: 1)
        _ = core.handle(.frameReceived(2, .page(page)), at: at(12))
        #expect(
            core.handle(.entriesStored(upTo: 1, unread: 1), at: at(12)).contains(
                .resolveNames(id(101), NameQuestion(sender: bob, group: nil))))
    }

    /// A stay that begins without a connection; the first page brings two messages and says this of their pushes.
    private func catchUp(_ pushes: ServerFrame.Pushes) -> (core: ClientCore, effects: [ClientEffect]) {
        var core = ClientCore.fresh()
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(2))
        _ = core.handle(.frameReceived(1, welcome(head: 2)), at: at(2))
        let page = ServerFrame.Page(after: 0, entries: [entry(1), entry(2)], head: 2, unread: 2, pushes: pushes)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(2))
        let effects = core.handle(.entriesStored(upTo: 2, unread: 2), at: at(2))
        return (core, effects)
    }

    @Test func `is settled without a ring where APNs has taken it, and rung for where it has not, in one stay`() {
        let (core, effects) = self.catchUp(.init(unsent: [2]))
        #expect(
            effects == [
                .publishEntries([entry(1), entry(2)]),
                .resolveNames(id(102), NameQuestion(sender: bob, group: nil)),
                .sendFrame(1, ack(2, (1, .suppressed(.offlineMessage)))), .storeSettled(upTo: 1),
            ])
        #expect(core.runState == .backgroundActive)
    }

    @Test func `is left to the push where APNs has not answered yet, and the stay ends with it`() {
        let (core, effects) = self.catchUp(.init(underWay: [2]))
        #expect(
            effects == [
                .publishEntries([entry(1), entry(2)]),
                .sendFrame(1, ack(2, (1, .suppressed(.offlineMessage)))), .storeSettled(upTo: 1),
                .sendFrame(1, .runState(.suspending)), .close(1), .publishStatus(.suspended),
                .publishRunState(.backgroundSuspended),
                .storeRecipient(Recipient(tag: "tag", extensionToken: "extension", position: 2)),
            ])
        #expect(core.settledPosition == 1)
    }

    @Test func `is not rung for again where it was pushed between two connections of the stay`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(11))
        _ = core.handle(.deadlineReached, at: at(12))
        _ = core.handle(.connectionOpened(2), at: at(12))
        _ = core.handle(.frameReceived(2, welcome(head: 1)), at: at(12))
        let page = ServerFrame.Page(after: 0, entries: [entry(1)], head: 1, unread: 1, pushes: .init())
        _ = core.handle(.frameReceived(2, .page(page)), at: at(12))
        #expect(
            core.handle(.entriesStored(upTo: 1, unread: 1), at: at(12)) == [
                .publishEntries([entry(1)]), .sendFrame(2, ack(1, (1, .suppressed(.offlineMessage)))),
                .storeSettled(upTo: 1),
            ])
        // What is written as it happens is rung for as before.
        _ = core.handle(.frameReceived(2, .entry(entry(2))), at: at(13))
        #expect(
            core.handle(.entriesStored(upTo: 2, unread: 2), at: at(13)).contains(
                .resolveNames(id(102), NameQuestion(sender: bob, group: nil))))
    }

    @Test(.requirement("S3.13")) func `is not rung for in a silenced conversation`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.settingRequested(level(withBob, .blocked)), at: at(10))
        #expect(
            core.hear(entry(1), at: at(11)).contains(.sendFrame(1, ack(1, (1, .suppressed(.level))))))
    }

    @Test func `stays unsettled when it is stored after the hang-up`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.frameReceived(1, .entry(entry(1))), at: at(11))
        _ = core.handle(.backgroundTimeExpired, at: at(12))
        #expect(core.handle(.entriesStored(upTo: 1, unread: 1), at: at(12)) == [.publishEntries([entry(1)])])
        #expect(core.settledPosition == 0)
    }

    @Test func `holds the background task until the notification centre has answered, though the connection is closed`()
    {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), unread: 3, at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        _ = core.handle(.backgroundTimeExpired, at: at(12))
        #expect(core.handle(.connectionClosed(1, reason: "closed"), at: at(12)) == [])
        // Frozen before it is marked, the push would show it again.
        #expect(
            core.handle(.notificationPosted(id(101), .shown), at: at(12)) == [.markShown(id(101)), .endBackgroundTask])
    }

    @Test func `does not hold the background task longer than a connection may take to close`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), unread: 3, at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        _ = core.handle(.backgroundTimeExpired, at: at(12))
        _ = core.handle(.connectionClosed(1, reason: "closed"), at: at(12))
        #expect(core.handle(.deadlineReached, at: at(14)).contains(.endBackgroundTask))
        #expect(core.handle(.notificationPosted(id(101), .shown), at: at(15)) == [.markShown(id(101))])
    }

    @Test(.requirement("S3.8")) func `is shown by default when the app has no callback`() {
        var core = ClientCore.inBackground(kit: KitSettings(hasDelegate: false))
        _ = core.hear(entry(1), at: at(11))
        #expect(
            core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11)) == [.claimRing(id(101))])
    }

    @Test(.requirement("S3.3")) func `is not shown while the switch is off`() {
        var core = ClientCore.inBackground(kit: KitSettings(isLocalNotificationEnabled: false))
        #expect(
            core.hear(entry(1), at: at(11)) == [
                .publishEntries([entry(1)]), .sendFrame(1, ack(1, (1, .suppressed(.switchedOff)))),
                .storeSettled(upTo: 1),
            ])
    }
}

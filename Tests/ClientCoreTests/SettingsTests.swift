import Testing
import TidingsModel

@testable import ClientCore

private let muted = ConversationSettings(level: .blocked)
private let mute = PendingSettingsChange.conversation(withBob, muted)
private let loud = PendingSettingsChange.conversation(withBob, ConversationSettings(level: .all))

private func requests(_ effects: [ClientEffect]) -> [ClientRequest] {
    effects.compactMap { if case .sendFrame(_, .request(_, let request)) = $0 { request } else { nil } }
}

private func isSuppressed(_ effects: [ClientEffect], _ reason: SuppressionReason) -> Bool {
    effects.contains {
        guard case .sendFrame(_, .ack(let ack)) = $0 else { return false }
        return ack.settled.last?.disposition == .suppressed(reason)
    }
}

@Suite struct `What the person sets` {
    @Test func `is told at once, and forgotten here when the log has said it`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.settingRequested(mute), at: at(1)) == [
                .markPendingChange(mute, isTold: true),
                .sendFrame(1, .request(1, .setConversationSettings(withBob, muted))),
            ])
        #expect(core.handle(.frameReceived(1, .answer(1, .done(1))), at: at(1)) == [])
        let entry = LogEntry(position: 1, body: .conversationSettings(withBob, muted))
        #expect(
            core.hear(entry, unread: 0, at: at(1)) == [
                .publishEntries([entry]), .removePendingChange(mute),
                .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 1),
            ])
        #expect(requests(core.reconnect(2, head: 1, at: at(5))) == [])
    }

    @Test func `is forgotten here at the answer when the log has said it before`() {
        var core = ClientCore.online()
        _ = core.handle(.settingRequested(mute), at: at(1))
        _ = core.hear(LogEntry(position: 1, body: .conversationSettings(withBob, muted)), at: at(1))
        #expect(core.handle(.frameReceived(1, .answer(1, .done(1))), at: at(1)) == [.removePendingChange(mute)])
    }

    @Test func `holds at once without a connection, and is told at the next welcome`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.settingRequested(mute), at: at(0)) == [])
        #expect(core.handle(.settingRequested(.level(.group, .mentions)), at: at(0)) == [])
        #expect(core.handle(.settingRequested(.language("zh-Hans")), at: at(0)) == [.noteLanguage("zh-Hans")])
        core.openConnection()
        let person = PersonSettings(levels: [.group: .mentions], language: "zh-Hans")
        #expect(
            requests(core.handle(.frameReceived(1, welcome()), at: at(0)))
                == [.setConversationSettings(withBob, muted), .setPersonSettings(person)])
        _ = core.handle(.kitConfigured(KitSettings()), at: at(1))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(1))
        #expect(isSuppressed(core.hear(entry(1), at: at(2)), .level))
        #expect(isSuppressed(core.hear(entry(2, message(102, in: .group)), at: at(2)), .level))
    }

    @Test func `survives a restart until it is confirmed`() {
        var core = ClientCore.fresh(.init(pendingChanges: [mute]))
        core.goOnline(1, head: 0, at: at(0))
        #expect(requests(core.reconnect(2, at: at(5))) == [.setConversationSettings(withBob, muted)])
    }

    @Test func `is kept for what the log says when it was so already`() {
        var core = ClientCore.online()
        _ = core.handle(.settingRequested(mute), at: at(1))
        #expect(core.handle(.frameReceived(1, .answer(1, .done(0))), at: at(1)) == [.addPendingChange(mute)])
        _ = core.handle(.kitConfigured(KitSettings()), at: at(1))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(1))
        #expect(isSuppressed(core.hear(entry(1), at: at(2)), .level))
    }

    @Test func `is confirmed only by the answer to its last change`() {
        var core = ClientCore.online()
        #expect(core.handle(.settingRequested(mute), at: at(1)).count == 2)
        // One at a time: what the log says meanwhile is of the one before.
        for pendingChange in [loud, mute, loud] {
            #expect(core.handle(.settingRequested(pendingChange), at: at(1)) == [])
        }
        _ = core.hear(LogEntry(position: 1, body: .conversationSettings(withBob, muted)), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .done(1))), at: at(1)) == [
                .markPendingChange(loud, isTold: true),
                .sendFrame(1, .request(2, .setConversationSettings(withBob, .init(level: .all)))),
            ])
        #expect(
            requests(core.reconnect(2, head: 1, at: at(5))) == [.setConversationSettings(withBob, .init(level: .all))])
        #expect(core.handle(.frameReceived(2, .answer(3, .done(0))), at: at(5)) == [.addPendingChange(loud)])
    }

    @Test func `for everywhere is told with what other devices have set since, not in its place`() {
        var core = ClientCore.fresh(.init(pendingChanges: [.language("fr")]))
        core.goOnline(1, head: 1, at: at(0))
        let elsewhere = PersonSettings(hidesContent: true, language: "de")
        let page = ServerFrame.Page(
            after: 0, entries: [LogEntry(position: 1, body: .personSettings(elsewhere))], head: 1, unread: 0)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(1))
        #expect(
            requests(core.handle(.entriesStored(upTo: 1, unread: 0), at: at(1)))
                == [.setPersonSettings(PersonSettings(hidesContent: true, language: "fr"))])
    }

    @Test func `is told when the settings are here in whose place the log has nothing any more`() {
        var core = ClientCore.fresh(.init(pendingChanges: [mute], told: [mute]))
        core.goOnline(1, head: 9, at: at(0))
        let page = ServerFrame.Page(after: 0, entries: [], head: 9, unread: 0)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(1))
        #expect(requests(core.handle(.entriesStored(upTo: 9, unread: 0), at: at(1))) == [])
        var loudElsewhere = core
        #expect(
            requests(core.handle(.frameReceived(1, .answer(1, .settings(AllSettings()))), at: at(2)))
                == [.setConversationSettings(withBob, muted)])
        let all = AllSettings(conversations: [withBob: ConversationSettings(level: .all)])
        let effects = loudElsewhere.handle(.frameReceived(1, .answer(1, .settings(all))), at: at(2))
        #expect(effects == [.removePendingChange(mute), .storeSettings(all)])
    }

    @Test func `is taken back when the server refuses it, and what held before holds again`() {
        var core = ClientCore.inBackground()
        let problem = ServerFrame.Problem(code: .invalidField, field: "level_until", rule: "must be later than now")
        _ = core.handle(.settingRequested(mute), at: at(11))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .refused(problem))), at: at(11))
                == [.removePendingChange(mute), .publishProblem(.settingRefused(problem))])
        #expect(core.hear(entry(1), at: at(12)).contains(.resolveNames(id(101), .init(sender: bob, group: nil))))
    }

    @Test func `is told again a little later when the server could not take it`() {
        var core = ClientCore.online(heartbeat: 600_000)
        _ = core.handle(.settingRequested(mute), at: at(1))
        let busy = ServerFrame.Problem(code: .unavailable, rule: "try again")
        #expect(
            core.handle(.frameReceived(1, .answer(1, .refused(busy))), at: at(2))
                == [.markPendingChange(mute, isTold: false)])
        #expect(core.nextDeadline == 7_000)
        #expect(
            core.handle(.deadlineReached, at: at(7)) == [
                .markPendingChange(mute, isTold: true),
                .sendFrame(1, .request(2, .setConversationSettings(withBob, muted))),
            ])
    }

    @Test func `on another device comes by the log, and lowers the badge`() {
        var core = ClientCore.inBackground()
        let entry = LogEntry(position: 1, body: .conversationSettings(withBob, muted))
        #expect(
            core.hear(entry, unread: 0, at: at(11)) == [
                .publishEntries([entry]), .lowerBadge(unread: 0, position: 1),
                .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))), .storeSettled(upTo: 1),
            ])
        #expect(isSuppressed(core.hear(ClientCoreTests.entry(2), at: at(12)), .level))
    }

    @Test func `for a kind holds where a conversation has no level of its own`() {
        var core = ClientCore.inBackground()
        let kinds = PersonSettings(levels: [.direct: .blocked, .group: .blocked])
        _ = core.hear(LogEntry(position: 1, body: .personSettings(kinds)), at: at(11))
        _ = core.hear(
            LogEntry(position: 2, body: .conversationSettings(team, ConversationSettings(level: .all))), at: at(11))
        #expect(isSuppressed(core.hear(entry(3), at: at(12)), .level))
        #expect(
            core.hear(entry(4, message(104, in: .group)), at: at(12))
                .contains(.resolveNames(id(104), .init(sender: bob, group: team))))
    }

    @Test func `until a time ends then by the server's clock, whatever this device's says`() {
        // The server is an hour ahead of the device.
        let serverTime: Int64 = 1_800_003_600_000
        var core = ClientCore.fresh(
            .init(
                preferences: AllSettings(conversations: [
                    withBob: ConversationSettings(level: .blocked, levelUntil: serverTime + 20_000)
                ])))
        core.openConnection()
        _ = core.handle(.frameReceived(1, welcome(heartbeat: 600_000, serverTime: serverTime)), at: at(0))
        _ = core.handle(.kitConfigured(KitSettings()), at: at(1))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(1))
        #expect(isSuppressed(core.hear(entry(1), at: at(19.999)), .level))
        #expect(
            core.hear(entry(2), at: at(20)).contains(.resolveNames(id(102), .init(sender: bob, group: nil))))
    }

    @Test func `about hidden content is told to the extension, and hides title and text here`() {
        var core = ClientCore.inBackground()
        #expect(
            core.handle(.settingRequested(.hidesContent(true)), at: at(11)) == [
                .noteHiddenContent(true), .markPendingChange(.hidesContent(true), isTold: true),
                .sendFrame(1, .request(1, .setPersonSettings(PersonSettings(hidesContent: true)))),
            ])
        _ = core.hear(entry(1), at: at(12))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(12))
        guard case .postNotification(let shown)? = core.handle(.ringClaimed(id(101), .granted), at: at(12)).first
        else {
            Issue.record("nothing was posted")
            return
        }
        #expect(shown.title == "")
        #expect(shown.body == .text(NotificationWords.english.hidden))
    }

    @Test func `is asked of the server where the log was trimmed`() {
        var core = ClientCore.online(.init(stored: 2), head: 9)
        let page = ServerFrame.Page(after: 2, entries: [], head: 9, unread: 0)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1))
                == [.skipEntries(after: 2, upTo: 9), .sendFrame(1, .request(1, .settings))])
    }

    @Test func `is asked of the server again at the next connection where the answer was lost, and told only then`() {
        var core = ClientCore.online(.init(stored: 2, pendingChanges: [mute], told: [mute]), head: 9)
        let page = ServerFrame.Page(after: 2, entries: [], head: 9, unread: 0)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(1))
        _ = core.handle(.entriesStored(upTo: 9, unread: 0), at: at(1))
        // The whole log is here, and what is gone of it is not known.
        #expect(requests(core.reconnect(2, head: 9, at: at(5))) == [.settings])
        #expect(requests(core.handle(.settingRequested(.language("fr")), at: at(6))) == [])
        let all = AllSettings(conversations: [withBob: ConversationSettings(level: .all)])
        #expect(
            core.handle(.frameReceived(2, .answer(2, .settings(all))), at: at(7)) == [
                .removePendingChange(mute), .storeSettings(all),
                .markPendingChange(.language("fr"), isTold: true),
                .sendFrame(2, .request(3, .setPersonSettings(PersonSettings(language: "fr")))),
            ])
        #expect(requests(core.reconnect(3, head: 9, at: at(9))) == [.setPersonSettings(PersonSettings(language: "fr"))])
    }

    @Test func `is asked of the server by the next process where the answer was lost`() {
        var store = MemoryLocalStore()
        _ = store.carryOut(.skip(after: 0, upTo: 9))
        var core = ClientCore.fresh(store.restored())
        core.goOnline(1, head: 9, at: at(0))
        #expect(core.reconnect(2, head: 9, at: at(5)).contains(.sendFrame(2, .request(2, .settings))))
        _ = store.carryOut(.replaceSettings(AllSettings()))
        var next = ClientCore.fresh(store.restored())
        next.goOnline(1, head: 9, at: at(0))
        #expect(requests(next.reconnect(2, head: 9, at: at(5))) == [])
    }

    @Test func `is asked of the server again a little later where it could not say, or said nothing`() {
        var core = ClientCore.online(.init(stored: 2, pendingChanges: [mute]), head: 9, heartbeat: 600_000)
        let page = ServerFrame.Page(after: 2, entries: [], head: 9, unread: 0)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(1))
        _ = core.handle(.entriesStored(upTo: 9, unread: 0), at: at(1))
        let busy = ServerFrame.Problem(code: .unavailable, rule: "try again")
        #expect(core.handle(.frameReceived(1, .answer(1, .refused(busy))), at: at(2)) == [])
        #expect(core.nextDeadline == 7_000)
        #expect(core.handle(.deadlineReached, at: at(7)) == [.sendFrame(1, .request(2, .settings))])
        #expect(core.handle(.deadlineReached, at: at(37)) == [.sendFrame(1, .request(3, .settings))])
        // A server that has no such answer at all is told what is set here.
        let unknown = ServerFrame.Problem(code: .invalidField, field: "request", rule: "must be one that is known")
        #expect(
            requests(core.handle(.frameReceived(1, .answer(3, .refused(unknown))), at: at(38)))
                == [.setConversationSettings(withBob, muted)])
    }

    @Test func `outlives a damaged store, and so does what the log said`() {
        let confirmed = AllSettings(conversations: [team: muted])
        var core = ClientCore.fresh(.init(preferences: confirmed, pendingChanges: [mute]))
        #expect(
            core.handle(.storeDamaged(reason: "damaged"), at: at(1))
                == [.setStoreAside, .storeSettings(confirmed), .storePendingChange(mute)])
    }

    @Test func `is forgotten with the log that said it, when the server's log is another one`() {
        var core = ClientCore.fresh(.init(stored: 50, settled: 50, preferences: .init(conversations: [team: muted])))
        core.goOnline(1, head: 2, at: at(0))
        #expect(
            core.handle(.storeDamaged(reason: "damaged"), at: at(1)).prefix(2)
                == [.setStoreAside, .storeSettings(AllSettings())])
    }

    @Test func `for everywhere does not wait for the answer to one of a conversation`() {
        var core = ClientCore.online()
        _ = core.handle(.settingRequested(mute), at: at(1))
        #expect(
            requests(core.handle(.settingRequested(.hidesContent(true)), at: at(1)))
                == [.setPersonSettings(PersonSettings(hidesContent: true))])
    }

    @Test func `gives way to what the log has said since, where its answer was lost with the connection`() {
        var core = ClientCore.online()
        _ = core.handle(.settingRequested(mute), at: at(1))
        _ = core.hear(LogEntry(position: 1, body: .conversationSettings(withBob, .init(level: .mentions))), at: at(1))
        _ = core.hear(LogEntry(position: 2, body: .conversationSettings(withBob, .init(level: .all))), at: at(1))
        #expect(requests(core.reconnect(2, head: 2, at: at(5))) == [])
        _ = core.handle(.kitConfigured(KitSettings()), at: at(6))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(6))
        _ = core.handle(.frameReceived(2, .entry(entry(3))), at: at(7))
        let effects = core.handle(.entriesStored(upTo: 3, unread: 1), at: at(7))
        #expect(effects.contains(.resolveNames(id(103), .init(sender: bob, group: nil))))
    }

    @Test func `stays where a level has only ended by itself, whether it was told before or again`() {
        let ended = LogEntry(position: 2, body: .conversationSettings(withBob, ConversationSettings()))
        var core = ClientCore.online(heartbeat: 600_000)
        let hour = ConversationSettings(level: .blocked, levelUntil: at(20).wall)
        _ = core.hear(LogEntry(position: 1, body: .conversationSettings(withBob, hour)), at: at(1))
        _ = core.handle(.settingRequested(mute), at: at(19))
        var lost = core
        #expect(!core.hear(ended, at: at(20)).contains(.removePendingChange(mute)))
        #expect(requests(core.reconnect(2, head: 2, at: at(30))) == [.setConversationSettings(withBob, muted)])
        #expect(requests(lost.reconnect(2, head: 2, at: at(30))) == [])
        _ = lost.handle(
            .frameReceived(2, .page(.init(after: 1, entries: [ended], head: 2, unread: 0))), at: at(30))
        #expect(
            requests(lost.handle(.entriesStored(upTo: 2, unread: 0), at: at(30)))
                == [.setConversationSettings(withBob, muted)])
        _ = lost.handle(.kitConfigured(KitSettings()), at: at(31))
        _ = lost.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(31))
        #expect(isSuppressed(lost.hear(entry(3), on: 2, at: at(32)), .level))
    }

    @Test func `stays where a level has ended by itself in a part of the log that is gone`() {
        let hour = AllSettings(conversations: [withBob: .init(level: .blocked, levelUntil: at(1).wall)])
        var core = ClientCore.fresh(.init(stored: 2, preferences: hour, pendingChanges: [mute], told: [mute]))
        core.goOnline(1, head: 9, at: at(2))
        _ = core.handle(.frameReceived(1, .page(.init(after: 2, entries: [], head: 9, unread: 0))), at: at(3))
        _ = core.handle(.entriesStored(upTo: 9, unread: 0), at: at(3))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .settings(AllSettings()))), at: at(4)) == [
                .storeSettings(AllSettings()), .sendFrame(1, .request(2, .setConversationSettings(withBob, muted))),
            ])
    }

    @Test func `gives way to the end of a level that was ended by hand, or was to end no later itself`() {
        for (own, heardAt) in [(muted, 100.0), (ConversationSettings(level: .mentions, levelUntil: at(150).wall), 200)]
        {
            let change = PendingSettingsChange.conversation(withBob, own)
            var core = ClientCore.online(heartbeat: 600_000)
            let hour = ConversationSettings(level: .blocked, levelUntil: at(190).wall)
            _ = core.hear(LogEntry(position: 1, body: .conversationSettings(withBob, hour)), at: at(1))
            _ = core.handle(.settingRequested(change), at: at(19))
            _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(20))
            _ = core.handle(.deadlineReached, at: at(heardAt))
            core.goOnline(2, head: 2, at: at(heardAt))
            let ended = LogEntry(position: 2, body: .conversationSettings(withBob, ConversationSettings()))
            let page = ServerFrame.Page(after: 1, entries: [ended], head: 2, unread: 0)
            _ = core.handle(.frameReceived(2, .page(page)), at: at(heardAt))
            let heard = core.handle(.entriesStored(upTo: 2, unread: 0), at: at(heardAt))
            #expect(heard.contains(.removePendingChange(change)), "\(own)")
        }
    }

    @Test func `stays, whatever the log says, where it still waited for its turn when the connection ended`() {
        var core = ClientCore.fresh(.init(stored: 1))
        let groups = (1...Requests.inFlightMax + 1).map { ConversationID(type: .group, target: "g\($0)") }
        for group in groups { _ = core.handle(.settingRequested(.conversation(group, muted)), at: at(0)) }
        core.goOnline(1, head: 1, at: at(0))
        guard let last = groups.last, let first = groups.first else { return }
        let ended = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        #expect(ended.contains(.markPendingChange(.conversation(last, muted), isTold: false)))
        #expect(!ended.contains(.markPendingChange(.conversation(first, muted), isTold: false)))
    }

    @Test func `is confirmed by a part of the log that is gone`() {
        var core = ClientCore.online(.init(stored: 2), head: 2)
        _ = core.handle(.settingRequested(mute), at: at(1))
        _ = core.handle(.frameReceived(1, .answer(1, .done(5))), at: at(1))
        _ = core.reconnect(2, head: 9, at: at(5))
        let page = ServerFrame.Page(after: 2, entries: [], head: 9, unread: 0)
        _ = core.handle(.frameReceived(2, .page(page)), at: at(6))
        #expect(core.handle(.entriesStored(upTo: 9, unread: 0), at: at(6)).contains(.removePendingChange(mute)))
    }

    @Test func `is told again after a damaged store, whose log from the start is older than it`() {
        var core = ClientCore.online(.init(pendingChanges: [mute]))
        #expect(
            core.handle(.storeDamaged(reason: "damaged"), at: at(1)).prefix(3)
                == [.setStoreAside, .storeSettings(AllSettings()), .storePendingChange(mute)])
        _ = core.reconnect(2, head: 1, at: at(5))
        let old = LogEntry(position: 1, body: .conversationSettings(withBob, .init(level: .mentions)))
        _ = core.handle(.frameReceived(2, .page(.init(after: 0, entries: [old], head: 1, unread: 0))), at: at(6))
        #expect(
            requests(core.handle(.entriesStored(upTo: 1, unread: 0), at: at(6)))
                == [.setConversationSettings(withBob, muted)])
    }
}

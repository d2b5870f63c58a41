import Testing
import TidingsModel

@testable import ClientCore

private func requests(_ effects: [ClientEffect]) -> [ClientRequest] {
    effects.compactMap { if case .sendFrame(_, .request(_, let request)) = $0 { request } else { nil } }
}

private func state(_ change: ConversationStateChange, at wall: Int64 = 7) -> PendingSettingsChange {
    .state(withBob, change, at: wall)
}

private func listed(_ change: (inout ConversationSettings) -> Void) -> ConversationSettings {
    var settings = ConversationSettings()
    change(&settings)
    return settings
}

@Suite struct `What the person makes of their list` {
    @Test func `is told at once, and forgotten here when the log has said it`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.settingRequested(state(.pinned(true))), at: at(1)) == [
                .markPendingChange(state(.pinned(true)), isTold: true),
                .sendFrame(1, .request(1, .setConversationState(withBob, .pinned(true)))),
            ])
        #expect(core.handle(.frameReceived(1, .answer(1, .done(1))), at: at(1)) == [])
        let entry = LogEntry(position: 1, body: .conversationSettings(withBob, listed { $0.pinnedAt = 9 }))
        #expect(core.hear(entry, unread: 0, at: at(1)).contains(.removePendingChange(state(.pinned(true)))))
        #expect(requests(core.reconnect(2, head: 1, at: at(5))) == [])
    }

    @Test func `waits without a connection, of each thing the last`() {
        var core = ClientCore.fresh()
        let changes: [PendingSettingsChange] = [
            state(.draft("h")), state(.pinned(true)), level(withBob, .mentions), state(.archived(true)),
            state(.hidden(upTo: id(5))), state(.draft("ho")), state(.archived(false)),
        ]
        for change in changes { #expect(core.handle(.settingRequested(change), at: at(0)) == []) }
        core.openConnection()
        #expect(
            requests(core.handle(.frameReceived(1, welcome()), at: at(0))) == [
                .setConversationState(withBob, .draft("ho")), .setConversationState(withBob, .pinned(true)),
                .setConversationSettings(withBob, .init(level: .mentions)),
                .setConversationState(withBob, .archived(false)),
                .setConversationState(withBob, .hidden(upTo: id(5))),
            ])
    }

    @Test func `holds over what other devices say, and leaves the rest of it`() {
        let pending = [state(.draft("mine")), state(.pinned(true), at: 9), level(withBob, .blocked)]
        let theirs = listed {
            $0.draft = ConversationDraft(text: "theirs", writtenAt: 5)
            $0.pinnedAt = 4
            $0.isArchived = true
        }
        let preferences = Preferences(
            confirmed: AllSettings(conversations: [withBob: theirs]), pendingChanges: pending)
        let wanted = listed {
            $0.level = .blocked
            $0.draft = ConversationDraft(text: "mine", writtenAt: 7)
            // It was pinned already.
            $0.pinnedAt = 4
            $0.isArchived = true
        }
        #expect(preferences.current.conversations == [withBob: wanted])
        #expect(preferences.confirmed.conversations == [withBob: theirs])
    }

    @Test func `is taken back when the server refuses it`() {
        var core = ClientCore.online()
        let problem = ServerFrame.Problem(code: .invalidField, field: "conversation", rule: "must be one of 1000")
        _ = core.handle(.settingRequested(state(.pinned(true))), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .refused(problem))), at: at(1))
                == [.removePendingChange(state(.pinned(true))), .publishProblem(.settingRefused(problem))])
        #expect(requests(core.reconnect(2, at: at(5))) == [])
    }

    @Test func `stays here if it is a draft that the server refuses, and is told again at the next welcome`() {
        var core = ClientCore.online()
        let problem = ServerFrame.Problem(code: .invalidField, field: "draft", rule: "must be one of 64")
        _ = core.handle(.settingRequested(state(.draft("ho"))), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .refused(problem))), at: at(1))
                == [.markPendingChange(state(.draft("ho")), isTold: false), .publishProblem(.settingRefused(problem))])
        #expect(requests(core.handle(.settingRequested(state(.pinned(true))), at: at(2))).count == 1)
        #expect(requests(core.reconnect(2, at: at(5))).first == .setConversationState(withBob, .draft("ho")))
    }

    @Test func `keeps no message from ringing`() {
        var core = ClientCore.inBackground()
        for change in [ConversationStateChange.archived(true), .hidden(upTo: id(999)), .draft("ho")] {
            _ = core.handle(.settingRequested(state(change)), at: at(11))
        }
        #expect(core.hear(entry(1), at: at(12)).contains(.resolveNames(id(101), .init(sender: bob, group: nil))))
    }
}

/// A phone whose connection has ended before the server's answer to a change. On another device the person goes on.
@Suite struct `A change whose answer was lost` {
    private func page(_ entries: [LogEntry]) -> ServerFrame {
        let after = (entries.first?.position ?? 1) - 1
        return .page(.init(after: after, entries: entries, head: entries.last?.position ?? 0, unread: 0))
    }

    private func told(_ change: ConversationStateChange, before: ConversationSettings = .init()) -> ClientCore {
        let preferences = AllSettings(conversations: [withBob: before])
        var core = ClientCore.online(.init(preferences: preferences))
        _ = core.handle(.settingRequested(state(change)), at: at(1))
        return core
    }

    /// Comes back, and hears what the log has got since. Returns what it then tells and forgets.
    private func comeBack(
        _ core: ClientCore, to settings: [ConversationSettings]
    ) -> (told: [ClientRequest], effects: [ClientEffect]) {
        var core = core
        let entries = settings.enumerated().map {
            LogEntry(position: LogPosition($0.offset + 1), body: .conversationSettings(withBob, $0.element))
        }
        let head = LogPosition(entries.count)
        // Nothing before the whole log is here.
        let welcomed = core.reconnect(2, head: head, at: at(5))
        if head > 0 { #expect(requests(welcomed) == []) }
        _ = core.handle(.frameReceived(2, self.page(entries)), at: at(5))
        let effects = core.handle(.entriesStored(upTo: head, unread: 0), at: at(5))
        return (requests(welcomed + effects), effects)
    }

    private let y = listed { $0.draft = ConversationDraft(text: "y", writtenAt: 9) }
    private let x = listed { $0.draft = ConversationDraft(text: "x", writtenAt: 4) }

    @Test func `is told again if the log says nothing newer`() {
        #expect(
            self.comeBack(self.told(.draft(nil), before: self.x), to: []).told == [
                .setConversationState(withBob, .draft(nil))
            ])
        let pinned = listed { ($0.draft, $0.pinnedAt) = (self.x.draft, 7) }
        #expect(
            self.comeBack(self.told(.draft(nil), before: self.x), to: [pinned]).told
                == [.setConversationState(withBob, .draft(nil))])
    }

    @Test func `does not remove the draft that was written since on another device`() {
        // A page says the draft of now in each entry.
        let (told, effects) = self.comeBack(self.told(.draft(nil), before: self.x), to: [self.y, self.y])
        #expect(told == [])
        #expect(effects.contains(.removePendingChange(state(.draft(nil)))))
    }

    @Test func `does not bring back the draft that was sent since on another device`() {
        // Written by the phone, cleared by the other: of neither is anything left in the page.
        let (told, effects) = self.comeBack(self.told(.draft("x")), to: [.init(), .init()])
        #expect(told == [])
        #expect(effects.contains(.removePendingChange(state(.draft("x")))))
    }

    @Test func `is dropped also after a restart, but not one that was never told`() {
        for isTold in [true, false] {
            let change = state(.draft(nil))
            var core = ClientCore.fresh(
                .init(
                    preferences: AllSettings(conversations: [withBob: self.x]), pendingChanges: [change],
                    told: isTold ? [change] : []))
            core.goOnline(1, head: 1, at: at(0))
            _ = core.handle(
                .frameReceived(1, self.page([.init(position: 1, body: .conversationSettings(withBob, self.y))])),
                at: at(1))
            let effects = core.handle(.entriesStored(upTo: 1, unread: 0), at: at(1))
            #expect(effects.contains(.removePendingChange(change)) == isTold)
            #expect(requests(effects) == (isTold ? [] : [.setConversationState(withBob, .draft(nil))]))
        }
    }

    @Test func `is dropped if the log has had its say before the connection ended`() {
        var core = self.told(.draft("x"))
        _ = core.hear(LogEntry(position: 1, body: .conversationSettings(withBob, self.x)), at: at(2))
        _ = core.hear(LogEntry(position: 2, body: .conversationSettings(withBob, self.y)), at: at(2))
        #expect(
            core.handle(.connectionClosed(1, reason: "lost"), at: at(3))
                .contains(.removePendingChange(state(.draft("x")))))
        #expect(requests(core.reconnect(2, head: 2, at: at(5))) == [])
    }

    @Test func `holds if the person has set something else here since`() {
        var core = self.told(.draft("x"))
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        _ = core.handle(.settingRequested(state(.draft("xy"))), at: at(3))
        #expect(self.comeBack(core, to: [self.x]).told == [.setConversationState(withBob, .draft("xy"))])
    }

    @Test func `is told again in a log that begins anew, which does not say what was taken`() {
        var core = ClientCore.fresh(
            .init(stored: 5, settled: 5, pendingChanges: [state(.pinned(true))], told: [state(.pinned(true))]))
        core.goOnline(1, head: 1, at: at(0))
        let old = listed { $0.pinnedAt = 3 }
        _ = core.handle(
            .frameReceived(1, self.page([.init(position: 1, body: .conversationSettings(withBob, old))])), at: at(1))
        #expect(
            requests(core.handle(.entriesStored(upTo: 1, unread: 0), at: at(1)))
                == [.setConversationState(withBob, .pinned(true))])
    }

    @Test(arguments: [
        (ConversationStateChange.pinned(false), listed { $0.pinnedAt = 9 }),
        (.archived(true), listed { $0.isArchived = true }), (.hidden(upTo: id(5)), listed { $0.hiddenUpTo = id(8) }),
    ])
    func `undoes nothing newer, whatever it is of`(change: ConversationStateChange, since: ConversationSettings) {
        #expect(self.comeBack(self.told(change), to: [since]).told == [])
        let other = listed { $0.level = .mentions }
        #expect(self.comeBack(self.told(change), to: [other]).told == [.setConversationState(withBob, change)])
    }

    @Test func `undoes no newer level and nothing that holds everywhere`() {
        let changes: [PendingSettingsChange] = [
            level(withBob, .mentions), .level(.group, .mentions), .quietHours(nil), .hidesContent(true),
            .language("fr"), .mayBeAddedBy(.nobody),
        ]
        let since = PersonSettings(
            levels: [.group: .blocked], quietHours: QuietHours(start: 60, end: 120, timeZone: "UTC"),
            hidesContent: true,
            language: "de", mayBeAddedBy: .everybody)
        let entries = [
            LogEntry(position: 1, body: .conversationSettings(withBob, listed { $0.level = .blocked })),
            LogEntry(position: 2, body: .personSettings(since)),
        ]
        var core = ClientCore.fresh(.init(pendingChanges: changes, told: Set(changes)))
        core.goOnline(1, head: 2, at: at(0))
        _ = core.handle(.frameReceived(1, self.page(entries)), at: at(1))
        let effects = core.handle(.entriesStored(upTo: 2, unread: 0), at: at(1))
        #expect(requests(effects) == [])
        for change in changes { #expect(effects.contains(.removePendingChange(change)), "\(change)") }
    }
}

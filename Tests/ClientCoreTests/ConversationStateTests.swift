import ClientCore
import Testing
import TidingsModel

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
            core.handle(.settingRequested(state(.pinned(true))), at: at(1))
                == [.sendFrame(1, .request(1, .setConversationState(withBob, .pinned(true))))])
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
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.connectionOpened(1), at: at(0))
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
                == [.publishProblem(.settingRefused(problem))])
        #expect(requests(core.reconnect(2, at: at(5))) == [.setConversationState(withBob, .draft("ho"))])
    }

    @Test func `keeps no message from ringing`() {
        var core = ClientCore.inBackground()
        for change in [ConversationStateChange.archived(true), .hidden(upTo: id(999)), .draft("ho")] {
            _ = core.handle(.settingRequested(state(change)), at: at(11))
        }
        #expect(core.hear(entry(1), at: at(12)).contains(.resolveNames(id(101), .init(sender: bob, group: nil))))
    }
}

import ClientCore
import Testing
import TidingsModel

private let refusal = ServerFrame.Problem(code: .tooLate, field: "message", rule: "was sent too long ago")

private func isRequest(_ effect: ClientEffect) -> Bool {
    if case .sendFrame(_, .request) = effect { true } else { false }
}

@Suite struct `A request of the app` {
    @Test func `is written at once and ends with the server's answer`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.requestSubmitted(7, .recall(id(1))), at: at(1)) == [.sendFrame(1, .request(1, .recall(id(1))))]
        )
        #expect(
            core.handle(.frameReceived(1, .answer(1, .done(4))), at: at(1))
                == [.finishRequest(7, .answered(.done(4)))])
        #expect(core.handle(.frameReceived(1, .answer(1, .done(4))), at: at(1)) == [])
    }

    @Test func `ends with the server's refusal`() {
        var core = ClientCore.online()
        _ = core.handle(.requestSubmitted(7, .recall(id(1))), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .refused(refusal))), at: at(1))
                == [.finishRequest(7, .answered(.refused(refusal)))])
    }

    @Test func `ends at once where there is no connection`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.requestSubmitted(7, .settings), at: at(1)) == [.finishRequest(7, .notConnected)])
    }

    @Test func `has an unknown outcome when the connection is lost, also one that was not written yet`() {
        var core = ClientCore.online()
        for number in 1...RequestNumber(Requests.inFlightMax + 1) {
            _ = core.handle(.requestSubmitted(number, .settings), at: at(1))
        }
        let ends = core.handle(.connectionClosed(1, reason: "lost"), at: at(2)).filter {
            if case .finishRequest = $0 { true } else { false }
        }
        #expect(ends == (1...17).map { .finishRequest($0, .unknown) })
        // Asked again on the next connection only if the app does so.
        #expect(!core.reconnect(2, at: at(10)).contains(where: isRequest))
    }

    @Test func `waits while sixteen are on their way, and is refused when sixty-four are open`() {
        var core = ClientCore.online()
        for number in 1...RequestNumber(64) {
            let effects = core.handle(.requestSubmitted(number, .settings), at: at(1))
            #expect(effects == (number <= 16 ? [.sendFrame(1, .request(number, .settings))] : []))
        }
        #expect(core.handle(.requestSubmitted(65, .settings), at: at(1)) == [.finishRequest(65, .tooMany)])
        #expect(
            core.handle(.frameReceived(1, .answer(3, .done(0))), at: at(1))
                == [.finishRequest(3, .answered(.done(0))), .sendFrame(1, .request(17, .settings))])
        #expect(core.handle(.requestSubmitted(66, .settings), at: at(1)) == [])
    }

    @Test func `has an unknown outcome when no answer comes for half a minute`() {
        var core = ClientCore.online(heartbeat: 600_000)
        _ = core.handle(.requestSubmitted(7, .settings), at: at(1))
        #expect(core.nextDeadline == 31_000)
        #expect(core.handle(.deadlineReached, at: at(31)) == [.finishRequest(7, .unknown)])
        #expect(core.handle(.frameReceived(1, .answer(1, .done(0))), at: at(32)) == [])
    }

    @Test func `has an unknown outcome when the person signs out`() {
        var core = ClientCore.online()
        _ = core.handle(.requestSubmitted(7, .settings), at: at(1))
        #expect(core.handle(.signOutRequested, at: at(1)).contains(.finishRequest(7, .unknown)))
        #expect(core.handle(.requestSubmitted(8, .settings), at: at(1)) == [.finishRequest(8, .notConnected)])
    }

    @Test func `leaves what it learns in the local store`() {
        var core = ClientCore.online()
        let info = ConversationInfo(
            id: team, version: 3, name: "Team", portrait: nil, members: [Member(alice)], isDissolved: false)
        _ = core.handle(.requestSubmitted(7, .conversation(team)), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .answer(1, .conversation(info))), at: at(1))
                == [.storeConversation(info), .finishRequest(7, .answered(.conversation(info)))])
        let all = AllSettings(person: PersonSettings(hidesContent: true), blocked: [bob])
        _ = core.handle(.requestSubmitted(8, .settings), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .answer(2, .settings(all))), at: at(1))
                == [.noteHiddenContent(true), .storeSettings(all), .finishRequest(8, .answered(.settings(all)))])
    }
}

@Suite struct `Conversations whose members are not known` {
    private let other = ConversationID(type: .group, target: "other")

    @Test func `are asked about one after the other, each once on a connection`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.conversationsIncomplete([self.other, team]), at: at(1))
                == [.sendFrame(1, .request(1, .conversation(self.other)))])
        #expect(core.handle(.conversationsIncomplete([self.other, team]), at: at(1)) == [])
        #expect(
            core.handle(.frameReceived(1, .answer(1, .refused(refusal))), at: at(1))
                == [.sendFrame(1, .request(2, .conversation(team)))])
        #expect(core.handle(.frameReceived(1, .answer(2, .refused(refusal))), at: at(1)) == [])
        #expect(core.handle(.conversationsIncomplete([self.other, team]), at: at(1)) == [])
    }

    @Test func `are asked about when there is a connection again`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.conversationsIncomplete([team]), at: at(1)) == [])
        core.goOnline(1, head: 0, at: at(2))
        let info = ConversationInfo(
            id: team, version: 1, name: "Team", portrait: nil, members: [], isDissolved: false)
        #expect(
            core.handle(.frameReceived(1, .answer(1, .conversation(info))), at: at(3)) == [.storeConversation(info)])
    }
}

@Suite struct `What is of interest only now` {
    private let lobby = ConversationID(type: .chatRoom, target: "lobby")

    private func said(_ number: UInt64) -> Message {
        var message = message(number, in: .chatRoom)
        message.conversation = self.lobby
        return message
    }

    @Test func `is told while there is a connection, and lost without`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.typingRequested(withBob, isTyping: true), at: at(0)) == [])
        core.goOnline(1, head: 0, at: at(0))
        #expect(
            core.handle(.typingRequested(withBob, isTyping: true), at: at(1))
                == [.sendFrame(1, .typing(withBob, isTyping: true))])
        let typing = Signal.typing(withBob, bob, isTyping: true)
        #expect(core.handle(.frameReceived(1, .signal(typing)), at: at(1)) == [.publishSignal(typing)])
    }

    @Test func `of a room is heard from entering to leaving it, in order and once`() {
        var core = ClientCore.online()
        let heard = { (core: inout ClientCore, number: UInt64) in
            core.handle(.frameReceived(1, .signal(.room(self.said(number)))), at: at(2))
        }
        #expect(heard(&core, 1) == [])
        _ = core.handle(.requestSubmitted(7, .enterRoom(self.lobby, history: 2)), at: at(1))
        let answer = ClientAnswer.history([self.said(3), self.said(2)], hasMore: true)
        #expect(
            core.handle(.frameReceived(1, .answer(1, answer)), at: at(1)) == [.finishRequest(7, .answered(answer))])
        #expect(heard(&core, 3) == [])
        #expect(heard(&core, 4) == [.publishSignal(.room(self.said(4)))])
        _ = core.handle(.requestSubmitted(8, .exitRoom(self.lobby)), at: at(2))
        #expect(heard(&core, 5) == [])
    }

    @Test func `of a room goes on after a lost connection with what was missed`() {
        var core = ClientCore.online()
        _ = core.handle(.requestSubmitted(7, .enterRoom(self.lobby, history: 0)), at: at(1))
        _ = core.handle(.frameReceived(1, .answer(1, .history([], hasMore: true))), at: at(1))
        _ = core.handle(.frameReceived(1, .signal(.room(self.said(4)))), at: at(1))
        #expect(
            core.reconnect(2, at: at(5)).contains(
                .sendFrame(2, .request(2, .enterRoom(self.lobby, history: ClientCore.roomHistory)))))
        let missed = [self.said(6), self.said(5), self.said(4)]
        #expect(
            core.handle(.frameReceived(2, .answer(2, .history(missed, hasMore: true))), at: at(5))
                == [.publishSignal(.room(self.said(5))), .publishSignal(.room(self.said(6)))])
    }

    @Test func `of people who are watched goes on after a lost connection, with how they are now`() {
        var core = ClientCore.online()
        let watch = ClientRequest.watch(["bob", "carol"])
        _ = core.handle(.requestSubmitted(7, watch), at: at(1))
        let there = Presence(id: "bob", isOnline: true)
        let away = Presence(id: "carol", isOnline: false)
        let answer = ClientAnswer.presence([there, away])
        #expect(
            core.handle(.frameReceived(1, .answer(1, answer)), at: at(1)) == [.finishRequest(7, .answered(answer))])
        #expect(
            core.handle(.frameReceived(1, .signal(.presence(away))), at: at(1)) == [.publishSignal(.presence(away))])
        #expect(core.reconnect(2, at: at(5)).contains(.sendFrame(2, .request(2, watch))))
        #expect(
            core.handle(.frameReceived(2, .answer(2, answer)), at: at(5))
                == [.publishSignal(.presence(there)), .publishSignal(.presence(away))])
        _ = core.handle(.requestSubmitted(8, .unwatch(["bob"])), at: at(6))
        #expect(core.reconnect(3, at: at(9)).contains(.sendFrame(3, .request(4, .watch(["carol"])))))
    }

    @Test func `of a room that is gone ends with a problem`() {
        var core = ClientCore.online()
        _ = core.handle(.requestSubmitted(7, .enterRoom(self.lobby, history: 0)), at: at(1))
        _ = core.handle(.frameReceived(1, .answer(1, .history([], hasMore: false))), at: at(1))
        _ = core.reconnect(2, at: at(5))
        let gone = ServerFrame.Problem(code: .unknownConversation, rule: "was dissolved")
        #expect(
            core.handle(.frameReceived(2, .answer(2, .refused(gone))), at: at(5))
                == [.publishProblem(.roomLost(self.lobby, gone))])
        #expect(!core.reconnect(3, at: at(9)).contains(where: isRequest))
    }
}

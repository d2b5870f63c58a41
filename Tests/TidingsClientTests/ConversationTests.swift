import ClientCore
import Foundation
import SDKTestSupport
import ServerCore
import StoreModel
import Synchronization
import Testing
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")
private let lobby = ConversationID(type: .chatRoom, target: "lobby")

extension ServerTransport {
    /// Waits for a request.
    @discardableResult
    fileprivate func asked(_ request: ClientRequest) async -> ClientFrame {
        await self.frame { if case .request(_, request) = $0 { true } else { false } }
    }
}

@Suite struct `A client asks the server` {
    /// A client that is connected.
    private func connected(_ bench: ClientBench) async throws -> ChatClient {
        let client = try bench.client()
        try await client.connect(userID: alice, token: "alice")
        return client
    }

    @Test func `to make and change groups`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        bench.server.answerRequests(.done(0))
        let group = try await client.createGroup(
            named: "Team", portrait: URL(string: "https://p"), members: ["carol", bob, "carol"], id: "team")
        #expect(group == team)
        try await client.addMembers(["erin", "dave"], to: team)
        try await client.removeMembers(["erin"], from: team)
        try await client.rename(team, to: "The team")
        try await client.setPortrait(nil, of: team)
        try await client.setRole(.admin, of: bob, in: team)
        try await client.setNickname("Al", of: alice, in: team)
        try await client.mute([bob, "carol", bob], in: team, until: Date(timeIntervalSince1970: 1_763_683_260))
        try await client.unmute([bob], in: team)
        try await client.setOnlyAdminsWrite(true, in: team)
        try await client.ban([bob], from: lobby, until: nil)
        try await client.unban([bob], from: lobby)
        try await client.declineInvitation(to: team)
        try await client.withdrawInvitations(of: ["carol"], to: team)
        try await client.join(lobby)
        try await client.leave(team)
        try await client.dissolve(lobby)
        #expect(
            bench.server.requests == [
                .change(team, .create(name: "Team", portrait: "https://p", members: [bob, "carol"])),
                .change(team, .add(["dave", "erin"])), .change(team, .remove(["erin"])),
                .change(team, .rename("The team")), .change(team, .setPortrait(nil)),
                .change(team, .setRole(bob, .admin)), .change(team, .setNickname(alice, "Al")),
                .change(team, .mute([bob, "carol"], until: 1_763_683_260_000)), .change(team, .unmute([bob])),
                .change(team, .setOnlyAdminsWrite(true)), .change(lobby, .ban([bob], until: nil)),
                .change(lobby, .unban([bob])), .change(team, .decline), .change(team, .withdraw(["carol"])),
                .change(lobby, .join),
                .change(team, .leave), .change(lobby, .dissolve),
            ])
        #expect(try await client.createDiscussion(named: "d").type == .discussion)
        #expect(try await client.createChatRoom(named: "r").type == .chatRoom)
        await client.signOut()
    }

    @Test func `to send images, places and commands, each under its object name`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        var entries = client.logEntries.makeAsyncIterator()
        bench.server.request(
            .putConversation(.init(app: ServerTransport.app, conversation: team, name: "Team", members: [alice, bob])))
        let place = MessageContent.location(.init(latitude: 52.5, longitude: 13.25))
        let image = MessageContent.image(.init(url: "https://a/b.jpg"))
        #expect(try await client.send(image, to: withBob, pushText: "Look!").flags == .normal)
        let sent = try await client.send(place, to: team, mentions: .everyone, lifetime: 60)
        #expect(sent.objectName == .location)
        #expect(sent.content == #"{"latitude":52.5,"longitude":13.25}"#)
        #expect(try await client.sendCommand("refresh", data: "all", to: withBob).flags == .command)
        let drafts = bench.server.frames.compactMap { frame -> MessageDraft? in
            if case .send(let draft) = frame { draft } else { nil }
        }
        #expect(drafts.map(\.objectName) == [.image, .location, .command])
        #expect(drafts.map(\.flags) == [.normal, .normal, []])
        #expect(drafts.map(\.pushText) == ["Look!", nil, nil])
        #expect(drafts[1].lifetimeMilliseconds == 60_000)
        // The command came here, and is not kept.
        for _ in 0..<3 { _ = await entries.next() }
        #expect(try client.history(conversation: withBob).map(\.content) == [image])
        let bad = MessageContent.location(.init(latitude: 91, longitude: 0))
        await #expect(
            throws: ChatError.invalid(
                InvalidField(field: "content.latitude", rule: "must be -90 to 90 degrees, got 91.0"))
        ) { try await client.send(bad, to: withBob) }
        await client.signOut()
    }

    @Test func `to recall, edit and delete messages, and keeps what else an edited one says`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        let sent = try await client.send(
            content: #"{"content":"hi","extra":"x"}"#, objectName: .text, to: withBob)
        while try client.history(conversation: withBob).isEmpty { await Task.yield() }
        bench.server.answerRequests(.done(0))
        try await client.recall(sent.id)
        try await client.edit(sent.id, text: "ho")
        try await client.edit(MessageID(rawValue: 77), text: "new")
        try await client.deleteMessages([MessageID(rawValue: 9), sent.id, sent.id], in: withBob)
        #expect(
            bench.server.requests == [
                .recall(sent.id), .edit(sent.id, content: #"{"content":"ho","extra":"x"}"#),
                .edit(MessageID(rawValue: 77), content: #"{"content":"new"}"#),
                .delete(Deletion(conversation: withBob, messages: [MessageID(rawValue: 9), sent.id])),
            ])
        await client.signOut()
    }

    @Test func `for its history, and for a conversation, which it remembers`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        bench.server.answerRequests(.history([], hasMore: true))
        let page = try await client.serverHistory(conversation: withBob, before: MessageID(rawValue: 9), limit: 3)
        #expect(page == .init(messages: [], hasMore: true))
        #expect(bench.server.requests == [.history(withBob, before: MessageID(rawValue: 9), limit: 3)])
        let info = ConversationInfo(
            id: team, version: 3, name: "Team", portrait: nil, members: [Member(alice, nickname: "Al")],
            isDissolved: false)
        bench.server.answerRequests(.conversation(info))
        #expect(try client.storedConversationInfo(team) == nil)
        #expect(try await client.conversationInfo(team) == info)
        #expect(try client.storedConversationInfo(team) == info)
        let given = ResolvedNames(user: "Alice", group: "Ours")
        #expect(
            await client.filled(given, for: NameQuestion(sender: alice, group: team))
                == ResolvedNames(user: "Alice", group: "Ours", member: "Al", memberCount: 1))
        #expect(await client.filled(given, for: NameQuestion(sender: alice, group: nil)) == given)
        await client.signOut()
    }

    @Test func `for the members of a group it hears of for the first time`() async throws {
        let bench = try ClientBench()
        bench.server.request(
            .putConversation(.init(app: ServerTransport.app, conversation: team, name: "Team", members: [bob])))
        let info = ConversationInfo(
            id: team, version: 2, name: "Team", portrait: nil, members: [Member(alice), Member(bob)],
            isDissolved: false)
        let client = try await self.connected(bench)
        bench.server.request(.request(ServerTransport.app, actor: nil, .change(team, .add([alice]))))
        await bench.server.asked(.conversation(team))
        while try client.storedConversationInfo(team) != info { await Task.yield() }
        await client.signOut()
    }

    @Test func `and says what a person can act on when it refuses`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        let cases: [(ServerFrame.Problem.Code, ChatError)] = [
            (.invalidField, .invalid(InvalidField(field: "f", rule: "r"))), (.unavailable, .unavailable(reason: "r")),
            (.unknownConversation, .unknownConversation(reason: "r")), (.unknownMessage, .unknownMessage(reason: "r")),
            (.notAMember, .notAMember(reason: "r")), (.notAllowed, .notAllowed(reason: "r")), (.blocked, .blocked),
            (.muted, .muted(reason: "r")),
            (.tooLate, .tooLate(reason: "r")), (.exists, .exists(reason: "r")),
            (.unknownObjectName, .unknownObjectName(reason: "r")),
        ]
        for (code, error) in cases {
            bench.server.answerRequests(.refused(.init(code: code, field: "f", rule: "r")))
            await #expect(throws: error) { try await client.recall(MessageID(rawValue: 1)) }
        }
        await client.signOut()
    }

    @Test func `nothing that breaks a rule, and nothing without a connection`() async throws {
        let (bench, client) = try ClientBench.withClient()
        await #expect(throws: ChatError.notSignedIn) { try await client.leave(team) }
        try await client.connect(userID: alice, token: "alice")
        await #expect(
            throws: ChatError.invalid(InvalidField(field: "name", rule: "must be 1 to 256 bytes, got 0"))
        ) { _ = try await client.createGroup(named: "") }
        await #expect(throws: ChatError.invalid(InvalidField(field: "messages", rule: "must be 1 to 100, got 0"))) {
            try await client.deleteMessages([], in: withBob)
        }
        await #expect(throws: ChatError.invalid(InvalidField(field: "limit", rule: "must be 1 to 100, got 0"))) {
            _ = try await client.serverHistory(conversation: withBob, limit: -1)
        }
        client.disconnect()
        for await status in client.connectionStatuses where status == .disconnected { break }
        await #expect(throws: ChatError.notConnected) { try await client.leave(team) }
        #expect(bench.server.requests == [])
        await client.signOut()
    }

    @Test func `and says that nobody knows when the connection is lost before the answer`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        bench.server.answerRequests(nil)
        let leaving = Task { try await client.leave(team) }
        await bench.server.asked(.change(team, .leave))
        bench.server.drop()
        await #expect(throws: ChatError.unknownOutcome) { try await leaving.value }
        await client.signOut()
    }

    @Test func `and is told when the person signs out meanwhile`() async throws {
        let bench = try ClientBench()
        let client = try await self.connected(bench)
        bench.server.answerRequests(nil)
        let leaving = Task { try await client.leave(team) }
        await bench.server.asked(.change(team, .leave))
        await client.signOut()
        await #expect(throws: ChatError.unknownOutcome) { try await leaving.value }
    }
}

@Suite struct `A person's settings on a client` {
    @Test func `hold at once, also without a connection, and are told at the next one`() async throws {
        let (bench, client) = try await ClientBench.connected()
        var messages = client.messages.makeAsyncIterator()
        bench.server.deliver("hi", from: bob, to: alice)
        _ = await messages.next()
        client.disconnect()
        for await status in client.connectionStatuses where status == .disconnected { break }
        try client.setNotificationLevel(.blocked, for: withBob, until: Date(timeIntervalSince1970: 1_800_000_100))
        try client.setNotificationLevel(.mentions, forAll: .group)
        try client.setPushLanguage("zh-Hans")
        #expect(try client.unreadMessageCount() == 0)
        #expect(try client.unreadMessageCount(includingMuted: true) == 1)
        #expect(try client.unreadCount(of: withBob) == 1)
        #expect(try client.mentionCount() == 0)
        #expect(try client.notificationLevel(of: withBob) == .blocked)
        #expect(try client.notificationLevel(of: team) == .mentions)
        let own = ConversationSettings(level: .blocked, levelUntil: 1_800_000_100_000)
        let person = PersonSettings(levels: [.group: .mentions], language: "zh-Hans")
        #expect(try client.settings() == AllSettings(person: person, conversations: [withBob: own]))
        bench.clock.advance(seconds: 100)
        #expect(try client.notificationLevel(of: withBob) == .all)

        bench.server.answerRequests(.done(0))
        try await client.connect(userID: alice, token: "alice")
        await bench.server.asked(.setPersonSettings(person))
        await bench.server.asked(.setConversationSettings(withBob, own))
        while try client.engine?.store.restored().pendingChanges != [] { await Task.yield() }
        #expect(try client.settings() == AllSettings(person: person, conversations: [withBob: own]))
        await client.signOut()
    }

    @Test func `that break a rule are refused here, and change nothing`() async throws {
        let client = try ClientBench().client()
        #expect(throws: ChatError.notSignedIn) { try client.setHidesNotificationContent(true) }
        try await client.connect(userID: alice, token: "alice")
        #expect(throws: ChatError.invalid(InvalidField(field: "level_until", rule: "needs a level"))) {
            try client.setNotificationLevel(nil, for: withBob, until: Date(timeIntervalSince1970: 9))
        }
        let zone = InvalidField(
            field: "quiet_hours.time_zone", rule: "must be in the time-zone database, got \"Europe/Atlantis\"")
        #expect(throws: ChatError.invalid(zone)) {
            try client.setQuietHours(QuietHours(start: 0, end: 9, timeZone: "Europe/Atlantis"))
        }
        let minute = InvalidField(field: "quiet_hours.end", rule: "must be 0 to 1439 minutes after midnight, got 1440")
        #expect(throws: ChatError.invalid(minute)) {
            try client.setQuietHours(QuietHours(start: 0, end: 1_440, timeZone: "Europe/Berlin"))
        }
        #expect(throws: ChatError.self) { try client.setPushLanguage("no tag") }
        #expect(try client.settings() == AllSettings())
        await client.signOut()
    }

    @Test func `are taken back when the server refuses them, with a problem`() async throws {
        let bench = try ClientBench()
        let refusal = ServerFrame.Problem(code: .invalidField, field: "level_until", rule: "must be later")
        bench.server.answerRequests(.refused(refusal))
        let client = try bench.client()
        var problems = client.problems.makeAsyncIterator()
        try await client.connect(userID: alice, token: "alice")
        try client.setNotificationLevel(.blocked, for: withBob)
        #expect(await problems.next() == .settingRefused(refusal))
        while try client.settings() != AllSettings() { await Task.yield() }
        await client.signOut()
    }

    @Test func `about hidden content reach the extension, and the app's own switch does not undo them`() async throws {
        let (bench, client) = try ClientBench.withClient()
        let shows = { try client.engine?.parts.group?.update { $0.settings.showsContent } }
        try await client.connect(userID: alice, token: "alice")
        #expect(try shows() == true)
        try client.setHidesNotificationContent(true)
        while try shows() != false { await Task.yield() }
        client.showsNotificationContent = true
        client.attach(host: KitDouble(), settings: client.kitSettings(hasDelegate: false))
        #expect(try shows() == false)
        let again = try bench.client()
        try await again.connect(userID: alice, token: "alice")
        #expect(try again.engine?.parts.group?.update { $0.settings.showsContent } == false)
        await again.signOut()
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        await client.signOut()
    }

    @Test func `about blocked people are asked of the server, and come back by the log`() async throws {
        let (bench, client) = try await ClientBench.connected()
        bench.server.answerRequests(.done(1))
        try await client.block(bob)
        try await client.unblock("carol")
        #expect(bench.server.requests == [.setBlocked(bob, true), .setBlocked("carol", false)])
        bench.server.request(.setBlocked(bob, true), as: alice)
        while try client.settings().blocked != [bob] { await Task.yield() }
        await client.signOut()
    }
}

import GRDB
import Testing
import TidingsModel

@testable import ClientCore
@testable import TidingsClient

private let withBob = ConversationID(type: .direct, target: "bob")
private let muted = ConversationSettings(level: .blocked, levelUntil: 77)
private let hours = QuietHours(start: 1_320, end: 420, weekdays: [1, 7], timeZone: "Europe/Berlin", manner: .drop)

@Suite struct `Settings in the local store` {
    @Test func `are there after a restart, as the log has them`() throws {
        let bench = try StoreBench()
        let person = PersonSettings(
            levels: [.group: .mentions, .direct: .blocked], quietHours: hours, hidesContent: true, language: "zh-Hans")
        try bench.append(.personSettings(person))
        try bench.append(.conversationSettings(team, muted))
        try bench.append(.conversationSettings(withBob, muted))
        try bench.append(.conversationSettings(withBob, ConversationSettings()))
        for user in ["dave", "carol", "erin"] { try bench.append(.blocked(UserID(user), true)) }
        try bench.append(.blocked("dave", false))
        try bench.reopen()
        #expect(
            try bench.store.restored().preferences
                == AllSettings(person: person, conversations: [team: muted], blocked: ["carol", "erin"]))
    }

    private static let person = PersonSettings(
        levels: [.group: .mentions, .direct: .blocked, .chatRoom: .all], quietHours: hours, hidesContent: true,
        language: "zh-Hans", mayBeAddedBy: .contacts)

    @Test func `are written in one order`() throws {
        let bench = try StoreBench()
        try bench.append(.personSettings(Self.person))
        let written = """
            {"levels":["CHRM","all","GRP","mentions","PR","blocked"],"quiet_hours":{"start":1320,"end":420,\
            "weekdays":[1,7],"time_zone":"Europe/Berlin","manner":"drop"},"hides_content":true,"language":"zh-Hans",\
            "may_be_added_by":"contacts"}
            """
        #expect(try bench.store.read { try String.fetchOne($0, sql: "SELECT value FROM person") } == written)
    }

    @Test func `are read as if that alone was not set which this version does not know`() throws {
        let unset: [(word: String, change: (inout PersonSettings) -> Void)] = [
            ("\"mentions\"", { $0.levels[.group] = nil }), ("\"GRP\"", { $0.levels[.group] = nil }),
            ("1320", { $0.quietHours = nil }), ("\"drop\"", { $0.quietHours?.manner = .defer }),
            ("true", { $0.hidesContent = false }), ("\"contacts\"", { $0.mayBeAddedBy = nil }),
        ]
        for (word, change) in unset {
            let bench = try StoreBench()
            try bench.append(.personSettings(Self.person))
            try bench.store.current.withLock { current in
                try current.queue?.write { database in
                    try database.execute(
                        sql: "UPDATE person SET value = replace(value, ?, '\"later\"')", arguments: [word])
                }
            }
            try bench.reopen()
            var expected = Self.person
            change(&expected)
            #expect(try bench.store.restored().preferences.person == expected, "\(word)")
        }
    }

    @Test(arguments: [
        PendingSettingsChange.conversation(team, muted), .conversation(team, ConversationSettings()),
        .level(.group, .mentionsOfMe), .quietHours(hours), .quietHours(nil), .hidesContent(true), .language("en"),
        .language(nil), .state(team, .pinned(true), at: 7), .state(team, .archived(false), at: 7),
        .state(team, .hidden(upTo: MessageID(rawValue: 9)), at: 7), .state(team, .hidden(upTo: nil), at: 7),
        .state(team, .draft("\"ho\""), at: 7), .state(team, .draft(nil), at: 7),
    ])
    func `requested here are there after a restart, until they are dropped`(pendingChange: PendingSettingsChange) throws
    {
        let bench = try StoreBench()
        _ = try bench.store.writePendingChange(pendingChange)
        try bench.reopen()
        #expect(try bench.store.restored().pendingChanges == [pendingChange])
        _ = try bench.store.removePendingChange(pendingChange, isKept: false)
        #expect(try bench.store.restored() == ClientCore.Restored())
    }

    @Test func `requested here are known as told after a restart, until they change or the log begins anew`() throws {
        let bench = try StoreBench()
        let draft = PendingSettingsChange.state(team, .draft(nil), at: 7)
        let other = PendingSettingsChange.state(team, .draft("ho"), at: 8)
        _ = try bench.store.writePendingChange(draft)
        try bench.store.markPendingChange(other, isTold: true)
        #expect(try bench.store.restored().told == [])
        try bench.store.markPendingChange(draft, isTold: true)
        try bench.reopen()
        #expect(try bench.store.restored().told == [draft])
        _ = try bench.store.writePendingChange(other)
        #expect(try bench.store.restored().told == [])
        try bench.store.markPendingChange(other, isTold: true)
        try bench.store.resetLog(nil)
        #expect(try bench.store.restored().pendingChanges == [other])
        #expect(try bench.store.restored().told == [])
    }

    @Test func `requested here hold over those of the log, and count`() throws {
        let bench = try StoreBench()
        try bench.appendText("hi")
        #expect(try bench.store.writePendingChange(.conversation(team, muted)) == 0)
        try bench.append(.conversationSettings(team, ConversationSettings(level: .mentions)))
        #expect(try bench.store.counts().unread == 0)
        #expect(try bench.store.preferences().current.conversations == [team: muted])
        #expect(try bench.store.removePendingChange(.conversation(team, muted), isKept: false) == 1)
    }

    @Test func `requested here are dropped only if nothing else was requested since`() throws {
        let bench = try StoreBench()
        _ = try bench.store.writePendingChange(.hidesContent(true))
        _ = try bench.store.writePendingChange(.hidesContent(false))
        _ = try bench.store.removePendingChange(.hidesContent(true), isKept: false)
        #expect(try bench.store.restored().pendingChanges == [.hidesContent(false)])
    }

    @Test func `requested here are taken for the log's where it need not say them`() throws {
        let bench = try StoreBench()
        try bench.append(.personSettings(PersonSettings(language: "en")))
        for pendingChange in [PendingSettingsChange.conversation(team, muted), .level(.group, .mentions)] {
            _ = try bench.store.writePendingChange(pendingChange)
            _ = try bench.store.removePendingChange(pendingChange, isKept: true)
        }
        #expect(
            try bench.store.restored().preferences
                == AllSettings(
                    person: PersonSettings(levels: [.group: .mentions], language: "en"), conversations: [team: muted]))
    }

    @Test func `are replaced by the server's answer, and forgotten with another log`() throws {
        let bench = try StoreBench()
        try bench.append(.conversationSettings(withBob, muted))
        let all = AllSettings(person: PersonSettings(hidesContent: true), conversations: [team: muted], blocked: ["x"])
        _ = try bench.store.replaceSettings(all)
        #expect(try bench.store.restored().preferences == all)
        _ = try bench.store.writePendingChange(.hidesContent(false))
        try bench.store.resetLog(nil)
        #expect(try bench.store.restored() == ClientCore.Restored(pendingChanges: [.hidesContent(false)]))
        try bench.store.forgetAll()
        #expect(try bench.store.restored() == ClientCore.Restored())
    }
}

@Suite struct `Members in the local store` {
    private func info(_ bench: StoreBench) throws -> ConversationInfo? { try bench.store.info(team) }

    @Test func `follow the log from the creation on`() throws {
        let bench = try StoreBench()
        let written = try bench.change(1, .create(name: "Team", portrait: "https://p", members: ["alice", "carol"]))
        #expect(written.incomplete == [])
        #expect(
            try self.info(bench)
                == ConversationInfo(
                    id: team, version: 1, name: "Team", portrait: "https://p",
                    members: [Member("alice"), Member("bob", role: .owner), Member("carol")], isDissolved: false))
        _ = try bench.change(2, .add(["dave"]))
        _ = try bench.change(3, .join, by: "erin")
        _ = try bench.change(4, .setNickname("dave", "D"), by: "dave")
        _ = try bench.change(5, .setRole("carol", .admin))
        _ = try bench.change(6, .rename("The team"))
        _ = try bench.change(7, .setPortrait(nil))
        _ = try bench.change(8, .remove(["erin"]))
        #expect(
            try self.info(bench)
                == ConversationInfo(
                    id: team, version: 8, name: "The team", portrait: nil,
                    members: [
                        Member("alice"), Member("bob", role: .owner), Member("carol", role: .admin),
                        Member("dave", nickname: "D"),
                    ], isDissolved: false))
        _ = try bench.change(9, .setRole("alice", .owner))
        #expect(try self.info(bench)?.members.map(\.role) == [.owner, .admin, .admin, .member])
        let end = try bench.change(10, .dissolve, by: "alice")
        #expect(end.incomplete == [])
        #expect(try self.info(bench)?.isDissolved == true)
    }

    @Test func `have a new owner when theirs goes: an admin, otherwise whose id comes first`() throws {
        let bench = try StoreBench()
        _ = try bench.change(1, .create(name: "Team", portrait: nil, members: ["alice", "carol", "dave"]))
        _ = try bench.change(2, .setRole("dave", .admin))
        _ = try bench.change(3, .leave, by: "bob")
        #expect(try self.info(bench)?.members == [Member("alice"), Member("carol"), Member("dave", role: .owner)])
        _ = try bench.change(4, .leave, by: "dave")
        #expect(try self.info(bench)?.members == [Member("alice", role: .owner), Member("carol")])
        _ = try bench.change(5, .leave, by: "carol")
        #expect(try self.info(bench)?.members == [Member("alice", role: .owner)])
    }

    @Test func `are not known for sure to who came later, until the server has told them`() throws {
        let bench = try StoreBench()
        #expect(try bench.change(7, .add(["alice"])).incomplete == [team])
        #expect(try bench.store.nickname(of: "bob", in: team) == nil)
        let told = ConversationInfo(
            id: team, version: 8, name: "Team", portrait: nil, members: [Member("bob", nickname: "Bobby")],
            isDissolved: false)
        try bench.store.writeInfo(told)
        // The answer was newer than the log that follows it.
        #expect(try bench.change(8, .rename("Old")).incomplete == [])
        #expect(try self.info(bench) == told)
        #expect(try bench.store.nickname(of: "bob", in: team) == "Bobby")
        #expect(try bench.change(10, .rename("Newer")).incomplete == [team])
        #expect(try self.info(bench)?.name == "Newer")
        try bench.store.writeInfo(told)
        #expect(try self.info(bench)?.version == 10)
    }

    @Test func `are asked for at the first message of a group the log has not told of, and of no other kind`() throws {
        let bench = try StoreBench()
        let message = { (conversation: ConversationID) in
            LogEntry.Body.message(
                Message(
                    id: MessageID(rawValue: UInt64(conversation.target.utf8.count)), app: "demo", sender: "bob",
                    conversation: conversation, clientMessageID: "c", objectName: .text, content: "{}", flags: .normal,
                    pushText: nil, sentAt: 5))
        }
        #expect(try bench.append(message(team)).incomplete == [team])
        #expect(try bench.append(message(.init(type: .direct, target: "alice"))).incomplete == [])
        #expect(try bench.append(message(.init(type: .chatRoom, target: "lobby"))).incomplete == [])
    }

    @Test func `are nobody's to tell any more where the person is out`() throws {
        let bench = try StoreBench()
        #expect(try bench.change(7, .remove(["alice"])).incomplete == [])
    }

    @Test(arguments: [ConversationAction.add(["alice"]), .join])
    func `are asked for again by who was out and is back`(action: ConversationAction) throws {
        let bench = try StoreBench()
        #expect(try bench.change(7, .remove(["alice"])).incomplete == [])
        #expect(try bench.change(8, action, by: "alice").incomplete == [team])
    }

    @Test func `are not known for sure after a part of the log is gone`() throws {
        let bench = try StoreBench()
        _ = try bench.change(1, .create(name: "Team", portrait: nil, members: ["alice"]))
        _ = try bench.store.skip(after: 1, upTo: 5)
        let change = ConversationChange(conversation: team, version: 2, action: .join, by: "x", at: 1)
        let entry = LogEntry(position: 6, body: .change(change))
        #expect(try bench.store.writeEntries([entry], person: "alice").incomplete == [team])
    }

    @Test func `name conversations in the list`() throws {
        let bench = try StoreBench()
        _ = try bench.change(1, .create(name: "Team", portrait: "https://p", members: ["alice"]))
        try bench.appendText("hi", mentions: .everyone)
        let summary = try #require(try bench.store.conversations(wall: 0).first)
        #expect(summary.name == "Team")
        #expect(summary.portrait == "https://p")
        #expect(summary.unread == 1)
        #expect(summary.mentions == 1)
        #expect(summary.level == .all)
        #expect(!summary.isDissolved)
    }
}

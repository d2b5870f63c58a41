import Testing
import TidingsModel

@testable import TidingsWire

private let team = #""conversation":{"type":"GRP","target":"team"}"#
private let room = #""conversation":{"type":"CHRM","target":"lobby"}"#

/// The fault of a client frame in JSON; nil if it is accepted.
private func fault(_ json: String) -> FrameError? {
    do throws(FrameError) {
        _ = try FrameCodec.decodeClientFrame(Array(json.utf8), as: .json)
        return nil
    } catch {
        return error
    }
}

@Suite struct `A request that breaks a rule` {
    /// The request's member, the field at fault, and the rule.
    static let bad: [(String, String, String)] = [
        (
            #""change":{"conversation":{"type":"PR","target":"bob"},"action":{"leave":{}}}"#,
            "conversation.type", "must be DS, GRP or CHRM: others have no members"
        ),
        (
            #""change":{"conversation":{"type":"GRP","target":"a b"},"action":{"leave":{}}}"#,
            "conversation.target", "must not contain spaces or control characters"
        ),
        (
            #""change":{"action":{"leave":{}}}"#,
            "conversation.type", "must be one of PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM"
        ),
        (#""change":{\#(team)}"#, "action", "must be one that protocol version 1 of this server knows"),
        (
            #""change":{\#(team),"action":{"explode":{}}}"#,
            "action", "must be one that protocol version 1 of this server knows"
        ),
        (#""change":{\#(team),"action":{"create":{}}}"#, "name", "must be 1 to 256 bytes, got 0"),
        (
            #""change":{\#(team),"action":{"create":{"name":"T","portrait":""}}}"#,
            "portrait", "must be 1 to 1024 bytes, got 0"
        ),
        (#""change":{\#(team),"action":{"create":{"name":"T","members":[""]}}}"#, "members", "must not be empty"),
        (#""change":{\#(team),"action":{"add":{}}}"#, "users", "must not be empty"),
        (
            #""change":{\#(team),"action":{"add":{"users":["a b"]}}}"#,
            "users", "must not contain spaces or control characters"
        ),
        (#""change":{\#(team),"action":{"remove":{}}}"#, "users", "must not be empty"),
        (
            #""change":{\#(team),"action":{"rename":{"name":"\#(String(repeating: "é", count: 129))"}}}"#,
            "name", "must be 1 to 256 bytes, got 258"
        ),
        (
            #""change":{\#(team),"action":{"setPortrait":{"portrait":"\#(String(repeating: "x", count: 1_025))"}}}"#,
            "portrait", "must be 1 to 1024 bytes, got 1025"
        ),
        (
            #""change":{\#(team),"action":{"setRole":{"user":"bob","role":"king"}}}"#,
            "role", "must be one of owner, admin, member"
        ),
        (#""change":{\#(team),"action":{"setRole":{"role":"admin"}}}"#, "user", "must not be empty"),
        (
            #""change":{\#(team),"action":{"setNickname":{"user":"bob","nickname":""}}}"#,
            "nickname", "must be 1 to 256 bytes, got 0"
        ),
        (#""recall":{"message":"short"}"#, "message", "must be 13 digits of Crockford's base 32"),
        (#""edit":{"message":"01qdq6qdr0000"}"#, "content", "must not be empty"),
        (
            #""edit":{"message":"01qdq6qdr0000","content":"\#(String(repeating: "x", count: 32_769))"}"#,
            "content", "must be at most 32768 bytes, got 32769"
        ),
        (#""edit":{"content":"x"}"#, "message", "must be 13 digits of Crockford's base 32"),
        (#""delete":{\#(team)}"#, "messages", "must be 1 to 100, got 0"),
        (#""delete":{\#(team),"messages":["x"]}"#, "messages", "must be 13 digits of Crockford's base 32"),
        (#""delete":{\#(team),"messages":[\#(Self.messages(101))]}"#, "messages", "must be 1 to 100, got 101"),
        (
            #""setConversationSettings":{\#(team),"level":"loud"}"#,
            "level", "must be one of all, mentions, mentions_of_me, mentions_of_all, blocked"
        ),
        (#""setConversationSettings":{\#(team),"levelUntil":"9"}"#, "level_until", "needs a level"),
        (
            #""setConversationSettings":{\#(team),"level":"all","levelUntil":"0"}"#,
            "level_until", "must be milliseconds since 1970, from 1577836800000 to 9007199254740991, got 0"
        ),
        (
            #""setConversationSettings":{\#(team),"level":"all","levelUntil":"1800000000"}"#, "level_until",
            "must be milliseconds since 1970, from 1577836800000 to 9007199254740991, got 1800000000, which looks like seconds"
        ),
        (
            #""change":{\#(team),"action":{"mute":{"users":["bob"],"until":"9007199254740992"}}}"#, "until",
            "must be milliseconds since 1970, from 1577836800000 to 9007199254740991, got 9007199254740992"
        ),
        (
            #""change":{\#(room),"action":{"ban":{"users":["bob"],"until":"5"}}}"#, "until",
            "must be milliseconds since 1970, from 1577836800000 to 9007199254740991, got 5"
        ),
        (
            #""setPersonSettings":{"levels":[{"type":"XX","level":"all"}]}"#,
            "levels.type", "must be one of PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM"
        ),
        (
            #""setPersonSettings":{"levels":[{"type":"PR","level":""}]}"#,
            "levels.level", "must be one of all, mentions, mentions_of_me, mentions_of_all, blocked"
        ),
        (
            #""setPersonSettings":{"levels":[{"type":"PR","level":"all"},{"type":"PR","level":"blocked"}]}"#,
            "levels.type", "must name each kind once, got PR twice"
        ),
        (
            #""setPersonSettings":{"quietHours":{"start":1440,"timeZone":"UTC","manner":"drop"}}"#,
            "quiet_hours.start", "must be 0 to 1439 minutes after midnight, got 1440"
        ),
        (
            #""setPersonSettings":{"quietHours":{"end":-1,"timeZone":"UTC","manner":"drop"}}"#,
            "quiet_hours.end", "must be 0 to 1439 minutes after midnight, got -1"
        ),
        (
            #""setPersonSettings":{"quietHours":{"weekdays":[0],"timeZone":"UTC","manner":"drop"}}"#,
            "quiet_hours.weekdays", "must be 1 (Monday) to 7 (Sunday), got 0"
        ),
        (
            #""setPersonSettings":{"quietHours":{"manner":"drop"}}"#,
            "quiet_hours.time_zone", "must be 1 to 64 bytes"
        ),
        (#""setPersonSettings":{"quietHours":{"timeZone":"UTC"}}"#, "quiet_hours.manner", "must be one of defer, drop"),
        (
            #""setPersonSettings":{"language":"en_GB"}"#,
            "language", "must be a BCP 47 tag of 1 to 35 letters, digits and hyphens"
        ),
        (
            #""setConversationSettings":{\#(team),"level":"all","isArchived":true}"#,
            "settings", "must be a level: pins, archive, hiding and drafts are changed one by one"
        ),
        (
            #""setConversationState":{\#(team)}"#, "change",
            "must be one that protocol version 1 of this server knows"
        ),
        (
            #""setConversationState":{"isPinned":true}"#,
            "conversation.type", "must be one of PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM"
        ),
        (
            #""setConversationState":{\#(team),"hiddenUpTo":"x"}"#,
            "hidden_up_to", "must be 13 digits of Crockford's base 32"
        ),
        (
            #""setConversationState":{\#(team),"draft":"\#(String(repeating: "x", count: 4_097))"}"#,
            "draft", "must be 1 to 4096 bytes, got 4097"
        ),
        (#""signOutDevice":{}"#, "device", "must not be empty"),
        (#""setBlocked":{"isBlocked":true}"#, "user", "must not be empty"),
        (
            #""conversation":{"conversation":{"type":"SYS","target":"a"}}"#,
            "conversation.type", "must be DS, GRP or CHRM: others have no members"
        ),
        (#""history":{\#(team)}"#, "limit", "must be 1 to 100, got 0"),
        (#""history":{\#(team),"limit":101}"#, "limit", "must be 1 to 100, got 101"),
        (#""history":{\#(team),"before":"","limit":1}"#, "before", "must be 13 digits of Crockford's base 32"),
        (#""enterRoom":{\#(team)}"#, "conversation.type", "must be CHRM, got GRP"),
        (#""enterRoom":{\#(room),"history":101}"#, "history", "must be 0 to 100, got 101"),
        (#""exitRoom":{\#(team)}"#, "conversation.type", "must be CHRM, got GRP"),
        (#""receipts":{"message":"x"}"#, "message", "must be 13 digits of Crockford's base 32"),
        (#""watch":{}"#, "users", "must be 1 to 200, got 0"),
        (#""unwatch":{"users":[""]}"#, "users", "must not be empty"),
        (#""later":{}"#, "request", "must be one that protocol version 1 of this server knows"),
    ]

    private static func messages(_ count: UInt64) -> String {
        (0..<count).map { "\"\(MessageID(rawValue: $0))\"" }.joined(separator: ",")
    }

    @Test(arguments: bad) func `is refused alone, by field and rule`(body: String, field: String, rule: String) {
        #expect(
            fault(#"{"request":{"number":"7",\#(body)}}"#) == .invalidRequest(InvalidField(field: field, rule: rule), 7)
        )
    }

    @Test func `has a number from 1 on`() {
        #expect(
            fault(#"{"request":{"settings":{}}}"#)
                == .invalidRequest(InvalidField(field: "request.number", rule: "must be at least 1"), 0))
    }

    @Test func `says its field first`() {
        let error = FrameError.invalidRequest(InvalidField(field: "name", rule: "must not be empty"), 7)
        #expect(error.description == "name must not be empty")
    }
}

@Suite struct `Whom a send addresses` {
    private func send(_ more: String, to conversation: String = team) -> String {
        #"{"send":{"clientMessageId":"c",\#(conversation),"objectName":"o","content":"x",\#(more)}}"#
    }

    @Test(arguments: [
        (#""mentions":{"everyone":true,"users":["bob"]}"#, "mentions.users"),
        (#""mentions":{"users":[""]}"#, "mentions.users"),
        (#""mentions":{"users":[\#((0..<101).map { "\"u\($0)\"" }.joined(separator: ","))]}"#, "mentions.users"),
        (#""recipients":["a b"]"#, "recipients"),
        (#""recipients":[\#((0..<101).map { "\"u\($0)\"" }.joined(separator: ","))]"#, "recipients"),
        (#""lifetimeMs":"0""#, "lifetime_ms"),
        (#""lifetimeMs":"2592000001""#, "lifetime_ms"),
    ]) func `is checked, and that send alone refused`(more: String, field: String) {
        guard case .invalid(let invalid, send: "c") = fault(self.send(more)) else {
            Issue.record("accepted, or not laid at the door of the send")
            return
        }
        #expect(invalid.field == field)
    }

    @Test func `is nobody by name where there are no members`() {
        let direct = #""conversation":{"type":"PR","target":"bob"}"#
        for (more, field) in [(#""mentions":{"everyone":true}"#, "mentions"), (#""recipients":["bob"]"#, "recipients")]
        {
            guard case .invalid(let invalid, send: "c") = fault(self.send(more, to: direct)) else {
                Issue.record("accepted")
                return
            }
            #expect(invalid.field == field)
        }
    }

    @Test func `is read in any order, with repeats, and kept sorted without`() throws {
        let json = self.send(#""mentions":{"users":["carol","bob","carol"]},"recipients":["carol","bob","bob"]"#)
        guard case .send(let draft) = try FrameCodec.decodeClientFrame(Array(json.utf8), as: .json) else {
            Issue.record("no send")
            return
        }
        #expect(draft.mentions == .users(["bob", "carol"]))
        #expect(draft.recipients == ["bob", "carol"])
    }

    @Test func `may be left empty`() throws {
        let json = self.send(#""mentions":{},"recipients":[]"#)
        guard case .send(let draft) = try FrameCodec.decodeClientFrame(Array(json.utf8), as: .json) else {
            Issue.record("no send")
            return
        }
        #expect(draft.mentions == .none)
        #expect(draft.recipients.isEmpty)
    }
}

@Suite struct `What a newer server says` {
    private func decode(_ json: String) throws -> ServerFrame {
        try FrameCodec.decodeServerFrame(Array(json.utf8), as: .json)
    }

    @Test(arguments: WireFormat.allCases) func `as an entry is a bare position`(format: WireFormat) throws {
        let frame: [UInt8] =
            switch format {
            // Field 60 of the entry, a message with one byte of text.
            case .protobuf: [0x22, 0x08, 0x08, 0x09, 0xe2, 0x03, 0x03, 0x0a, 0x01, 0x78]
            case .json: Array(#"{"entry":{"position":"9","later":{"text":"x"}}}"#.utf8)
            }
        #expect(
            try FrameCodec.decodeServerFrame(frame, as: format) == .entry(LogEntry(position: 9, body: .unknown)))
    }

    @Test func `in a page leaves the entries around it whole`() throws {
        let read = #""read":{"conversation":{"type":"PR","target":"bob"},"upTo":"1"}"#
        let page = try self.decode(
            #"{"page":{"entries":[{"position":"1","later":{}},{"position":"2",\#(read)}],"head":"2"}}"#)
        #expect(
            page
                == .page(
                    ServerFrame.Page(
                        after: 0,
                        entries: [
                            LogEntry(position: 1, body: .unknown),
                            LogEntry(
                                position: 2,
                                body: .read(conversation: ConversationID(type: .direct, target: "bob"), upTo: 1)),
                        ], head: 2, unread: 0)))
    }

    @Test func `was done with a conversation is a bare position, too`() throws {
        let change = #""change":{\#(team),"version":"3","action":{"explode":{}}}"#
        #expect(
            try self.decode(#"{"entry":{"position":"9",\#(change)}}"#)
                == .entry(LogEntry(position: 9, body: .unknown)))
    }

    @Test func `as an answer is a refusal, so that nobody waits for ever`() throws {
        #expect(
            try self.decode(#"{"answer":{"number":"4","later":{}}}"#)
                == .answer(
                    4,
                    .refused(
                        ServerFrame.Problem(
                            code: .unsupportedVersion, field: "answer",
                            rule: "is of a kind that this build does not know"))))
    }

    @Test func `as a problem is a refusal that names the code`() throws {
        let problem = #"{"code":"out_of_tea","field":"pot","rule":"must not be empty"}"#
        #expect(
            try self.decode(#"{"sendRefused":{"clientMessageId":"c","problem":\#(problem)}}"#)
                == .sendRefused(
                    "c",
                    ServerFrame.Problem(code: .invalidField, field: "pot", rule: "must not be empty (out_of_tea)")))
    }

    @Test func `as a frame or a signal is told apart from a broken one`() {
        for json in [#"{"later":{}}"#, #"{"signal":{"later":{}}}"#] {
            #expect(throws: FrameError.empty) { try self.decode(json) }
        }
    }

    @Test(arguments: [
        (#"{"entry":{"read":{"conversation":{"type":"PR","target":"b"}}}}"#, "entry.position"),
        (#"{"entry":{"position":"1","recall":{"message":"01qdq6qdr0000"}}}"#, "recall.id"),
        (#"{"entry":{"position":"1","edit":{}}}"#, "edit.message"),
        (#"{"entry":{"position":"1","deletion":{\#(team),"messages":["x"]}}}"#, "messages"),
        (#"{"entry":{"position":"1","conversationSettings":{\#(team),"level":"loud"}}}"#, "level"),
        (#"{"answer":{"number":"1","conversation":{\#(team),"members":[{"user":"a"}]}}}"#, "members.role"),
        (#"{"answer":{"number":"1","history":{"messages":[{}]}}}"#, "message.id"),
    ]) func `is named where it breaks a rule`(json: String, field: String) {
        do {
            _ = try self.decode(json)
            Issue.record("accepted")
        } catch FrameError.invalid(let invalid, send: nil) {
            #expect(invalid.field == field)
        } catch {
            Issue.record(error)
        }
    }
}

import HTTPTypes
import ServerCore
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A request of the HTTP API that breaks a rule` {
    private static let custom = #""recipients":["bob"],"client_message_id":"c","content":"x""#
    private static let send =
        #""sender":"a","client_message_id":"c","conversation":{"type":"GRP","target":"team"},"text":"x""#
    private static let kinds =
        "direct (PR), discussion (DS), group (GRP), customer_service (CS), system (SYS), app_public_service (MC), "
        + "public_service (MP), push_service (PH), chat_room (CHRM)"

    static let bad: [(HTTPRequest.Method, String, String?, String)] = [
        (.post, "conversations/PR/bob", "{}", "type must be discussion, group or chat_room: others have no members"),
        (.post, "conversations/XX/bob", "{}", "type must be one of \(Self.kinds)"),
        (
            .post, "conversations/GRP/a%20b", #"{"name":"T","members":[]}"#,
            "id must not contain spaces or control characters"
        ),
        (.post, "conversations/GRP/team?actor=", #"{"name":"T","members":[]}"#, "actor must not be empty"),
        (.post, "conversations/GRP/team", #"{"members":[]}"#, "name must be present"),
        (.post, "conversations/GRP/team", #"{"name":"","members":[]}"#, "name must be 1 to 256 bytes, got 0"),
        (.post, "conversations/GRP/team", #"{"name":"T"}"#, "members must be present"),
        (.put, "object-names", "{}", "names must be present"),
        (
            .put, "object-names", #"{"names":["my:Card","a b"]}"#,
            "names[1] must not contain spaces or control characters"
        ),
        (.get, "users/bob/unread/XX/team", nil, "type must be one of \(Self.kinds)"),
        (.post, "conversations/GRP/team", #"{"name":"T","members":["a",""]}"#, "members[1] must not be empty"),
        (
            .post, "conversations/GRP/team", #"{"name":"T","portrait":"","members":[]}"#,
            "portrait must be 1 to 1024 bytes, got 0"
        ),
        (
            .post, "conversations/GRP/team", #"{"name":"T","members":[],"owner":"a"}"#,
            "owner is not known here; known are members, name, portrait"
        ),
        (.put, "conversations/GRP/team", #"{"members":[],"portrait":""}"#, "portrait must be 1 to 1024 bytes, got 0"),
        (.put, "conversations/GRP/team/name", #"{"name":7}"#, "name must be a string, got a number"),
        (.put, "conversations/GRP/team/name", nil, "body must be JSON: the text ends too early at byte 0"),
        (.post, "conversations/GRP/team/members", #"{"users":[]}"#, "users must not be empty"),
        (.post, "conversations/GRP/team/members", #"{"users":"bob"}"#, "users must be an array, got a string"),
        (
            .put, "conversations/GRP/team/members/b/role", #"{"role":"king"}"#,
            "role must be one of owner, admin, member"
        ),
        (
            .put, "conversations/GRP/team/members/b/nickname", #"{"nickname":""}"#,
            "nickname must be 1 to 256 bytes, got 0"
        ),
        (.get, "conversations/GRP/team/messages", nil, "user must be present"),
        (
            .get, "conversations/GRP/team/messages?user=b&before=x", nil,
            "before is not known in the query here; known are user, cursor, limit"
        ),
        (
            .get, "conversations/GRP/team/messages?user=b&cursor=x", nil,
            "cursor must be the next of an earlier answer of this list"
        ),
        (.get, "conversations/GRP/team/messages?user=b&limit=0", nil, "limit must be a whole number from 1 to 100"),
        (.patch, "messages/x", #"{"content":"x"}"#, "id must be a message id of 13 characters"),
        (.patch, "messages/01qdq6qdr0000", "{}", "content must be present, or text"),
        (.patch, "messages/01qdq6qdr0000", #"{"text":"a","content":{}}"#, "text must be left out beside content"),
        (
            .post, "messages", "{\(Self.send.replacing("\"text\"", with: "\"content\""))}",
            "content must be a JSON object, as text or as it is, for a message of type RC:TxtMsg"
        ),
        (
            .post, "messages", "{\(Self.send.replacing("\"text\":\"x\"", with: "\"content\":{\"txt\":\"x\"}"))}",
            #"content must say something, as {"content": "Lunch?"} does, in a message of type RC:TxtMsg"#
        ),
        (
            .post, "messages", #"{\#(Self.send),"object_name":"image"}"#,
            "text must be left out of a message of type RC:ImgMsg: it has content"
        ),
        (
            .post, "messages", "{\(Self.send.replacing("\"GRP\"", with: "\"GRP\",\"type_name\":\"direct\""))}",
            "conversation.type_name must be group"
        ),
        (.put, "object-names", #"{"names":["text"]}"#, "names[0] must not be the word for a built-in type"),
        (
            .put, "users/b/settings", #"{"levels":{"PR":"all","direct":"all"}}"#,
            "levels.direct must not be there twice, by code and word"
        ),
        (.patch, "messages/01qdq6qdr0000", #"{"content":""}"#, "content must not be empty"),
        (.delete, "messages/01qdq6qdr0000?actor=a%20b", nil, "actor must not contain spaces or control characters"),
        (
            .post, "messages", #"{\#(Self.send),"mentions":{"everyone":true,"users":["b"]}}"#,
            "mentions.users must be empty if everyone is mentioned"
        ),
        (
            .post, "messages", #"{\#(Self.send),"mentions":{"all":true}}"#,
            "mentions.all is not known here; known are everyone, users"
        ),
        (
            .post, "messages", #"{\#(Self.send),"mentions":{"users":[7]}}"#,
            "mentions.users[0] must be a string, got a number"
        ),
        (.post, "messages", #"{\#(Self.send),"recipients":[""]}"#, "recipients[0] must not be empty"),
        (
            .post, "messages", #"{\#(Self.send),"lifetime_ms":0}"#,
            "lifetime_ms must be a whole number from 1 to 2592000000"
        ),
        (
            .post, "messages", #"{\#(Self.send.replacing("GRP", with: "PR")),"recipients":["b"]}"#,
            "recipients must be empty but in a group or discussion, got type PR"
        ),
        (
            .post, "custom-messages", #"{"recipients":[],"client_message_id":"c","content":"x"}"#,
            "recipients must be 1 to 1000 people, got 0"
        ),
        (
            .post, "custom-messages", #"{"recipients":["b"],"client_message_id":"","content":"x"}"#,
            "client_message_id must not be empty"
        ),
        (
            .post, "custom-messages", #"{"recipients":["b"],"client_message_id":"c","content":""}"#,
            "content must not be empty"
        ),
        (.post, "custom-messages", #"{\#(Self.custom),"extras":[]}"#, "extras must be an object, got an array"),
        (
            .post, "custom-messages", #"{\#(Self.custom),"title":"\#(String(repeating: "x", count: 257))"}"#,
            "title must be at most 256 bytes, got 257"
        ),
        (
            .post, "custom-messages", #"{\#(Self.custom),"content_type":"\#(String(repeating: "x", count: 129))"}"#,
            "content_type must be at most 128 bytes, got 129"
        ),
        (
            .post, "custom-messages", #"{\#(Self.custom),"extras":{"x":"\#(String(repeating: "x", count: 8_192))"}}"#,
            "extras must be at most 8192 bytes, got 8200"
        ),
        (
            .put, "users/b/settings", #"{"levels":{"XX":"all"}}"#,
            "levels must be one of \(Self.kinds)"
        ),
        (
            .put, "users/b/settings", #"{"levels":{"PR":"loud"}}"#,
            "levels.PR must be one of all, mentions, mentions_of_me, mentions_of_all, blocked"
        ),
        (.put, "users/b/settings", #"{"levels":{"PR":1}}"#, "levels.PR must be a string, got a number"),
        (.put, "users/b/settings", #"{"hides_content":1}"#, "hides_content must be a Boolean, got a number"),
        (
            .put, "users/b/settings", #"{"language":"en_GB"}"#,
            "language must be a BCP 47 tag of 1 to 35 letters, digits and hyphens"
        ),
        (
            .put, "users/b/settings", #"{"quiet_hours":{"end":1,"time_zone":"UTC"}}"#,
            "quiet_hours.start must be present"
        ),
        (
            .put, "users/b/settings", #"{"quiet_hours":{"start":1440,"end":1,"time_zone":"UTC"}}"#,
            "quiet_hours.start must be a whole number from 0 to 1439"
        ),
        (
            .put, "users/b/settings", #"{"quiet_hours":{"start":1,"end":1,"weekdays":[8],"time_zone":"UTC"}}"#,
            "quiet_hours.weekdays[0] must be a whole number from 1 to 7"
        ),
        (
            .put, "users/b/settings", #"{"quiet_hours":{"start":1,"end":1,"time_zone":""}}"#,
            "quiet_hours.time_zone must be 1 to 64 bytes"
        ),
        (
            .put, "users/b/settings", #"{"quiet_hours":{"start":1,"end":1,"time_zone":"UTC","manner":"x"}}"#,
            "quiet_hours.manner must be one of defer, drop"
        ),
        (.put, "users/b/settings/GRP/team", "{}", "level must be present"),
        (
            .put, "users/b/settings/GRP/team", #"{"level":"all","level_until":0}"#,
            "level_until must be milliseconds since 1970, from 1577836800000 to 9007199254740991, got 0"
        ),
        (
            .put, "conversations/GRP/team/only-admins-write", "{}", "only_admins_write must be present"
        ),
        (
            .put, "users/bob/settings", #"{"may_be_added_by":"friends"}"#,
            "may_be_added_by must be one of everybody, contacts, nobody"
        ),
        (.put, "users/a%20b/blocked/c", nil, "user must not contain spaces or control characters"),
        (.delete, "users/b/blocked/a%20b", nil, "other must not contain spaces or control characters"),
        (.get, "users/a%20b/unread", nil, "user must not contain spaces or control characters"),
        (.get, "users/a%20b/devices", nil, "user must not contain spaces or control characters"),
        (.delete, "users/bob/devices/a%20b", nil, "device must not contain spaces or control characters"),
    ]

    @Test(arguments: bad) func `is refused by field and rule, and the core not asked`(
        method: HTTPRequest.Method, path: String, body: String?, problem: String
    ) async throws {
        let api = try await APIDouble()
        let answer = try await api.request(method, path, body)
        #expect(answer.status == 400)
        #expect(answer.problem == problem)
        #expect(api.commands.isEmpty && api.reads.isEmpty)
    }

    @Test(
        arguments: [
            (HTTPRequest.Method.put, "users/bob/blocked/mallory"), (.put, "accounts/MP/news/followers/bob"),
            (.get, "users/bob"), (.delete, "messages/01qdq6qdr0000"), (.delete, "users/bob/devices/phone"),
        ], [("Content-Length", "2"), ("Transfer-Encoding", "chunked")])
    func `by a body where the route has none is refused`(
        route: (HTTPRequest.Method, String), header: (String, String)
    ) async throws {
        let api = try await APIDouble()
        let answer = try await api.request(route.0, route.1, "{}", headers: [header])
        #expect(answer.status == 400)
        #expect(answer.problem == "body must be left out: this route has none")
        #expect(api.commands.isEmpty && api.reads.isEmpty)
        _ = try await api.request(route.0, route.1, headers: [("Content-Length", "0")])
        #expect(!api.commands.isEmpty || !api.reads.isEmpty)
    }

    @Test(arguments: [
        (ServerFrame.Problem.Code.unknownConversation, 404), (.unknownMessage, 404), (.notAMember, 403),
        (.notAllowed, 403), (.blocked, 403), (.exists, 409), (.tooLate, 409), (.invalidField, 400),
        (.unknownObjectName, 400), (.unavailable, 503), (.rateLimited, 429), (.storageFull, 507), (.disabled, 403),
        (.banned, 403), (.muted, 403),
    ]) func `by the core has the status that fits`(code: ServerFrame.Problem.Code, status: Int) async throws {
        let problem = ServerFrame.Problem(code: code, field: "message", rule: "will not do")
        // What is asked for where that code can be the answer, and whether a client could ask it, too.
        let (method, path, body, isRequest): (HTTPRequest.Method, String, String?, Bool) =
            switch code {
            case .exists: (.post, "conversations/GRP/team", #"{"name":"T","members":[]}"#, true)
            case .storageFull: (.patch, "messages/01qdq6qdr0000", #"{"content":"x"}"#, true)
            case .unknownObjectName: (.post, "messages", "{\(Self.send)}", false)
            case .disabled: (.post, "tokens", #"{"user":"bob"}"#, false)
            default: (.delete, "messages/01qdq6qdr0000", nil, true)
            }
        for result in [APIResult.refused(problem)] + (isRequest ? [.answer(.refused(problem))] : []) {
            let answer = try await APIDouble(answering: result).request(method, path, body)
            #expect(answer.status == status)
            #expect(answer.json["code"] == .string(code.rawValue))
            #expect(answer.problem == "message will not do")
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "conversations/GRP/team", APIScope.conversations),
        (.get, "conversations/GRP/team/messages?user=bob", .history), (.delete, "messages/01qdq6qdr0000", .messages),
        (.post, "custom-messages", .messages), (.get, "users/bob/settings", .settings),
        (.delete, "users/bob/blocked/mallory", .settings), (.get, "users/bob/unread", .settings),
        (.get, "users/bob/devices", .settings), (.delete, "users/bob/devices", .settings),
        (.delete, "users/bob/devices/phone", .settings),
    ]) func `for want of the scope is refused with its name`(
        method: HTTPRequest.Method, path: String, scope: APIScope
    ) async throws {
        let api = try await APIDouble(scopes: APIScope.allCases.filter { $0 != scope })
        let answer = try await api.request(method, path)
        #expect(answer.status == 403)
        #expect(answer.problem == "Authorization needs a key with the scope \(scope.rawValue)")
        #expect(api.commands.isEmpty && api.reads.isEmpty)
    }
}

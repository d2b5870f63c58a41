import Testing
import TidingsModel

@Suite struct `Options of a notification` {
    private static let all = PushOptions(
        title: "Order", subtitle: .localized(key: "FROM", arguments: ["Ada", "7"]), text: "Ready", sound: "horn.caf",
        category: "ORDER", interruptionLevel: .timeSensitive, relevance: 750, threadID: "orders",
        imageURL: "https://a/b.png", custom: JSONObject([("order", 7)]))

    private static let message = Message(
        id: MessageID(rawValue: 7), app: "shop", sender: "ada",
        conversation: ConversationID(type: .direct, target: "bo"),
        clientMessageID: "c", objectName: .text, content: "{}", flags: .normal, pushText: nil, sentAt: 1)

    private static func fault(_ json: JSONValue) -> String? {
        do throws(InvalidField) {
            _ = try PushOptions(parsing: json.serialized)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `have one form in JSON, and come back the same`() throws {
        let score = JSONNumber(0.75).map { JSONValue.number($0) } ?? .null
        let json: JSONValue = [
            "title": "Order", "subtitle": ["loc_key": "FROM", "loc_args": ["Ada", "7"]], "text": "Ready",
            "sound": "horn.caf", "category": "ORDER", "interruption_level": "time-sensitive", "relevance_score": score,
            "thread_id": "orders", "image": "https://a/b.png", "custom": ["order": 7],
        ]
        #expect(Self.all.json == json)
        #expect(try PushOptions(parsing: json.serialized) == Self.all)
        #expect(PushOptions(stored: json.text) == Self.all)
        #expect(try PushOptions(parsing: JSONValue.members([]).serialized) == PushOptions())
    }

    @Test func `of a newer server are taken as far as this build knows them, of a caller refused`() {
        let json: JSONValue = ["sound": "horn.caf", "haptics": "strong"]
        #expect(PushOptions(stored: json.text) == PushOptions(sound: "horn.caf"))
        #expect(Self.fault(json)?.hasPrefix("push.haptics ") == true)
        #expect(PushOptions(stored: "\0\0\0") == nil)
        #expect(PushOptions(stored: nil as String?) == nil)
    }

    @Test(
        arguments: [
            (["title": ""], "push.title must not be empty"),
            (["title": 7], "push.title must be a string, got a number"),
            (
                ["subtitle": .string(String(repeating: "x", count: 257))],
                "push.subtitle must be at most 256 bytes, got 257"
            ),
            (["text": .string(String(repeating: "x", count: 1_025))], "push.text must be at most 1024 bytes, got 1025"),
            (["title": ["loc_key": ""]], "push.title.loc_key must not be empty"),
            (["title": ["loc_args": ["a"]]], "push.title.loc_key is missing"),
            (
                ["title": ["loc_key": "A", "args": []]],
                "push.title.args is not known here; known are loc_args, loc_key"
            ),
            (
                ["text": ["loc_key": "A", "loc_args": [.string(String(repeating: "x", count: 256))]]],
                "push.text must be at most 256 bytes of JSON with its loc_args, got 287"
            ),
            (["sound": ""], "push.sound must be 1 to 64 bytes, got 0"),
            (["sound": "a\nb"], "push.sound must not contain control characters"),
            (["category": .string(String(repeating: "x", count: 65))], "push.category must be 1 to 64 bytes, got 65"),
            (["thread_id": ""], "push.thread_id must be 1 to 64 bytes, got 0"),
            (
                ["interruption_level": "loud"],
                "push.interruption_level must be one of passive, active, time-sensitive, critical, got \"loud\""
            ),
            (["relevance_score": 2], "push.relevance_score must be a number from 0 to 1"),
            (["relevance_score": "1"], "push.relevance_score must be a number from 0 to 1"),
            (
                ["image": "http://a/b.png"],
                "push.image must be an https URL in ASCII without spaces, or media: and the id of a file of the server"
            ),
            (
                ["custom": ["aps": 1]],
                "push.custom.aps must not be set: aps, rc, tidings, message are reserved"
            ),
            (["custom": ["rc": 1]], "push.custom.rc must not be set: aps, rc, tidings, message are reserved"),
            (["custom": ["tidings": 1]], "push.custom.tidings must not be set: aps, rc, tidings, message are reserved"),
            (["custom": ["message": 1]], "push.custom.message must not be set: aps, rc, tidings, message are reserved"),
            (
                ["custom": ["x": .string(String(repeating: "x", count: 1_017))]],
                "push.custom must be at most 1024 bytes of JSON, got 1025"
            ),
        ] as [(JSONValue, String)])
    func `are refused by the field and its rule`(json: JSONValue, fault: String) { #expect(Self.fault(json) == fault) }

    @Test func `are as deep as a request may be, and no deeper`() {
        func nested(_ depth: Int) -> JSONValue { depth == 0 ? 1 : ["x": nested(depth - 1)] }
        #expect(Self.fault(["custom": nested(14)]) == nil)
        #expect(Self.fault(["custom": nested(15)])?.hasPrefix("push must be JSON: ") == true)
    }

    @Test func `of a message go before those of its conversation, and these before the app's, one by one`() {
        var message = Self.message
        message.push = PushOptions(title: "Order", interruptionLevel: .active)
        message.fillPush(
            conversation: PushOptions(title: "Desk", sound: "desk.caf", custom: JSONObject([("from", "desk")])),
            app: PushOptions(title: "App", sound: "app.caf", category: "APP", custom: JSONObject([("from", "app")])))
        #expect(
            message.push
                == PushOptions(
                    title: "Order", sound: "desk.caf", category: "APP", interruptionLevel: .active,
                    custom: JSONObject([("from", "desk")])))
        message.push = nil
        message.fillPush(conversation: nil, app: nil)
        #expect(message.push == nil)
        message.fillPush(conversation: PushOptions(), app: nil)
        #expect(message.push == nil)
    }

    @Test func `leave the text that was sent with a message`() {
        var message = Self.message
        message.pushText = "psst"
        message.fillPush(conversation: PushOptions(text: "News", sound: "a.caf"), app: nil)
        #expect(message.push == PushOptions(sound: "a.caf"))
        var draft = MessageDraft(
            clientMessageID: "c", conversation: ConversationID(type: .direct, target: "bo"), objectName: .text,
            content: "{}", pushText: "psst", push: PushOptions(text: "News"))
        #expect(throws: InvalidField(field: "push.text", rule: "must not be set beside push_text")) {
            try draft.validate()
        }
        draft.push = PushOptions(sound: "")
        #expect(throws: InvalidField(field: "push.sound", rule: "must be 1 to 64 bytes, got 0")) {
            try draft.validate()
        }
    }

    @Test func `tell what was written for the message from how it comes`() {
        #expect(
            Self.all.words
                == PushOptions(
                    title: "Order", subtitle: .localized(key: "FROM", arguments: ["Ada", "7"]), text: "Ready",
                    imageURL: "https://a/b.png", custom: JSONObject([("order", 7)])))
        #expect(
            Self.all.withoutWords
                == PushOptions(
                    sound: "horn.caf", category: "ORDER", interruptionLevel: .timeSensitive, relevance: 750,
                    threadID: "orders"))
        #expect(PushOptions(title: "A").withoutWords == nil)
    }

    @Test func `cost a message a word of memory`() {
        #expect(MemoryLayout<SharedPushOptions?>.size == MemoryLayout<Int>.size)
    }

    @Test func `of a line stand before the sender's name, which goes before what the message says`() {
        var message = Self.message
        typealias Text = PushInfo.Text
        #expect(
            Text(of: message, title: "Team", sender: "Ada", body: "hi")
                == Text(title: "Team", sender: "Ada", body: "hi"))
        message.push = PushOptions(title: "Order", subtitle: "Desk", text: .localized(key: "READY"))
        let chosen = Text(of: message, title: "Team", sender: "Ada", body: "hi")
        #expect(
            chosen
                == Text(
                    title: "Order", isTitleChosen: true, subtitle: "Desk", sender: "Ada",
                    body: .localized(key: "READY")))
        #expect(chosen.line == .localized(key: "READY"))
        #expect(Text(chosen.dictionary) == chosen)
        message.push = PushOptions(text: "Ready")
        #expect(Text(of: message, title: nil, sender: "Ada", body: "hi").line == "Ada: Ready")
    }
}

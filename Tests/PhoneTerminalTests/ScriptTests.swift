import Testing
import TidingsModel
import VirtualPhone

@testable import PhoneTerminal

@Suite struct `A script for a phone` {
    @Test func `has the words of the keys and five more`() throws {
        let script = try Script(
            """
            # a comment
            open chat

              tap 2
            reply  see you  soon
            wait 250ms
            wait-for Chat PR:alice
            wait-for "badge 3" within 2.5s
            expect foregroundActive
            expect-not " fault"
            airplane on
            picture
            picture 80x30
            enter hello there into Message
            quit
            """)
        let expected: [Script.Step] = [
            .init(number: 2, text: "open chat", action: .command(.open("chat"))),
            .init(number: 4, text: "tap 2", action: .command(.tap(.position(2)))),
            .init(number: 5, text: "reply see you  soon", action: .command(.reply("see you  soon"))),
            .init(number: 6, text: "wait 250ms", action: .wait(milliseconds: 250)),
            .init(
                number: 7, text: "wait-for Chat PR:alice",
                action: .waitFor("Chat PR:alice", milliseconds: Script.waitForMilliseconds)),
            .init(
                number: 8, text: "wait-for \"badge 3\" within 2.5s",
                action: .waitFor("badge 3", milliseconds: 2_500)),
            .init(number: 9, text: "expect foregroundActive", action: .expect("foregroundActive")),
            .init(number: 10, text: "expect-not \" fault\"", action: .expectNot(" fault")),
            .init(number: 11, text: "airplane on", action: .command(.airplane(.on))),
            .init(number: 12, text: "picture", action: .picture(columns: 54, rows: 38)),
            .init(number: 13, text: "picture 80x30", action: .picture(columns: 80, rows: 30)),
            .init(
                number: 14, text: "enter hello there into Message",
                action: .command(.touch(view: "Message", .enter("hello there")))),
            .init(number: 15, text: "quit", action: .command(.quit)),
        ]
        #expect(script.steps == expected)
    }

    @Test(arguments: [
        ("person: lock", "lock"), ("person: forceQuit", "force-quit"), ("person: overlayAppears", "cover on"),
        ("person: overlayDisappears", "cover off"), ("system: kill", "kill"), ("system: lowMemory", "memory"),
        ("prompt: allow", "allow"), ("panel: close", "close"), ("call: answer", "answer-call"),
        ("airplaneMode: on", "airplane on"), ("lowPowerMode: off", "low-power off"),
        ("alertStyle: banner", "alert-style banner"), ("tap: m", "tap m"), ("press: Save", "press Save"),
        ("focus: timeSensitive", "focus on"), ("focus: off", "focus off"), ("open: yes", "open"),
        ("lock: yes", "lock"), ("airplane: on", "airplane on"), ("open: chat", "open chat"), ("wait: 2 s", "wait 2s"),
        ("wait: 250 ms", "wait 250ms"),
    ])
    func `understands the steps of scenarios`(step: String, own: String) throws {
        #expect(try Script(step).steps.map(\.action) == Script(own).steps.map(\.action))
        #expect(try Script(step).steps.map(\.text) == [step])
    }

    @Test(arguments: [
        ("home\nblub", "line 2: step", "must be one of home, lock, unlock,"),
        ("help", "line 1: step", "must be one of"),
        ("wait", "line 1: wait", "must be a time"), ("wait 5", "line 1: wait", "must be a time"),
        ("wait -1s", "line 1: wait", "must be a time"), ("wait 1e9s", "line 1: wait", "must be a time"),
        ("wait nans", "line 1: wait", "must be a time"),
        ("wait-for x within y", "line 1: wait-for within", "must be a time"),
        ("expect", "line 1: expect", "needs a text"), ("expect \"\"", "line 1: expect", "needs a text"),
        ("airplane maybe", "line 1: airplane", "must be on or off"),
        ("cover", "line 1: cover", "must be on or off"), ("home now", "line 1: home", "takes nothing after it"),
        ("input {", "line 1: input", "needs one JSON value"), ("push {]", "line 1: push", "must be a JSON object"),
        ("alert-style loud", "line 1: alert-style", "must be one of none, banner, alert, got \"loud\""),
        ("view now", "line 1: view", "takes nothing after it"),
        ("press", "line 1: press", "needs the name of a view"), ("press \"\"", "line 1: press", "needs the name"),
        ("hold", "line 1: hold", "needs the name of a view"), ("enter", "line 1: enter", "needs a text"),
        ("enter hi into \"\"", "line 1: enter", "needs the name of a view"),
        ("scroll", "line 1: scroll", "must be up or down, got \"\""),
        ("scroll left", "line 1: scroll", "must be up or down, got \"left\""),
        ("swipe Alice", "line 1: swipe", "must end with left, right, up or down, got \"Alice\""),
        ("swipe left", "line 1: swipe", "needs the name of a view"),
        ("picture 54", "line 1: picture", "must be a size from 40x10 to 250x200"),
        ("picture 39x10", "line 1: picture", "must be a size"), ("picture axb", "line 1: picture", "must be a size"),
        ("select", "line 1: select", "needs a number"), ("reply", "line 1: reply", "needs a text"),
        ("# nothing\n\n", "script", "must have at least one step"),
    ]) func `names the line and what may stand there`(text: String, field: String, rule: String) {
        let error = #expect(throws: InvalidField.self) { try Script(text) }
        #expect(error?.field == field)
        #expect(error?.rule.hasPrefix(rule) == true, "\(String(describing: error))")
    }

    @Test func `takes a text for a push, or a whole payload`() throws {
        #expect(
            try TerminalCommand(line: "push hello there")
                == .push(JSONObject([("aps", ["alert": "hello there", "sound": "default"])])))
        #expect(
            try TerminalCommand(line: "push {\"aps\":{\"content-available\":1}}")
                == .push(JSONObject([("aps", ["content-available": 1])])))
    }
}

@Suite struct `A word for the views of an app` {
    @Test(
        arguments: [
            ("press Send", "Send", .tap), ("press New Message", "New Message", .tap),
            ("press \" Send \"", " Send ", .tap), ("hold hi there", "hi there", .longPress),
            ("enter hi", nil, .enter("hi")), ("enter  你好 👋  into  Message ", "Message", .enter("你好 👋")),
            ("enter go into it into Message", "Message", .enter("go into it")),
            ("enter \"go into it\"", nil, .enter("go into it")), ("enter \"\" into Name", "Name", .enter("")),
            ("enter \" a \" into Server address", "Server address", .enter(" a ")),
            ("submit", nil, .submit), ("submit Message", "Message", .submit),
            ("scroll down", nil, .scroll(.down)), ("scroll up Messages", "Messages", .scroll(.up)),
            ("swipe Alice left", "Alice", .swipe(.left)), ("swipe Alice and Bob up", "Alice and Bob", .swipe(.up)),
            ("swipe \"turn left\" right", "turn left", .swipe(.right)),
        ] as [(String, String?, ViewAction)])
    func `names the view as a person reads it, with spaces`(line: String, view: String?, action: ViewAction) throws {
        #expect(try TerminalCommand(line: line) == .touch(view: view, action))
        let touch = try TerminalCommand(line: line).command(on: Sample.front, selection: nil)
        #expect(touch == .touch("com.example.chat", view: view, action))
    }
}

@Suite struct `A command on a phone` {
    private func request(_ line: String, _ snapshot: PhoneSnapshot = Sample.front) throws -> PhoneCommand? {
        try TerminalCommand(line: line).command(on: snapshot, selection: nil)
    }

    @Test func `becomes a command of the phone`() throws {
        #expect(try self.request("open") == command(["do": "launch", "app": "com.example.chat"]))
        #expect(try self.request("open Chat") == command(["do": "launch", "app": "com.example.chat"]))
        #expect(try self.request("force-quit") == command(["do": "force_quit", "app": "com.example.chat"]))
        #expect(try self.request("tap") == command(["do": "tap", "notification": "0m1"]))
        #expect(try self.request("tap 2") == command(["do": "tap", "notification": "0m2"]))
        #expect(try self.request("dismiss 0m2") == command(["do": "dismiss", "notification": "0m2"]))
        #expect(try self.request("action read") == command(["do": "action", "notification": "0m1", "action": "read"]))
        #expect(
            try self.request("action Mark as Read")
                == command(["do": "action", "notification": "0m1", "action": "read"]))
        #expect(
            try self.request("reply 好")
                == command(["do": "action", "notification": "0m1", "action": "reply", "text": "好"]))
        #expect(
            try self.request("input {\"open\":\"PR:bob\"}")
                == command(["do": "input", "app": "com.example.chat", "value": ["open": "PR:bob"]]))
        #expect(
            try self.request("push hi")
                == command([
                    "do": "push", "app": "com.example.chat", "payload": ["aps": ["alert": "hi", "sound": "default"]],
                ]))
        #expect(try self.request("allow") == command(["do": "allow_notifications"]))
        #expect(try self.request("memory") == command(["do": "memory_low"]))
        #expect(try self.request("help") == nil)
        #expect(try self.request("view", Sample.panel) == command(["do": "alert_panel", "open": true]))
        #expect(try self.request("close", Sample.panel) == command(["do": "alert_panel", "open": false]))
        let style: JSONValue = ["do": "alert_style", "app": "com.example.chat", "style": "alert"]
        #expect(try self.request("alert-style alert") == command(style))
        #expect(try self.request("alert-style alert Chat") == command(style))
    }

    @Test(arguments: [("airplane", "airplane"), ("focus", "focus"), ("low-power", "low_power")])
    func `turns a switch the other way round unless told which`(word: String, name: String) throws {
        #expect(try self.request(word) == command(["do": .string(name), "on": true]))
        #expect(try self.request(word, Sample.locked) == command(["do": .string(name), "on": false]))
        #expect(try self.request("\(word) on", Sample.locked) == command(["do": .string(name), "on": true]))
        #expect(try self.request("\(word) off") == command(["do": .string(name), "on": false]))
    }

    @Test(arguments: [
        ("tap 3", "notification must be 1 to 2, got 3"), ("tap 0m9", "notification is not in the list: 0m9"),
        ("action nap", "action must be one of reply, read, got \"nap\""),
        ("close", "alert panel is missing: nothing on the screen asks"),
        ("alert-style alert mail", "app must be one of com.example.chat, got \"mail\""),
        ("open mail", "app must be one of com.example.chat, got \"mail\""),
    ]) func `names what is not there`(line: String, words: String) {
        let error = #expect(throws: InvalidField.self) { try self.request(line) }
        #expect(error?.description == words)
    }

    @Test func `needs a notification to tap`() {
        let error = #expect(throws: InvalidField.self) { try self.request("tap", PhoneSnapshot()) }
        #expect(error?.description == "notification is missing: the list is empty")
    }

    @Test func `has one word and one key each`() {
        let words = TerminalWord.all.map(\.word)
        #expect(Set(words).count == words.count)
        let keys = TerminalWord.all.compactMap(\.key)
        #expect(Set(keys).count == keys.count)
    }
}

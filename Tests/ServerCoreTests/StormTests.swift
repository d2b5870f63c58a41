import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A storm in one conversation` {
    /// Bob's phone is gone; two alerts of a conversation in a minute are enough.
    static func bench() -> ServerBench {
        var settings = ServerBench.withImages
        settings.stormLimit = 2
        var bench = ServerBench(settings: settings)
        bench.run(
            .api(
                APIRequestID(0),
                .putConversation(
                    .init(app: ServerBench.app, conversation: .group("team"), name: "T", members: ["alice", "bob"]))))
        bench.goneDevice("bob")
        return bench
    }

    /// Sends texts and lets APNs take what is pushed.
    static func say(_ count: Int, _ bench: inout ServerBench) {
        for _ in 0..<count {
            let before = bench.pushes.count
            bench.say(to: .direct("bob"))
            if bench.pushes.count > before { bench.acceptPush() }
        }
    }

    @Test func `rings so often, then once at the end of the window with the count, under the newest one's name`() throws
    {
        var bench = Self.bench()
        Self.say(2, &bench)
        bench.pass(10_000)
        #expect(bench.say(to: .direct("bob")).contains("store keep m3 bob/phone merging after 0"))
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        #expect(bench.pass(49_999).outside == [])
        #expect(bench.pass(1).outside == ["push m5 to bob/phone badge 5@5"])
        let info = PushInfo(userInfo: try #require(bench.payload))
        #expect(info?.text?.body == "3 new messages")
        // The extension posts nothing for those the push counts.
        #expect(info?.position == 5)
        #expect(info?.counted == [3, 4])
        #expect(bench.pushes.last?.request.collapseID == bench.messages[4].description)
        #expect(
            bench.acceptPush().ends == [
                "store end m3 bob/phone accepted", "store end m4 bob/phone accepted", "store end m5 bob/phone accepted",
            ])
    }

    @Test func `has no image in the alert that counts, though every message is one`() throws {
        var bench = Self.bench()
        for _ in 0..<4 {
            let before = bench.pushes.count
            bench.show(ImageTests.image)
            guard bench.pushes.count > before else { continue }
            #expect(PushInfo(userInfo: try #require(bench.payload))?.imageURL == "https://a/b.jpg")
            bench.acceptPush()
        }
        bench.pass(60_000)
        let info = PushInfo(userInfo: try #require(bench.payload))
        #expect(info?.text?.body == "2 new messages")
        #expect(info?.imageURL == nil)
    }

    @Test func `goes on ringing once a window`() {
        var bench = Self.bench()
        Self.say(3, &bench)
        bench.say(to: .direct("bob"))
        bench.pass(60_000)
        bench.acceptPush()
        bench.say(to: .direct("bob"))
        #expect(bench.pass(59_999).outside == [])
        #expect(bench.pass(1).outside == ["push m5 to bob/phone badge 5@5"])
    }

    @Test func `does not hold back another conversation, nor a mention`() {
        var bench = Self.bench()
        for _ in 1...2 {
            bench.say(to: .group("team"))
            bench.acceptPush()
        }
        #expect(bench.say(to: .group("team")).filter { $0.hasPrefix("push") } == [])
        #expect(bench.say(to: .direct("bob")).filter { $0.hasPrefix("push") }.count == 1)
        bench.acceptPush()
        #expect(bench.say(to: .group("team"), mentions: .everyone).filter { $0.hasPrefix("push") }.count == 1)
    }

    @Test func `that is over is forgotten`() {
        var bench = Self.bench()
        Self.say(2, &bench)
        bench.pass(60_000)
        #expect(bench.say(to: .direct("bob")).contains("push m3 to bob/phone badge 3@3"))
    }

    @Test func `leaves out of the count what was read meanwhile`() throws {
        var bench = Self.bench()
        Self.say(2, &bench)
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        let tablet = bench.connect("bob", "tablet", .background(remainingMilliseconds: 1_000)).session
        let lines = bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 3)))
        #expect(lines.ends.contains("store end m3 bob/phone read_elsewhere"))
        #expect(bench.pass(60_000).outside.last == "push m4 to bob/phone badge 1@5")
        #expect(PushInfo(userInfo: try #require(bench.payload))?.text?.body == "hi")
    }

    @Test func `of a group the person leaves on another device rings no more`() {
        var bench = Self.bench()
        for _ in 1...2 {
            bench.say(to: .group("team"))
            bench.acceptPush()
        }
        bench.say(to: .group("team"))
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.say(to: .group("team"))
        let leave = APICommand.request(ServerBench.app, actor: "bob", .change(.group("team"), .leave))
        #expect(
            bench.run(.api(APIRequestID(0), leave)).ends == [
                "store end m3 bob/phone read_elsewhere", "store end m5 bob/phone read_elsewhere",
            ])
        #expect(bench.pass(60_000).outside == [])
    }

    @Test func `whose alert fails keeps all its messages for the next try`() throws {
        var bench = Self.bench()
        Self.say(2, &bench)
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        bench.pass(60_000)
        bench.answerPush(.notSent("no connection"))
        bench.pass(2_000)
        #expect(PushInfo(userInfo: try #require(bench.payload))?.text?.body == "2 new messages")
        #expect(bench.acceptPush().ends.count == 2)
    }

    @Test func `is still one alert after a crash`() throws {
        var bench = Self.bench()
        Self.say(2, &bench)
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        bench.crash()
        #expect(PushInfo(userInfo: try #require(bench.payload))?.text?.body == "2 new messages")
    }
}

@Suite struct `The words of a push` {
    static func payload(_ person: PersonSettings, _ words: AppWords? = nil) -> JSONValue? {
        var settings = ServerBench.plain
        if let words { settings.words[ServerBench.app] = words }
        var bench = ServerBench(settings: settings)
        bench.settings["bob"] = AllSettings(person: person)
        bench.goneDevice("bob")
        var draft = bench.draft("hi", .direct("bob"))
        draft.objectName = "RC:ImgMsg"
        bench.run(.api(APIRequestID(0), .send(ServerBench.key("alice"), draft)))
        return bench.payload
    }

    static func body(_ payload: JSONValue?) -> String? { payload.flatMap { PushInfo(userInfo: $0) }?.text?.body.plain }

    @Test(
        arguments: [
            (nil, "[Image]", "You have a new message"), ("zh-Hans", "[图片]", "您收到一条新消息"),
            ("zh-CN", "[图片]", "您收到一条新消息"), ("ZH", "[图片]", "您收到一条新消息"),
            ("fr-CA", "[Image]", "You have a new message"),
        ] as [(String?, String, String)])
    func `are those of the person's language, or of the next there is`(language: String?, body: String, alert: String) {
        let payload = Self.payload(PersonSettings(language: language))
        #expect(Self.body(payload) == body)
        #expect(payload?["aps"]?["alert"]?["body"]?.stringValue == alert)
    }

    @Test func `are the app's own where it has some`() {
        var french = NotificationWords.english
        french.kinds["RC:ImgMsg"] = "[Photo]"
        let words = AppWords(language: "fr", byLanguage: ["fr": french])
        #expect(Self.body(Self.payload(PersonSettings(), words)) == "[Photo]")
        #expect(Self.body(Self.payload(PersonSettings(language: "zh"), words)) == "[图片]")
    }

    @Test func `are those of what a service extension has missed, too`() {
        var settings = ServerBench.plain
        settings.words[ServerBench.app] = AppWords(language: "zh")
        var bench = ServerBench.gone(settings)
        bench.settings["carol"] = AllSettings(person: PersonSettings(hidesContent: true, language: "en"))
        bench.goneDevice("carol")
        for (user, words, hidesContent) in [
            ("bob", NotificationWords.simplifiedChinese, false), ("carol", NotificationWords.english, true),
        ] {
            let question = APICommand.fromExtension(
                ServerBench.device(UserID(user)), tokenIssuedAt: bench.now.wall, .missed(after: 0, limit: 20))
            bench.run(.api(APIRequestID(1), question))
            let page = LogPage(entries: [], head: 0, unread: 0)
            #expect(bench.replies.last == .missed(page, words, hidesContent: hidesContent))
        }
    }

    @Test func `say nothing of the message if the person wants its content hidden`() {
        let payload = Self.payload(PersonSettings(hidesContent: true))
        #expect(payload.flatMap { PushInfo(userInfo: $0) }?.text == nil)
        #expect(payload?["aps"]?["alert"] == ["body": "You have a new message"])
        #expect(payload?.text.contains("Image") == false)
    }
}

import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `Where the text of a push stands` {
    /// What a push to bob carries, whose phone is gone; alice is called Alice, the team is The team.
    private static func push(
        _ mode: PushTextMode, _ person: PersonSettings = PersonSettings(), _ happens: (inout ServerBench) -> Void
    ) throws -> (request: APNsRequest, payload: JSONValue) {
        var settings = ServerBench.plain
        settings.pushTextModes[ServerBench.app] = mode
        var bench = ServerBench(settings: settings)
        bench.settings["bob"] = AllSettings(person: person)
        bench.goneDevice("bob")
        bench.run(.api(APIRequestID(1), .setProfiles(ServerBench.app, [UserProfile("alice", Profile(name: "Alice"))])))
        bench.run(
            .api(
                APIRequestID(2),
                .putConversation(
                    .init(
                        app: ServerBench.app, conversation: .group("team"), name: "The team",
                        members: ["alice", "bob"]))))
        happens(&bench)
        let request = try #require(bench.pushes.first?.request)
        return (request, try JSONValue(parsing: request.payload))
    }

    @Test func `by default is beside a neutral alert`() throws {
        let payload = try Self.push(.serviceExtension) { $0.say("hello", to: .direct("bob")) }.payload
        #expect(payload["aps"]?["alert"] == ["body": "You have a new message"])
        #expect(payload["tidings"]?["text"] == ["title": "Alice", "body": "hello"])
        #expect(payload["tidings"]?["mode"] == nil)
    }

    @Test(
        arguments: [
            (PushTextMode.serviceExtension, nil, PushTextMode.alert),
            (.serviceExtension, .serviceExtension, .serviceExtension),
            (.idOnly, nil, .idOnly), (.idOnly, .alert, .alert), (.alert, .idOnly, .idOnly), (.alert, nil, .alert),
        ] as [(PushTextMode, PushTextMode?, PushTextMode)])
    func `of a push without chat is the alert, unless somebody wants it otherwise`(
        app: PushTextMode, own: PushTextMode?, mode: PushTextMode
    ) throws {
        var draft = ServerBench.pushDraft("Half price")
        draft.textMode = own
        let payload = try Self.push(app) { $0.push(draft) }.payload
        #expect(
            payload["aps"]?["alert"]?["body"] == .string(mode == .alert ? "Half price" : "You have a new message"))
        #expect((payload["tidings"]?["text"] == nil) == (mode == .idOnly))
    }

    @Test func `is the alert itself where the app wants it so, and beside it for the extension`() throws {
        let direct = try Self.push(.alert) { $0.say("hello", to: .direct("bob")) }.payload
        #expect(direct["aps"]?["alert"] == ["title": "Alice", "body": "hello"])
        #expect(direct["tidings"]?["text"] == ["title": "Alice", "body": "hello"])
        #expect(direct["tidings"]?["mode"] == "alert")
        let group = try Self.push(.alert) { $0.say("hello", to: .group("team")) }.payload
        #expect(group["aps"]?["alert"] == ["title": "The team", "body": "Alice: hello"])
        #expect(group["tidings"]?["text"] == ["title": "The team", "from": "Alice", "body": "hello"])
    }

    @Test func `is not in the push at all where the app wants only ids in it`() throws {
        let push = try Self.push(.idOnly) { $0.show(ImageTests.image, pushText: "a secret") }
        #expect(push.payload["aps"]?["alert"] == ["body": "You have a new message"])
        #expect(push.payload["tidings"]?["mode"] == "id_only")
        #expect(push.payload["tidings"]?["text"] == nil)
        for word in ["secret", "Alice", "b.jpg"] { #expect(!push.payload.text.contains(word)) }
    }

    @Test(arguments: PushTextMode.allCases)
    func `is nowhere if the person wants content hidden, and nobody asks for it`(mode: PushTextMode) throws {
        let payload = try Self.push(mode, PersonSettings(hidesContent: true)) { $0.say("hello", to: .direct("bob")) }
            .payload
        #expect(payload["aps"]?["alert"] == ["body": "You have a new message"])
        #expect(payload["tidings"]?["mode"] == nil)
        for word in ["hello", "Alice"] { #expect(!payload.text.contains(word)) }
    }

    @Test func `in the alert is kept by APNs for a day at most`() throws {
        let long: (inout ServerBench) -> Void = { $0.say("hello", to: .direct("bob")) }
        var settings = ServerBench.plain
        settings.pushLifetime = 2_592_000_000
        for (mode, days) in [(PushTextMode.alert, 1), (.serviceExtension, 30), (.idOnly, 30)] {
            settings.pushTextModes[ServerBench.app] = mode
            var bench = ServerBench.gone(settings)
            let sent = bench.now.wall
            long(&bench)
            #expect(bench.pushes.first?.request.expiration == (sent + Int64(days) * 86_400_000) / 1_000)
        }
    }

    // With texts in the alert the app's neutral words are not in the push, and all of this fits.
    @Test(arguments: PushTextMode.allCases)
    func `gives way at its end when the payload is full, after the image`(mode: PushTextMode) throws {
        let name = String(repeating: "名", count: 64)
        let long = String(repeating: "e\u{301}", count: 340)
        let url = "https://a/" + String(repeating: "b", count: PushInfo.imageURLBytesMax - 10)
        var settings = ServerBench.withImages
        settings.pushTextModes[ServerBench.app] = mode
        var words = NotificationWords.english
        words.neutral = String(repeating: "n", count: 2_800)
        settings.words[ServerBench.app] = AppWords(byLanguage: ["en": words])
        var bench = ServerBench.gone(settings)
        bench.run(.api(APIRequestID(1), .setProfiles(ServerBench.app, [UserProfile("alice", Profile(name: name))])))
        bench.run(
            .api(
                APIRequestID(2),
                .putConversation(
                    .init(app: ServerBench.app, conversation: .group("team"), name: name, members: ["alice", "bob"]))))
        var draft = bench.draft("", .group("team"))
        draft.objectName = .image
        draft.content = MessageContent.image(.init(url: url)).json
        draft.pushText = long
        bench.run(.api(APIRequestID(0), .send(ServerBench.key("alice"), draft)))
        let request = try #require(bench.pushes.first?.request)
        #expect(request.payload.count <= 4_096)
        let payload = try #require(bench.payload)
        #expect(payload["tidings"]?["image"] == nil)
        guard mode != .idOnly else { return }
        let text = try #require(payload["tidings"]?["text"])
        #expect(text["title"]?.stringValue == name)
        #expect(text["from"]?.stringValue == name)
        let body = try #require(text["body"]?.stringValue)
        guard mode == .serviceExtension else {
            #expect(payload["aps"]?["alert"]?["body"]?.stringValue == "\(name): \(long)")
            return #expect(body == long)
        }
        // Between two letters, not between a letter and its accent.
        #expect(body.hasSuffix("e\u{301}…"))
        #expect(long.hasPrefix(body.dropLast()))
        #expect(body.count > 100)
    }

    @Test func `of an alert that counts several says the number in each mode`() throws {
        for mode in PushTextMode.allCases {
            var settings = ServerBench.plain
            settings.stormLimit = 1
            settings.pushTextModes[ServerBench.app] = mode
            var bench = ServerBench.gone(settings)
            bench.say(to: .direct("bob"))
            bench.acceptPush()
            bench.say(to: .direct("bob"))
            bench.say(to: .direct("bob"))
            bench.pass(60_000)
            #expect(bench.payload?["tidings"]?["text"]?["body"] == "2 new messages")
            let alert: JSONValue = mode == .alert ? "2 new messages" : "You have a new message"
            #expect(bench.payload?["aps"]?["alert"]?["body"] == alert)
        }
    }
}

@Suite struct `After an outage of APNs` {
    private static let outage = LaneOutage(.connection, reason: "no route")

    /// Bob's phone is gone and APNs cannot be reached; alice writes three times, carol once.
    private static func bench() -> ServerBench {
        var bench = ServerBench.gone()
        bench.report(.paused(Self.outage))
        for sender in ["alice", "alice", "carol", "alice"] as [UserID] {
            bench.say(from: sender, to: .direct("bob"))
            bench.pass(1_000)
        }
        return bench
    }

    private static func texts(_ bench: inout ServerBench) -> [String] {
        var texts: [String] = []
        while let payload = bench.payload {
            texts.append(PushInfo(userInfo: payload)?.text?.body.plain ?? "")
            bench.acceptPush()
        }
        return texts
    }

    @Test func `of more than an hour, the alerts of a conversation go as one with their number`() {
        var bench = Self.bench()
        bench.pass(3_600_000)
        bench.report(.usable)
        #expect(bench.pushes.last?.request.collapseID == bench.messages[3].description)
        #expect(PushInfo(userInfo: bench.payload ?? [:])?.counted == [1, 2])
        #expect(Self.texts(&bench) == ["3 new messages", "hi"])
    }

    @Test func `of less than an hour, each goes`() {
        var bench = Self.bench()
        bench.pass(3_590_000)
        bench.report(.usable)
        #expect(Self.texts(&bench) == ["hi", "hi", "hi", "hi"])
    }

    @Test func `they are one after a crash, too`() {
        var bench = Self.bench()
        bench.pass(3_600_000)
        bench.crash()
        #expect(Self.texts(&bench) == ["3 new messages", "hi"])
    }

    @Test func `what waited for something else goes by itself`() {
        var bench = Self.bench()
        bench.pass(3_600_000)
        bench.report(.usable)
        _ = Self.texts(&bench)
        bench.say(to: .direct("bob"))
        #expect(Self.texts(&bench) == ["hi"])
    }
}

import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

private func decimal(_ number: Double) -> JSONValue { JSONNumber(number).map { .number($0) } ?? .null }

@Suite("Options of a push") struct PushOptionsTests {
    static let all = PushOptions(
        title: "Order 7", subtitle: "from the desk", text: "Ready", sound: "horn.caf", category: "ORDER",
        interruptionLevel: .timeSensitive, relevance: 750, threadID: "orders", imageURL: "https://img.example/b.png",
        custom: JSONObject([("order", 7)]))

    static func bench(
        mode: PushTextMode = .serviceExtension, bob: AllSettings = AllSettings(),
        settings: ServerSettings = ServerBench.plain, _ change: (inout PushRules) -> Void = { _ in }
    ) -> ServerBench {
        var settings = settings
        settings.pushTextModes[ServerBench.app] = mode
        var rules = PushRules()
        rules.entitlements = [.timeSensitive, .critical]
        rules.imageHosts = ["img.example"]
        change(&rules)
        settings.pushRules[ServerBench.app] = rules
        var bench = ServerBench(settings: settings)
        bench.settings["bob"] = bob
        bench.goneDevice("bob")
        return bench
    }

    /// The payload of a message from alice to bob, whose phone is gone.
    private static func payload(_ options: PushOptions?, in bench: ServerBench = Self.bench()) -> JSONValue? {
        var bench = bench
        bench.send(options)
        return bench.payload
    }

    private static func refusal(_ options: PushOptions, _ change: (inout PushRules) -> Void = { _ in }) -> String? {
        var bench = Self.bench(change)
        let lines = bench.send(options)
        #expect(lines.contains { $0.contains("refused") } == bench.pushes.isEmpty)
        return lines.first { $0.contains("refused") }
    }

    @Test func `stand in aps, beside the extension's text and beside it all`() throws {
        let payload = try #require(Self.payload(Self.all))
        #expect(
            payload["aps"] == [
                "alert": ["body": "You have a new message"], "badge": 1, "sound": "horn.caf", "thread-id": "orders",
                "category": "ORDER", "mutable-content": 1, "interruption-level": "time-sensitive",
                "relevance-score": decimal(0.75),
            ])
        #expect(
            payload["tidings"]?["text"] == [
                "title": "Order 7", "chosen": true, "subtitle": "from the desk", "body": "Ready",
            ])
        #expect(payload["tidings"]?["image"] == "https://img.example/b.png")
        #expect(payload["order"] == 7)
    }

    @Test func `that nobody has chosen change nothing`() throws {
        let plain = try #require(Self.payload(nil))
        #expect(
            plain["aps"] == [
                "alert": ["body": "You have a new message"], "badge": 1, "sound": "default", "thread-id": "PR:alice",
                "category": "tidings.message", "mutable-content": 1,
            ])
        #expect(plain["tidings"]?["text"] == ["body": "hi"])
        #expect(plain.members.map(\.0) == ["aps", "rc", "tidings"])
    }

    @Test func `stand in the alert where the text does`() throws {
        var options = Self.all
        options.text = .localized(key: "READY", arguments: ["7"])
        options.title = .localized(key: "ORDER")
        let payload = try #require(Self.payload(options, in: Self.bench(mode: .alert)))
        #expect(
            payload["aps"]?["alert"] == [
                "subtitle": "from the desk", "title-loc-key": "ORDER", "loc-key": "READY", "loc-args": ["7"],
            ])
        // What the alert says already is not said twice.
        #expect(
            payload["tidings"]?["text"] == ["chosen": true, "body": ["loc_key": "READY", "loc_args": ["7"]]])
    }

    @Test func `that say something stay with the server where texts do, and are fetched`() throws {
        var bench = Self.bench(mode: .idOnly)
        bench.send(Self.all)
        let payload = try #require(bench.payload)
        for word in ["Order", "desk", "Ready", "img.example"] { #expect(!payload.text.contains(word)) }
        #expect(payload["aps"]?["sound"] == "horn.caf")
        #expect(payload["order"] == 7)
        let page = LogPage(
            entries: [LogEntry(position: 1, body: .message(bench.message(with: Self.all)))], head: 1, unread: 1)
        let entry = page.missedAnswer(for: "bob", in: .english, hidesContent: false)["entries"]?.arrayValue?.first
        #expect(
            entry?["text"] == ["title": "Order 7", "chosen": true, "subtitle": "from the desk", "body": "Ready"])
        #expect(entry?["image"] == "https://img.example/b.png")
        #expect(entry?["push"] == Self.all.withoutTexts?.json)
        let hidden = page.missedAnswer(for: "bob", in: .english, hidesContent: true)["entries"]?.arrayValue?.first
        #expect(hidden?["text"] == ["body": "You have a new message"])
        #expect(hidden?["image"] == nil)
    }

    @Test(arguments: PushTextMode.allCases)
    func `say nothing where the person hides content`(mode: PushTextMode) throws {
        let bench = Self.bench(mode: mode, bob: AllSettings(person: PersonSettings(hidesContent: true)))
        let payload = try #require(Self.payload(Self.all, in: bench))
        for word in ["Order", "desk", "Ready", "img.example"] { #expect(!payload.text.contains(word)) }
        #expect(payload["aps"]?["alert"] == ["body": "You have a new message"])
        #expect(payload["aps"]?["interruption-level"] == "time-sensitive")
        #expect(payload["order"] == 7)
    }

    @Test func `of a level choose the sound with it`() {
        func aps(_ options: PushOptions) -> JSONValue? { Self.payload(options)?["aps"] }
        #expect(
            aps(PushOptions(interruptionLevel: .critical))?["sound"] == [
                "critical": 1, "name": "default", "volume": decimal(1),
            ])
        #expect(
            aps(PushOptions(sound: "alarm.caf", interruptionLevel: .critical))?["sound"]
                == ["critical": 1, "name": "alarm.caf", "volume": decimal(1)])
        let passive = aps(PushOptions(sound: "horn.caf", interruptionLevel: .passive))
        #expect(passive?["sound"] == nil)
        #expect(passive?["interruption-level"] == "passive")
        #expect(aps(PushOptions(interruptionLevel: .active))?["sound"] == "default")
    }

    @Test(arguments: [
        (PushOptions.InterruptionLevel.timeSensitive, PushRules.Entitlement.timeSensitive), (.critical, .critical),
    ])
    func `of a level need the entitlement the app declares`(
        level: PushOptions.InterruptionLevel, entitlement: PushRules.Entitlement
    ) {
        let options = PushOptions(interruptionLevel: level)
        let refusal = Self.refusal(options) { $0.entitlements.remove(entitlement) }
        #expect(refusal?.contains("push.interruption_level") == true)
        #expect(Self.refusal(options) == nil)
    }

    @Test func `of an image need a host that the app lists`() {
        let options = PushOptions(imageURL: "https://other.example/b.png")
        #expect(Self.refusal(options)?.contains("push.image") == true)
        #expect(Self.refusal(options) { $0.imageHosts = ["*.example"] } == nil)
    }

    @Test func `of an image on the server are those of one message, whose sender has uploaded it`() {
        let options = PushOptions(imageURL: "media:0123456789abcdef0123456789abcdef")
        #expect(Self.refusal(options) { $0.imageHosts = [] } == nil)
        #expect(throws: InvalidField.self) { try PushRules().check(options, isClient: false) }
    }

    /// Why no push goes to bob now, and what becomes of the leg.
    enum Hold: String, CaseIterable {
        case blockedLevel = "store end m1 bob/phone muted"
        case blockedSender = "store end m1 bob/phone blocked"
        case quietHoursThatDrop = "store end m1 bob/phone quiet_hours"
        case quietHoursThatDefer = "store keep m1 bob/phone quiet_hours after 0"

        var conversation: ConversationID { self == .blockedSender ? .group("team") : .direct("bob") }

        func bench() -> ServerBench {
            switch self {
            case .blockedLevel:
                return PushOptionsTests.bench(
                    bob: AllSettings(conversations: [.direct("alice"): ConversationSettings(level: .blocked)]))
            case .blockedSender:
                // Carol has made a team of all three.
                let team = ConversationRecord(
                    app: ServerBench.app, conversation: self.conversation, name: "T",
                    members: ["alice", "bob", "carol"])
                var bench = PushOptionsTests.bench()
                bench.run(.api(APIRequestID(1), .putConversation(team)))
                bench.run(.api(APIRequestID(2), .request(ServerBench.app, actor: "bob", .setBlocked("alice", true))))
                return bench
            case .quietHoursThatDrop: return Self.quiet(.drop)
            case .quietHoursThatDefer: return Self.quiet(.defer)
            }
        }

        private static func quiet(_ manner: QuietHours.Manner) -> ServerBench {
            var bench = PushOptionsTests.bench(bob: `A person's settings`.quiet(manner))
            bench.run(.timeZoneRead("UTC", `A person's settings`.utc))
            return bench
        }
    }

    @Test(arguments: Hold.allCases) func `do not change the verdict`(hold: Hold) {
        var options = Self.all
        options.interruptionLevel = .critical
        var bench = hold.bench()
        let lines = bench.send(options, to: hold.conversation)
        #expect(lines.contains(hold.rawValue))
        #expect(bench.pushes.isEmpty)
        var plain = hold.bench()
        #expect(plain.send(nil, to: hold.conversation) == lines)
    }

    @Test func `of one message are not those of several`() throws {
        var settings = ServerBench.plain
        settings.stormLimit = 1
        var bench = Self.bench(settings: settings)
        bench.send(nil)
        bench.acceptPush()
        bench.send(nil)
        bench.send(Self.all)
        bench.pass(60_000)
        let payload = try #require(bench.payload)
        #expect(payload["tidings"]?["text"] == ["body": "2 new messages"])
        #expect(payload["tidings"]?["image"] == nil)
        #expect(payload["aps"]?["interruption-level"] == nil)
        #expect(payload["order"] == nil)
        #expect(payload["aps"]?["sound"] == "horn.caf")
        #expect(payload["aps"]?["thread-id"] == "orders")
    }

    @Test func `leave with the message that is recalled`() throws {
        var bench = Self.bench()
        bench.send(Self.all)
        bench.acceptPush()
        bench.run(.api(APIRequestID(9), .request(ServerBench.app, actor: nil, .recall(bench.messages[0]))))
        let payload = try #require(bench.payload)
        for word in ["Order", "desk", "Ready", "img.example", "horn", "time-sensitive"] {
            #expect(!payload.text.contains(word))
        }
        #expect(payload["order"] == nil)
        #expect(payload["aps"]?["alert"] == ["body": "A message was recalled"])
    }

    @Test func `that were written for the old content leave with an edit`() throws {
        var bench = Self.bench()
        bench.send(Self.all)
        bench.answerPush(.unknownOutcome("lost"))
        bench.run(
            .api(
                APIRequestID(9),
                .request(
                    ServerBench.app, actor: nil, .edit(bench.messages[0], content: #"{"content":"better"}"#))))
        bench.pass(60_000)
        let payload = try #require(bench.payload)
        #expect(payload["tidings"]?["text"] == ["body": "better"])
        #expect(payload["order"] == nil)
        #expect(payload["aps"]?["sound"] == "horn.caf")
    }

    // MARK: Clients

    private static func sent(_ options: PushOptions, _ change: (inout PushRules) -> Void = { _ in }) -> [String] {
        var bench = Self.bench(change)
        let session = bench.connect("alice").session
        var draft = bench.draft("hi", .direct("bob"))
        draft.push = options
        return bench.run(.frame(session, .send(draft)))
    }

    @Test(arguments: all.memberNames)
    func `are refused to a client unless the app lists them`(name: String) {
        var one = PushOptions()
        switch name {
        case "title": one.title = Self.all.title
        case "subtitle": one.subtitle = Self.all.subtitle
        case "text": one.text = Self.all.text
        case "sound": one.sound = Self.all.sound
        case "category": one.category = Self.all.category
        case "interruption_level": one.interruptionLevel = Self.all.interruptionLevel
        case "relevance_score": one.relevance = Self.all.relevance
        case "thread_id": one.threadID = Self.all.threadID
        case "image": one.imageURL = Self.all.imageURL
        default: one.custom = Self.all.custom
        }
        #expect(Self.sent(one).contains { $0.contains("refused") && $0.contains("push.\(name) must be among") })
        let allowed = Self.sent(one) { rules in
            rules.clientOptions = Set(PushRules.clientOptionNames)
            rules.clientSounds = ["horn.caf"]
            rules.clientCategories = ["ORDER"]
        }
        #expect(!allowed.contains { $0.contains("refused") })
    }

    @Test func `of a client are among the app's sounds and categories, and never critical`() {
        func isRefused(_ options: PushOptions) -> Bool {
            Self.sent(options) { rules in
                rules.clientOptions = Set(PushRules.clientOptionNames)
                rules.clientSounds = ["horn.caf"]
                rules.clientCategories = ["ORDER"]
            }.contains { $0.contains("refused") }
        }
        #expect(!isRefused(PushOptions(sound: "horn.caf", category: "ORDER", interruptionLevel: .passive)))
        #expect(isRefused(PushOptions(sound: "other.caf")))
        #expect(isRefused(PushOptions(category: "OTHER")))
        #expect(isRefused(PushOptions(interruptionLevel: .critical)))
    }

    // MARK: Conversation and app

    @Test func `come from the message, else the conversation, else the app`() throws {
        var bench = Self.bench { $0.options = PushOptions(title: "App", sound: "app.caf", category: "APP") }
        bench.run(
            .api(
                APIRequestID(1),
                .putConversation(
                    ConversationRecord(
                        app: ServerBench.app, conversation: .group("t"), name: "T", portrait: nil,
                        members: [Member("alice"), Member("bob")], push: PushOptions(title: "Desk", sound: "desk.caf")))
            ))
        var draft = bench.draft("hi", .group("t"))
        draft.push = PushOptions(title: "Own")
        bench.run(.api(APIRequestID(0), .send(ServerBench.key("alice"), draft)))
        let payload = try #require(bench.payload)
        #expect(payload["tidings"]?["text"]?["title"] == "Own")
        #expect(payload["aps"]?["sound"] == "desk.caf")
        #expect(payload["aps"]?["category"] == "APP")
    }

    @Test func `of a conversation need what the app declares, too`() {
        var bench = Self.bench { $0.entitlements = [] }
        let record = ConversationRecord(
            app: ServerBench.app, conversation: .group("t"), name: "T", portrait: nil, members: [Member("bob")],
            push: PushOptions(interruptionLevel: .critical))
        let lines = bench.run(.api(APIRequestID(1), .putConversation(record)))
        #expect(lines.contains { $0.contains("push.interruption_level") })
        #expect(!lines.contains { $0.hasPrefix("store") })
    }

    @Test func `travel to devices with the message`() {
        var bench = Self.bench { $0.options = PushOptions(sound: "app.caf") }
        bench.connect("bob")
        bench.send(PushOptions(title: "Own"))
        let told = bench.frames.compactMap { frame -> PushOptions? in
            guard case .entry(let entry) = frame, case .message(let message) = entry.body else { return nil }
            return message.push
        }
        #expect(told == [PushOptions(title: "Own", sound: "app.caf")])
    }

    // MARK: The limit of bytes

    /// Everything at its limit, in the characters that take most bytes in JSON.
    @Test(arguments: PushTextMode.allCases, [false, true])
    func `at their largest fit a push, and ids and the app's own members stay whole`(
        mode: PushTextMode, isLocalized: Bool
    ) throws {
        func long(_ bytes: Int) -> String { String(repeating: "\"", count: bytes) }
        let key = String(repeating: "K", count: 180)
        let line = PushLine.localized(key: key, arguments: [String(repeating: "a", count: 40)])
        let custom = JSONObject([("own", .string(String(repeating: "c", count: 1_014)))])
        let options = PushOptions(
            title: isLocalized ? line : .text(long(256)), subtitle: isLocalized ? line : .text(long(256)),
            text: isLocalized ? line : .text(long(1_024)), sound: long(64), category: long(64),
            interruptionLevel: .timeSensitive, relevance: 333, threadID: long(64),
            imageURL: "https://img.example/" + String(repeating: "b", count: 1_004), custom: custom)
        try options.validate()
        var bench = Self.bench(mode: mode)
        let group = ConversationID.group(long(64))
        let alice = UserID(long(64))
        bench.run(.api(APIRequestID(2), .setProfiles(ServerBench.app, [UserProfile(alice, Profile(name: long(64)))])))
        bench.run(
            .api(
                APIRequestID(1),
                .putConversation(
                    ConversationRecord(
                        app: ServerBench.app, conversation: group, name: long(256), members: [alice, "bob"]))))
        var draft = bench.draft("hi", group)
        draft.push = options
        bench.run(.api(APIRequestID(0), .send(UserKey(app: ServerBench.app, user: alice), draft)))
        let request = try #require(bench.pushes.first?.request)
        #expect(request.payload.count <= 4_096)
        let payload = try JSONValue(parsing: request.payload)
        #expect(payload["own"] == custom["own"])
        #expect(payload["rc"]?["tId"]?.stringValue == group.target)
        #expect(payload["rc"]?["fId"]?.stringValue == alice.rawValue)
        #expect(payload["aps"]?["sound"]?.stringValue == options.sound)
        #expect(payload["aps"]?["thread-id"]?.stringValue == options.threadID)
        #expect(payload["aps"]?["category"]?.stringValue == options.category)
        guard mode != .idOnly, isLocalized else { return }
        let place =
            mode == .alert
            ? payload["aps"]?["alert"]?["title-loc-key"] : payload["tidings"]?["text"]?["title"]?["loc_key"]
        #expect(place?.stringValue == key)
    }
}

extension ServerBench {
    /// Alice writes to bob, by the API.
    @discardableResult
    mutating func send(_ options: PushOptions?, to conversation: ConversationID = .direct("bob")) -> [String] {
        var draft = self.draft("hi", conversation)
        draft.push = options
        return self.run(.api(APIRequestID(0), .send(Self.key("alice"), draft)))
    }

    fileprivate func message(with options: PushOptions) -> Message {
        Message(
            id: MessageID(rawValue: 7), app: Self.app, sender: "alice", conversation: .direct("bob"),
            clientMessageID: "c", objectName: .text, content: #"{"content":"hi"}"#, flags: .normal, pushText: nil,
            sentAt: 1, push: options)
    }
}

import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

/// What a push tells of a person for a communication notification (docs/inside/decisions/0038).
@Suite("The sender in a push") struct PushPortraitTests {
    private static let portrait = "https://img.example/alice.png"

    /// Alice writes to bob, whose phone is gone.
    private static func info(
        _ portrait: String?, to conversation: ConversationID = .direct("bob"),
        bench: ServerBench = PushOptionsTests.bench(),
        _ change: (inout MessageDraft) -> Void = { _ in }
    ) -> PushInfo? {
        var bench = bench
        bench.choose(portrait)
        if conversation.type.isGroup {
            bench.run(
                .api(
                    APIRequestID(1),
                    .putConversation(
                        ConversationRecord(
                            app: ServerBench.app, conversation: conversation, name: "T", members: ["alice", "bob"]))))
        }
        var draft = bench.draft("hi", conversation)
        change(&draft)
        bench.run(.api(APIRequestID(0), .send(ServerBench.key("alice"), draft)))
        return bench.payload.flatMap { PushInfo(userInfo: $0) }
    }

    @Test(arguments: [ConversationID.direct("bob"), .group("t"), ConversationID(type: .discussion, target: "t")])
    func `is there with a portrait of a host that the app lists, or media`(conversation: ConversationID) {
        #expect(Self.info(Self.portrait, to: conversation)?.portrait == Self.portrait)
        let media = "media:" + String(repeating: "0", count: 32)
        #expect(Self.info(media, to: conversation)?.portrait == media)
        #expect(Self.info(nil, to: conversation).map { $0.portrait == nil } == true)
    }

    @Test(arguments: [
        "https://other.example/a.png", "http://img.example/a.png", "https://img.example@other.example/a.png",
        "https://img.example.other.test/a.png", "media:x", "javascript:x", "file:///etc/passwd", "a.png",
        "https://img.example/" + String(repeating: "a", count: 1_005),
    ])
    func `is there without a portrait of another host, or one that cannot be followed`(portrait: String) {
        #expect(Self.info(portrait).map { $0.portrait == nil } == true)
    }

    @Test func `is nobody of an account`() {
        let system = ConversationID(type: .system, target: "bob")
        #expect(Self.info(Self.portrait, to: system).map { $0.portrait == nil } == true)
    }

    @Test func `is nobody where the person hides content, and stays with the server where texts do`() {
        let hiding = PushOptionsTests.bench(bob: AllSettings(person: PersonSettings(hidesContent: true)))
        let hidden = Self.info(Self.portrait, to: .group("t"), bench: hiding) { $0.mentions = .users(["bob"]) }
        #expect(hidden.map { $0.portrait == nil && !$0.isMention } == true)
        let fetched = Self.info(Self.portrait, bench: PushOptionsTests.bench(mode: .idOnly))
        #expect(fetched.map { $0.portrait == nil } == true)
    }

    @Test func `mentions and answers whoever gets it, and nobody else`() {
        let team = ConversationID.group("t")
        #expect(Self.info(nil, to: team) { $0.mentions = .users(["bob"]) }?.isMention == true)
        #expect(Self.info(nil, to: team) { $0.mentions = .everyone }?.isMention == true)
        #expect(Self.info(nil, to: team) { $0.mentions = .users(["alice"]) }?.isMention == false)
        func reply(to user: String, _ type: ObjectName = .reference) -> Bool? {
            Self.info(nil, to: team) { draft in
                draft.objectName = type
                draft.content = "{\"content\":\"yes\",\"referMsgUserId\":\"\(user)\"}"
            }?.isReply
        }
        #expect(reply(to: "bob") == true)
        #expect(reply(to: "alice") == false)
        #expect(reply(to: "bob", .text) == false)
    }

    @Test func `is nobody of several messages`() throws {
        var settings = ServerBench.plain
        settings.stormLimit = 1
        var bench = PushOptionsTests.bench(settings: settings)
        bench.choose(Self.portrait)
        bench.write()
        bench.acceptPush()
        bench.write()
        bench.write()
        bench.pass(60_000)
        let info = try #require(bench.payload.flatMap { PushInfo(userInfo: $0) })
        #expect(info.text?.body == "2 new messages")
        #expect(info.portrait == nil)
    }

    @Test func `gives way after the image and before the subtitle, and the text is whole until all three are gone`()
        throws
    {
        let text = String(repeating: "t", count: 1_000)
        let options = PushOptions(
            subtitle: .text(String(repeating: "s", count: 250)), text: .text(text),
            imageURL: "https://img.example/" + String(repeating: "i", count: 900))
        var seen: [[String]] = []
        // Each time there is a little less room.
        for neutral in stride(from: 300, through: 3_000, by: 50) {
            var bench = PushOptionsTests.bench(settings: .saying(bytes: neutral))
            bench.choose("https://img.example/" + String(repeating: "p", count: 800))
            bench.write(options)
            #expect(try #require(bench.pushes.last).request.payload.count <= 4_096)
            let info = try #require(bench.payload.flatMap { PushInfo(userInfo: $0) })
            let left = [
                ("image", info.imageURL != nil), ("portrait", info.portrait != nil),
                ("subtitle", info.text?.subtitle != nil), ("text", info.text?.body == PushLine.text(text)),
            ].filter(\.1).map(\.0)
            if left != seen.last { seen.append(left) }
        }
        #expect(
            seen == [
                ["image", "portrait", "subtitle", "text"], ["portrait", "subtitle", "text"], ["subtitle", "text"],
                ["text"], [],
            ])
    }

    @Test func `is told to an extension that fetches it, and only what a push may name`() throws {
        for (portrait, told) in [(Self.portrait, Self.portrait as String?), ("https://other.example/a.png", nil)] {
            var bench = PushOptionsTests.bench()
            bench.choose(portrait)
            bench.write()
            bench.run(
                .api(
                    APIRequestID(7),
                    .fromExtension(
                        ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, .missed(after: 0, limit: 20))))
            guard case .missed(let page, let words, let hidesContent)? = bench.replies.last else {
                return #expect(Bool(false))
            }
            let entry = page.missedAnswer(for: "bob", in: words, hidesContent: hidesContent)["entries"]?.arrayValue?
                .last
            #expect(entry?["portrait"]?.stringValue == told)
            #expect(entry?["mention"] == false)
            let hidden = page.missedAnswer(for: "bob", in: words, hidesContent: true)["entries"]?.arrayValue?.last
            #expect(hidden?["portrait"] == nil)
            #expect(hidden?["mention"] == nil)
        }
    }
}

extension ServerBench {
    fileprivate mutating func choose(_ portrait: String?) {
        let profile = UserProfile("alice", Profile(name: "Alice", portrait: portrait))
        self.run(.api(APIRequestID(2), .setProfiles(Self.app, [profile])))
    }

    fileprivate mutating func write(_ options: PushOptions? = nil) {
        var draft = self.draft("hi", .direct("bob"))
        draft.push = options
        self.run(.api(APIRequestID(0), .send(Self.key("alice"), draft)))
    }
}

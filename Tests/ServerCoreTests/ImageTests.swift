import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

extension ServerBench {
    /// The app lists the host `a` for images.
    static var withImages: ServerSettings {
        var settings = Self.plain
        settings.pushRules[Self.app, default: PushRules()].imageHosts = ["a"]
        return settings
    }

    /// Alice writes to bob, by the API.
    @discardableResult
    mutating func show(_ content: MessageContent, pushText: String? = nil) -> [String] {
        var draft = self.draft("", .direct("bob"))
        draft.objectName = content.objectName
        draft.content = content.json
        draft.pushText = pushText
        return self.run(.api(APIRequestID(0), .send(Self.key("alice"), draft)))
    }
}

@Suite("The image of a message in its push") struct ImageTests {
    static let image = MessageContent.image(.init(url: "https://a/b.jpg"))

    /// What a push of a content to bob, whose phone is gone, carries.
    private static func push(
        _ content: MessageContent, pushText: String? = nil, _ person: PersonSettings = PersonSettings()
    ) -> JSONValue? {
        var bench = ServerBench(settings: ServerBench.withImages)
        bench.settings["bob"] = AllSettings(person: person)
        bench.goneDevice("bob")
        bench.show(content, pushText: pushText)
        return bench.payload
    }

    private static func image(in payload: JSONValue?) -> String? {
        payload.flatMap { PushInfo(userInfo: $0) }?.imageURL
    }

    @Test func `is a URL beside the text, which the extension may follow`() {
        let payload = Self.push(Self.image)
        #expect(Self.image(in: payload) == "https://a/b.jpg")
        #expect(payload?["aps"]?["mutable-content"] == 1)
        #expect(payload?["tidings"]?["text"]?["body"] == "[Image]")
        let link = MessageContent.link(.init(url: "https://a", title: "A", imageURL: "https://a/c.png"))
        #expect(Self.image(in: Self.push(link)) == "https://a/c.png")
    }

    @Test func `is an id where it lies on the server, of the thumbnail if there is one`() {
        let (large, small) = (
            "media:" + String(repeating: "0", count: 32), "media:" + String(repeating: "1", count: 32)
        )
        #expect(Self.image(in: Self.push(.image(.init(url: large)))) == large)
        #expect(Self.image(in: Self.push(.image(.init(url: large, thumbnailURL: small)))) == small)
        #expect(Self.image(in: Self.push(.image(.init(url: large, thumbnailURL: small, isAnimated: true)))) == small)
        #expect(Self.push(.custom(.image, #"{"imageUri":"media:x"}"#))?["tidings"]?["image"] == nil)
    }

    @Test func `is missing where there is none, or none that may be followed`() {
        #expect(Self.image(in: Self.push(.text("hi"))) == nil)
        #expect(Self.image(in: Self.push(.video(.init(url: "https://a/b.mp4", seconds: 1)))) == nil)
        // Over a plain connection anybody on the way sees it, and may put another in its place.
        #expect(Self.push(.image(.init(url: "http://a/b.jpg")))?["tidings"]?["image"] == nil)
        #expect(Self.push(.custom(.image, #"{"imageUri":"javascript:x"}"#))?["tidings"]?["image"] == nil)
        // A host that the app does not list learns of nobody.
        #expect(Self.push(.image(.init(url: "https://b/b.jpg")))?["tidings"]?["image"] == nil)
        #expect(Self.push(.image(.init(url: "https://a@b/b.jpg")))?["tidings"]?["image"] == nil)
    }

    @Test func `stays out if the person wants content hidden`() {
        let payload = Self.push(Self.image, PersonSettings(hidesContent: true))
        #expect(payload?["tidings"]?["image"] == nil)
        #expect(payload?.text.contains("b.jpg") == false)
    }

    @Test func `is the first to stay out of a payload that is full`() throws {
        let max = PushInfo.imageURLBytesMax
        let long = "https://a/" + String(repeating: "b", count: max - 10)
        #expect(Self.image(in: Self.push(.image(.init(url: long)))) == long)
        #expect(Self.image(in: Self.push(.image(.init(url: long + "c")))) == nil)
        // An operator's own words of 2,000 bytes leave no room for both.
        var settings = ServerBench.withImages
        var words = NotificationWords.english
        words.neutral = String(repeating: "n", count: 2_000)
        settings.words[ServerBench.app] = AppWords(byLanguage: ["en": words])
        var bench = ServerBench.gone(settings)
        let text = String(repeating: "x", count: 1_000)
        bench.show(.image(.init(url: long)), pushText: text)
        let payload = try #require(bench.payload)
        #expect(Self.image(in: payload) == nil)
        #expect(payload["aps"]?["alert"]?["body"]?.stringValue == words.neutral)
        #expect(payload["tidings"]?["text"]?["body"]?.stringValue == text)
        #expect(try #require(bench.pushes.last).request.payload.count <= 4_096)
    }

    @Test func `is taken from nobody who does not ask for an encrypted connection`() {
        var info = PushInfo(message: MessageID(rawValue: 1), position: 1, badgePosition: 1, recipientTag: "t")
        for url in ["http://a/b", "ftp://a/b", "", "file:///b"] {
            info.imageURL = url
            #expect(PushInfo(userInfo: .members([(PushInfo.key, info.dictionary)]))?.imageURL == nil)
        }
        info.imageURL = "https://a/b"
        #expect(PushInfo(userInfo: .members([(PushInfo.key, info.dictionary)])) == info)
    }
}

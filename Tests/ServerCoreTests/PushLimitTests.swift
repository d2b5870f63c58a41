import APNsModel
import ServerCore
import Testing
import TidingsModel

// What gives way where a push would be too long.
extension PushOptionsTests {
    /// What is left of a subtitle of 256 bytes, a text of 300 letters and an image.
    struct Left: Hashable {
        var hasImage = true
        var hasSubtitle = true
        var hasWholeText = true
    }

    @Test func `give way one after the other: image, subtitle, text`() throws {
        let text = String(repeating: "e\u{301}", count: 300)
        let options = PushOptions(
            subtitle: .text(String(repeating: "s", count: 256)), text: .text(text),
            imageURL: "https://img.example/" + String(repeating: "b", count: 200))
        var seen: [Left] = []
        // What the alert says without the extension never gives way: each time it leaves them a little less room.
        for neutral in stride(from: 1_500, through: 3_000, by: 50) {
            var bench = Self.bench(settings: .saying(bytes: neutral))
            bench.send(options)
            let request = try #require(bench.pushes.first?.request)
            #expect(request.payload.count <= 4_096)
            let tidings = try #require(bench.payload?["tidings"])
            let body = try #require(tidings["text"]?["body"]?.stringValue)
            let left = Left(
                hasImage: tidings["image"] != nil, hasSubtitle: tidings["text"]?["subtitle"] != nil,
                hasWholeText: body == text)
            if left != seen.last { seen.append(left) }
            guard !left.hasWholeText else { continue }
            // Cut between two letters, and no more of them than has to be.
            #expect(body.hasSuffix("…"))
            #expect(body.count > 1)
            #expect(text.starts(with: body.dropLast()))
            #expect(request.payload.count > 4_096 - "e\u{301}".utf8.count)
        }
        #expect(
            seen == [
                Left(), Left(hasImage: false), Left(hasImage: false, hasSubtitle: false),
                Left(hasImage: false, hasSubtitle: false, hasWholeText: false),
            ])
    }
}

extension ServerSettings {
    /// The alert that a push has without its extension is so long.
    static func saying(bytes: Int) -> ServerSettings {
        var words = NotificationWords.english
        words.neutral = String(repeating: "n", count: bytes)
        var settings = ServerBench.plain
        settings.words[ServerBench.app] = AppWords(byLanguage: ["en": words])
        return settings
    }
}

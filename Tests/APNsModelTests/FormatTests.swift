import Testing

@testable import APNsModel

@Suite struct `The form of` {
    @Test(arguments: [
        ("00", true), ("ABcd09", true), (String(repeating: "f", count: 200), true), ("", false), ("0", false),
        ("0x", false), ("0 ", false), (String(repeating: "f", count: 202), false),
    ])
    func `a device token is hexadecimal of any even length up to 200`(text: String, holds: Bool) {
        #expect(APNsFormat.isDeviceToken(text.utf8) == holds)
    }

    @Test(arguments: [
        ("123e4567-e89b-12d3-a456-426614174000", true, true), ("123E4567-E89B-12D3-A456-426614174000", false, true),
        ("123e4567e89b12d3a456426614174000", false, false), ("{23e4567-e89b-12d3-a456-42661417400}", false, false),
        ("123e4567-e89b-12d3-a456-42661417400", false, false), ("123e4567-e89b-12d3-a456_426614174000", false, false),
        ("g23e4567-e89b-12d3-a456-426614174000", false, false), ("", false, false),
    ])
    func `a UUID is canonical in lowercase alone`(text: String, isCanonical: Bool, isUUID: Bool) {
        #expect(APNsFormat.isCanonicalUUID(text.utf8) == isCanonical)
        #expect(APNsFormat.isUUID(text.utf8) == isUUID)
    }

    @Test(arguments: [
        ("a", true), ("com.example_1-B.voip", true), (String(repeating: "a", count: 255), true), ("", false),
        ("com/example", false), ("com.\u{e9}xample", false), (String(repeating: "a", count: 256), false),
    ])
    func `a topic is letters, digits, hyphens, underscores and dots`(text: String, holds: Bool) {
        #expect(APNsFormat.isTopic(text.utf8) == holds)
    }

    @Test func `a bundle identifier has no suffix of a push type`() {
        #expect(APNsFormat.isBundleID("com.example.chat"))
        #expect(!APNsFormat.isBundleID("com example"))
        for type in APNsPushType.allCases where !type.topicSuffix.isEmpty {
            #expect(!APNsFormat.isBundleID(type.topic(forBundle: "com.example.chat")))
        }
    }

    @Test(arguments: [
        ("a", true), ("\u{4f60} \u{e9}", true), (String(repeating: "a", count: 64), true), ("", false),
        ("a\n", false), ("\u{7f}", false), (String(repeating: "a", count: 65), false),
    ])
    func `a collapse id is 1 to 64 bytes a header can carry`(text: String, holds: Bool) {
        #expect(APNsFormat.isCollapseID(text.utf8) == holds)
    }

    @Test(arguments: [
        ("dGVzdA==", true), ("AAA=", true), ("+/09", true), (String(repeating: "A", count: 256), true), ("", false),
        ("dGVzdA", false), ("====", false), ("A===", false), ("AA=A", false), ("AAA-", false), ("AA A", false),
        ("=AAA", false), ("AA==AA==", false), (String(repeating: "A", count: 260), false),
    ])
    func `a channel id is base64 with padding`(text: String, holds: Bool) {
        #expect(APNsFormat.isChannelID(text.utf8) == holds)
    }
}

import Testing
import TidingsModel

@Suite struct `A display name` {
    private static func fault(_ name: String, lettersMax: Int? = DisplayName.lettersMax) -> String? {
        do throws(InvalidField) {
            try DisplayName.check(name, field: "name", lettersMax: lettersMax)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        "Ada", "李 小龙", "Ada-Marie O'Neil", "👩‍👩‍👧‍👦", "مريم", "שלום \u{200f}(א)", "نامه\u{200c}ای", "é", "x",
        String(repeating: "中", count: 64),
    ])
    func `is anything that people are called`(name: String) { #expect(Self.fault(name) == nil) }

    @Test func `is neither empty nor too long`() {
        #expect(Self.fault("") == "name must be 1 to 256 bytes, got 0")
        #expect(Self.fault(String(repeating: "中", count: 86)) == "name must be 1 to 256 bytes, got 258")
        #expect(Self.fault(String(repeating: "x", count: 65)) == "name must be at most 64 letters, got 65")
        #expect(Self.fault(String(repeating: "x", count: 65), lettersMax: nil) == nil)
    }

    @Test(arguments: ["a\nb", "a\u{0}", "\u{7f}", "a\u{2028}b", "a\u{2029}b", "tab\tbed"])
    func `has no control characters and line breaks`(name: String) {
        #expect(Self.fault(name) == "name must have no control characters or line breaks")
    }

    @Test(arguments: [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069] as [UInt32])
    func `does not change the direction of text`(scalar: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(scalar))
        #expect(Self.fault("Ada\(scalar)gpj") == "name must have no characters that change the direction of text")
    }

    @Test(arguments: [
        " ", "\u{200b}", "\u{2060}\u{feff}", "\u{3164}", "\u{2800}", "\u{a0}\u{3000}", "\u{200d}", "\u{301}",
    ])
    func `has something that can be seen`(name: String) {
        #expect(Self.fault(name) == "name must have something that can be seen")
    }
}

/// Names a file that lies on the server (docs/server/api-media.md "Media"): 32 lower-case hexadecimal digits, 128 random bits, so that nobody
/// guesses one. It opens nothing by itself: who asks also needs a message that names it.
public struct MediaID: StringIdentifier, JSONWritable {
    /// The digits.
    public let rawValue: String

    /// Unchecked; use `validated(_:field:)` for text from outside.
    @inlinable public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Bytes of UTF-8, all of which there must be.
    public static var bytesMax: Int { 32 }

    /// Throws `InvalidField` unless it is 32 lower-case hexadecimal digits: it becomes the name of a file.
    public static func validated(_ text: String, field: String) throws(InvalidField) -> Self {
        guard text.utf8.count == Self.bytesMax, text.utf8.allSatisfy(Self.isDigit) else {
            throw InvalidField(field: field, rule: "must be 32 lower-case hexadecimal digits")
        }
        return Self(text)
    }

    @inline(__always) static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

extension MediaID {
    static let scheme = "media:"

    /// The name of the file in a message, where another has a URL: `media:` and the id.
    public var reference: String { Self.scheme + self.rawValue }

    /// Reads a reference; nil for a URL or anything else.
    public init?(reference: String) {
        guard reference.utf8.count == Self.scheme.utf8.count + Self.bytesMax, reference.hasPrefix(Self.scheme),
            let id = try? Self.validated(String(reference.dropFirst(Self.scheme.utf8.count)), field: "media")
        else { return nil }
        self = id
    }

    /// The ids whose references stand in a content, each once, in their order; at most `namedMax`, for more are not counted.
    /// Looked for as bytes, whatever kind of content it is: an app's own kinds name media, too.
    package static func named(in content: String) -> [MediaID] {
        guard content.utf8.count >= Self.scheme.utf8.count + Self.bytesMax else { return [] }
        let found = content.utf8.withContiguousStorageIfAvailable { Self.references(in: $0) }
        return found ?? Array(content.utf8).withUnsafeBufferPointer { Self.references(in: $0) }
    }

    /// How many media one message names at most.
    package static let namedMax = 32

    private static func references(in bytes: UnsafeBufferPointer<UInt8>) -> [MediaID] {
        var found: [MediaID] = []
        let colon = UInt8(ascii: ":")
        var index = Self.scheme.utf8.count - 1
        let end = bytes.count - Self.bytesMax
        while index < end {
            defer { index += 1 }
            guard bytes[index] == colon, bytes[index - 1] == UInt8(ascii: "a"),
                bytes[(index - 5)..<index].elementsEqual("media".utf8)
            else { continue }
            let digits = bytes[(index + 1)..<(index + 1 + Self.bytesMax)]
            guard digits.allSatisfy(Self.isDigit) else { continue }
            let id = MediaID(String(decoding: digits, as: UTF8.self))
            if !found.contains(id) { found.append(id) }
            if found.count == Self.namedMax { break }
        }
        return found
    }
}

extension Message {
    /// The media that everyone with the message may read: those its content names, and the image of its notification.
    package var namedMedia: [MediaID] {
        let named = MediaID.named(in: self.content)
        guard let image = self.push?.imageURL, let media = MediaID(reference: image), !named.contains(media) else {
            return named
        }
        return named + [media]
    }
}

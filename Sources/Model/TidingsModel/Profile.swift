/// Name and portrait of a person or an account, as the app's backend, or where the app allows it the person, has set them. They give the
/// title of a push to a phone whose app is not running (S3.5): the app's own providers cannot be asked there.
public struct Profile: Hashable, Sendable {
    /// The display name; nil for none. See `DisplayName`.
    public var name: String?
    /// An image, a URL; nil for none.
    public var portrait: String?

    /// A profile from its parts; by default an empty one.
    public init(name: String? = nil, portrait: String? = nil) {
        self.name = name
        self.portrait = portrait
    }

    /// True if it has neither name nor portrait.
    public var isEmpty: Bool { self.name == nil && self.portrait == nil }

    /// The longest portrait, in bytes of UTF-8.
    public static let portraitBytesMax = 1_024

    /// Throws `InvalidField` for a name that is no `DisplayName`, and a portrait that is empty or too long.
    public func validate() throws(InvalidField) {
        if let name = self.name { try DisplayName.check(name, field: "name") }
        guard let portrait = self.portrait else { return }
        try InvalidField.check(portrait.utf8.count, in: 1...Self.portraitBytesMax, "portrait", unit: " bytes")
    }
}

/// A profile with whose it is.
public struct UserProfile: Hashable, Sendable, Identifiable {
    /// The person or account.
    public var id: UserID
    /// Their name and portrait.
    public var profile: Profile

    /// Makes the profile of a person.
    public init(_ id: UserID, _ profile: Profile) {
        self.id = id
        self.profile = profile
    }
}

/// The rules for a name on other people's screens: visible, in one line, and unable to turn the text around it.
public enum DisplayName {
    /// The longest name of a person, in letters as they are seen (extended grapheme clusters, UAX #29).
    public static let lettersMax = 64
    /// The longest name in bytes of UTF-8: a letter may be made of many characters.
    public static let bytesMax = 256

    /// Throws `InvalidField` for a name that is empty or too long, for control characters and line breaks, for characters that
    /// change the direction of what follows (UAX #9 §2.1, §2.2 and §2.4), and for one of which nothing can be seen.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - field: what the error names.
    ///   - lettersMax: the longest one; nil where only bytes are counted.
    public static func check(_ name: String, field: String, lettersMax: Int? = Self.lettersMax) throws(InvalidField) {
        try InvalidField.check(name.utf8.count, in: 1...Self.bytesMax, field, unit: " bytes")
        if let lettersMax { try InvalidField.check(name.count, atMost: lettersMax, field, unit: " letters") }
        // Most names are plain letters, and some are checked with every group that is put.
        guard !name.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return }
        var isSeen = false
        for scalar in name.unicodeScalars {
            try InvalidField.check(!scalar.isControl, field, "must have no control characters or line breaks")
            try InvalidField.check(
                !scalar.turnsText, field, "must have no characters that change the direction of text")
            isSeen = isSeen || scalar.isSeen
        }
        guard isSeen else { throw InvalidField(field: field, rule: "must have something that can be seen") }
    }

    /// Two names that people take for the same: without regard to case, spaces and what cannot be seen.
    package static func folded(_ name: String) -> String {
        String(String.UnicodeScalarView(name.lowercased().unicodeScalars.filter(\.isSeen)))
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch self.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Embeddings, overrides and isolates with their ends. Marks without an extent (U+061C, U+200E, U+200F) are part of names in
    /// right-to-left scripts.
    fileprivate var turnsText: Bool { (0x202a...0x202e).contains(self.value) || (0x2066...0x2069).contains(self.value) }

    fileprivate var isSeen: Bool {
        let properties = self.properties
        // U+2800 is a letter without a dot, of which nothing is seen.
        guard !properties.isWhitespace, !properties.isDefaultIgnorableCodePoint, self.value != 0x2800 else {
            return false
        }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned,
            .nonspacingMark, .enclosingMark:
            return false
        default: return true
        }
    }
}

public import Foundation
public import TidingsModel

/// Finds the names to offer when a person types `@` in a group, and the people whom a text mentions.
public enum MentionCompletion {
    /// A person who can be mentioned.
    public struct Candidate: Hashable, Sendable {
        /// The person; nil for everybody.
        public var user: UserID?
        /// The name in the group.
        public var name: String

        /// Makes a candidate of a person, or of everybody.
        public init(user: UserID?, name: String) {
            self.user = user
            self.name = name
        }
    }

    /// How many are offered at once.
    public static let candidatesMax = 5

    /// Returns the typed beginning of a name: from the `@` before the caret, which begins the text or follows a space or a letter that is
    /// not Latin, up to the caret. Nil if no name is being typed.
    ///
    /// - Parameters:
    ///   - text: what stands in the field.
    ///   - caret: in UTF-16 units, as text views count.
    public static func query(in text: String, caret: Int) -> (range: NSRange, name: String)? {
        let units = Array(text.utf16.prefix(caret))
        guard let at = units.lastIndex(of: 0x40), units.count == caret else { return nil }
        let name = String(decoding: units[(at + 1)...], as: UTF16.self)
        guard name.count <= 32, !name.contains(where: \.isNewline), !name.contains("  ") else { return nil }
        // This is an address, such as name@example.com.
        let before = String(decoding: units[..<at], as: UTF16.self)
        guard Self.isBeginning(before.endIndex, in: before) else { return nil }
        return (NSRange(location: at, length: caret - at), name)
    }

    /// Returns the candidates with a name, a word of it, or an id that begins like this, in the given order; `candidatesMax` at most.
    public static func candidates(for name: String, among all: [Candidate]) -> [Candidate] {
        let typed = name.lowercased()
        let found = all.filter { candidate in
            let words = candidate.name.lowercased()
            guard !typed.isEmpty else { return true }
            return words.hasPrefix(typed) || words.split(separator: " ").contains { $0.hasPrefix(typed) }
                || candidate.user?.rawValue.lowercased().hasPrefix(typed) == true
        }
        return Array(found.prefix(Self.candidatesMax))
    }

    /// The text with a chosen name in the place of what was typed of it, and where the caret then is.
    public static func completed(_ text: String, _ range: NSRange, with candidate: Candidate) -> (
        text: String, caret: Int
    ) {
        let units = Array(text.utf16)
        let inserted = Array("@\(candidate.name) ".utf16)
        let end = min(range.location + range.length, units.count)
        let all = units[..<min(range.location, units.count)] + inserted + units[end...]
        return (String(decoding: all, as: UTF16.self), range.location + inserted.count)
    }

    /// Whom a text mentions: those of the chosen whose name still stands in it.
    public static func mentions(in text: String, chosen: [Candidate]) -> Mentions {
        let named = Self.named(in: text, among: chosen)
        if named.contains(where: { $0.user == nil }) { return .everyone }
        let users = Set(named.compactMap(\.user)).sorted().prefix(Mentions.usersMax)
        return users.isEmpty ? .none : .users(Array(users))
    }

    /// Whose names stand in a text after an `@`, each whole: of several that fit, such as *Bob* and *Bob Brown*, the longest.
    package static func named(in text: String, among all: [Candidate]) -> [Candidate] {
        var found: [Candidate] = []
        for at in text.indices where text[at] == "@" && Self.isBeginning(at, in: text) {
            let typed = text[text.index(after: at)...]
            let fitting = all.filter { !$0.name.isEmpty && typed.hasPrefix($0.name) && Self.ends($0.name, in: typed) }
            let longest = fitting.map(\.name.count).max()
            found += fitting.filter { $0.name.count == longest && !found.contains($0) }
        }
        return found
    }

    /// Returns true if a name may begin here: after a Latin letter or digit the `@` belongs to an address.
    private static func isBeginning(_ at: String.Index, in text: String) -> Bool {
        guard let before = text[..<at].last else { return true }
        return !before.isASCII || !(before.isLetter || before.isNumber)
    }

    /// Bob is not in *@Bobby*. In scripts without spaces a name ends where it does.
    private static func ends(_ name: String, in typed: Substring) -> Bool {
        guard let last = name.last, let next = typed.dropFirst(name.count).first else { return true }
        return ![last, next].allSatisfy {
            ($0.isLetter || $0.isNumber) && $0.unicodeScalars.allSatisfy { $0.value < 0x2E80 }
        }
    }
}

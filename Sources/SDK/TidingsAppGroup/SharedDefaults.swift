import ClientCore
package import Foundation

/// The app group's user defaults: any code of app and extension can read them, and write (S2.16).
package protocol SharedDefaults: Sendable {
    func number(forKey key: String) -> StoredNumber
    /// Nil removes it.
    func set(_ number: Int?, forKey key: String)
}

package enum StoredNumber: Hashable, Sendable {
    case none
    case number(Int)
    /// Something that is no whole number.
    case other

    init(_ object: Any?) {
        switch object {
        case nil: self = .none
        case let number as Int: self = .number(number)
        default: self = .other
        }
    }
}

/// The system's, by the group's name.
package struct UserDefaultsSuite: SharedDefaults {
    private let name: String

    package init(name: String) { self.name = name }

    package func number(forKey key: String) -> StoredNumber {
        StoredNumber(UserDefaults(suiteName: self.name)?.object(forKey: key))
    }

    package func set(_ number: Int?, forKey key: String) {
        guard let defaults = UserDefaults(suiteName: self.name) else { return }
        if let number { defaults.set(number, forKey: key) } else { defaults.removeObject(forKey: key) }
    }
}

/// A virtual phone's: the file the system keeps them in, in the group's container. Foundation on Linux has one set of user defaults for all of a
/// person's processes, and knows no containers.
package struct ContainerDefaults: SharedDefaults {
    private let file: URL

    package init(container: URL, name: String) {
        self.file = container.appendingPathComponent("Library/Preferences/\(name).plist")
    }

    package func number(forKey key: String) -> StoredNumber { StoredNumber(self.all[key]) }

    package func set(_ number: Int?, forKey key: String) {
        var all = self.all
        all[key] = number
        try? FileManager.default.createDirectory(
            at: self.file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let bytes = try? PropertyListSerialization.data(fromPropertyList: all, format: .binary, options: 0)
        try? bytes?.write(to: self.file, options: .atomic)
    }

    private var all: [String: Any] {
        let bytes = try? Data(contentsOf: self.file)
        return bytes.flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) as? [String: Any] }
            ?? [:]
    }
}

/// The number on the icon as other code finds it in the group's user defaults, an Int under the badge's key: a copy that is written under the
/// lock of the files, absent while there is no number, and never read for a decision.
struct BadgeMirror: Sendable {
    let defaults: any SharedDefaults
    let key: String

    /// Writes the copy. Returns the value that another writer has put in place of the copy of `before`; nil if there is none. A missing
    /// copy was removed, or there was none yet.
    func update(to number: Int?, before: Int?) -> ForeignBadge? {
        let found = self.defaults.number(forKey: self.key)
        if found != number.map({ .number($0) }) ?? .none { self.defaults.set(number, forKey: self.key) }
        guard found != .none, found != before.map({ .number($0) }) ?? .none else { return nil }
        let written: Int? = if case .number(let number) = found { number } else { nil }
        return ForeignBadge(key: self.key, written: written, kept: number)
    }
}

/// Other code has written to the copy of the badge, to no effect.
package struct ForeignBadge: Hashable, Sendable, CustomStringConvertible {
    package var key: String
    /// Nil for something that is no whole number.
    package var written: Int?
    /// The number that stands there again; nil for nothing.
    package var kept: Int?

    package var description: String {
        ClientProblem.badgeOverwritten(key: self.key, written: self.written, kept: self.kept).description
    }
}

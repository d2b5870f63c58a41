import ClientCore
public import Foundation

/// The number on the app's icon, kept in the app group (S2.14–S2.20). Each call is atomic across app and extension.
///
/// No stored number means that the extension changes nothing (S2.20): `increment` and `decrement` leave it so. The app writes
/// the first one when it resigns active (S2.17).
///
/// With an app group's identifier the number is copied to the group's user defaults, an Int under the key, for code that reads it there:
///
/// ```swift
/// let badge = UserDefaults(suiteName: "group.com.example.chat")?.object(forKey: "badge") as? Int
/// ```
///
/// The copy is written in the same step as the number and is absent while there is none. What other code writes there has no effect, and is
/// reported.
public struct BadgeStore: Sendable {
    package let group: AppGroup

    /// A store in the container of an app group.
    ///
    /// - Parameters:
    ///   - appGroupFolder: the container's folder.
    ///   - key: names the number; the same in app and extension (S2.14).
    /// - Throws: `BadgeStoreProblem` for a key that is none, or a container that cannot be used.
    public init(appGroupFolder: URL, key: String = "badge") throws(BadgeStoreProblem) {
        try self.init(appGroupFolder: appGroupFolder, identifier: nil, key: key)
    }

    package init(appGroupFolder: URL, identifier: String?, key: String) throws(BadgeStoreProblem) {
        guard Self.isKey(key) else { throw .invalidKey(key) }
        do throws(FileFault) {
            self.group = try AppGroup(folder: appGroupFolder, identifier: identifier, badgeKey: key)
        } catch {
            throw .containerUnavailable("\(error)")
        }
    }

    package init(group: AppGroup) { self.group = group }

    /// In the app: what the icon shows; a missing number reads as 0 (S2.18).
    public var value: Int { self.storedValue ?? 0 }

    /// The number on the icon; nil if no number is stored, or the container cannot be read.
    public var storedValue: Int? { (try? self.group.update { $0.badge?.shown }) ?? nil }

    /// Why there is no number: nothing if there is one.
    ///
    /// A number under another key is what a key that differs between app and extension looks like (S2.14).
    public var problem: BadgeStoreProblem? {
        do {
            if try self.group.update({ $0.badge }) != nil { return nil }
        } catch {
            return .containerUnavailable("\(error)")
        }
        let others = self.group.storedBadgeKeys.filter { $0 != self.group.badgeKey }
        return others.isEmpty ? nil : .storedUnderAnotherKey(expected: self.group.badgeKey, found: others)
    }

    /// Another sender's push came (S2.19). Returns the new number.
    ///
    /// - Throws: an error of the file system; nothing was changed then.
    @discardableResult
    public func increment() throws -> Int? { try self.count(isRecall: false) }

    /// Another sender withdrew a push (S2.19); never below 0. Returns the new number.
    ///
    /// - Throws: an error of the file system; nothing was changed then.
    @discardableResult
    public func decrement() throws -> Int? { try self.count(isRecall: true) }

    private func count(isRecall: Bool) throws -> Int? {
        try self.group.update { contents in
            contents.badge?.pushedByAnother(isRecall: isRecall)
            return contents.badge?.shown
        }
    }

    /// Stores a number; one below 0 counts as 0.
    ///
    /// - Throws: an error of the file system; nothing was changed then.
    public func set(_ value: Int) throws {
        try self.group.update { contents in
            var badge = contents.badge ?? Badge()
            badge.set(value)
            contents.badge = badge
        }
    }

    static func isKey(_ key: String) -> Bool {
        (1...64).contains(key.utf8.count)
            && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == ".") }
    }
}

#if canImport(Darwin)
    extension BadgeStore {
        /// A store in an app group's container.
        ///
        /// - Parameters:
        ///   - appGroupIdentifier: the group's name, the same in app and extension (S2.14).
        ///   - key: names the number; the same in app and extension (S2.14).
        /// - Throws: `BadgeStoreProblem`: this process does not belong to the group, the key is no key, or the container cannot be
        ///   used now.
        public init(appGroupIdentifier: String, key: String = "badge") throws(BadgeStoreProblem) {
            guard
                let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroupIdentifier)
            else { throw .unknownAppGroup(appGroupIdentifier) }
            try self.init(appGroupFolder: folder, identifier: appGroupIdentifier, key: key)
        }
    }
#endif

/// Why a badge cannot be kept: nearly always a name that was not replaced in one of the two targets (S2.14).
public enum BadgeStoreProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// This process does not belong to the app group, or there is none of that name.
    case unknownAppGroup(String)
    /// The key is no key.
    case invalidKey(String)
    /// The container cannot be read or written now, for example before the first unlock.
    case containerUnavailable(String)
    /// There is a number, but under other keys than this process's.
    case storedUnderAnotherKey(expected: String, found: [String])

    /// One sentence that names what is wrong and what to do.
    public var description: String {
        switch self {
        case .unknownAppGroup(let identifier):
            "appGroupIdentifier \"\(identifier)\" is not an app group of this process; add it under Signing & Capabilities "
                + "of the app and of the extension, and pass the same identifier in both"
        case .invalidKey(let key):
            "key \"\(key)\" must be 1 to 64 letters, digits, hyphens, dots and underscores"
        case .containerUnavailable(let reason): "the app group's container cannot be used now: \(reason)"
        case .storedUnderAnotherKey(let expected, let found):
            "key \"\(expected)\" holds no badge, but \(found.map { "\"\($0)\"" }.joined(separator: ", ")) does; "
                + "pass the same key in the app and in the extension"
        }
    }
}

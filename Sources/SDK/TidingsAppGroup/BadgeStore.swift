import ClientCore
public import Foundation

/// The number on the app's icon, kept in the app group (S2.14–S2.20). Each call is atomic across app and extension.
///
/// No stored number means that nothing is to be changed (S2.20): `increment` and `decrement` leave it so. The app writes the
/// first one when it resigns active (S2.17).
public struct BadgeStore: Sendable {
    /// The app group the number is kept in.
    package let group: AppGroup

    /// A store in the container of an app group.
    ///
    /// - Parameters:
    ///   - appGroupFolder: the container's folder.
    ///   - key: names the number; the same in app and extension.
    /// - Throws: an error of the file system if the container cannot be used.
    public init(appGroupFolder: URL, key: String = "badge") throws {
        self.group = try AppGroup(folder: appGroupFolder, badgeKey: key)
    }

    /// What the icon shows; nil if no number is stored, or the container cannot be read.
    public var value: Int? { (try? self.group.update { $0.badge?.shown }) ?? nil }

    /// Another sender's push came (S2.19). Returns the new number.
    ///
    /// - Throws: an error of the file system; nothing was changed then.
    @discardableResult
    public func increment() throws -> Int? {
        try self.group.update { contents in
            contents.badge?.pushedByAnother(isRecall: false)
            return contents.badge?.shown
        }
    }

    /// Another sender withdrew a push (S2.19); never below 0. Returns the new number.
    ///
    /// - Throws: an error of the file system; nothing was changed then.
    @discardableResult
    public func decrement() throws -> Int? {
        try self.group.update { contents in
            contents.badge?.pushedByAnother(isRecall: true)
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
}

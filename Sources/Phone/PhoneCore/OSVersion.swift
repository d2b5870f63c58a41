/// The iOS version a simulated phone runs. Every decision takes it as a value; `#available` says nothing on Linux
/// (design.md §7).
public struct OSVersion: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The number before the dot, 3 or more.
    public var major: Int
    /// The number after the dot, 0 or more.
    public var minor: Int

    /// A version such as 17.0 or 9.3.
    public init(_ major: Int, _ minor: Int = 0) {
        self.major = major
        self.minor = minor
    }

    /// Reads `17` or `17.4`; nil for anything else, and below 3, the first version with push notifications.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count <= 2, let major = parts[0], major >= 3, let minor = parts.count == 2 ? parts[1] : 0,
            minor >= 0
        else { return nil }
        self.init(major, minor)
    }

    /// A whole version such as 17.
    public init(integerLiteral value: Int) { self.init(value) }

    /// Orders by major, then minor.
    public static func < (left: OSVersion, right: OSVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// `17.0`.
    public var description: String { "\(self.major).\(self.minor)" }

    /// How long background tasks may keep an app running after it left the screen, in milliseconds
    /// (ios-delivery.md §8: 600 s, 180 s from iOS 7, 30 s from iOS 13).
    public var backgroundTaskTime: Int64 {
        if self < 7 { return 600_000 }
        return self < 13 ? 180_000 : 30_000
    }

    /// True if the UserNotifications framework exists (ios-delivery.md §0.3).
    public var hasUserNotifications: Bool { self >= 10 }
    /// True if an app can have scenes (ios-delivery.md §5.4).
    public var hasScenes: Bool { self >= 13 }
    /// True if notifications have an interruption level (ios-delivery.md §4 gate 5).
    public var hasInterruptionLevels: Bool { self >= 15 }
    /// True if a silent push wakes an app at all (ios-delivery.md §5.1: not before iOS 7).
    public var wakesForPushes: Bool { self >= 7 }
}

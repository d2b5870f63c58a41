import Foundation

/// The system's wall clock.
enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

enum WallClock {
    /// Since 1970-01-01T00:00:00Z.
    static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

/// Counts on while the device sleeps. `ContinuousClock` is the same, but needs iOS 16.
enum MonotonicClock {
    /// Since a moment before this process.
    static var milliseconds: Int64 {
        #if canImport(Darwin)
            let clock = CLOCK_MONOTONIC
        #else
            let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension TimeInterval {
    /// Rounded towards zero and clamped.
    var wholeMilliseconds: Int64 {
        guard !self.isNaN else { return 0 }
        return Int64(exactly: (self * 1_000).rounded(.towardZero)) ?? (self < 0 ? .min : .max)
    }
}

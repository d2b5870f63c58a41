import Foundation
package import TidingsModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

package protocol ClientClock: Sendable {
    var now: Now { get }
    func sleep(untilMonotonic deadline: Int64) async
}

package struct SystemClientClock: ClientClock {
    package init() {}

    package var now: Now {
        Now(monotonic: Self.monotonic, wall: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    /// Milliseconds on a clock that counts on while the device sleeps. `ContinuousClock` is the same, but needs iOS 16.
    private static var monotonic: Int64 {
        #if canImport(Darwin)
            let clock = CLOCK_MONOTONIC
        #else
            let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Time the process spends suspended counts.
    package func sleep(untilMonotonic deadline: Int64) async {
        while !Task.isCancelled {
            let left = deadline - Self.monotonic
            guard left > 0 else { return }
            // At most an hour at once: a deadline may be "never".
            let slice = min(left, 3_600_000)
            if #available(iOS 16, *) {
                try? await Task.sleep(for: .milliseconds(slice), clock: .continuous)
            } else {
                try? await Task.sleep(nanoseconds: UInt64(slice) * 1_000_000)
            }
        }
    }
}

extension TimeInterval {
    /// Rounded towards zero and clamped.
    var wholeMilliseconds: Int64 {
        guard !self.isNaN else { return 0 }
        return Int64(exactly: (self * 1_000).rounded(.towardZero)) ?? (self < 0 ? .min : .max)
    }
}

@available(iOS 16, *)
extension Duration {
    /// Rounded towards zero and clamped.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        return thousands + attoseconds / 1_000_000_000_000_000
    }
}

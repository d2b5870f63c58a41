import Foundation
import NIOCore
import TidingsModel

enum Clocks {
    static func now() -> Now {
        Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }

    /// A millisecond later, so that the core's clock has reached the time.
    static func deadline(_ monotonic: Int64) -> NIODeadline {
        NIODeadline.uptimeNanoseconds(UInt64(max(0, monotonic + 1)) * 1_000_000)
    }
}

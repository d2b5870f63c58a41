import UIKit

/// The version of the system. `#available` does not know a virtual phone's, so every decision takes this one.
struct SystemVersion: Hashable, Sendable {
    let major: Int

    /// Reads `9.3` or `17.0.1`.
    init(_ text: String) { self.major = text.split(separator: ".").first.flatMap { Int($0) } ?? 0 }

    @MainActor static var current: SystemVersion { SystemVersion(UIDevice.current.systemVersion) }
}

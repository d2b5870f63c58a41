import UIKit

/// `#available` does not know a virtual phone's version, so every decision takes this one.
struct SystemVersion: Hashable, Sendable {
    let major: Int

    init(_ text: String) { self.major = text.split(separator: ".").first.flatMap { Int($0) } ?? 0 }

    @MainActor static var current: SystemVersion { SystemVersion(UIDevice.current.systemVersion) }
}

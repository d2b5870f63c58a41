public import Foundation
import TidingsModel
import VirtualPhone

/// The phone. `systemVersion` is the virtual phone's, which `#available` does not know on Linux (docs/testing/phone-facades.md).
@MainActor public final class UIDevice {
    /// The phone this code runs on.
    public static var current: UIDevice { UIDevice(process: PhoneProcess.current) }

    private let process: PhoneProcess
    private init(process: PhoneProcess) { self.process = process }

    /// The version, for example `9.3`; the tests of S1.1 read it.
    public var systemVersion: String { self.process.facts.osVersion }
    /// `iOS`, and `iPhone OS` before iOS 9.
    public var systemName: String {
        let major = self.systemVersion.split(separator: ".").first.flatMap { Int($0) } ?? 0
        return major < 9 ? "iPhone OS" : "iOS"
    }
    /// The kind of device.
    public var model: String { "iPhone" }
    /// The person's name for it.
    public var name: String { self.process.facts.phoneID }

    /// One identifier for all apps of a vendor on this phone: those whose bundle identifiers differ in the last part only.
    public var identifierForVendor: UUID? {
        let vendor = self.process.facts.bundleID.split(separator: ".").dropLast().joined(separator: ".")
        var hash = FNV1a()
        let words = (0..<2).map { word in
            (0..<8).reduce(UInt64(0)) { number, place in
                hash.feed("\(8 * word + place)/\(self.process.facts.phoneID)/\(vendor)")
                return number << 8 | hash.value >> 32 & 0xff
            }
        }
        return UUID(uuidString: Hexadecimal.uuid(high: words[0], low: words[1]))
    }
}

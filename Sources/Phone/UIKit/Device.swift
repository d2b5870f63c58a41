public import Foundation
import VirtualPhone

/// The phone. `systemVersion` is the virtual phone's, which `#available` does not know on Linux (docs/virtual-phone.md).
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
    /// What kind of device it is.
    public var model: String { "iPhone" }
    /// What the person calls it.
    public var name: String { self.process.facts.phoneID }

    /// One identifier for all apps of a vendor on this phone: those whose bundle identifiers differ in the last part only.
    public var identifierForVendor: UUID? {
        let vendor = self.process.facts.bundleID.split(separator: ".").dropLast().joined(separator: ".")
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        let bytes = (0..<16).map { place -> UInt8 in
            for byte in "\(place)/\(self.process.facts.phoneID)/\(vendor)".utf8 {
                state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
            }
            return UInt8(truncatingIfNeeded: state >> 32)
        }
        let text = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let digits = Array(text)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return UUID(uuidString: parts.joined(separator: "-"))
    }
}

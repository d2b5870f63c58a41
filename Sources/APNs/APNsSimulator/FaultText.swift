import APNsCore
import Foundation
import TidingsModel

struct FaultText: Sendable {
    var json: JSONValue
    var plan: FaultPlan

    /// Reads JSON as `POST /faults` takes it.
    ///
    /// - Throws: `InvalidField` naming the member and the rule; `body` for text that is no JSON.
    init(_ bytes: some Sequence<UInt8>) throws(InvalidField) {
        do {
            self.json = try JSONValue(parsing: bytes, depthMax: 8)
        } catch {
            throw InvalidField(field: "body", rule: "must be JSON: \(error)")
        }
        self.plan = try FaultPlan(json: self.json)
    }

    /// Reads a file.
    ///
    /// - Throws: `InvalidField` for `faults`, or naming the member as in `faults.rules[2].status`.
    init(path: String) throws(InvalidField) {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw InvalidField(field: "faults", rule: "must be a file that can be read: \(path)")
        }
        do throws(InvalidField) {
            try self.init(try FileText.read(bytes, field: "file").utf8)
        } catch {
            throw InvalidField(field: "faults.\(error.field)", rule: error.rule)
        }
    }
}

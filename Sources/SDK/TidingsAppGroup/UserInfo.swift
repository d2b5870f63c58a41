import Foundation
public import TidingsModel

extension NotificationPayload {
    /// Reads the `rc` dictionary of a notification's user info (S0.10); nil for another sender's push, and for one that is
    /// malformed.
    public init?(userInfo: [AnyHashable: Any]) {
        guard let payload = try? NotificationPayload(userInfo: JSONValue(userInfo: userInfo)) else { return nil }
        self = payload
    }
}

extension JSONValue {
    /// Keys are sorted. What JSON cannot hold is left out: APNs could not have carried it.
    package init(userInfo: [AnyHashable: Any]) {
        var members: [(String, JSONValue)] = []
        for (key, value) in userInfo {
            guard let name = key.base as? String, let json = JSONValue(any: value) else { continue }
            members.append((name, json))
        }
        self = .members(members.sorted { $0.0 < $1.0 })
    }

    private init?(any value: Any) {
        switch value {
        case let json as JSONValue: self = json
        case let text as String: self = .string(text)
        #if canImport(Darwin)
            // An NSNumber answers to Bool, Int and Double alike; only its type encoding tells them apart.
            case let number as NSNumber:
                if CFGetTypeID(number) == CFBooleanGetTypeID() {
                    self = .bool(number.boolValue)
                } else if CFNumberIsFloatType(number) {
                    guard let json = JSONNumber(number.doubleValue) else { return nil }
                    self = .number(json)
                } else {
                    self = .int(number.int64Value)
                }
        #else
            // Numbers of every type are bridged here; Foundation on Linux writes `c` for Booleans alone.
            case let number as NSNumber:
                switch UInt8(bitPattern: number.objCType.pointee) {
                case UInt8(ascii: "c"): self = .bool(number.boolValue)
                case UInt8(ascii: "d"), UInt8(ascii: "f"):
                    guard let json = JSONNumber(number.doubleValue) else { return nil }
                    self = .number(json)
                case UInt8(ascii: "Q"): self = .int(number.uint64Value)
                default: self = .int(number.int64Value)
                }
        #endif
        case let dictionary as [AnyHashable: Any]: self = JSONValue(userInfo: dictionary)
        case let array as [Any]: self = .array(array.compactMap { JSONValue(any: $0) })
        case is NSNull: self = .null
        default: return nil
        }
    }

    package var anyValue: Any {
        switch self {
        case .null: NSNull()
        case .bool(let flag): flag
        case .number(let number): number.int64.map { Int($0) as Any } ?? number.double
        case .string(let text): text
        case .array(let elements): elements.map(\.anyValue)
        case .object: self.userInfo
        }
    }

    package var userInfo: [AnyHashable: Any] {
        guard let object = self.objectValue else { return [:] }
        return Dictionary(uniqueKeysWithValues: object.members.map { (AnyHashable($0.key), $0.value.anyValue) })
    }
}

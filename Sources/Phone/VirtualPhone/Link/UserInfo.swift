import Foundation
package import TidingsModel

/// Values that JSON cannot hold are left out.
package func jsonObject(from userInfo: [AnyHashable: Any]) -> JSONObject {
    var object = JSONObject()
    for (key, value) in userInfo.compactMap({ key, value in (key.base as? String).map { ($0, value) } })
        .sorted(by: { $0.0 < $1.0 })
    {
        object[key] = jsonValue(from: value)
    }
    return object
}

package func userInfo(from object: JSONObject) -> [AnyHashable: Any] {
    Dictionary(uniqueKeysWithValues: object.members.map { (AnyHashable($0.key), anyValue(from: $0.value)) })
}

/// Parts of a `UILocalNotification` that a request has no place for; hidden from apps.
package let legacyPartsKey = "com.apple.UIKit.localNotification"

package func visibleUserInfo(from object: JSONObject) -> [AnyHashable: Any] {
    guard object[legacyPartsKey] != nil else { return userInfo(from: object) }
    var visible = object
    visible[legacyPartsKey] = nil
    return userInfo(from: visible)
}

private func jsonValue(from value: Any) -> JSONValue? {
    switch value {
    case let json as JSONValue: json
    case let text as String: .string(text)
    case let number as NSNumber: jsonNumber(from: number)
    case let dictionary as [AnyHashable: Any]: .object(jsonObject(from: dictionary))
    case let array as [Any]: .array(array.compactMap(jsonValue(from:)))
    case is NSNull: .null
    default: nil
    }
}

/// Swift's own numbers come here too: Foundation bridges them. It writes `c` as the type of Booleans alone.
private func jsonNumber(from number: NSNumber) -> JSONValue? {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"): .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): JSONNumber(number.doubleValue).map { .number($0) }
    case UInt8(ascii: "Q"): .int(number.uint64Value)
    default: .int(number.int64Value)
    }
}

/// Numbers and Booleans are `NSNumber`s as on an iPhone: 1 reads as `Int`, `Double` and `Bool`.
private func anyValue(from value: JSONValue) -> Any {
    switch value {
    case .null: NSNull()
    case .bool(let flag): NSNumber(value: flag)
    case .number(let number): number.int64.map { NSNumber(value: $0) } ?? NSNumber(value: number.double)
    case .string(let text): text
    case .array(let elements): elements.map(anyValue(from:))
    case .object(let object):
        Dictionary(uniqueKeysWithValues: object.members.map { ($0.key, anyValue(from: $0.value)) })
    }
}

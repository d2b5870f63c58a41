public import TidingsModel

/// A payload encoded once, for one message that goes to many devices: badge and named custom members are patched in for
/// each, and nothing else is encoded again.
///
/// What `rendered` returns is byte for byte what the changed payload's `serialized(bytesMax:)` returns, shortened body
/// included.
public struct APNsPayloadTemplate: Sendable {
    /// A custom member that differs from device to device: the keys that lead to its value, beginning beside `aps`.
    ///
    /// `"id"` is a member beside `aps`, `["tidings", "bseq"]` one inside the object `tidings`.
    public struct Member: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        /// The keys from the outside in, one or more.
        public var keys: [String]

        /// A member by its keys.
        public init(_ keys: [String]) { self.keys = keys }
        /// A member beside `aps`.
        public init(stringLiteral value: String) { self.keys = [value] }
        /// A member by its keys.
        public init(arrayLiteral elements: String...) { self.keys = elements }
    }

    /// How many values `rendered` takes.
    public let valueCount: Int
    /// The largest payload in bytes.
    public let bytesMax: Int

    /// Everything that does not change, without its gaps.
    private let fixed: [UInt8]
    private let gaps: [(offset: Int, gap: PayloadSink.Gap)]
    private let body: String
    /// The body as it is written, quotation marks included; empty without one.
    private let writtenBody: [UInt8]
    /// What stands around the badge's number.
    private let badgeAround: (before: StaticString, after: StaticString)

    /// Encodes a payload but for its badge and the named custom members.
    ///
    /// - Parameters:
    ///   - payload: its badge and the values of the named members count for nothing.
    ///   - varying: the custom members that `rendered` sets, each there in the payload, none inside another.
    ///   - bytesMax: normally the push type's `payloadBytesMax`; checked when rendering, for then the size is known.
    /// - Throws: what `APNsPayload.validate()` throws, and `InvalidField` naming the member (`custom.tidings.bseq`) that
    ///   is not in the payload, is named twice, or stands inside another one.
    public init(_ payload: APNsPayload, varying: [Member] = [], bytesMax: Int) throws(InvalidField) {
        try payload.validate()
        try Self.check(varying, in: payload.custom)
        var sink = PayloadSink(varying: varying)
        payload.write(into: &sink, body: payload.alert?.body)
        self.valueCount = varying.count
        self.bytesMax = bytesMax
        self.fixed = sink.bytes
        self.gaps = sink.gaps
        self.body = payload.alert?.body ?? ""
        self.writtenBody = payload.alert?.body.map { JSONValue.string($0).serialized } ?? []
        let badgeOffset = sink.gaps.first { $0.gap == .badge }?.offset ?? 0
        let isLast = sink.bytes[badgeOffset] == UInt8(ascii: "}")
        self.badgeAround =
            payload.alert != nil ? (",\"badge\":", "") : ("\"badge\":", isLast ? "" : ",")
    }

    private static func check(_ varying: [Member], in custom: JSONObject) throws(InvalidField) {
        for (index, member) in varying.enumerated() {
            let field = "custom." + member.keys.joined(separator: ".")
            var value: JSONValue? = .object(custom)
            for key in member.keys { value = value?[key] }
            guard !member.keys.isEmpty, value != nil else {
                throw InvalidField(field: field, rule: "must be a member of the payload")
            }
            for other in varying[..<index]
            where other.keys.starts(with: member.keys) || member.keys.starts(with: other.keys) {
                throw InvalidField(field: field, rule: "must not be named twice, nor stand inside another named member")
            }
        }
    }

    /// The payload with this badge and these values.
    ///
    /// - Parameters:
    ///   - badge: the absolute number on the icon, 0 or more; nil leaves it out.
    ///   - values: the values of the varying members, in the order they were named.
    /// - Throws: `InvalidField` naming `badge` if negative, `values` if there are more or fewer than named, and `payload`
    ///   if it does not fit even with an empty body.
    public func rendered(badge: Int?, _ values: [JSONValue] = []) throws(InvalidField) -> [UInt8] {
        var bytes: [UInt8] = []
        try self.render(into: &bytes, badge: badge, values)
        return bytes
    }

    /// The same into bytes whose storage is used again; what they held is removed.
    ///
    /// - Throws: what `rendered` throws; `bytes` is undefined then.
    public func render(into bytes: inout [UInt8], badge: Int?, _ values: [JSONValue] = []) throws(InvalidField) {
        if let badge, badge < 0 { throw InvalidField(field: "badge", rule: "must be 0 or more") }
        guard values.count == self.valueCount else {
            throw InvalidField(field: "values", rule: "must be \(self.valueCount), got \(values.count)")
        }
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(self.fixed.count + self.writtenBody.count + 32 + 24 * values.count)
        self.fill(&bytes, body: self.writtenBody, badge: badge, values)
        guard bytes.count > self.bytesMax else { return }
        if !self.body.isEmpty {
            let around = bytes.count - self.writtenBody.count + 2
            let short = APNsPayload.shortened(self.body, bytesMax: self.bytesMax - around)
            bytes.removeAll(keepingCapacity: true)
            self.fill(&bytes, body: JSONValue.string(short).serialized, badge: badge, values)
        }
        _ = try APNsPayload.checked(bytes, bytesMax: self.bytesMax)
    }

    private func fill(_ bytes: inout [UInt8], body: [UInt8], badge: Int?, _ values: [JSONValue]) {
        var done = 0
        for (offset, gap) in self.gaps {
            bytes.append(contentsOf: self.fixed[done..<offset])
            done = offset
            switch gap {
            case .body: bytes.append(contentsOf: body)
            case .badge:
                guard let badge else { continue }
                Self.append(self.badgeAround.before, to: &bytes)
                bytes.append(contentsOf: String(badge).utf8)
                Self.append(self.badgeAround.after, to: &bytes)
            case .custom(let number): values[number].serialize(into: &bytes)
            }
        }
        bytes.append(contentsOf: self.fixed[done...])
    }

    private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

public import TidingsModel

extension APNsPayload {
    /// The end of a shortened body.
    public static let ellipsis = "\u{2026}"

    /// The JSON in at most `bytesMax` bytes; the alert's body is shortened at the end of a character if need be, and
    /// ends with `…` then.
    ///
    /// - Parameter bytesMax: normally the push type's `payloadBytesMax`.
    /// - Throws: what `validate()` throws, and `InvalidField` naming `payload` if it does not fit even with an empty body.
    public func serialized(bytesMax: Int) throws(InvalidField) -> [UInt8] {
        try self.validate()
        var sink = PayloadSink()
        sink.bytes.reserveCapacity(min(max(bytesMax, 0), 1_024))
        self.write(into: &sink, body: self.alert?.body)
        guard sink.bytes.count > bytesMax, let body = self.alert?.body, !body.isEmpty else {
            return try Self.checked(sink.bytes, bytesMax: bytesMax)
        }
        let around = sink.bytes.count - Self.escapedCount(body.utf8)
        let short = Self.shortened(body, bytesMax: bytesMax - around)
        sink.bytes.removeAll(keepingCapacity: true)
        self.write(into: &sink, body: short)
        return try Self.checked(sink.bytes, bytesMax: bytesMax)
    }

    /// The JSON of a push to one device, within the limit of its type.
    ///
    /// - Throws: what `validate(for:)` and `serialized(bytesMax:)` throw.
    public func serialized(for pushType: APNsPushType) throws(InvalidField) -> [UInt8] {
        try self.validate(for: pushType)
        return try self.serialized(bytesMax: pushType.payloadBytesMax)
    }

    /// The JSON of a broadcast, within its limit of 5,120 bytes.
    ///
    /// - Throws: what `validateForBroadcast()` and `serialized(bytesMax:)` throw.
    public func serializedForBroadcast() throws(InvalidField) -> [UInt8] {
        try self.validateForBroadcast()
        return try self.serialized(bytesMax: APNsBroadcast.payloadBytesMax)
    }

    /// The JSON of a device management push, which has no `aps` (APNs reference, section 7).
    ///
    /// - Parameter pushMagic: the text the device gave the server when it enrolled.
    public static func deviceManagement(pushMagic: String) -> [UInt8] {
        JSONValue.members([("mdm", .string(pushMagic))]).serialized
    }

    static func checked(_ bytes: [UInt8], bytesMax: Int) throws(InvalidField) -> [UInt8] {
        try InvalidField.check(
            bytes.count <= bytesMax, "payload",
            "must be at most \(bytesMax) bytes without the alert's body, got \(bytes.count)")
        return bytes
    }

    /// The longest run of whole characters that, escaped and with the ellipsis, takes at most `bytesMax` bytes; empty
    /// if none does.
    package static func shortened(_ text: String, bytesMax: Int) -> String {
        let budget = bytesMax - Self.ellipsis.utf8.count
        guard budget > 0 else { return "" }
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            let next = text.index(after: end)
            used += Self.escapedCount(text.utf8[end..<next])
            guard used <= budget else { break }
            end = next
        }
        guard end > text.startIndex else { return "" }
        return String(text[..<end]) + Self.ellipsis
    }

    /// How many bytes a text takes between the quotation marks of JSON; counts what `JSONValue.serialize` writes.
    package static func escapedCount(_ text: some Sequence<UInt8>) -> Int {
        var count = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0a, 0x0c, 0x0d: count += 2
            case 0x00..<0x20: count += 6
            default: count += 1
            }
        }
        return count
    }

    func write(into sink: inout PayloadSink, body: String?) {
        sink.text("{\"aps\":{")
        var aps = MemberWriter()
        if let alert = self.alert {
            aps.key("alert", into: &sink)
            self.write(alert, body: body, into: &sink)
        }
        if let badge = self.badge { aps.value("badge", .int(badge), into: &sink) }
        if self.liveActivity == nil, let sound = self.sound { aps.value("sound", sound.json, into: &sink) }
        if let threadID = self.threadID { aps.value("thread-id", .string(threadID), into: &sink) }
        if let category = self.category { aps.value("category", .string(category), into: &sink) }
        if self.contentAvailable { aps.value("content-available", 1, into: &sink) }
        if self.mutableContent { aps.value("mutable-content", 1, into: &sink) }
        if let level = self.interruptionLevel {
            aps.value("interruption-level", .string(level.rawValue), into: &sink)
        }
        if let score = self.relevanceScore, let number = JSONNumber(score) {
            aps.value("relevance-score", .number(number), into: &sink)
        }
        if let criteria = self.filterCriteria { aps.value("filter-criteria", .string(criteria), into: &sink) }
        if let target = self.targetContentID { aps.value("target-content-id", .string(target), into: &sink) }
        if let activity = self.liveActivity {
            for (key, value) in activity.members { aps.value(key, value, into: &sink) }
        }
        if self.contentChanged { aps.value("content-changed", true, into: &sink) }
        sink.text("}")
        if !self.custom.members.isEmpty {
            sink.text(",")
            sink.members(of: self.custom)
        }
        sink.text("}")
    }

    private func write(_ alert: Alert, body: String?, into sink: inout PayloadSink) {
        var words = MemberWriter()
        sink.text("{")
        if let title = alert.title { words.value("title", .string(title), into: &sink) }
        if let subtitle = alert.subtitle { words.value("subtitle", .string(subtitle), into: &sink) }
        if let body { words.value("body", .string(body), into: &sink) }
        if let image = alert.launchImage { words.value("launch-image", .string(image), into: &sink) }
        if let line = alert.titleLocalization {
            words.localization(line, "title", "title-loc-key", "title-loc-args", self.liveActivity, into: &sink)
        }
        if let line = alert.subtitleLocalization {
            words.localization(line, "subtitle", "subtitle-loc-key", "subtitle-loc-args", nil, into: &sink)
        }
        if let line = alert.bodyLocalization {
            words.localization(line, "body", "loc-key", "loc-args", self.liveActivity, into: &sink)
        }
        if self.liveActivity != nil, let sound = self.sound { words.value("sound", sound.json, into: &sink) }
        sink.text("}")
    }
}

extension APNsPayload.Sound {
    fileprivate var json: JSONValue {
        switch self {
        case .named(let name): return .string(name)
        case .critical(let name, let volume):
            var members: [(String, JSONValue)] = [("critical", 1), ("name", .string(name))]
            if let number = JSONNumber(volume) { members.append(("volume", .number(number))) }
            return .members(members)
        }
    }
}

extension APNsPayload.LiveActivity {
    fileprivate var members: [(StaticString, JSONValue)] {
        var members: [(StaticString, JSONValue)] = [
            ("timestamp", .int(self.timestamp)), ("event", .string(self.event.rawValue)),
        ]
        if let state = self.contentState { members.append(("content-state", .object(state))) }
        if let type = self.attributesType { members.append(("attributes-type", .string(type))) }
        if let attributes = self.attributes { members.append(("attributes", .object(attributes))) }
        if let date = self.staleDate { members.append(("stale-date", .int(date))) }
        if let date = self.dismissalDate { members.append(("dismissal-date", .int(date))) }
        if let channel = self.inputPushChannel { members.append(("input-push-channel", .string(channel.rawValue))) }
        if self.inputPushToken { members.append(("input-push-token", 1)) }
        return members
    }
}

struct PayloadSink {
    var bytes: [UInt8] = []

    mutating func text(_ text: StaticString) {
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes the members of an object without its braces.
    mutating func members(of object: JSONObject) {
        for (index, member) in object.members.enumerated() {
            if index > 0 { self.text(",") }
            JSONValue.string(member.key).serialize(into: &self.bytes)
            self.text(":")
            member.value.serialize(into: &self.bytes)
        }
    }
}

private struct MemberWriter {
    private var isFirst = true

    mutating func key(_ key: StaticString, into sink: inout PayloadSink) {
        if !self.isFirst { sink.text(",") }
        self.isFirst = false
        sink.text("\"")
        sink.text(key)
        sink.text("\":")
    }

    mutating func value(_ key: StaticString, _ value: JSONValue, into sink: inout PayloadSink) {
        self.key(key, into: &sink)
        value.serialize(into: &sink.bytes)
    }

    /// Key and arguments beside each other, or for a Live Activity as one object in place of the text (APNs reference,
    /// section 13).
    mutating func localization(
        _ line: APNsPayload.Localization, _ name: StaticString, _ key: StaticString, _ arguments: StaticString,
        _ activity: APNsPayload.LiveActivity?, into sink: inout PayloadSink
    ) {
        let list = JSONValue.array(line.arguments.map { .string($0) })
        guard activity == nil else {
            var inner: [(String, JSONValue)] = [("loc-key", .string(line.key))]
            if !line.arguments.isEmpty { inner.append(("loc-args", list)) }
            return self.value(name, .members(inner), into: &sink)
        }
        self.value(key, .string(line.key), into: &sink)
        if !line.arguments.isEmpty { self.value(arguments, list, into: &sink) }
    }
}

/// A value with a form in JSON, to stand in `JSONMembers`.
package protocol JSONWritable {
    var json: JSONValue { get }
}

extension JSONValue: JSONWritable {
    package var json: JSONValue { self }
}

extension JSONObject: JSONWritable {
    package var json: JSONValue { .object(self) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package var json: JSONValue { .array(self.map(\.json)) }
}

/// Null for nil.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    package var json: JSONValue { self?.json ?? .null }
}

extension JSONWritable where Self: RawRepresentable<String> {
    package var json: JSONValue { .string(self.rawValue) }
}

extension JSONWritable where Self: StringIdentifier {
    package var json: JSONValue { .string(self.rawValue) }
}

extension MessageID: JSONWritable {
    package var json: JSONValue { .string(self.description) }
}

extension ConversationID: JSONWritable {
    package var json: JSONValue { self.told.json }

    package var told: JSONMembers { ["type": self.type, "type_name": self.type.word, "target": self.target] }
}

extension DeviceKey {
    /// Names the device in events, before their own members.
    package var told: JSONMembers { ["user": self.user.user, "device": self.device] }
}

extension LegID {
    /// Names the leg in events, before their own members.
    package var told: JSONMembers { ["message_id": self.message, "user": self.user.user, "device": self.device] }
}

/// The members of an object in the order in which they are written. Values stand as they are, and nil is null:
/// `["id": id, "ends_at": end]`. No name may stand twice.
package struct JSONMembers: JSONWritable, ExpressibleByDictionaryLiteral {
    private var object = JSONObject()

    package init(dictionaryLiteral elements: (String, (any JSONWritable)?)...) {
        for (name, value) in elements { self.object.append(key: name, value: value?.json ?? .null) }
    }

    package init(_ members: JSONMembers) { self = members }

    package init<Value: JSONWritable>(pairs members: some Sequence<(String, Value)>) {
        for (name, value) in members { self.object.append(key: name, value: value.json) }
    }

    /// Those of a value that is an object.
    package init(of value: some JSONWritable) { self.object = value.json.objectValue ?? JSONObject() }

    /// Leaves out those without a value.
    package static func given(_ all: JSONMembers) -> JSONMembers {
        var given = JSONMembers()
        for (name, value) in all.object.members where value != .null { given.object.append(key: name, value: value) }
        return given
    }

    package static func += (left: inout JSONMembers, right: JSONMembers) {
        for (name, value) in right.object.members { left.object.append(key: name, value: value) }
    }

    package static func + (left: JSONMembers, right: JSONMembers) -> JSONMembers {
        var both = left
        both += right
        return both
    }

    package var isEmpty: Bool { self.object.members.isEmpty }
    package var names: [String] { self.object.members.map(\.key) }

    package var json: JSONValue { .object(self.object) }
}

extension Sequence {
    /// An array of objects.
    package func objects(_ members: (Element) -> JSONMembers) -> JSONValue { .array(self.map { members($0).json }) }
}

/// Names a call: a UUID in lowercase, as the app's own signalling and CallKit know it.
public struct CallID: StringIdentifier, JSONWritable {
    /// The UUID as text.
    public let rawValue: String
    /// Unchecked; use `uuid(_:field:)` for text from outside.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Checks that the text is a UUID (RFC 9562 §4), and writes it in lowercase. `field` names it in the error.
    public static func uuid(_ text: String, field: String) throws(InvalidField) -> Self {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isUUID =
            parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { part in
                part.utf8.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                        UInt8(ascii: "A")...UInt8(ascii: "F"):
                        true
                    default: false
                    }
                }
            }
        try InvalidField.check(isUUID, field, "must be a UUID of 32 hexadecimal digits, 8-4-4-4-12")
        return Self(text.lowercased())
    }
}

/// A call as a VoIP push describes it: the dictionary under `tidings` (docs/server/protocol.md "Calls").
public struct CallInfo: Hashable, Sendable {
    /// The call.
    public var id: CallID
    /// Who calls: a person or an account.
    public var caller: UserID
    /// The caller's name as far as the server knows it; nil for none.
    public var callerName: String?
    /// True if it is a call with video.
    public var hasVideo: Bool
    /// Names the person on this device without saying who it is.
    public var recipientTag: String

    /// The key beside `tidings` under which the app's own data travel.
    public static let dataKey = "data"

    /// A call from its parts.
    public init(id: CallID, caller: UserID, callerName: String?, hasVideo: Bool, recipientTag: String) {
        self.id = id
        self.caller = caller
        self.callerName = callerName
        self.hasVideo = hasVideo
        self.recipientTag = recipientTag
    }

    /// Reads it from a whole payload; nil for a push that is not of a call, another sender's, or a malformed one.
    public init?(userInfo: JSONValue) {
        guard let info = userInfo[PushInfo.key],
            let id = info["call"]?.stringValue.flatMap({ try? CallID.uuid($0, field: "call") }),
            let caller = info["from"]?.stringValue.flatMap({ try? UserID.validated($0, field: "from") }),
            let tag = info["to"]?.stringValue
        else { return nil }
        self.init(
            id: id, caller: caller, callerName: info["name"]?.stringValue, hasVideo: info["video"]?.boolValue ?? false,
            recipientTag: tag)
    }

    /// The dictionary as it travels.
    public var dictionary: JSONValue {
        var members: [(String, JSONValue)] = [
            ("call", .string(self.id.rawValue)), ("from", .string(self.caller.rawValue)),
        ]
        if let name = self.callerName { members.append(("name", .string(name))) }
        if self.hasVideo { members.append(("video", true)) }
        members.append(("to", .string(self.recipientTag)))
        return .members(members)
    }
}

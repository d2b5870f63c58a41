/// The dictionary under key `rc` of a local notification's `userInfo` or a push payload: which conversation a tap
/// opens (S0.10).
public struct NotificationPayload: Hashable, Sendable {
    /// `cType`: the kind of conversation (S0.11). Never a chat room (S0.17).
    public var conversationType: ConversationType
    /// `fId`: the sender's user id (S0.12).
    public var senderID: UserID
    /// `oName`: the message type (S0.13).
    public var messageType: ObjectName
    /// `tId`: the peer's id or the conversation's id (S0.14, S0.16).
    public var targetID: String
    /// `mId`: the message's position in the person's log, as a string (S0.14); nil when missing or empty, as for a
    /// recall.
    public var messageID: String?
    /// `id`: the message's global id; nil when the payload has none or an empty one.
    public var messageUID: String?

    /// The key under which the dictionary travels.
    public static let key = "rc"

    /// Why a payload could not be read or written.
    public enum Fault: Error, Equatable, Hashable, Sendable, CustomStringConvertible {
        case notOurs
        case missing(key: String)
        case wrongType(key: String, found: String)
        case unknownConversationType(String)
        case noCode(ConversationType)

        /// One sentence naming the key.
        public var description: String {
            switch self {
            case .notOurs: "the user info has no dictionary under rc"
            case .missing(let key): "rc.\(key) is missing"
            case .wrongType(let key, let found): "rc.\(key) must be a string, found \(found)"
            case .unknownConversationType(let code):
                "rc.cType must be one of PR, DS, GRP, CS, SYS, MC, MP, PH, found \"\(code)\""
            case .noCode(let type): "a conversation of kind \(type) has no notification code"
            }
        }
    }

    /// Throws `Fault.noCode` for a chat room.
    public init(
        conversationType: ConversationType, senderID: UserID, messageType: ObjectName, targetID: String,
        messageID: String? = nil, messageUID: String? = nil
    ) throws(Fault) {
        guard conversationType.notificationCode != nil else { throw .noCode(conversationType) }
        self.conversationType = conversationType
        self.senderID = senderID
        self.messageType = messageType
        self.targetID = targetID
        self.messageID = messageID
        self.messageUID = messageUID
    }

    /// A message as a recipient sees it (S0.16), at a position of the recipient's log. Throws `Fault.noCode` for a
    /// chat room.
    public init(message: Message, seenBy recipient: UserID, at position: LogPosition) throws(Fault) {
        let conversation = message.conversation(seenBy: recipient)
        try self.init(
            conversationType: conversation.type, senderID: message.sender, messageType: message.objectName,
            targetID: conversation.target, messageID: String(position), messageUID: message.id.description)
    }

    /// Reads a whole user info. `cType`, `fId`, `oName` and `tId` must be strings; `mId` and `id` may be missing.
    /// Throws `Fault`, naming the key.
    public init(userInfo: JSONValue) throws(Fault) {
        guard let inner = userInfo[Self.key] else { throw .notOurs }
        guard case .object(let object) = inner else { throw .wrongType(key: Self.key, found: inner.typeName) }
        func string(_ key: String) throws(Fault) -> String? {
            guard let value = object[key] else { return nil }
            guard case .string(let text) = value else { throw .wrongType(key: key, found: value.typeName) }
            return text
        }
        func required(_ key: String) throws(Fault) -> String {
            guard let text = try string(key) else { throw .missing(key: key) }
            return text
        }
        func optional(_ key: String) throws(Fault) -> String? {
            guard let text = try string(key), !text.isEmpty else { return nil }
            return text
        }
        let code = try required("cType")
        guard let type = ConversationType(notificationCode: code) else { throw .unknownConversationType(code) }
        self.conversationType = type
        self.senderID = UserID(try required("fId"))
        self.messageType = ObjectName(try required("oName"))
        self.targetID = try required("tId")
        self.messageID = try optional("mId")
        self.messageUID = try optional("id")
    }

    /// The conversation a tap opens.
    public var conversation: ConversationID { ConversationID(type: self.conversationType, target: self.targetID) }

    /// The inner dictionary. All six keys are written; a missing value is an empty string (requirements S0, addition).
    public var dictionary: JSONObject {
        JSONObject([
            ("cType", .string(self.conversationType.rawValue)), ("fId", .string(self.senderID.rawValue)),
            ("oName", .string(self.messageType.rawValue)), ("tId", .string(self.targetID)),
            ("mId", .string(self.messageID ?? "")), ("id", .string(self.messageUID ?? "")),
        ])
    }

    /// The user info of a local notification: the inner dictionary under `rc`.
    public var userInfo: JSONValue { .object(JSONObject([(Self.key, .object(self.dictionary))])) }

    /// The same beside what a push of the message carries for the SDK, and the app's own members.
    public func userInfo(with info: PushInfo?, custom: JSONObject? = nil) -> JSONValue {
        var members: [(String, JSONValue)] = [(Self.key, .object(self.dictionary))]
        if let info { members.append((PushInfo.key, info.dictionary)) }
        for (key, value) in custom?.members ?? [] { members.append((key, value)) }
        return .members(members)
    }
}

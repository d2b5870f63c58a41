/// Whom a message addresses by name. In one-to-one conversations nobody.
public enum Mentions: Hashable, Sendable {
    case none
    /// 1 to `usersMax`, sorted, without repeats. Only members are addressed.
    case users([UserID])
    case everyone

    /// How many people a message may mention.
    public static let usersMax = 100

    /// Returns true if `user` is addressed, by id or with everybody.
    public func include(_ user: UserID) -> Bool {
        switch self {
        case .none: false
        case .users(let users): users.contains(user)
        case .everyone: true
        }
    }

    /// From `mentionedInfo` in a message's content (requirements S3, test 7): `type` 1 is everybody, 2 the people of
    /// `userIdList`.
    public init(content: JSONValue) {
        guard let info = content["mentionedInfo"] else {
            self = .none
            return
        }
        switch info["type"]?.intValue {
        case 1: self = .everyone
        case 2:
            let named = Set(info["userIdList"]?.arrayValue?.compactMap { $0.stringValue.map { UserID($0) } } ?? [])
            self = named.isEmpty ? .none : .users(named.sorted())
        default: self = .none
        }
    }
}

extension Message {
    /// Returns true if it answers a message of `user`: an `RC:ReferenceMsg` names in `referMsgUserId` whose message it quotes.
    package func answers(_ user: UserID) -> Bool {
        // Other types answer nobody, so their content need not be parsed.
        guard self.objectName == .reference, let content = try? JSONValue(parsing: self.content) else { return false }
        return content["referMsgUserId"]?.stringValue == user.rawValue
    }
}

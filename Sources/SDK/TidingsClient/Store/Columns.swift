public import GRDB
public import TidingsModel

// How the model's values are stored in columns. The conformances are public because both sides of them are.

extension DatabaseValueConvertible where Self: StringIdentifier {
    /// The value of the column.
    public var databaseValue: DatabaseValue { self.rawValue.databaseValue }

    /// Nil for what is no such value.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        String.fromDatabaseValue(value).map { Self($0) }
    }
}

extension AppID: DatabaseValueConvertible {}
extension UserID: DatabaseValueConvertible {}
extension ClientMessageID: DatabaseValueConvertible {}
extension ObjectName: DatabaseValueConvertible {}

/// SQLite's integers are signed: the same 64 bits.
extension MessageID: DatabaseValueConvertible {
    /// The value of the column.
    public var databaseValue: DatabaseValue { Int64(bitPattern: self.rawValue).databaseValue }

    /// Nil for what is no such value.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(value).map { Self(rawValue: UInt64(bitPattern: $0)) }
    }
}

extension MessageFlags: DatabaseValueConvertible {
    /// The value of the column.
    public var databaseValue: DatabaseValue { self.rawValue.databaseValue }

    /// Nil for what is no such value.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(value).map { Self(rawValue: UInt8(truncatingIfNeeded: $0)) }
    }
}

extension ConversationID {
    /// The values of the columns `type` and `target`.
    var key: StatementArguments { [self.type.rawValue, self.target] }

    /// Nil for a type this version does not know.
    init?(_ row: Row) {
        guard let type = ConversationType(rawValue: row["type"]) else { return nil }
        self.init(type: type, target: row["target"])
    }
}

extension JSONValue {
    static func column(_ value: some Encodable) -> String { JSONValueEncoder().encode(value).text }

    /// Nil for what this version cannot read, such as a setting of a later one.
    static func value<Value: Decodable>(of column: String, as type: Value.Type) -> Value? {
        guard let json = try? JSONValue(parsing: column) else { return nil }
        return try? JSONValueDecoder().decode(type, from: json)
    }
}

/// Null for nobody, `*` for everybody, otherwise a JSON list of ids.
extension Mentions: DatabaseValueConvertible {
    /// The value of the column.
    public var databaseValue: DatabaseValue {
        switch self {
        case .none: .null
        case .users(let users): users.column.databaseValue
        case .everyone: "*".databaseValue
        }
    }

    /// Nil for what is no such value.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        let column = String.fromDatabaseValue(value)
        if column == "*" { return .everyone }
        let users = [UserID](column: column)
        return users.isEmpty ? Mentions.none : .users(users)
    }
}

extension [UserID] {
    /// Null for nobody, otherwise a JSON list of ids.
    var column: String? { self.isEmpty ? nil : JSONValue.array(self.map { .string($0.rawValue) }).text }

    init(column: String?) {
        let json = column.flatMap { try? JSONValue(parsing: $0) }
        self = json?.arrayValue?.compactMap { $0.stringValue.map { UserID($0) } } ?? []
    }
}

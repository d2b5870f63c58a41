/// A string that names one thing, typed so that a user's id cannot be passed as a device's. Compared by bytes, so
/// that sorted ids are the same on every machine; coded as text.
public protocol StringIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral,
    Codable
{
    /// The text as it is stored and sent.
    var rawValue: String { get }
    /// Unchecked; use `validated(_:field:)` for text from outside.
    init(_ rawValue: String)
    /// Bytes of UTF-8.
    static var bytesMax: Int { get }
}

extension StringIdentifier {
    /// The largest id in bytes of UTF-8.
    public static var bytesMax: Int { 64 }

    /// The id's text.
    public var description: String { self.rawValue }

    /// Wraps a literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// Wraps the coded text, unchecked.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Codes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.rawValue)
    }

    /// Equal if the bytes are. Swift's strings are equal if their characters are ("é" has two forms); people whose
    /// names are written differently are two people (design.md P7).
    @inlinable public static func == (left: Self, right: Self) -> Bool {
        left.rawValue.hasSameBytes(as: right.rawValue)
    }

    /// Feeds the text; ids with equal bytes have equal texts.
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(self.rawValue) }

    /// Orders by UTF-8 bytes.
    @inlinable public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.hasLowerBytes(than: right.rawValue)
    }

    /// Checks text from outside: 1 to `bytesMax` bytes without spaces and what is unprintable (Unicode's Cc, Cf, Zl and Zp): ids stand in logs
    /// and on terminals, and ids of two people should not look the same. `field` names it in the error.
    public static func validated(_ text: String, field: String) throws(InvalidField) -> Self {
        guard !text.isEmpty else { throw InvalidField(field: field, rule: "must not be empty") }
        // Most clients leave such a segment out of an address, encoded or not: another thing would be asked for (RFC 3986 §5.2.4).
        guard text != ".", text != ".." else { throw InvalidField(field: field, rule: "must not be . or ..") }
        guard text.utf8.count <= Self.bytesMax else {
            throw InvalidField(field: field, rule: "must be at most \(Self.bytesMax) bytes, got \(text.utf8.count)")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw InvalidField(field: field, rule: "must not contain spaces or control characters")
        }
        if let hidden = text.unicodeScalars.first(where: { !$0.isASCII && $0.isUnprintable }) {
            throw InvalidField(
                field: field,
                rule: "must not contain characters that cannot be seen or turn text, got U+\(hidden.hexadecimal)")
        }
        return Self(text)
    }
}

extension String {
    /// Ids are compared at every table look-up, and mostly equal: the same text in the same place, or a short one, is seen
    /// by two words of memory.
    @inlinable func hasSameBytes(as other: String) -> Bool {
        if MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size,
            unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
        {
            return true
        }
        return self.hasSameBytesElsewhere(as: other)
    }

    @usableFromInline func hasSameBytesElsewhere(as other: String) -> Bool {
        guard self.utf8.count == other.utf8.count else { return false }
        return self.withBytes(and: other) { Self.isSame(UnsafeRawBufferPointer($0), UnsafeRawBufferPointer($1)) }
            ?? self.utf8.elementsEqual(other.utf8)
    }

    /// The order of the UTF-8 bytes, which is that of the Unicode scalars.
    @usableFromInline func hasLowerBytes(than other: String) -> Bool {
        self.withBytes(and: other) { $0.lexicographicallyPrecedes($1) }
            ?? self.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Nil where one of the two does not lie in memory in one piece, as a string bridged from Objective-C may not.
    @inline(__always) private func withBytes(
        and other: String, _ compare: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool? {
        self.utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { compare(left, $0) }
        } ?? nil
    }

    /// Eight bytes at a time: ids are compared at every table look-up. Both have the same length.
    private static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= left.count {
            let words = (
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard words.0 == words.1 else { return false }
            offset += 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else { return false }
            offset += 1
        }
        return true
    }
}

/// Bad input: which field, and which rule it breaks. Nothing was changed.
public struct InvalidField: Error, Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The field's name as the caller wrote it, for example `conversation.target`.
    public var field: String
    /// The rule in words that follow the field's name, for example "must not be empty".
    public var rule: String

    /// An error about one field.
    public init(field: String, rule: String) {
        self.field = field
        self.rule = rule
    }

    /// The field followed by the rule.
    public var description: String { "\(self.field) \(self.rule)" }

    /// Throws unless the rule holds.
    @inlinable
    package static func check(
        _ holds: Bool, _ field: @autoclosure () -> String, _ rule: @autoclosure () -> String
    ) throws(InvalidField) {
        if !holds { throw InvalidField(field: field(), rule: rule()) }
    }

    /// Throws unless the number lies in the range. `unit` stands behind the numbers, with a space before it.
    @inlinable
    package static func check<Number: BinaryInteger>(
        _ number: Number, in range: ClosedRange<Number>, _ field: @autoclosure () -> String, unit: String = ""
    ) throws(InvalidField) {
        try Self.check(
            range.contains(number), field(),
            "must be \(range.lowerBound) to \(range.upperBound)\(unit), got \(number)")
    }

    /// Throws unless the number is at most `max`. `unit` stands behind the numbers, with a space before it.
    @inlinable
    package static func check<Number: BinaryInteger>(
        _ number: Number, atMost max: Number, _ field: @autoclosure () -> String, unit: String = ""
    ) throws(InvalidField) {
        try Self.check(number <= max, field(), "must be at most \(max)\(unit), got \(number)")
    }
}

/// One customer's app on a server (a tenant). Nothing crosses from one to another (design.md P7).
public struct AppID: StringIdentifier, JSONWritable {
    /// The id as servers, keys and logs name the app.
    public let rawValue: String
    /// Wraps the text as it is: nothing is checked or changed.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// A person within one app.
public struct UserID: StringIdentifier, JSONWritable {
    /// The person's id, chosen by the app's backend.
    public let rawValue: String
    /// Wraps the text as it is: nothing is checked or changed.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// One installed app on one phone, chosen by the SDK at first launch.
public struct DeviceID: StringIdentifier, JSONWritable {
    /// The id as the SDK has chosen it.
    public let rawValue: String
    /// Wraps the text as it is: nothing is checked or changed.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The sender's own id of a message. A retried send carries the same one and makes one message.
public struct ClientMessageID: StringIdentifier, JSONWritable {
    /// The sender's id of it.
    public let rawValue: String
    /// Wraps the text as it is: nothing is checked or changed.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The name of a message's type, for example `RC:TxtMsg` (S0.13).
public struct ObjectName: StringIdentifier, JSONWritable {
    /// The name as messages carry it.
    public let rawValue: String
    /// Wraps the text as it is: nothing is checked or changed.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A text message.
    public static let text = ObjectName("RC:TxtMsg")
    /// An image.
    public static let image = ObjectName("RC:ImgMsg")
    /// An image that moves.
    public static let gif = ObjectName("RC:GIFMsg")
    /// A file.
    public static let file = ObjectName("RC:FileMsg")
    /// A voice recording.
    public static let voice = ObjectName("RC:HQVCMsg")
    /// A video.
    public static let video = ObjectName("RC:SightMsg")
    /// A place.
    public static let location = ObjectName("RC:LBSMsg")
    /// A page of the web with title and image.
    public static let link = ObjectName("RC:ImgTextMsg")
    /// An answer to an earlier message, which it quotes.
    public static let reference = ObjectName("RC:ReferenceMsg")
    /// An instruction to the app.
    public static let command = ObjectName("RC:CmdMsg")
    /// A recall of an earlier message.
    public static let recall = ObjectName("RC:RcCmd")

    /// The words for people that the HTTP API takes and tells beside the names.
    private static let words: [(word: String, name: ObjectName)] = [
        ("text", .text), ("image", .image), ("gif", .gif), ("file", .file), ("voice", .voice), ("video", .video),
        ("location", .location), ("link", .link), ("reference", .reference), ("command", .command), ("recall", .recall),
    ]

    /// Nil for a type without one, as those of apps are.
    package var word: String? { Self.words.first { $0.name == self }?.word }

    /// Reads a word; any other text is a name.
    package init(word text: String) { self = Self.words.first { $0.word == text }?.name ?? ObjectName(text) }
}

/// An APNs device token in lowercase hexadecimal; its length varies (ios-delivery.md §13).
public struct PushToken: StringIdentifier {
    /// Lowercase hexadecimal digits, two for each byte.
    public let rawValue: String
    /// Wraps the text as it is: nothing is checked or changed.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// 100 bytes of token at most, two digits a byte (apns.md §6).
    public static var bytesMax: Int { 200 }
}

/// A person within an app: the key of everything the server keeps per person.
public struct UserKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The app (tenant).
    public var app: AppID
    /// The person.
    public var user: UserID

    /// Names a person within an app.
    public init(app: AppID, user: UserID) {
        self.app = app
        self.user = user
    }

    /// The user first: most often it is what tells two apart.
    public static func == (left: UserKey, right: UserKey) -> Bool { left.user == right.user && left.app == right.app }

    /// Feeds the user alone: a server has few apps, and a key is hashed at every table look-up.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.user) }

    /// Orders by app, then user.
    public static func < (left: UserKey, right: UserKey) -> Bool {
        left.app == right.app ? left.user < right.user : left.app < right.app
    }

    /// `app/user`.
    public var description: String { "\(self.app)/\(self.user)" }
}

/// A device of a person within an app.
public struct DeviceKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The person.
    public var user: UserKey
    /// The device.
    public var device: DeviceID

    /// Names a device of a person.
    public init(user: UserKey, device: DeviceID) {
        self.user = user
        self.device = device
    }

    /// Orders by person, then device.
    public static func < (left: DeviceKey, right: DeviceKey) -> Bool {
        left.user == right.user ? left.device < right.device : left.user < right.user
    }

    /// `app/user/device`.
    public var description: String { "\(self.user)/\(self.device)" }
}

/// A position in one person's log: 1 for the first entry, then without gaps. 0 means "before the first".
public typealias LogPosition = UInt64

/// A position in the server's journal: 1 for the first record, then in commit order.
public typealias JournalPosition = UInt64

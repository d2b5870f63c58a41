public import Foundation

/// How to reach a person.
public final class INPersonHandle: Hashable, Sendable {
    /// The kind of value. Raw values as Apple's.
    public enum HandleType: Int, Hashable, Sendable {
        case unknown = 0
        case emailAddress = 1
        case phoneNumber = 2
    }

    /// The address, the number, or the app's own id of the person.
    public let value: String?
    /// The kind of value.
    public let type: HandleType
    /// Where it reaches the person, such as at work.
    public let label: INPersonHandleLabel?

    /// A handle.
    public init(value: String?, type: HandleType, label: INPersonHandleLabel? = nil) {
        self.value = value
        self.type = type
        self.label = label
    }

    /// Equal in value, type and label.
    public static func == (left: INPersonHandle, right: INPersonHandle) -> Bool {
        left.value == right.value && left.type == right.type && left.label == right.label
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

/// Apple's name for `INPersonHandle.HandleType`.
public typealias INPersonHandleType = INPersonHandle.HandleType

/// Where a handle reaches a person.
public struct INPersonHandleLabel: RawRepresentable, Hashable, Sendable {
    /// Apple's text.
    public let rawValue: String
    /// Wraps Apple's value.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// At home.
    public static let home = INPersonHandleLabel(rawValue: "INPersonHandleLabelHome")
    /// At work.
    public static let work = INPersonHandleLabel(rawValue: "INPersonHandleLabelWork")
    /// On the mobile phone.
    public static let mobile = INPersonHandleLabel(rawValue: "INPersonHandleLabelMobile")
    /// Elsewhere.
    public static let other = INPersonHandleLabel(rawValue: "INPersonHandleLabelOther")
}

/// The kind of suggestion that the system may make of a person. Raw values as Apple's.
public enum INPersonSuggestionType: Int, Hashable, Sendable {
    case none = 0
    case socialProfile = 1
    case instantMessageAddress = 2
}

/// An image of a person or a group; named, not drawn.
public final class INImage: Hashable, Sendable {
    private let source: String

    /// The image's name for the virtual phone: its place, or for bytes their number and a hash (FNV-1a).
    package var name: String {
        guard self.source.hasPrefix(Self.dataPrefix),
            let bytes = Data(base64Encoded: String(self.source.dropFirst(Self.dataPrefix.count)))
        else { return self.source }
        return Self.name(of: bytes)
    }

    package static func name(of bytes: Data) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(bytes.count) bytes \(String(hash, radix: 16))"
    }

    private static let dataPrefix = "data:"

    /// An image of the app.
    public init(named name: String) { self.source = "named:\(name)" }
    /// An image in a file or on the net; nil if the address cannot be read.
    public init?(url URL: URL) { self.source = URL.absoluteString }
    /// An image's bytes.
    public init(imageData: Data) { self.source = Self.dataPrefix + imageData.base64EncodedString() }

    /// Equal in what it was made of.
    public static func == (left: INImage, right: INImage) -> Bool { left.source == right.source }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.source) }
}

/// A person (ios-delivery.md §11).
public final class INPerson: Hashable, Sendable {
    /// How to reach the person.
    public let personHandle: INPersonHandle?
    /// The name in parts.
    public let nameComponents: PersonNameComponents?
    /// The name to show.
    public let displayName: String
    /// The person's image.
    public let image: INImage?
    /// The person's card in the address book.
    public let contactIdentifier: String?
    /// The app's own id of the person.
    public let customIdentifier: String?
    /// True if it is the person who holds the phone.
    public let isMe: Bool
    /// Says if the system may suggest the person.
    public let suggestionType: INPersonSuggestionType

    /// A person. Without a display name the parts are written out, and without them the handle.
    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?, customIdentifier: String?, isMe: Bool = false,
        suggestionType: INPersonSuggestionType = .none
    ) {
        let parts = nameComponents.map { [$0.givenName, $0.familyName].compactMap { $0 }.joined(separator: " ") }
        self.personHandle = personHandle
        self.nameComponents = nameComponents
        self.displayName = displayName ?? parts ?? personHandle.value ?? ""
        self.image = image
        self.contactIdentifier = contactIdentifier
        self.customIdentifier = customIdentifier
        self.isMe = isMe
        self.suggestionType = suggestionType
    }

    /// Equal in handle, name and both identifiers.
    public static func == (left: INPerson, right: INPerson) -> Bool {
        left.personHandle == right.personHandle && left.displayName == right.displayName
            && left.contactIdentifier == right.contactIdentifier && left.customIdentifier == right.customIdentifier
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.personHandle) }
}

/// A name the system can say aloud.
public final class INSpeakableString: Hashable, Sendable {
    /// The app's own id of what is named.
    public let vocabularyIdentifier: String?
    /// The name.
    public let spokenPhrase: String
    /// How it is said.
    public let pronunciationHint: String?

    /// A name.
    public convenience init(spokenPhrase: String) {
        self.init(vocabularyIdentifier: nil, spokenPhrase: spokenPhrase, pronunciationHint: nil)
    }
    /// A name with how it is said.
    public convenience init(vocabularyIdentifier: String, spokenPhrase: String, pronunciationHint: String?) {
        self.init(
            vocabularyIdentifier: Optional(vocabularyIdentifier), spokenPhrase: spokenPhrase,
            pronunciationHint: pronunciationHint)
    }
    private init(vocabularyIdentifier: String?, spokenPhrase: String, pronunciationHint: String?) {
        self.vocabularyIdentifier = vocabularyIdentifier
        self.spokenPhrase = spokenPhrase
        self.pronunciationHint = pronunciationHint
    }

    /// Equal in phrase and vocabulary identifier.
    public static func == (left: INSpeakableString, right: INSpeakableString) -> Bool {
        left.spokenPhrase == right.spokenPhrase && left.vocabularyIdentifier == right.vocabularyIdentifier
    }
    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.spokenPhrase) }
}

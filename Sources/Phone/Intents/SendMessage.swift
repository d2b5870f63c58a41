package import PhoneCore
import Synchronization
public import UserNotifications
import VirtualPhone

/// Something a person may want an app to do.
///
/// `@unchecked Sendable`: what can change is guarded by a lock.
open class INIntent: @unchecked Sendable {
    /// `@unchecked Sendable`: immutable; a key path of a type's own parts holds no value.
    private struct Parameter: Hashable, @unchecked Sendable {
        let path: AnyKeyPath
    }

    private let images = Mutex<[Parameter: INImage]>([:])

    /// Facts that are told along with it (iOS 15).
    @Guarded public var donationMetadata: INIntentDonationMetadata? = nil

    /// An intent that says nothing.
    public init() {}

    /// The intent's name; the class's name.
    open var intentDescription: String? { String(describing: type(of: self)) }

    fileprivate func set(_ image: INImage?, for path: AnyKeyPath) {
        let parameter = Parameter(path: path)
        self.images.withLock { $0[parameter] = image }
    }

    fileprivate func image(for path: AnyKeyPath) -> INImage? {
        let parameter = Parameter(path: path)
        return self.images.withLock { $0[parameter] }
    }

    /// The image that stands for the intent.
    open func keyImage() -> INImage? { nil }
}

/// Lets an intent's own parts be named by key paths, of which a class cannot speak.
public protocol INIntentParameters: INIntent {}

extension INIntent: INIntentParameters {}

extension INIntentParameters {
    /// Sets the image of one of its parts, for example `\.sender`.
    public func setImage<Value>(_ image: INImage?, forParameterNamed parameterName: KeyPath<Self, Value>) {
        self.set(image, for: parameterName)
    }

    /// The image of one of its parts.
    public func image<Value>(forParameterNamed parameterName: KeyPath<Self, Value>) -> INImage? {
        self.image(for: parameterName)
    }
}

/// The result of an intent.
///
/// `@unchecked Sendable`: immutable here; a subclass guards what it adds.
open class INIntentResponse: @unchecked Sendable {
    /// A response.
    public init() {}
}

/// The kind of message that is sent. Raw values as Apple's.
public enum INOutgoingMessageType: Int, Hashable, Sendable {
    case unknown = 0
    case outgoingMessageText = 1
    case outgoingMessageAudio = 2
}

/// A file that is sent along; kept by name.
public final class INSendMessageAttachment: Sendable {
    /// The file's name.
    public let name: String
    /// A file.
    public init(name: String) { self.name = name }
}

/// Facts that are told along with an intent (iOS 15).
///
/// `@unchecked Sendable`: a subclass guards what it adds.
open class INIntentDonationMetadata: @unchecked Sendable {
    init() {}
}

/// The meaning of a message for the person it is shown to (iOS 15; ios-delivery.md §11).
public final class INSendMessageIntentDonationMetadata: INIntentDonationMetadata, @unchecked Sendable {
    // Set by the app before it gives it away; a lock guards each part all the same.

    /// A message that means nothing special.
    public override init() { super.init() }

    /// True if it mentions the person who holds the phone.
    @Guarded public var mentionsCurrentUser = false
    /// True if it answers the person who holds the phone.
    @Guarded public var isReplyToCurrentUser = false
    /// True if the sender wants it to break through.
    @Guarded public var notifyRecipientAnyway = false
    /// How many people it goes to.
    @Guarded public var recipientCount = 0
}

/// A message, incoming or outgoing (ios-delivery.md §11).
///
/// `@unchecked Sendable`: immutable; what the superclass has is guarded by locks.
public final class INSendMessageIntent: INIntent, @unchecked Sendable {
    /// Who gets it, without who holds the phone.
    public let recipients: [INPerson]?
    /// The kind of message.
    public let outgoingMessageType: INOutgoingMessageType
    /// The text.
    public let content: String?
    /// The group's name; nil for a message to one person.
    public let speakableGroupName: INSpeakableString?
    /// The conversation; the same for all its messages.
    public let conversationIdentifier: String?
    /// The service.
    public let serviceName: String?
    /// Who wrote it; nil if who holds the phone did.
    public let sender: INPerson?
    /// Files sent along.
    public let attachments: [INSendMessageAttachment]?

    /// A message.
    public init(
        recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
        speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?,
        sender: INPerson?, attachments: [INSendMessageAttachment]?
    ) {
        self.recipients = recipients
        self.outgoingMessageType = outgoingMessageType
        self.content = content
        self.speakableGroupName = speakableGroupName
        self.conversationIdentifier = conversationIdentifier
        self.serviceName = serviceName
        self.sender = sender
        self.attachments = attachments
        super.init()
    }

    /// The group's image, else the sender's.
    public override func keyImage() -> INImage? {
        self.image(forParameterNamed: \.speakableGroupName) ?? self.sender?.image
    }
}

/// May change a notification's content (iOS 15).
extension INSendMessageIntent: UNNotificationContentProviding {}

/// Makes a notification a communication notification: the sender's name is its title, the group's its subtitle.
extension INSendMessageIntent: ContentProvider {
    package func update(_ parts: inout NotificationContent) -> String? {
        guard let sender = self.sender else { return "sender must be set: who holds the phone is not notified" }
        guard !sender.displayName.isEmpty else { return "sender must have a name" }
        let metadata = self.donationMetadata as? INSendMessageIntentDonationMetadata
        let portrait = self.image(forParameterNamed: \.sender) ?? sender.image
        parts.show(
            CommunicationDetails(
                sender: sender.displayName, portrait: portrait?.name, group: self.speakableGroupName?.spokenPhrase,
                groupPortrait: self.image(forParameterNamed: \.speakableGroupName)?.name,
                conversation: self.conversationIdentifier ?? "", recipientCount: metadata?.recipientCount ?? 0,
                mentionsPerson: metadata?.mentionsCurrentUser ?? false,
                isReply: metadata?.isReplyToCurrentUser ?? false))
        return nil
    }
}

/// Which way something went. Raw values as Apple's.
public enum INInteractionDirection: Int, Hashable, Sendable {
    case unspecified = 0
    case outgoing = 1
    case incoming = 2
}

/// Something that happened, told to the system so that it learns (ios-delivery.md §11).
///
/// `@unchecked Sendable`: what can change is guarded by a lock.
public final class INInteraction: @unchecked Sendable {
    /// The intent that happened.
    public let intent: INIntent
    /// Its result.
    public let intentResponse: INIntentResponse?

    /// Something that happened.
    public init(intent: INIntent, response: INIntentResponse?) {
        self.intent = intent
        self.intentResponse = response
    }

    /// Which way it went.
    @Guarded public var direction = INInteractionDirection.unspecified
    /// Names it, so that it can be taken back.
    @Guarded public var identifier = ""
    /// Names what it belongs to, so that all can be taken back at once.
    @Guarded public var groupIdentifier: String? = nil

    /// Tells the system. A virtual phone keeps messages and learns nothing.
    public func donate() async throws { self.report() }

    private func report() {
        guard let message = self.intent as? INSendMessageIntent else { return }
        PhoneProcess.currentIfAny?.report(
            .messageDonated(
                DonatedMessage(
                    identifier: self.identifier, group: self.groupIdentifier, isOutgoing: self.direction == .outgoing,
                    conversation: message.conversationIdentifier, sender: message.sender?.displayName,
                    recipients: (message.recipients ?? []).map(\.displayName),
                    groupName: message.speakableGroupName?.spokenPhrase, content: message.content)))
    }

    /// Tells the system.
    public func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        self.report()
        if let completion { Task { completion(nil) } }
    }

    /// Takes everything back.
    public static func deleteAll(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        self.delete(identifiers: nil, group: nil, completion)
    }

    /// Takes back those of these identifiers.
    public static func delete(with identifiers: [String], completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        self.delete(identifiers: identifiers, group: nil, completion)
    }

    /// Takes back what belongs together.
    public static func delete(with groupIdentifier: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        self.delete(identifiers: nil, group: groupIdentifier, completion)
    }

    private static func delete(
        identifiers: [String]?, group: String?, _ completion: (@Sendable ((any Error)?) -> Void)?
    ) {
        PhoneProcess.currentIfAny?.report(.donationsDeleted(identifiers: identifiers, group: group))
        if let completion { Task { completion(nil) } }
    }
}

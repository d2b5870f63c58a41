public import ClientCore
import Foundation
public import TidingsClient
public import TidingsKit
public import TidingsModel
public import UIKit

/// What the SDK's screens share: the kit, what the app has chosen, words, and the names and portraits of people. One for the app.
///
/// ```swift
/// let interface = ChatInterface(kit: kit)
/// ChatInterface.shared = interface
/// window.rootViewController = UINavigationController(rootViewController: ConversationListViewController())
/// kit.responseHandler = { response in
///     NavigationExecutor(window: window, router: kit.router, makeScreen: interface.screen(for:)).open(response.route)
/// }
/// ```
@MainActor public final class ChatInterface {
    /// The one that screens use which were made without; set it at the launch.
    public static var shared: ChatInterface?

    /// The kit whose client's conversations are shown.
    public let kit: NotificationIntegration
    /// The kit's client.
    public var client: ChatClient { self.kit.client }
    /// What the app has chosen.
    public var configuration: InterfaceConfiguration
    /// What the screens say: by default the built-in words in the language of `ChatClient.Configuration.words`.
    public var words: InterfaceWords { didSet { self.times = ChatTimes(words: self.words) } }
    /// What was written and is not on the server yet.
    let outgoing: OutgoingMessages
    /// The images of messages.
    let images: MessageImages
    /// What a person has recalled here, to be typed again: the store keeps nothing of it.
    var recalledTexts: [MessageID: String] = [:]
    /// Drafts longer than the server takes, which stay in this process.
    var longDrafts: [ConversationID: String] = [:]
    /// In the language of the words.
    lazy var times = ChatTimes(words: self.words)
    private var directory = PeopleDirectory()
    private var follower: Task<Void, Never>?

    /// An interface for a kit.
    ///
    /// - Parameters:
    ///   - kit: its client may be connected later.
    ///   - configuration: what the app chooses.
    public init(kit: NotificationIntegration, configuration: InterfaceConfiguration = .init()) {
        self.kit = kit
        self.configuration = configuration
        self.outgoing = OutgoingMessages(client: kit.client)
        self.images = MessageImages(client: kit.client)
        self.outgoing.thumbnails = configuration.thumbnails
        self.images.loadWebImage = configuration.loadWebImage
        self.words = InterfaceWords.words(for: kit.client.configuration.words.words(for: nil).tag)
        ForegroundRinging(client: kit.client).restore()
        let statuses = kit.client.connectionStatuses
        self.follower = Task { [weak self] in
            for await _ in statuses {
                guard let self else { return }
                self.checkPerson()
                self.outgoing.resume()
            }
        }
    }

    deinit { self.follower?.cancel() }

    static func required(_ given: ChatInterface?) -> ChatInterface {
        guard let interface = given ?? Self.shared else {
            preconditionFailure("set ChatInterface.shared at the launch, or give the screen an interface")
        }
        return interface
    }

    // MARK: Screens

    /// The screen of a route, for a `NavigationExecutor`: that of a conversation, or what the configuration makes of another route.
    public func screen(for route: Route) -> UIViewController {
        switch route {
        case .conversation(let conversation):
            self.configuration.makeConversation(conversation, self.knownTitle(of: conversation), self)
        case .detail(let screen): self.configuration.makeDetail(screen)
        }
    }

    // MARK: What people are called

    /// What a person is called: in a group by the member provider or the group's record, otherwise by the user provider, then by the
    /// server if the client uses its names, then by their id. Remembered until the person signs out, or `forgetNames()`.
    public func name(of user: UserID, in conversation: ConversationID?) async -> String {
        await self.learn(user, in: conversation)
        return self.knownName(of: user, in: conversation) ?? user.rawValue
    }

    /// The name if it is known already, without waiting.
    public func knownName(of user: UserID, in conversation: ConversationID?) -> String? {
        self.checkPerson()
        return self.directory.name(of: user, in: Self.group(conversation))
    }

    /// What a conversation is called: the other person's name, or the group's by its provider, the server's record, or its id.
    public func title(of conversation: ConversationID) async -> String {
        if let title = self.knownTitle(of: conversation) { return title }
        guard !conversation.type.targetIsPeer else {
            return await self.name(of: UserID(conversation.target), in: nil)
        }
        let given = await self.kit.groupInfoProvider?.groupInfo(for: conversation)
        self.checkPerson()
        var name = given?.name ?? ""
        if name.isEmpty { name = ((try? self.client.storedConversationInfo(conversation)) ?? nil)?.name ?? "" }
        self.directory.keep(name, portrait: given?.portrait, of: conversation)
        return name.isEmpty ? conversation.target : name
    }

    /// The title if it is known already, without waiting.
    public func knownTitle(of conversation: ConversationID) -> String? {
        self.checkPerson()
        return conversation.type.targetIsPeer
            ? self.directory.name(of: UserID(conversation.target), in: nil) : self.directory.title(of: conversation)
    }

    /// A person's portrait as the user provider gives it; nil for none.
    public func portrait(of user: UserID) async -> UIImage? {
        await self.learn(user, in: nil)
        return self.knownPortrait(of: user)
    }

    /// The portrait if it is known already, without waiting.
    public func knownPortrait(of user: UserID) -> UIImage? {
        self.checkPerson()
        guard self.configuration.showsPortraits else { return nil }
        return self.directory.portrait(of: user)
    }

    /// A conversation's image: the group's, or the other person's portrait; nil for none.
    public func portrait(of conversation: ConversationID) async -> UIImage? {
        _ = await self.title(of: conversation)
        return self.knownPortrait(of: conversation)
    }

    /// The image if it is known already, without waiting.
    public func knownPortrait(of conversation: ConversationID) -> UIImage? {
        guard !conversation.type.targetIsPeer else { return self.knownPortrait(of: UserID(conversation.target)) }
        self.checkPerson()
        guard self.configuration.showsPortraits else { return nil }
        return self.directory.portrait(of: conversation)
    }

    /// Asks the providers anew: to be called when people or groups are called otherwise.
    public func forgetNames() { self.directory = PeopleDirectory(person: self.directory.person) }

    /// What a message says in one line, for lists and quotes.
    public func summary(of message: StoredMessage) -> String {
        let words = self.client.configuration.words.words(for: self.words.language).words
        return message.isRecalled ? words.recalled : MessageSummary.text(of: message.message, in: words)
    }

    // MARK: Learning

    private func learn(_ user: UserID, in conversation: ConversationID?) async {
        let group = Self.group(conversation)
        guard self.knownName(of: user, in: group) == nil else { return }
        let person = self.directory.person
        let given = await self.kit.userInfoProvider?.userInfo(for: user)
        var own = given?.name ?? ""
        if own.isEmpty, self.client.usesServerNames {
            own = (try? await self.client.profiles(of: [user]).first?.profile.name) ?? ""
        }
        var member: String?
        if let group { member = await self.memberName(of: user, in: group) }
        // Somebody else may have signed in meanwhile.
        self.checkPerson()
        guard self.directory.person == person else { return }
        self.directory.keep(own, portrait: given?.portrait, of: user)
        if let group { self.directory.keep(member ?? "", of: user, in: group) }
    }

    private func memberName(of user: UserID, in group: ConversationID) async -> String? {
        if let name = await self.kit.groupMemberInfoProvider?.memberName(of: user, in: group), !name.isEmpty {
            return name
        }
        let info = (try? self.client.storedConversationInfo(group)) ?? nil
        return info?.members.first { $0.id == user }?.nickname
    }

    private static func group(_ conversation: ConversationID?) -> ConversationID? {
        conversation.flatMap { $0.type.targetIsPeer ? nil : $0 }
    }

    /// Nothing of a person who has left is known to the next one.
    private func checkPerson() {
        let person = self.client.userID
        guard person != self.directory.person else { return }
        self.directory = PeopleDirectory(person: person)
        self.recalledTexts = [:]
        self.longDrafts = [:]
        self.outgoing.personChanged()
        self.images.forget()
    }
}

/// What is known of people and groups, as long as one person is signed in.
struct PeopleDirectory {
    private struct Member: Hashable {
        var user: UserID
        var group: ConversationID
    }
    private struct Entry {
        /// Empty where nobody says one.
        var name: String
        var portrait: UIImage?
    }

    var person: UserID?
    private var people: [UserID: Entry] = [:]
    private var members: [Member: String] = [:]
    private var groups: [ConversationID: Entry] = [:]

    init(person: UserID? = nil) { self.person = person }

    /// Nil for somebody of whom nobody was asked.
    func name(of user: UserID, in group: ConversationID?) -> String? {
        guard let own = self.people[user]?.name else { return nil }
        let name = own.isEmpty ? user.rawValue : own
        guard let group else { return name }
        return self.members[Member(user: user, group: group)].map { $0.isEmpty ? name : $0 }
    }

    func title(of group: ConversationID) -> String? {
        self.groups[group].flatMap { $0.name.isEmpty ? nil : $0.name }
    }

    func portrait(of user: UserID) -> UIImage? { self.people[user]?.portrait }
    func portrait(of group: ConversationID) -> UIImage? { self.groups[group]?.portrait }

    mutating func keep(_ name: String, portrait: Data?, of user: UserID) {
        self.people[user] = Entry(name: name, portrait: portrait.flatMap { UIImage(data: $0) })
    }
    mutating func keep(_ name: String, of user: UserID, in group: ConversationID) {
        self.members[Member(user: user, group: group)] = name
    }
    mutating func keep(_ name: String, portrait: Data?, of group: ConversationID) {
        self.groups[group] = Entry(name: name, portrait: portrait.flatMap { UIImage(data: $0) })
    }
}

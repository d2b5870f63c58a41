public import ClientCore
import Foundation
public import TidingsClient
public import TidingsKit
public import TidingsModel
public import UIKit

/// The shared state of the SDK's screens: the kit, the app's choices, words, and the names and portraits of people. One for the app.
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
    /// The app's choices.
    public var configuration: InterfaceConfiguration
    /// The words of the screens: by default the built-in words in the language of `ChatClient.Configuration.words`.
    public var words: InterfaceWords { didSet { self.times = ChatTimes(words: self.words) } }
    /// Messages that were written and are not on the server yet.
    let outgoing: OutgoingMessages
    /// The images of messages.
    let images: MessageImages
    /// Texts that a person has recalled here, to be typed again: the store keeps nothing of them.
    var recalledTexts: [MessageID: String] = [:]
    /// Texts that are typed and not sent.
    let drafts: Drafts
    /// In the language of the words.
    lazy var times = ChatTimes(words: self.words)
    var openScreens = OpenScreens()
    /// The names of people and groups.
    let names: PeopleNames
    private let followers = StreamFollowers()

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
        self.names = PeopleNames(kit: kit)
        self.drafts = Drafts(client: kit.client)
        self.outgoing.thumbnails = configuration.thumbnails
        self.images.loadWebImage = configuration.loadWebImage
        self.words = InterfaceWords.words(for: kit.client.configuration.words.words(for: nil).tag)
        ForegroundRinging(client: kit.client).restore()
        self.followers.follow(kit.client.connectionStatuses) { [weak self] _ in
            self?.checkPerson()
            self?.outgoing.resume()
        }
        self.followers.follow(kit.client.logEntries) { [names] in names.apply($0) }
        self.followers.follow(kit.client.streamGaps) { [names] in if $0 == .logEntries { names.readRecords() } }
    }

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
            self.configuration.makeConversation(conversation, nil, self)
        case .detail(let screen): self.configuration.makeDetail(screen)
        }
    }

    // MARK: What people are called

    /// Returns a person's name: in a group by the member provider or the group's record, otherwise by the user provider, then by the server
    /// if the client uses its names, then by their id. Names from providers and server are remembered until the person signs out, or
    /// `forgetNames()`.
    public func name(of user: UserID, in conversation: ConversationID?) async -> String {
        await self.learn([user], in: conversation)
        return self.knownName(of: user, in: conversation) ?? user.rawValue
    }

    /// The name if it is known already, without waiting.
    public func knownName(of user: UserID, in conversation: ConversationID?) -> String? {
        self.checkPerson()
        return self.names.name(of: user, in: Self.group(conversation))
    }

    /// Returns a conversation's title: the other person's name, or the group's by its provider, the server's record, or its id.
    public func title(of conversation: ConversationID) async -> String {
        self.checkPerson()
        if conversation.type.targetIsPeer {
            await self.learn([UserID(conversation.target)], in: nil)
        } else {
            await self.names.learnTitle(of: conversation)
        }
        return self.knownTitle(of: conversation) ?? conversation.target
    }

    /// The title if it is known already, without waiting.
    public func knownTitle(of conversation: ConversationID) -> String? {
        self.checkPerson()
        return conversation.type.targetIsPeer
            ? self.names.name(of: UserID(conversation.target), in: nil) : self.names.title(of: conversation)
    }

    /// A person's portrait as the user provider gives it; nil for none.
    public func portrait(of user: UserID) async -> UIImage? {
        await self.learn([user], in: nil)
        return self.knownPortrait(of: user)
    }

    /// The portrait if it is known already, without waiting.
    public func knownPortrait(of user: UserID) -> UIImage? {
        self.checkPerson()
        return self.configuration.showsPortraits ? self.names.portrait(of: user) : nil
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
        return self.configuration.showsPortraits ? self.names.portrait(of: conversation) : nil
    }

    /// Asks the providers anew: people or groups are called otherwise. Until they answer, what they said before is shown.
    public func forgetNames() { self.names.forget() }

    /// - Parameter show: called as often as some more names are known.
    func learn(_ users: [UserID], in conversation: ConversationID?, show: () -> Void = {}) async {
        self.checkPerson()
        await self.names.learn(users, in: Self.group(conversation), show: show)
    }

    private static func group(_ conversation: ConversationID?) -> ConversationID? {
        conversation.flatMap { $0.type.targetIsPeer ? nil : $0 }
    }

    /// Nothing of a person who has left is known to the next one.
    private func checkPerson() {
        guard self.names.checkPerson() else { return }
        self.recalledTexts = [:]
        self.drafts.forget()
        self.outgoing.personChanged()
        self.images.forget()
    }
}

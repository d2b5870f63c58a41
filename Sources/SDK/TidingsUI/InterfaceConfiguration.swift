import ClientCore
public import Foundation
public import TidingsClient
public import TidingsModel
public import UIKit

/// The app's choices for the SDK's screens. Changes hold for screens that are made afterwards.
///
/// ```swift
/// var configuration = InterfaceConfiguration()
/// configuration.showsReadMarks = false
/// configuration.messageCells["my:Poll"] = PollCell.self
/// let interface = ChatInterface(kit: kit, configuration: configuration)
/// ```
@MainActor public struct InterfaceConfiguration {
    /// True if own messages say that they were delivered and read, and groups who has read them.
    public var showsReadMarks = true
    /// True if screens say who types, and tell others that this person does.
    public var showsTyping = true
    /// True if portraits are shown, where the kit's providers give some.
    public var showsPortraits = true
    /// How long after sending a message *Recall* is offered, in milliseconds; nil leaves it to the server, which then refuses what is too
    /// late. Owner and admins are always offered it in their groups.
    public var recallLimitMilliseconds: Int64?
    /// How many messages are loaded at once, 1 to 100.
    public var pageSize = 30
    /// How many messages of a chat room are shown when it is entered, 0 to 100.
    public var roomHistory = 20
    /// The plugins that the + of the input bar offers. Without any there is no +.
    public var inputPlugins: [any InputPlugin] = [ImagePlugin()]
    /// Which kinds of conversations the list shows.
    public var conversationTypes: [ConversationType] = ConversationType.allCases.filter { $0 != .chatRoom }
    /// The cells of messages by object name, such as `my:Poll`. Others are shown as text, image or notice.
    public var messageCells: [String: MessageCell.Type] = [:]
    /// Makes the small image that a notification shows of a sent one: on Apple's systems by ImageIO.
    public var thumbnails: any ThumbnailMaker = SystemThumbnails()
    /// Loads an image that lies on a web server, for example from the app's own cache; nil if there is none. By default such images are
    /// not loaded: their address is the sender's, whose server would learn when, and from where, it is read. Files of the server are
    /// always loaded.
    public var loadWebImage: @Sendable (URL) async -> Data? = { _ in nil }
    /// Makes the screen of a conversation, for an app's own subclass; without a title it is called as the conversation is.
    public var makeConversation: (ConversationID, String?, ChatInterface) -> UIViewController = {
        id, title, interface in
        ConversationViewController(type: id.type, target: id.target, title: title, interface: interface)
    }
    /// Makes the screen of a route of the app's own, `Route.detail(screen:)`, by its name; by default an empty one.
    public var makeDetail: (String) -> UIViewController = { name in
        let screen = UIViewController()
        screen.title = name
        return screen
    }

    /// Makes the configuration that suits most apps.
    public init() {}
}

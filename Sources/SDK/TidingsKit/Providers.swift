public import Foundation
public import TidingsClient
public import TidingsModel

/// An app's knowledge of a person.
public struct UserInfo: Hashable, Sendable {
    /// The name shown.
    public var name: String
    /// The person's image as JPEG or PNG, for communication notifications (`ChatClient.usesCommunicationNotifications`); nil for none.
    /// A thumbnail is enough: the last 50 are kept in memory.
    public var portrait: Data?

    /// A person's information.
    public init(name: String, portrait: Data? = nil) {
        self.name = name
        self.portrait = portrait
    }
}

/// An app's knowledge of a group.
public struct GroupInfo: Hashable, Sendable {
    /// The name shown.
    public var name: String
    /// The group's image, as `UserInfo.portrait`.
    public var portrait: Data?

    /// A group's information.
    public init(name: String, portrait: Data? = nil) {
        self.name = name
        self.portrait = portrait
    }
}

/// Gives the kit persons' names. Without an answer within two seconds no local notification is shown (S0.4, S3.5).
public protocol UserInfoProvider: Sendable {
    /// Nil for a person the app does not know.
    func userInfo(for id: UserID) async -> UserInfo?
}

/// Gives the kit groups' names; needed for messages in groups (S0.4, S3.5).
public protocol GroupInfoProvider: Sendable {
    /// Nil for a group the app does not know.
    func groupInfo(for id: ConversationID) async -> GroupInfo?
}

/// Gives the kit the name a person has in one group (S3.5). Nil falls back to the nickname that the server has, else to the person's name.
public protocol GroupMemberInfoProvider: Sendable {
    /// The name in the group; nil if there is none.
    func memberName(of user: UserID, in group: ConversationID) async -> String?
}

/// The app's own say before a local notification is shown (S3.4–S3.8).
public protocol LocalNotificationDelegate: AnyObject, Sendable {
    /// Called in the background for each message that passed the kit's tests.
    ///
    /// - Returns: true if the app handled the message: the kit shows nothing (S3.7). No answer within two seconds is false.
    func client(
        _ client: ChatClient, shouldHandleNotificationFor message: Message, senderName: String
    ) async -> Bool
}

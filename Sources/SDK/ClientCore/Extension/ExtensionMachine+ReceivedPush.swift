package import TidingsModel

extension ExtensionMachine {
    package struct ReceivedPush: Hashable, Sendable {
        package var identifier: String
        package var userInfo: JSONValue
        package var mayFilter: Bool
        /// True if the push is another sender's recall of a message, as the app says (S2.22).
        package var isForeignRecall: Bool
        /// True if notifications are shown as coming from a person (ios-delivery.md §11).
        package var usesCommunicationNotifications: Bool

        package init(
            identifier: String, userInfo: JSONValue, mayFilter: Bool, isForeignRecall: Bool,
            usesCommunicationNotifications: Bool = false
        ) {
            self.identifier = identifier
            self.userInfo = userInfo
            self.mayFilter = mayFilter
            self.isForeignRecall = isForeignRecall
            self.usesCommunicationNotifications = usesCommunicationNotifications
        }
    }

    /// Returns true if the push is still for the person who is signed in: a sign-out may precede the server's answer (design.md P7).
    func isForSignedIn(_ group: some ExtensionGroup) -> Bool {
        self.recipientTag.map { group.signIn == .signedIn(recipientTag: $0) } ?? false
    }

    var recipientTag: String? { self.info?.recipientTag ?? self.badgeInfo?.recipientTag }
}

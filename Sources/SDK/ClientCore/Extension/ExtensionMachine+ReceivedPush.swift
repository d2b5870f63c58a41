package import TidingsModel

extension ExtensionMachine {
    package struct ReceivedPush: Hashable, Sendable {
        package var identifier: String
        package var userInfo: JSONValue
        package var mayFilter: Bool
        /// Whether another sender's push recalls a message, as the app says (S2.22).
        package var isForeignRecall: Bool
        /// Whether notifications are made ones of a person (ios-delivery.md §11).
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

    /// Whether the push is still for the person who is signed in: the server's answer may take longer than a sign-out (design.md P7).
    func isForSignedIn(_ group: some ExtensionGroup) -> Bool {
        self.recipientTag.map { group.signIn == .signedIn(recipientTag: $0) } ?? false
    }

    var recipientTag: String? { self.info?.recipientTag ?? self.badgeInfo?.recipientTag }
}

package import TidingsModel

extension ExtensionMachine {
    package struct Push: Hashable, Sendable {
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
}

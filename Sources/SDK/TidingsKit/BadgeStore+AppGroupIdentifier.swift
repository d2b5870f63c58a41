#if os(Linux)
    import Foundation
    public import TidingsAppGroup
    import UserNotifications

    extension BadgeStore {
        /// A store in an app group's container. On Apple's systems it is part of `TidingsAppGroup`; on Linux the virtual phone
        /// knows the container.
        ///
        /// - Parameters:
        ///   - appGroupIdentifier: the group's name, the same in app and extension (S2.14).
        ///   - key: names the number; the same in app and extension (S2.14).
        /// - Throws: `BadgeStoreProblem`: this process does not belong to the group, the key is no key, or the container cannot
        ///   be used now.
        public init(appGroupIdentifier: String, key: String = "badge") throws(BadgeStoreProblem) {
            guard
                let folder = FileManager.default.containerURL(
                    forSecurityApplicationGroupIdentifier: appGroupIdentifier)
            else { throw .unknownAppGroup(appGroupIdentifier) }
            try self.init(appGroupFolder: folder, identifier: appGroupIdentifier, key: key)
        }
    }
#endif

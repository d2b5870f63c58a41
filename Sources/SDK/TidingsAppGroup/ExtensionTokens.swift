/// Where the extension token lies between the app, which gets it with each connect, and its extension (DESIGN §7
/// "Extension"). Without one of these it stands in the app group's file of the recipient, which only the person's own
/// account may read.
package protocol ExtensionTokens: Sendable {
    /// The token; nil for none, and where it cannot be read now, for example before the first unlock.
    func read() -> String?
    /// Puts a token in the place of the one before; nil forgets it.
    ///
    /// - Throws: `ExtensionTokenFault` if it cannot be kept; the one before may still be there then.
    func write(_ token: String?) throws(ExtensionTokenFault)
}

/// The keychain did not take the extension token: nearly always a group that is not among the target's entitlements.
package struct ExtensionTokenFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The keychain access group.
    package var accessGroup: String
    /// What the keychain said; -34018 is a missing entitlement.
    package var status: Int32

    /// The group and what the keychain said.
    package init(accessGroup: String, status: Int32) {
        self.accessGroup = accessGroup
        self.status = status
    }

    /// One sentence with what to do.
    package var description: String {
        "keychainAccessGroup \"\(self.accessGroup)\" cannot hold the extension token (OSStatus \(self.status)); add it under "
            + "Keychain Sharing of the app and of the extension, with the team's prefix"
    }
}

/// The token as an item of a keychain group that app and extension share.
package struct KeychainTokens: ExtensionTokens {
    private let accessGroup: String
    private let password: KeychainPassword

    /// - Parameter accessGroup: a group of both targets, with the team's prefix.
    package init(accessGroup: String) {
        self.accessGroup = accessGroup
        self.password = KeychainPassword(account: "extension-token", accessGroup: accessGroup)
    }

    /// Looks the item up.
    package func read() -> String? {
        ((try? self.password.read()) ?? nil).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Updates the item, or adds or deletes it.
    package func write(_ token: String?) throws(ExtensionTokenFault) {
        do throws(KeychainFault) {
            try self.password.write(token.map { Array($0.utf8) })
        } catch {
            throw ExtensionTokenFault(accessGroup: self.accessGroup, status: error.status)
        }
    }
}

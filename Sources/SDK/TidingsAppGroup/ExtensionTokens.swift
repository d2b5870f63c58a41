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

#if canImport(Security)
    import Foundation
    import Security

    /// The token as an item of a keychain group that app and extension share; readable after the first unlock, and on this
    /// device only (ios-delivery.md §10).
    package struct KeychainTokens: ExtensionTokens {
        private let accessGroup: String

        /// - Parameter accessGroup: a group of both targets, with the team's prefix.
        package init(accessGroup: String) { self.accessGroup = accessGroup }

        private var item: [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "Tidings", kSecAttrAccount: "extension-token",
                kSecAttrAccessGroup: self.accessGroup, kSecUseDataProtectionKeychain: true,
            ]
        }

        /// Looks the item up.
        package func read() -> String? {
            let question = self.item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
            var found: CFTypeRef?
            guard SecItemCopyMatching(question as CFDictionary, &found) == errSecSuccess, let data = found as? Data
            else { return nil }
            return String(data: data, encoding: .utf8)
        }

        /// Updates the item, or adds or deletes it.
        package func write(_ token: String?) throws(ExtensionTokenFault) {
            guard let token else { return try self.check(SecItemDelete(self.item as CFDictionary)) }
            let values: [CFString: Any] = [
                kSecValueData: Data(token.utf8),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let status = SecItemUpdate(self.item as CFDictionary, values as CFDictionary)
            guard status == errSecItemNotFound else { return try self.check(status) }
            try self.check(SecItemAdd(self.item.merging(values) { $1 } as CFDictionary, nil))
        }

        private func check(_ status: OSStatus) throws(ExtensionTokenFault) {
            // To delete what is gone already is no fault.
            guard status != errSecSuccess, status != errSecItemNotFound else { return }
            throw ExtensionTokenFault(accessGroup: self.accessGroup, status: status)
        }
    }
#endif

import Foundation

#if canImport(Darwin)
    import Security
#elseif TIDINGS_UIKIT
    import KeychainServices
#endif

/// The keychain did not do what was asked.
package struct KeychainFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was asked for.
    package var account: String
    /// What the keychain said.
    package var status: Int32

    /// The account and what the keychain said.
    package init(account: String, status: Int32) {
        self.account = account
        self.status = status
    }

    /// There is no keychain here: not on a phone, or on a virtual one without a folder.
    package var isMissing: Bool { self.status == -25_291 }

    /// One sentence.
    package var description: String { "the keychain item \"\(self.account)\" cannot be used (OSStatus \(self.status))" }
}

/// One generic password of the SDK in the keychain: readable from the first unlock on, since the app is woken and the extension runs while
/// the phone is locked, and on this device only, since a token is bound to it (ios-delivery.md §10).
package struct KeychainPassword: Sendable {
    private let account: String
    private let accessGroup: String?

    /// - Parameters:
    ///   - account: tells the SDK's items from each other.
    ///   - accessGroup: a keychain group; nil is the process's own, which needs no entitlement.
    package init(account: String, accessGroup: String? = nil) {
        self.account = account
        self.accessGroup = accessGroup
    }

    private var item: [CFString: Any] {
        var item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "Tidings", kSecAttrAccount: self.account,
            kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
        return item
    }

    /// Looks the item up; nil for none.
    ///
    /// - Throws: `KeychainFault`, for example before the first unlock.
    package func read() throws(KeychainFault) -> [UInt8]? {
        let question = self.item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
        var found: CFTypeRef?
        let status = SecItemCopyMatching(question as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else {
            throw KeychainFault(account: self.account, status: status)
        }
        return Array(data)
    }

    /// Updates the item, or adds or deletes it.
    ///
    /// - Throws: `KeychainFault`; the value before may still be there then.
    package func write(_ value: [UInt8]?) throws(KeychainFault) {
        guard let value else { return try self.check(SecItemDelete(self.item as CFDictionary)) }
        let values: [CFString: Any] = [
            kSecValueData: Data(value), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        let status = SecItemUpdate(self.item as CFDictionary, values as CFDictionary)
        guard status == errSecItemNotFound else { return try self.check(status) }
        try self.check(SecItemAdd(self.item.merging(values) { $1 } as CFDictionary, nil))
    }

    private func check(_ status: OSStatus) throws(KeychainFault) {
        // To delete what is gone already is no fault.
        guard status != errSecSuccess, status != errSecItemNotFound else { return }
        throw KeychainFault(account: self.account, status: status)
    }
}

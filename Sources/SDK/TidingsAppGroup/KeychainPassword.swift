import Foundation

#if canImport(Darwin)
    import Security
#elseif TIDINGS_UIKIT
    import KeychainServices
#endif

package struct KeychainFault: Error, Hashable, Sendable, CustomStringConvertible {
    package var account: String
    package var accessGroup: String?
    /// -34018 is a missing entitlement.
    package var status: Int32

    package init(account: String, accessGroup: String? = nil, status: Int32) {
        (self.account, self.accessGroup, self.status) = (account, accessGroup, status)
    }

    /// errSecNotAvailable: not on a phone, or on a virtual one without a folder.
    package var isMissing: Bool { self.status == -25_291 }

    package var description: String {
        guard let accessGroup else {
            return "the keychain item \"\(self.account)\" cannot be used (OSStatus \(self.status))"
        }
        return
            "keychainAccessGroup \"\(accessGroup)\" cannot hold the extension token (OSStatus \(self.status)); add it under "
            + "Keychain Sharing of the app and of the extension, with the team's prefix"
    }
}

/// One generic password in the keychain. It can be read from the first unlock on, since the app is woken and the
/// extension runs while the phone is locked, and on this device only, since a token is bound to it (ios-delivery.md
/// §10).
package struct KeychainPassword: Sendable {
    private let account: String
    private let accessGroup: String?

    /// - Parameter accessGroup: nil is the process's own group, which needs no entitlement.
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

    /// - Throws: `KeychainFault`, for example before the first unlock.
    package func read() throws(KeychainFault) -> [UInt8]? {
        let question = self.item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
        var found: CFTypeRef?
        let status = SecItemCopyMatching(question as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else {
            throw self.fault(status)
        }
        return Array(data)
    }

    /// - Throws: `KeychainFault`; the earlier value may still be there then.
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
        // Deleting what is gone already is no fault.
        guard status != errSecSuccess, status != errSecItemNotFound else { return }
        throw self.fault(status)
    }

    private func fault(_ status: OSStatus) -> KeychainFault {
        KeychainFault(account: self.account, accessGroup: self.accessGroup, status: status)
    }
}

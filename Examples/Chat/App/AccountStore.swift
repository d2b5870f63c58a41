import Foundation

#if canImport(Darwin)
    import Security
#elseif TIDINGS_UIKIT
    import KeychainServices
#endif

/// Who is signed in, and where.
struct SignedIn: Codable, Hashable, Sendable {
    var user: String
    var addresses: AppConfiguration.Addresses
}

/// Remembers who is signed in: the user defaults say who, and the keychain holds the session, with which the backend hands out user tokens.
struct AccountStore: Sendable {
    private static let key = "signed_in"

    /// Nil if nobody is. On a phone that was not unlocked since its restart iOS gives no user defaults, so it may only seem so.
    var signedIn: SignedIn? {
        // A process that was launched before the first unlock has read that there are none.
        UserDefaults.standard.synchronize()
        return UserDefaults.standard.data(forKey: Self.key).flatMap {
            try? JSONDecoder().decode(SignedIn.self, from: $0)
        }
    }

    /// - Throws: `KeychainRefusal`; nothing is remembered then.
    func remember(_ signedIn: SignedIn, session: String) throws {
        let encoded = try JSONEncoder().encode(signedIn)
        try self.write(Data(session.utf8))
        UserDefaults.standard.set(encoded, forKey: Self.key)
        // Elsewhere than on Apple's systems they are written when one asks for it.
        UserDefaults.standard.synchronize()
    }

    /// A session that cannot be deleted is worthless once the backend has ended it, and replaced by the next one.
    func forget() {
        UserDefaults.standard.removeObject(forKey: Self.key)
        UserDefaults.standard.synchronize()
        _ = SecItemDelete(Self.item as CFDictionary)
    }

    /// - Throws: `KeychainRefusal`, for example before the first unlock.
    func session() throws -> String {
        let question = Self.item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
        var found: CFTypeRef?
        let status = SecItemCopyMatching(question as CFDictionary, &found)
        guard status == errSecSuccess, let data = found as? Data else { throw KeychainRefusal(status: status) }
        return String(decoding: data, as: UTF8.self)
    }

    private func write(_ session: Data) throws {
        // Read by launches in the background, too, from the first unlock on; a copy of the phone does not take it along.
        let values: [CFString: Any] = [
            kSecValueData: session, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(Self.item as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(Self.item.merging(values) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw KeychainRefusal(status: status) }
    }

    private static var item: [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "Chat", kSecAttrAccount: "session",
            kSecUseDataProtectionKeychain: true,
        ]
    }
}

/// The keychain gave or took nothing; `status` is an `OSStatus`.
struct KeychainRefusal: Error, CustomStringConvertible {
    var status: Int32
    var description: String { "The keychain cannot be used (\(self.status))." }
}

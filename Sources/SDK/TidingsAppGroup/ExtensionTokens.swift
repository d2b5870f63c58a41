/// Where the app, which gets the extension token with each connect, stores it for its extension (design.md §7 "Extension").
/// Without one of these it lies in the app group's recipient file, which only the person's own account may read.
package protocol ExtensionTokens: Sendable {
    /// Nil also where it cannot be read now, for example before the first unlock.
    func read() -> String?
    /// After an error the earlier token may still be there.
    func write(_ token: String?) throws(KeychainFault)
}

package struct KeychainTokens: ExtensionTokens {
    private let password: KeychainPassword

    /// - Parameter accessGroup: a group of both targets, with the team's prefix.
    package init(accessGroup: String) {
        self.password = KeychainPassword(account: "extension-token", accessGroup: accessGroup)
    }

    package func read() -> String? {
        ((try? self.password.read()) ?? nil).map { String(decoding: $0, as: UTF8.self) }
    }

    package func write(_ token: String?) throws(KeychainFault) { try self.password.write(token.map { Array($0.utf8) }) }
}

import Foundation
package import TidingsAppGroup

/// Where the client keeps the person's user token (docs/decisions/0019-at-rest.md).
package protocol SecretStore: Sendable {
    /// What is kept under a name; nil for nothing.
    ///
    /// - Throws: `KeychainFault`.
    func read(_ name: String) throws(KeychainFault) -> [UInt8]?
    /// Keeps a value in the place of the one before; nil forgets it.
    ///
    /// - Throws: `KeychainFault`; the value before may still be there then.
    func write(_ value: [UInt8]?, as name: String) throws(KeychainFault)
}

/// Items of the keychain that belong to the app alone.
package struct KeychainSecrets: SecretStore {
    /// The app's own.
    package init() {}

    /// Looks an item up.
    package func read(_ name: String) throws(KeychainFault) -> [UInt8]? { try KeychainPassword(account: name).read() }

    /// Updates an item, or adds or deletes it.
    package func write(_ value: [UInt8]?, as name: String) throws(KeychainFault) {
        try KeychainPassword(account: name).write(value)
    }
}

// The token and the pending sign-out lie in the keychain. Where there is none they lie in files, as they did before there was a keychain
// here; such a file moves as soon as it is looked at.
extension ClientFolders {
    /// What is kept under a name; nil for nothing, and where it cannot be read now.
    func secret(_ name: String, _ file: URL) -> [UInt8]? {
        if let bytes = (try? Data(contentsOf: file)).map({ Array($0) }) {
            // Of an earlier version, or of a time when the keychain could not be used: it is the newer one in either case. Without a
            // keychain the file is left alone: written again, it would come back after somebody has removed it meanwhile.
            if (try? self.isInKeychain(bytes, name)) == true { try? Self.remove(file) }
            return bytes
        }
        // The keychain outlives the app: without the device id of this installation it is an earlier one's.
        guard self.hasDeviceID else { return nil }
        return (try? self.secrets?.read(name)) ?? nil
    }

    /// Keeps a value in the keychain, and nowhere else if there is one.
    func keepSecret(_ bytes: [UInt8], _ name: String, _ file: URL) throws {
        if try self.isInKeychain(bytes, name) { try Self.remove(file) } else { try self.write(Data(bytes), to: file) }
    }

    /// Keeps a value in the keychain; false if there is none.
    private func isInKeychain(_ bytes: [UInt8], _ name: String) throws(KeychainFault) -> Bool {
        guard let secrets = self.secrets else { return false }
        do throws(KeychainFault) {
            try secrets.write(bytes, as: name)
            return true
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    /// Forgets a value, wherever it lies.
    func forgetSecret(_ name: String, _ file: URL) throws {
        try Self.remove(file)
        do throws(KeychainFault) { try self.secrets?.write(nil, as: name) } catch {
            guard error.isMissing else { throw error }
        }
    }
}

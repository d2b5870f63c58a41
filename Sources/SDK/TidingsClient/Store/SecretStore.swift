import Foundation
package import TidingsAppGroup

/// Where the client stores the person's user token (docs/decisions/0019-at-rest.md).
package protocol SecretStore: Sendable {
    func read(_ name: String) throws(KeychainFault) -> [UInt8]?
    /// Nil deletes the value. After an error the earlier value may still be there.
    func write(_ value: [UInt8]?, as name: String) throws(KeychainFault)
}

/// Keychain items that belong to the app alone.
package struct KeychainSecrets: SecretStore {
    package init() {}

    package func read(_ name: String) throws(KeychainFault) -> [UInt8]? { try KeychainPassword(account: name).read() }

    package func write(_ value: [UInt8]?, as name: String) throws(KeychainFault) {
        try KeychainPassword(account: name).write(value)
    }
}

// The token and the farewell lie in the keychain. Where there is none they lie in files, as they did before there was a keychain
// here; such a file moves as soon as it is looked at.
extension ClientFolders {
    /// Nil also where it cannot be read now.
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

    func keepSecret(_ bytes: [UInt8], _ name: String, _ file: URL) throws {
        if try self.isInKeychain(bytes, name) { try Self.remove(file) } else { try self.write(Data(bytes), to: file) }
    }

    /// False if there is no keychain.
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

    func forgetSecret(_ name: String, _ file: URL) throws {
        try Self.remove(file)
        do throws(KeychainFault) { try self.secrets?.write(nil, as: name) } catch {
            guard error.isMissing else { throw error }
        }
    }
}

import Foundation
package import TidingsAppGroup
import TidingsModel

/// Where the client stores the person's user token (docs/inside/decisions/0019-at-rest.md).
package protocol SecretStore: Sendable {
    func read(_ name: String) throws(KeychainFault) -> [UInt8]?
    /// Nil deletes the value. After an error the earlier value may still be there.
    func write(_ value: [UInt8]?, as name: String) throws(KeychainFault)
}

package struct KeychainSecrets: SecretStore {
    package init() {}

    package func read(_ name: String) throws(KeychainFault) -> [UInt8]? { try KeychainPassword(account: name).read() }

    package func write(_ value: [UInt8]?, as name: String) throws(KeychainFault) {
        try KeychainPassword(account: name).write(value)
    }
}

// Token and pending sign-out lie in the keychain; without one, in files. A file moves when it is read.
extension ClientFolders {
    /// Nil also where it cannot be read now.
    func secret<Value: JSONCodable>(_ secret: Secret) -> Value? {
        self.bytes(of: secret).flatMap { try? Value(line: $0) }
    }

    private func bytes(of secret: Secret) -> [UInt8]? {
        let file = self.root.appendingPathComponent(secret.file)
        if let bytes = (try? Data(contentsOf: file)).map({ Array($0) }) {
            // From a time when the keychain could not be used: newer. Without a keychain the file is left alone: written again, it
            // would come back after another process has removed it.
            if (try? self.writeToKeychain(bytes, secret.name)) == true { try? Self.remove(file) }
            return bytes
        }
        // The keychain outlives the app: without the device id of this installation it is an earlier one's.
        guard self.hasDeviceID else { return nil }
        return (try? self.secrets?.read(secret.name)) ?? nil
    }

    func keepSecret(_ value: some JSONCodable, _ secret: Secret) throws {
        let bytes = value.json.serialized
        let file = self.root.appendingPathComponent(secret.file)
        let isInKeychain = try self.writeToKeychain(bytes, secret.name)
        if isInKeychain { try Self.remove(file) } else { try self.write(Data(bytes), to: file) }
    }

    /// False if there is no keychain.
    private func writeToKeychain(_ bytes: [UInt8], _ name: String) throws(KeychainFault) -> Bool {
        guard let secrets = self.secrets else { return false }
        do throws(KeychainFault) {
            try secrets.write(bytes, as: name)
            return true
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    func forgetSecret(_ secret: Secret) throws {
        try Self.remove(self.root.appendingPathComponent(secret.file))
        do throws(KeychainFault) { try self.secrets?.write(nil, as: secret.name) } catch {
            guard error.isMissing else { throw error }
        }
    }
}

import Foundation
import Glibc
import TidingsModel

/// One file in the phone's folder, beside the apps, so that an item stays when its app is removed, as on an iPhone.
/// Before the first unlock the way to it is closed (`PhoneFolders`).
package struct PhoneKeychain: Sendable {
    package struct Item: Hashable, Sendable, JSONCodable {
        /// `kSecAttrAccessGroup`.
        package var accessGroup: String
        /// `kSecAttrService`.
        package var service: String
        /// `kSecAttrAccount`.
        package var account: String
        /// `kSecAttrAccessible`: Apple's raw value, for example `cku`.
        package var accessible: String
        package var data: [UInt8]

        package init(accessGroup: String, service: String, account: String, accessible: String, data: [UInt8]) {
            self.accessGroup = accessGroup
            self.service = service
            self.account = account
            self.accessible = accessible
            self.data = data
        }

        package var key: [String] { [self.accessGroup, self.service, self.account] }
        /// Apple's `…ThisDeviceOnly`.
        package var isForThisDeviceOnly: Bool { self.accessible.hasSuffix("u") }
        package var needsUnlocked: Bool { self.accessible.hasPrefix("ak") }
    }

    /// The phone was not unlocked since its restart, or its folder is gone.
    package struct Closed: Error {}

    private let path: String

    package init(path: String) { self.path = path }

    /// A millisecond each: a suspended process may hold the lock for ever.
    private static let triesMax = 2_000

    /// In the order in which they were added.
    package func items() throws(Closed) -> [Item] {
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // Nothing was ever added; while the folder is closed the error is another one.
            guard errno == ENOENT else { throw Closed() }
            return []
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let bytes = try? handle.readToEnd() ?? Data() else { throw Closed() }
        return (try? JSONValue(parsing: Array(bytes)))?.arrayValue?.compactMap { try? Item(json: $0) } ?? []
    }

    /// Alone among all processes of the phone; readers find the old or the new items. Nothing was changed if it
    /// throws.
    package func update<Value>(_ body: (inout [Item]) -> Value) throws(Closed) -> Value {
        let lock = open(self.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Closed() }
        defer { close(lock) }
        var tries = 0
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            tries += 1
            guard tries < Self.triesMax, errno == EWOULDBLOCK || errno == EINTR else { throw Closed() }
            usleep(1_000)
        }
        let before = try self.items()
        var items = before
        let value = body(&items)
        guard items != before else { return value }
        let text = Data(JSONValue.array(items.map(\.json)).serialized)
        do { try text.write(to: URL(fileURLWithPath: self.path), options: .atomic) } catch { throw Closed() }
        return value
    }

    func restoreFromBackup() { _ = try? self.update { $0.removeAll(where: \.isForThisDeviceOnly) } }
}

extension PhoneProcessFacts {
    /// The process's own group first; as with Apple's application identifier, those of app and extension differ. An
    /// app group is one too (Apple, "Sharing access to keychain items among a collection of apps").
    package var keychainGroups: [String] {
        let own =
            switch self.role {
            case .app: self.bundleID
            case .notificationService: self.bundleID + ".notification-service"
            case .notificationContent: self.bundleID + ".notification-content"
            }
        return [own] + self.groups.keys.sorted()
    }
}

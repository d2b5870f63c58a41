import Foundation
import Glibc
import TidingsModel

/// The keychain of a phone: one file in the phone's folder, beside the apps and not in them, so that an item stays when its app is
/// removed, as on an iPhone. The facade `KeychainServices` gives it Apple's calls.
///
/// Before the first unlock the way to the file is closed, as to every other (`PhoneFolders`).
package struct PhoneKeychain: Sendable {
    /// A generic password.
    package struct Item: Hashable, Sendable {
        /// `kSecAttrAccessGroup`.
        package var accessGroup: String
        /// `kSecAttrService`.
        package var service: String
        /// `kSecAttrAccount`.
        package var account: String
        /// `kSecAttrAccessible`: Apple's raw value, for example `cku`.
        package var accessible: String
        /// `kSecValueData`.
        package var data: [UInt8]

        /// An item from its parts.
        package init(accessGroup: String, service: String, account: String, accessible: String, data: [UInt8]) {
            self.accessGroup = accessGroup
            self.service = service
            self.account = account
            self.accessible = accessible
            self.data = data
        }

        /// What no two items share.
        package var key: [String] { [self.accessGroup, self.service, self.account] }
        /// Whether it stays on this device when its backup is restored on another one (Apple's `…ThisDeviceOnly`).
        package var isForThisDeviceOnly: Bool { self.accessible.hasSuffix("u") }
        /// Whether it is to be read only while the phone is unlocked.
        package var needsUnlocked: Bool { self.accessible.hasPrefix("ak") }
    }

    /// The keychain cannot be opened now: the phone was not unlocked since its restart, or its folder is gone.
    package struct Closed: Error {}

    private let path: String

    /// The keychain in a file.
    package init(path: String) { self.path = path }

    /// How long another process is waited for that changes the keychain, in tries of a millisecond: a frozen one may never end.
    private static let triesMax = 2_000

    /// The items, in the order in which they were added.
    ///
    /// - Throws: `Closed`.
    package func items() throws(Closed) -> [Item] {
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // Nothing was ever added; where the way is closed there is no folder either.
            guard errno == ENOENT else { throw Closed() }
            return []
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let bytes = try? handle.readToEnd() ?? Data() else { throw Closed() }
        return (try? JSONValue(parsing: Array(bytes)))?.arrayValue?.compactMap { Item(json: $0) } ?? []
    }

    /// Changes the items, alone among all processes of the phone; who reads them finds the old or the new ones.
    ///
    /// - Throws: `Closed`; nothing was changed then.
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

    /// A backup is restored on a new device: what was for the old one only is not there.
    func restoreFromBackup() { _ = try? self.update { $0.removeAll(where: \.isForThisDeviceOnly) } }
}

extension PhoneKeychain.Item {
    fileprivate var json: JSONValue {
        .members([
            ("group", .string(self.accessGroup)), ("service", .string(self.service)),
            ("account", .string(self.account)), ("accessible", .string(self.accessible)),
            ("data", .string(Data(self.data).base64EncodedString())),
        ])
    }

    fileprivate init?(json: JSONValue) {
        guard let group = json["group"]?.stringValue, let service = json["service"]?.stringValue,
            let account = json["account"]?.stringValue, let accessible = json["accessible"]?.stringValue,
            let data = json["data"]?.stringValue.flatMap({ Data(base64Encoded: $0) })
        else { return nil }
        self.init(
            accessGroup: group, service: service, account: account, accessible: accessible, data: Array(data))
    }
}

extension PhoneProcessFacts {
    /// The keychain access groups of the process, its own first: like Apple's application identifier, that of app and extension
    /// differ. An app group is one too (Apple, "Sharing access to keychain items among a collection of apps").
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

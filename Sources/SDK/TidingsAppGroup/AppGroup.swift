package import ClientCore
package import Foundation
package import TidingsModel

/// The small files an app shares with its notification service extension: ledger, badge, and who is signed in (DESIGN §7).
///
/// Every access is one short exclusive lock around read, change and write; it is atomic across processes and threads. It is
/// never held across an `await`: a process suspended while it holds a lock in the app group is killed (0xDEAD10CC).
package final class AppGroup: Sendable {
    /// The shared folder.
    package let folder: URL
    private let badgeName: String

    /// - Parameters:
    ///   - folder: the container of the app group; made if it is not there.
    ///   - badgeKey: names the badge's file (S2.14, S2.16).
    /// - Throws: an error of the file system if the folder cannot be made, for example before the first unlock.
    package init(folder: URL, badgeKey: String = "badge") throws {
        self.folder = folder.appendingPathComponent("Tidings", isDirectory: true)
        self.badgeName = "\(badgeKey).json"
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    /// Runs `body` with everything in the app group, then writes what it changed.
    ///
    /// - Throws: `FileFault` if the files cannot be locked, read or written; then nothing was changed.
    package func update<Value>(_ body: (inout Contents) throws -> Value) throws -> Value {
        let lock = try FileLock(self.folder.appendingPathComponent("lock").path)
        defer { lock.unlock() }
        var contents = Contents(
            ledger: self.ledger(), badge: self.badge(), recipient: self.recipient())
        let before = contents
        let value = try body(&contents)
        if contents.ledger != before.ledger { try self.write(contents.ledger.json, to: "ledger.json") }
        if contents.badge != before.badge { try self.write(contents.badge?.json, to: self.badgeName) }
        if contents.recipient != before.recipient { try self.write(contents.recipient?.json, to: "recipient.json") }
        return value
    }

    /// Everything in the app group.
    package struct Contents {
        /// What this phone has rung for.
        package var ledger: Ledger
        /// The number on the icon; nil if none is stored (S2.20).
        package var badge: Badge?
        /// Who is signed in; nil for nobody.
        package var recipient: Recipient?
    }

    // A file that is missing or cannot be read as what it should be counts as empty: the app writes it again.

    private func ledger() -> Ledger { self.read("ledger.json").flatMap(Ledger.init(json:)) ?? Ledger() }
    private func badge() -> Badge? { self.read(self.badgeName).flatMap(Badge.init(json:)) }
    private func recipient() -> Recipient? { self.read("recipient.json").flatMap(Recipient.init(json:)) }

    private func read(_ name: String) -> JSONValue? {
        guard let data = try? Data(contentsOf: self.folder.appendingPathComponent(name)) else { return nil }
        return try? JSONValue(parsing: data)
    }

    private func write(_ value: JSONValue?, to name: String) throws {
        let file = self.folder.appendingPathComponent(name)
        guard let value else {
            try? FileManager.default.removeItem(at: file)
            return
        }
        try Data(value.serialized).write(to: file, options: .atomic)
    }
}

extension Badge {
    /// The badge as it is stored.
    package var json: JSONValue {
        .members([("server", .int(self.server)), ("foreign", .int(self.foreign)), ("position", .int(self.position))])
    }

    /// Reads a stored badge; nil for anything else.
    package init?(json: JSONValue) {
        guard let server = json["server"]?.intValue, let foreign = json["foreign"]?.intValue,
            let position = json["position"]?.intValue.flatMap({ LogPosition(exactly: $0) })
        else { return nil }
        self.init(server: Int(server), foreign: Int(foreign), position: position)
    }
}

extension Recipient {
    /// The recipient as it is stored.
    package var json: JSONValue {
        .members([
            ("tag", .string(self.tag)), ("extension_token", .string(self.extensionToken)),
            ("position", .int(self.position)),
        ])
    }

    /// Reads a stored recipient; nil for anything else.
    package init?(json: JSONValue) {
        guard let tag = json["tag"]?.stringValue, let token = json["extension_token"]?.stringValue,
            let position = json["position"]?.intValue.flatMap({ LogPosition(exactly: $0) })
        else { return nil }
        self.init(tag: tag, extensionToken: token, position: position)
    }
}

extension Ledger {
    /// The ledger as it is stored: a list of [message, holder, claimed at, shown].
    package var json: JSONValue {
        .array(
            self.all.map { message, entry in
                let holder: JSONValue
                switch entry.holder {
                case .kit(let process): holder = .string("kit:\(process)")
                case .pushExtension: holder = "extension"
                }
                return .array([.string(message.description), holder, .int(entry.claimedAt), .bool(entry.isShown)])
            })
    }

    /// Reads a stored ledger; nil for anything that is no list. Elements that are no entries are left out.
    package init?(json: JSONValue) {
        guard let elements = json.arrayValue else { return nil }
        self.init(
            restoring: elements.compactMap { element in
                guard let parts = element.arrayValue, parts.count == 4,
                    let message = parts[0].stringValue.flatMap({ MessageID($0) }),
                    let holder = parts[1].stringValue.flatMap(Self.holder), let claimedAt = parts[2].intValue,
                    let isShown = parts[3].boolValue
                else { return nil }
                return (message, Entry(holder: holder, claimedAt: claimedAt, isShown: isShown))
            })
    }

    private static func holder(_ text: String) -> Holder? {
        if text == "extension" { return .pushExtension }
        guard text.hasPrefix("kit:") else { return nil }
        return UInt64(text.dropFirst(4)).map { .kit(process: $0) }
    }
}

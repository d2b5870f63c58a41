package import ClientCore
package import Foundation
import TidingsModel

/// The small files an app shares with its notification service extension (design.md §7). Every access is one short
/// exclusive lock around read, change and write, atomic across processes and threads. It has a time limit and is
/// never held across an `await`. The process asks the system not to be suspended meanwhile: one that is suspended
/// while it holds a lock in the app group is killed (0xDEAD10CC; ios-delivery.md §14, Q13).
package final class AppGroup: Sendable {
    package let folder: URL
    /// Part of the name of the badge's file (S2.14, S2.16): 1 to 64 letters, digits, hyphens, dots and underscores.
    package let badgeKey: String
    private let lockMilliseconds: Int64
    private let files: Locked<Files>
    private let suspension: any SuspensionGuard
    private let foreignBadge: @Sendable (ForeignBadge) -> Void

    package static let lockMilliseconds: Int64 = 2_000

    /// - Parameters:
    ///   - identifier: the group's name; without it the badge is not copied to the group's user defaults.
    ///   - foreignBadge: told of what other code has written there; by default it goes to the standard error.
    /// - Throws: `FileFault` if the folder cannot be made, for example before the first unlock.
    package init(
        folder: URL, identifier: String? = nil, badgeKey: String = "badge",
        lockMilliseconds: Int64 = AppGroup.lockMilliseconds,
        suspension: any SuspensionGuard = SystemSuspensionGuard(), safety: any FileSafety = SystemFileSafety(),
        foreignBadge: @escaping @Sendable (ForeignBadge) -> Void = {
            FileHandle.standardError.write(Data("Tidings: \($0)\n".utf8))
        }
    ) throws(FileFault) {
        self.folder = folder.appendingPathComponent("Tidings", isDirectory: true)
        self.badgeKey = badgeKey
        self.lockMilliseconds = lockMilliseconds
        let mirror = identifier.map { BadgeMirror(defaults: Self.defaults(of: $0, in: folder), key: badgeKey) }
        self.files = Locked(Files(folder: self.folder, badgeKey: badgeKey, mirror: mirror))
        self.suspension = suspension
        self.foreignBadge = foreignBadge
        do {
            try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
            // The extension needs every file here while the phone is locked, and they are this device's alone.
            try safety.protectAll(in: self.folder, as: .completeUntilFirstUserAuthentication)
            try safety.excludeFromBackup(self.folder.path)
        } catch {
            throw FileFault(path: self.folder.path, work: .folder, code: 0)
        }
    }

    package static func defaults(of identifier: String, in container: URL) -> any SharedDefaults {
        #if canImport(Darwin)
            UserDefaultsSuite(name: identifier)
        #else
            ContainerDefaults(container: container, name: identifier)
        #endif
    }

    /// If the files cannot be locked in time, read or written, or `body` throws, nothing is changed.
    package func update<Value>(_ body: (inout Contents) throws -> Value) throws -> Value {
        var result: Result<Value, any Error>?
        let isGranted = self.suspension.run { result = Result { try self.updateNow(body) } }
        guard isGranted, let result else { throw FileFault(path: self.folder.path, work: .staying, code: 0) }
        return try result.get()
    }

    private func updateNow<Value>(_ body: (inout Contents) throws -> Value) throws -> Value {
        let (value, foreign) = try self.files.withLock { files in
            let lock = try FileLock(self.folder.appendingPathComponent("lock").path, within: self.lockMilliseconds)
            defer { lock.unlock() }
            do {
                var contents = try files.read()
                let before = (contents.badge, contents.person, contents.settings)
                let value = try body(&contents)
                if contents.forgetsDamaged { try files.removeDamaged() }
                return (value, try files.write(contents, before: before))
            } catch {
                files.ledger.forget()
                throw error
            }
        }
        if let foreign { self.foreignBadge(foreign) }
        return value
    }

    package var storedBadgeKeys: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? []
        return names.filter { $0.hasPrefix(Files.badgePrefix) && $0.hasSuffix(Files.badgeSuffix) }
            .map { String($0.dropFirst(Files.badgePrefix.count).dropLast(Files.badgeSuffix.count)) }.sorted()
    }

    package struct Contents {
        package var ledger: Ledger
        /// Nil if no number is stored (S2.20).
        package var badge: Badge?
        var person: Person
        package var settings: SharedSettings
        /// The files that could not be understood and were set aside. That their contents are missing is no reason to
        /// ring or to count.
        package var damaged: Set<File>
        /// Also delete files that were set aside, by any process: one may contain the person's extension token.
        package var forgetsDamaged = false

        /// Nil if nobody is signed in or the app has not said. Setting nil stores "nobody".
        package var recipient: Recipient? {
            get {
                guard case .signedIn(let recipient) = self.person else { return nil }
                return recipient
            }
            set { self.person = newValue.map { .signedIn($0) } ?? .signedOut }
        }

        package var signIn: ExtensionDecision.SignIn {
            if self.damaged.contains(.ledger) || self.damaged.contains(.recipient) { return .unknown }
            switch self.person {
            case .unknown: return .unknown
            case .signedOut: return .signedOut
            case .signedIn(let recipient): return .signedIn(recipientTag: recipient.tag)
            }
        }
    }

    package enum File: Hashable, Sendable {
        case ledger, badge, recipient, settings
    }

    enum Person: Equatable, JSONTagged {
        static let tag = JSONTag("person", meaning: "a person", names: ["signedIn": ["_0": ""]])

        /// The app has not said yet, or the file was damaged.
        case unknown
        case signedOut
        case signedIn(Recipient)
    }
}

private struct Files {
    static let badgePrefix = "badge-"
    static let badgeSuffix = ".record"

    var ledger: LedgerFile
    private let badge: BadgeFile
    private let mirror: BadgeMirror?
    /// True if the copy is from this process's last look.
    private var isMirrored = false
    private var recipient: JSONFile<AppGroup.Person>
    private var settings: JSONFile<SharedSettings>

    init(folder: URL, badgeKey: String, mirror: BadgeMirror?) {
        self.mirror = mirror
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        self.ledger = LedgerFile(path("ledger.records"))
        self.badge = BadgeFile(path: path(Self.badgePrefix + badgeKey + Self.badgeSuffix))
        self.recipient = JSONFile(path("recipient.json")) { try? AppGroup.Person(json: $0) }
        self.settings = JSONFile(path("settings.json")) { SharedSettings(json: $0) }
    }

    func removeDamaged() throws(FileFault) {
        for path in [self.badge.path, self.ledger.path, self.recipient.path, self.settings.path] {
            try SmallFile.removeAside(path)
        }
    }

    mutating func read() throws(FileFault) -> AppGroup.Contents {
        var damage: [AppGroup.File: Bool] = [:]
        let badge = try self.badge.read(isDamaged: &damage[.badge, default: false])
        let person = try self.recipient.read(isDamaged: &damage[.recipient, default: false]) ?? .unknown
        let settings = try self.settings.read(isDamaged: &damage[.settings, default: false]) ?? SharedSettings()
        let ledger = try self.ledger.checkOut(isDamaged: &damage[.ledger, default: false])
        return AppGroup.Contents(
            ledger: ledger, badge: badge, person: person, settings: settings, damaged: Set(damage.filter(\.value).keys))
    }

    /// The ledger is written first: a crash between two writes then costs a ring rather than adding one. Returns what other code has written to
    /// the copy of the badge.
    mutating func write(
        _ contents: AppGroup.Contents, before: (badge: Badge?, person: AppGroup.Person, settings: SharedSettings)
    ) throws(FileFault) -> ForeignBadge? {
        try self.ledger.commit(contents.ledger)
        if contents.badge != before.badge { try self.badge.write(contents.badge) }
        var foreign: ForeignBadge?
        if let mirror = self.mirror, !self.isMirrored || contents.badge != before.badge {
            self.isMirrored = true
            foreign = mirror.update(to: contents.badge?.shown, before: before.badge?.shown)
        }
        if contents.person != before.person { try self.recipient.write(contents.person.json) }
        if contents.settings != before.settings { try self.settings.write(contents.settings.json) }
        return foreign
    }
}

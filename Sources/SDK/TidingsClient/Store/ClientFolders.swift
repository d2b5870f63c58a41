import Foundation
import TidingsAppGroup
import TidingsModel

struct ClientFolders {
    let root: URL
    /// Nil keeps tokens in files.
    var secrets: (any SecretStore)?
    var safety: any FileSafety = SystemFileSafety()

    /// The name is the ids in hexadecimal, so that any id makes a file name.
    func store(app: AppID, person: UserID) -> URL {
        self.storeFolder(app).appendingPathComponent("\(Self.hexadecimal(person.rawValue)).sqlite")
    }

    /// The suffix of the folder beside a person's store for the files of the SDK's screens; it goes with the store.
    static let screensSuffix = "-screens"

    /// Made if it is not there.
    func screensFolder(app: AppID, person: UserID) throws -> URL {
        let path = self.store(app: app, person: person).path + Self.screensSuffix
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        guard !FileManager.default.fileExists(atPath: path) else { return folder }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try self.safety.protectAll(in: folder, as: .completeUntilFirstUserAuthentication)
        try self.safety.excludeFromBackup(path)
        return folder
    }

    /// Excluded from backups: the server can give messages back, and a copy of log and outbox on another device would
    /// be wrong.
    func makeStoreFolder(app: AppID) throws {
        let folder = self.storeFolder(app)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Messages arrive while the phone is locked, over the remaining connection and in wakes.
        try self.safety.protectAll(in: folder, as: .completeUntilFirstUserAuthentication)
        try self.safety.excludeFromBackup(folder.path)
    }

    private func storeFolder(_ app: AppID) -> URL {
        self.root.appendingPathComponent(Self.hexadecimal(app.rawValue), isDirectory: true)
    }

    /// Removes the stores of everybody else, with what they had not sent. How far custom messages were handed over
    /// stays, so that nobody who signs in again gets one twice.
    func removeStores(except person: UserID, app: AppID) throws {
        let kept = self.store(app: app, person: person).lastPathComponent
        let folder = self.storeFolder(app)
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let isStore = name.contains(".sqlite") && !name.hasSuffix(LocalStore.handOverSuffix)
            guard isStore, !name.hasPrefix(kept) else { continue }
            try LocalStore.remove(folder.appendingPathComponent(name).path)
        }
    }

    private var deviceFile: URL { self.root.appendingPathComponent("device-id") }

    var hasDeviceID: Bool { FileManager.default.fileExists(atPath: self.deviceFile.path) }

    /// Drawn at the first call and stored.
    func deviceID(app: AppID) throws -> DeviceID {
        let file = self.deviceFile
        if let text = try? String(contentsOf: file, encoding: .utf8),
            let id = try? DeviceID.validated(text, field: "device-id")
        {
            return id
        }
        let id = UUID().uuidString.lowercased()
        try self.write(Data(id.utf8), to: file)
        // The keychain outlives an earlier installation.
        for secret in [Secret.token(app), .pendingSignOut(app), .installation(app)] {
            try? self.secrets?.write(nil, as: secret.name)
        }
        return DeviceID(id)
    }

    /// In the format of `signInNote`; nil for nobody.
    var lastSignIn: String? { try? String(contentsOf: self.signInFile, encoding: .utf8) }

    func signInNote(_ person: UserID, app: AppID) -> String {
        "\(Self.hexadecimal(app.rawValue))/\(Self.hexadecimal(person.rawValue))"
    }

    func noteSignIn(_ person: UserID, app: AppID) throws {
        try self.write(Data(self.signInNote(person, app: app).utf8), to: self.signInFile)
    }

    /// Who signed in last and has not signed out since.
    func signedIn(app: AppID) -> UserID? {
        guard let parts = self.lastSignIn?.split(separator: "/", omittingEmptySubsequences: false), parts.count == 2,
            parts[0] == Self.hexadecimal(app.rawValue)
        else { return nil }
        return Self.text(hexadecimal: parts[1]).map { UserID($0) }
    }

    func forgetSignIn(app: AppID) throws {
        if self.signedIn(app: app) != nil { try Self.remove(self.signInFile) }
        try self.forgetSecret(.token(app))
    }

    /// A later process may have to tell the server of the sign-out before the app gives it a token.
    func keepToken(_ token: String, of person: UserID, app: AppID) throws {
        try self.keepSecret(PendingSignOut(person: person, token: token), .token(app))
    }

    /// Another person's token stays.
    func forgetToken(of person: UserID, app: AppID) throws {
        guard self.token(of: person, app: app) != nil else { return }
        try self.forgetSecret(.token(app))
    }

    func token(of person: UserID, app: AppID) -> String? {
        guard let kept: PendingSignOut = self.secret(.token(app)), kept.person == person else { return nil }
        return kept.token
    }

    /// A later process has to tell the server.
    func writeUnregistered(_ isUnregistered: Bool, app: AppID) throws {
        let file = self.unregisteredFile(app)
        if isUnregistered { try self.write(Data(), to: file) } else { try Self.remove(file) }
    }

    func isUnregistered(app: AppID) -> Bool {
        FileManager.default.fileExists(atPath: self.unregisteredFile(app).path)
    }

    private var signInFile: URL { self.root.appendingPathComponent("signed-in") }

    /// Who has signed out without the server knowing.
    struct PendingSignOut: JSONCodable {
        var person: UserID
        var token: String
    }

    func write(_ pendingSignOut: PendingSignOut?, app: AppID) throws {
        guard let pendingSignOut else { return try self.forgetSecret(.pendingSignOut(app)) }
        try self.keepSecret(pendingSignOut, .pendingSignOut(app))
    }

    func pendingSignOut(app: AppID) -> PendingSignOut? { self.secret(.pendingSignOut(app)) }

    /// Excluded from backups: restored on a second device, it would give two devices one id and one token. Atomic
    /// writing makes a new file each time, so each is marked.
    func write(_ data: Data, to file: URL) throws {
        try FileManager.default.createDirectory(at: self.root, withIntermediateDirectories: true)
        try data.write(to: file, options: .atomic)
        // A wake while the phone is locked reads who is signed in.
        try self.safety.protect(file.path, as: .completeUntilFirstUserAuthentication)
        try self.safety.excludeFromBackup(file.path)
    }

    static func remove(_ file: URL) throws {
        if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    }

    private func unregisteredFile(_ app: AppID) -> URL {
        self.root.appendingPathComponent("unregistered-\(Self.hexadecimal(app.rawValue))")
    }

    private static func hexadecimal(_ text: String) -> String { Hexadecimal.text(text.utf8) }

    private static func text(hexadecimal: Substring) -> String? {
        Hexadecimal.bytes(hexadecimal.utf8).flatMap { String(bytes: $0, encoding: .utf8) }
    }
}

extension ClientFolders {
    /// The item of the keychain, and the file where there is no keychain.
    struct Secret {
        var name: String
        var file: String

        static func installation(_ app: AppID) -> Self {
            let name = "installation-\(ClientFolders.hexadecimal(app.rawValue))"
            return Self(name: name, file: "\(name).json")
        }

        static func token(_ app: AppID) -> Self {
            let app = ClientFolders.hexadecimal(app.rawValue)
            return Self(name: "user-token-\(app)", file: "token-\(app).json")
        }

        static func pendingSignOut(_ app: AppID) -> Self {
            let name = "pending-sign-out-\(ClientFolders.hexadecimal(app.rawValue))"
            return Self(name: name, file: "\(name).json")
        }
    }
}

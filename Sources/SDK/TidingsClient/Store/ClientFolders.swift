import Foundation
import TidingsAppGroup
import TidingsModel

/// Where a client keeps its files.
struct ClientFolders {
    let root: URL
    /// Where tokens lie; nil for files.
    var secrets: (any SecretStore)?
    /// Sets how files lie on the device.
    var safety: any FileSafety = SystemFileSafety()

    /// The local store of a person. The name is the ids in hexadecimal, so that any id makes a file name.
    func store(app: AppID, person: UserID) -> URL {
        self.root.appendingPathComponent(Self.hexadecimal(app.rawValue), isDirectory: true)
            .appendingPathComponent("\(Self.hexadecimal(person.rawValue)).sqlite")
    }

    /// Makes the folder a person's store lies in, and removes it from backups: messages are the server's to give back, and what
    /// a copy on another device would say of log and outbox is not true there.
    func makeStoreFolder(app: AppID) throws {
        let folder = self.storeFolder(app)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Messages come and go while the phone is locked: over the connection that is still there, and in wakes.
        try self.safety.protectAll(in: folder, as: .completeUntilFirstUserAuthentication)
        try self.safety.excludeFromBackup(folder.path)
    }

    private func storeFolder(_ app: AppID) -> URL {
        self.root.appendingPathComponent(Self.hexadecimal(app.rawValue), isDirectory: true)
    }

    /// Removes the stores of everybody else who was signed in here, with what they had not sent. How far each was handed custom
    /// messages stays: a number, so that none comes twice to who signs in again.
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

    /// Whether this installation has an id already.
    var hasDeviceID: Bool { FileManager.default.fileExists(atPath: self.deviceFile.path) }

    /// This device's id, drawn at the first call and kept.
    func deviceID(app: AppID) throws -> DeviceID {
        let file = self.deviceFile
        if let text = try? String(contentsOf: file, encoding: .utf8),
            let id = try? DeviceID.validated(text, field: "device-id")
        {
            return id
        }
        let id = UUID().uuidString.lowercased()
        try self.write(Data(id.utf8), to: file)
        // What an earlier installation has left in the keychain is nobody's.
        try? self.secrets?.write(nil, as: Self.tokenName(app))
        try? self.secrets?.write(nil, as: Self.pendingSignOutName(app))
        return DeviceID(id)
    }

    /// Who signed in last, as `signInNote` writes it; nil for nobody.
    var lastSignIn: String? { try? String(contentsOf: self.signInFile, encoding: .utf8) }

    /// How a sign-in is written down.
    func signInNote(_ person: UserID, app: AppID) -> String {
        "\(Self.hexadecimal(app.rawValue))/\(Self.hexadecimal(person.rawValue))"
    }

    /// Remembers who signed in last.
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

    /// The person has signed out: nobody is signed in, and their token is not kept any longer.
    func forgetSignIn(app: AppID) throws {
        if self.signedIn(app: app) != nil { try Self.remove(self.signInFile) }
        try self.forgetSecret(Self.tokenName(app), self.tokenFile(app))
    }

    /// Remembers the person's last token: a later process may have to tell the server of their sign-out before the app gives
    /// it one.
    func keepToken(_ token: String, of person: UserID, app: AppID) throws {
        let note = Self.json(PendingSignOut(person: person, token: token))
        try self.keepSecret(note, Self.tokenName(app), self.tokenFile(app))
    }

    /// Forgets the token of a person; another person's stays.
    func forgetToken(of person: UserID, app: AppID) throws {
        guard self.token(of: person, app: app) != nil else { return }
        try self.forgetSecret(Self.tokenName(app), self.tokenFile(app))
    }

    /// The last token of a person.
    func token(of person: UserID, app: AppID) -> String? {
        guard let kept = self.pendingSignOut(in: self.secret(Self.tokenName(app), self.tokenFile(app))),
            kept.person == person
        else { return nil }
        return kept.token
    }

    /// Remembers whether the app wants no pushes: a later process has to tell the server.
    func note(isUnregistered: Bool, app: AppID) throws {
        let file = self.unregisteredFile(app)
        if isUnregistered { try self.write(Data(), to: file) } else { try Self.remove(file) }
    }

    /// Whether the app wanted no pushes when it last said something about it.
    func isUnregistered(app: AppID) -> Bool {
        FileManager.default.fileExists(atPath: self.unregisteredFile(app).path)
    }

    private var signInFile: URL { self.root.appendingPathComponent("signed-in") }

    /// Who has signed out here without the server having heard of it.
    struct PendingSignOut {
        var person: UserID
        var token: String
    }

    /// Remembers a pending sign-out, or that there is none.
    func write(_ pendingSignOut: PendingSignOut?, app: AppID) throws {
        let file = self.pendingSignOutFile(app)
        guard let pendingSignOut else { return try self.forgetSecret(Self.pendingSignOutName(app), file) }
        try self.keepSecret(Self.json(pendingSignOut), Self.pendingSignOutName(app), file)
    }

    /// The pending sign-out that is still to be said.
    func pendingSignOut(app: AppID) -> PendingSignOut? {
        self.pendingSignOut(in: self.secret(Self.pendingSignOutName(app), self.pendingSignOutFile(app)))
    }

    private static func tokenName(_ app: AppID) -> String { "user-token-\(Self.hexadecimal(app.rawValue))" }
    private static func pendingSignOutName(_ app: AppID) -> String { "farewell-\(Self.hexadecimal(app.rawValue))" }

    private static func json(_ pendingSignOut: PendingSignOut) -> [UInt8] {
        JSONValue.members([("user", .string(pendingSignOut.person.rawValue)), ("token", .string(pendingSignOut.token))])
            .serialized
    }

    private func pendingSignOut(in bytes: [UInt8]?) -> PendingSignOut? {
        guard let bytes, let json = try? JSONValue(parsing: bytes), let user = json["user"]?.stringValue,
            let token = json["token"]?.stringValue
        else { return nil }
        return PendingSignOut(person: UserID(user), token: token)
    }

    /// Writes a file that belongs to this device and to no other: a backup restored on a second one must not bring it, or two
    /// devices would share one id and one token. Atomic writing makes a new file each time, so it is marked after each.
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

    private func tokenFile(_ app: AppID) -> URL {
        self.root.appendingPathComponent("token-\(Self.hexadecimal(app.rawValue)).json")
    }

    private func unregisteredFile(_ app: AppID) -> URL {
        self.root.appendingPathComponent("unregistered-\(Self.hexadecimal(app.rawValue))")
    }

    private func pendingSignOutFile(_ app: AppID) -> URL {
        self.root.appendingPathComponent("farewell-\(Self.hexadecimal(app.rawValue)).json")
    }

    private static func hexadecimal(_ text: String) -> String { Hexadecimal.text(text.utf8) }

    private static func text(hexadecimal: Substring) -> String? {
        Hexadecimal.bytes(hexadecimal.utf8).flatMap { String(bytes: $0, encoding: .utf8) }
    }
}

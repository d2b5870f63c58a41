import ArgumentParser
import Crypto
import Foundation

/// Who may sign in (`users.json`), and who has (`sessions.json`), in a folder that only its owner reads. Neither file holds a password or a
/// session: of both there are hashes.
actor People {
    private struct User: Codable {
        var salt: Data
        var hash: Data
    }

    private struct Session: Codable {
        var user: String
        /// That of the password it was begun with: it ends with that, whoever writes the files last.
        var salt: Data
        /// Seconds since 1970.
        var expiresAt: Int64
    }

    private let folder: URL
    private let sessionSeconds: Int64
    private let hashing = PasswordHashing()
    private var guesses = Guesses()

    init(folder: URL, sessionSeconds: Int64 = 0) {
        self.folder = folder
        self.sessionSeconds = sessionSeconds
    }

    // MARK: Passwords

    /// - Throws: `ValidationError` for an id or a password that cannot be one.
    func setPassword(_ password: String, of user: String) async throws {
        guard SignInRule.allowsUser(user) else {
            throw ValidationError("the user must be \(SignInRule.user), got \"\(user)\"")
        }
        guard SignInRule.allowsPassword(password) else {
            throw ValidationError(
                "the password must have \(SignInRule.password), got \(password.count) characters in \(password.utf8.count) bytes"
            )
        }
        try self.makeFolder()
        let salt = Self.random(bytes: 16)
        let hash = try await self.hashing.hash(password, salt)
        // Sessions first: whatever happens between the two, nobody keeps one that was to end.
        try self.write(try self.sessions().filter { $0.value.user != user }, "sessions.json")
        var users = try self.users()
        users[user] = User(salt: salt, hash: hash)
        try self.write(users, "users.json")
    }

    /// A new session of somebody who knows their password.
    ///
    /// - Throws: `BackendProblem`: `.wrongPassword`, also for somebody who is not known, `.tooManyGuesses`, or `.busy`.
    func signIn(_ user: String, password: String) async throws -> String {
        // What nobody can be called costs no hash.
        guard SignInRule.allowsUser(user), SignInRule.allowsPassword(password) else {
            throw BackendProblem.wrongPassword
        }
        guard self.guesses.begin(user, at: Self.now) else { throw BackendProblem.tooManyGuesses }
        let known: User?
        let hash: Data
        do {
            known = try self.users()[user]
            // As long for somebody who is not known, so that the time does not tell who is.
            hash = try await self.hashing.hash(password, known?.salt ?? Data(count: 16))
        } catch {
            self.guesses.takeBack(user)
            throw error
        }
        guard let known, SymmetricKey(data: hash) == SymmetricKey(data: known.hash) else {
            throw BackendProblem.wrongPassword
        }
        self.guesses.takeBack(user)
        let now = Self.now
        let session = Self.random(bytes: 32).base64EncodedString()
        var sessions = try self.sessions().filter { $0.value.expiresAt > now }
        sessions[Self.key(session)] = Session(user: user, salt: known.salt, expiresAt: now + self.sessionSeconds)
        try self.write(sessions, "sessions.json")
        return session
    }

    // MARK: Sessions

    /// Whose session it is; nil for one that has ended, or never was.
    func user(of session: String) throws -> String? {
        guard let found = try self.sessions()[Self.key(session)], found.expiresAt > Self.now,
            try self.users()[found.user]?.salt == found.salt
        else { return nil }
        return found.user
    }

    func signOut(_ session: String) throws {
        var sessions = try self.sessions()
        guard sessions.removeValue(forKey: Self.key(session)) != nil else { return }
        try self.write(sessions, "sessions.json")
    }

    /// By the hash of what the phone holds. Read anew each time: `add-user` may have ended some meanwhile.
    private func sessions() throws -> [String: Session] { try self.read("sessions.json") }

    private func users() throws -> [String: User] { try self.read("users.json") }

    // MARK: Files

    /// Makes the folder, or keeps others out of one that is there with users in it.
    func makeFolder() throws {
        let files = FileManager.default
        let ownerOnly: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try files.createDirectory(at: self.folder, withIntermediateDirectories: true, attributes: ownerOnly)
        if files.fileExists(atPath: self.folder.appendingPathComponent("users.json").path) {
            try files.setAttributes(ownerOnly, ofItemAtPath: self.folder.path)
        }
    }

    private func read<Value: Decodable>(_ name: String) throws -> [String: Value] {
        let file = self.folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        return try JSONDecoder().decode([String: Value].self, from: Data(contentsOf: file))
    }

    private func write(_ value: some Encodable, _ name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(value).write(to: self.folder.appendingPathComponent(name), options: .atomic)
    }

    // MARK: Secrets

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    private static func random(bytes: Int) -> Data {
        SymmetricKey(size: .init(bitCount: bytes * 8)).withUnsafeBytes { Data($0) }
    }

    /// A session is as long as a hash, so that one round is enough.
    private static func key(_ session: String) -> String {
        Data(SHA256.hash(data: Data(session.utf8))).base64EncodedString()
    }
}

import ArgumentParser
import Crypto
import CryptoExtras
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
        /// Seconds since 1970.
        var expiresAt: Int64
    }

    private let folder: URL
    private let sessionSeconds: Int64
    private var guesses = Guesses()

    init(folder: URL, sessionSeconds: Int64 = 0) {
        self.folder = folder
        self.sessionSeconds = sessionSeconds
    }

    // MARK: Passwords

    /// - Throws: `ValidationError` for an id or a password that cannot be one.
    func setPassword(_ password: String, of user: String) throws {
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        guard (1...64).contains(user.count), user.unicodeScalars.allSatisfy(allowed.contains) else {
            throw ValidationError("the user must be 1 to 64 letters, digits, '-', '_' and '.', got \"\(user)\"")
        }
        guard (8...200).contains(password.count) else {
            throw ValidationError("the password must have 8 to 200 characters, got \(password.count)")
        }
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        let salt = Self.random(bytes: 16)
        var users = try self.users()
        users[user] = User(salt: salt, hash: try Self.hash(password, salt))
        try self.write(users, "users.json")
        try self.write(try self.sessions().filter { $0.value.user != user }, "sessions.json")
    }

    /// A new session of somebody who knows their password.
    ///
    /// - Throws: `BackendProblem`: `.wrongPassword`, also for somebody who is not known, or `.tooManyGuesses`.
    func signIn(_ user: String, password: String) throws -> String {
        let now = Self.now
        guard self.guesses.mayGuess(user, at: now) else { throw BackendProblem.tooManyGuesses }
        let known = try self.users()[user]
        // As long for somebody who is not known, so that the time does not tell who is.
        let hash = try Self.hash(password, known?.salt ?? Data(count: 16))
        guard let known, SymmetricKey(data: hash) == SymmetricKey(data: known.hash) else {
            self.guesses.wasWrong(user)
            throw BackendProblem.wrongPassword
        }
        let session = Self.random(bytes: 32).base64EncodedString()
        var sessions = try self.sessions().filter { $0.value.expiresAt > now }
        sessions[Self.key(session)] = Session(user: user, expiresAt: now + self.sessionSeconds)
        try self.write(sessions, "sessions.json")
        return session
    }

    // MARK: Sessions

    /// Whose session it is; nil for one that has ended, or never was.
    func user(of session: String) throws -> String? {
        guard let found = try self.sessions()[Self.key(session)], found.expiresAt > Self.now else { return nil }
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

    /// scrypt (RFC 7914) with 32 MB of memory: a tenth of a second for one password, and long for a list of them.
    private static func hash(_ password: String, _ salt: Data) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: Data(password.utf8), salt: salt, outputByteCount: 32, rounds: 1 << 15, blockSize: 8, parallelism: 1
        ).withUnsafeBytes { Data($0) }
    }

    /// A session is as long as a hash, so that one round is enough.
    private static func key(_ session: String) -> String {
        Data(SHA256.hash(data: Data(session.utf8))).base64EncodedString()
    }
}

/// Wrong passwords of the last minute, by user.
private struct Guesses {
    private static let most = 10
    private static let seconds: Int64 = 60
    private var since: Int64 = 0
    private var wrong: [String: Int] = [:]

    mutating func mayGuess(_ user: String, at now: Int64) -> Bool {
        if now - self.since >= Self.seconds { (self.since, self.wrong) = (now, [:]) }
        return self.wrong[user, default: 0] < Self.most
    }

    mutating func wasWrong(_ user: String) { self.wrong[user, default: 0] += 1 }
}

import Crypto
import CryptoExtras
import Dispatch
import Foundation

/// Turns passwords into hashes, beside whatever else the backend does: each takes a tenth of a second of a core and 32 MB of memory, so that
/// strangers who sign in by the hundred would stop the phones that ask for their tokens.
actor PasswordHashing {
    private static let atOnceMax = 2
    private var running = 0
    /// Threads of its own: those of Swift's tasks answer everybody.
    private let queue = DispatchQueue(label: "chat.backend.passwords", attributes: .concurrent)

    /// - Throws: `BackendProblem.busy` while two others are at work.
    func hash(_ password: String, _ salt: Data) async throws -> Data {
        guard self.running < Self.atOnceMax else { throw BackendProblem.busy }
        self.running += 1
        defer { self.running -= 1 }
        return try await withCheckedThrowingContinuation { continuation in
            self.queue.async { continuation.resume(with: Result { try Self.scrypt(password, salt) }) }
        }
    }

    /// scrypt (RFC 7914) with 32 MB of memory: a tenth of a second for one password, and long for a list of them. Keyboards write "é" in
    /// one way or another, which is the same password.
    private static func scrypt(_ password: String, _ salt: Data) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: Data(password.precomposedStringWithCanonicalMapping.utf8), salt: salt, outputByteCount: 32,
            rounds: 1 << 15, blockSize: 8, parallelism: 1
        ).withUnsafeBytes { Data($0) }
    }
}

/// What can be a user and a password here.
enum SignInRule {
    static let user = "1 to 64 letters, digits, '-', '_' and '.'"
    static let password = "8 characters or more, in at most 600 bytes of UTF-8"

    static func allowsUser(_ user: String) -> Bool {
        (1...64).contains(user.utf8.count)
            && user.utf8.allSatisfy { byte in
                switch UnicodeScalar(byte) {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                default: false
                }
            }
    }

    static func allowsPassword(_ password: String) -> Bool { password.utf8.count <= 600 && password.count >= 8 }
}

/// Guesses of the last minute that were wrong, or are being looked at, by user. Each name in it has cost a hash, of which there are only so
/// many in a minute; so invented names do not fill it.
struct Guesses {
    private static let most = 10
    private static let seconds: Int64 = 60
    private var since: Int64 = 0
    private var counts: [String: Int] = [:]

    /// Counts a guess before it is looked at, so that many at the same time are no more than one after the other. False: too many.
    mutating func begin(_ user: String, at now: Int64) -> Bool {
        if now - self.since >= Self.seconds { (self.since, self.counts) = (now, [:]) }
        guard self.counts[user, default: 0] < Self.most else { return false }
        self.counts[user, default: 0] += 1
        return true
    }

    /// It was right, or nobody has looked at it.
    mutating func takeBack(_ user: String) {
        guard let count = self.counts[user] else { return }
        self.counts[user] = count > 1 ? count - 1 : nil
    }
}

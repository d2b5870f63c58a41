import Crypto
import CryptoExtras
import Dispatch
import Foundation
import StoreModel
import Synchronization

/// Makes and checks hashes of passwords, beside whatever else the server does: each takes about a tenth of a second of a core and 32 MB of
/// memory, so that strangers who sign in by the hundred would stop everything else.
final class PasswordHashing: Sendable {
    /// Nobody could wait for it.
    struct Busy: Error {}

    static let charactersAllowed = 12...256
    private static let cost: Int64 = 1 << 15
    private static let blockSize: Int64 = 8
    private static let parallelism: Int64 = 1
    private static let saltBytes = 16
    private static let hashBytes = 32
    private static let atOnceMax = 2
    private static let waitingMax = 32

    private struct State {
        var running = 0
        /// The one that has waited longest first.
        var waiting: [CheckedContinuation<Void, any Error>] = []
    }

    private let state = Mutex(State())
    /// Threads of its own: those of Swift's tasks answer everybody.
    private let queue = DispatchQueue(label: "tidings.passwords", attributes: .concurrent)
    /// A hash that no password has.
    private let nobodys = PasswordHash(
        salt: PasswordHashing.drawSalt(), hash: Array(repeating: 0, count: PasswordHashing.hashBytes),
        cost: PasswordHashing.cost, blockSize: PasswordHashing.blockSize, parallelism: PasswordHashing.parallelism)

    private static func drawSalt() -> [UInt8] { Array(APIKeys.drawBytes().prefix(self.saltBytes)) }

    /// - Throws: `Busy`.
    func hash(_ password: String) async throws -> PasswordHash {
        var made = self.nobodys
        made.salt = Self.drawSalt()
        made.hash = try await self.derive(password, made)
        return made
    }

    /// Takes as long for an operator without a password, and for none.
    /// - Throws: `Busy`.
    func matches(_ password: String, _ known: PasswordHash?) async throws -> Bool {
        let wanted = known ?? self.nobodys
        let found = try await self.derive(password, wanted)
        // Comparing keys is swift-crypto's constant-time comparison.
        let isEqual = SymmetricKey(data: found) == SymmetricKey(data: wanted.hash)
        return isEqual && known != nil
    }

    private func derive(_ password: String, _ how: PasswordHash) async throws -> [UInt8] {
        try await self.takeTurn()
        defer { self.endTurn() }
        return try await withCheckedThrowingContinuation { continuation in
            self.queue.async { continuation.resume(with: Result { try Self.scrypt(password, how) }) }
        }
    }

    private func takeTurn() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let answer = self.state.withLock { state -> Result<Void, Busy>? in
                guard state.running >= Self.atOnceMax else {
                    state.running += 1
                    return .success(())
                }
                guard state.waiting.count < Self.waitingMax else { return .failure(Busy()) }
                state.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(with: answer.mapError { $0 as any Error }) }
        }
    }

    private func endTurn() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume()
    }

    /// scrypt (RFC 7914). Keyboards write "é" in one way or another, which is the same password.
    private static func scrypt(_ password: String, _ how: PasswordHash) throws -> [UInt8] {
        try KDF.Scrypt.deriveKey(
            from: Array(password.precomposedStringWithCanonicalMapping.utf8), salt: how.salt,
            outputByteCount: Self.hashBytes, rounds: Int(how.cost), blockSize: Int(how.blockSize),
            parallelism: Int(how.parallelism)
        ).withUnsafeBytes { Array($0) }
    }
}

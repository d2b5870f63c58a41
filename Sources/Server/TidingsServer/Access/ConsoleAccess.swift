import HTTPUpgrades
import ServerCore
import StoreModel
import Synchronization
import TidingsModel

/// Who is signed in to the console: operators with a session, which the store keeps, and of which a browser holds the secret in a cookie
/// (docs/inside/decisions/0051-console-access.md).
final class ConsoleAccess: Sendable {
    /// An operator as they are now, by a session that is good.
    struct SignedIn: Sendable {
        var record: OperatorRecord
        var session: OperatorSession
    }

    static let sessionTime: Int64 = 43_200_000
    static let idleTime: Int64 = 1_800_000

    let registry: AppRegistry
    let isEnabled: Bool
    /// True if a request that comes from this machine, without a proxy's marks, is taken for a person on it.
    let takesLocal: Bool
    let passwords = PasswordHashing()
    let links = ConsoleLinks()
    private let hosts: Set<String>
    private let now: @Sendable () -> Now
    private let brake = Mutex(SignInBrake())
    /// When a request came last with each session, in monotonic milliseconds, by the session's hash.
    private let uses = Mutex<[[UInt8]: Int64]>([:])
    /// The start of this process, from which sessions that are older count: nobody knows when they were used.
    private let startedAt: Int64

    /// - Parameter now: a clock of the tests, or the machine's.
    init(
        _ registry: AppRegistry, _ configuration: ServerConfiguration.Console, takesLocal: Bool = true,
        now: @escaping @Sendable () -> Now = { Clocks.now() }
    ) {
        self.registry = registry
        self.isEnabled = configuration.isEnabled
        self.takesLocal = takesLocal
        self.hosts = Set(configuration.hosts.map { $0.lowercased() })
        self.now = now
        self.startedAt = now().monotonic
    }

    /// Returns true if the console answers under the name that a request asks for (`Host`): otherwise a page of another site whose name
    /// points here could read what only this one may (DNS rebinding).
    func isKnown(host authority: String?) -> Bool {
        RequestTarget.host(in: authority ?? "").map { self.hosts.contains($0.lowercased()) } ?? false
    }

    // MARK: - Sessions

    /// A new session, with its secret and with what its pages send in `X-CSRF-Token`: both are told once, and kept nowhere.
    func drawSession() -> (secret: String, token: String, session: OperatorSession) {
        let ((secret, hash), (token, tokenHash)) = (APIKeys.draw(""), APIKeys.draw(""))
        let now = self.now()
        self.uses.withLock { $0[hash] = now.monotonic }
        let session = OperatorSession(
            hash: hash, tokenHash: tokenHash, createdAt: now.wall, endsAt: now.wall + Self.sessionTime)
        return (secret, token, session)
    }

    /// Nil for a secret that is no session's, and for one whose session has ended. The session is used then.
    func signedIn(_ secret: String) -> SignedIn? {
        let hash = APIKeys.hash(of: secret)
        let now = self.now()
        guard let (record, session) = self.registry.session(hash), self.isGood(session, at: now) else { return nil }
        self.uses.withLock { $0[hash] = now.monotonic }
        self.registry.noteUse(of: .ofOperator(name: record.name), at: now.wall)
        return SignedIn(record: record, session: session)
    }

    /// Returns true if work begun with a session goes on, such as an event stream; this does not count as a use.
    func isOpen(_ session: OperatorSession, as role: OperatorRole) -> Bool {
        guard let (record, session) = self.registry.session(session.hash) else { return false }
        return record.role == role && self.isGood(session, at: self.now())
    }

    private func isGood(_ session: OperatorSession, at now: Now) -> Bool {
        let used = self.uses.withLock { $0[session.hash] } ?? self.startedAt
        return now.wall < session.endsAt && now.monotonic - used < Self.idleTime
    }

    /// Sessions that are over, and are in the store still.
    func endedSessions() -> [(name: String, hash: [UInt8])] {
        let now = self.now()
        let operators = self.registry.operators
        let all = Set(operators.flatMap { $0.sessions.map(\.hash) })
        self.uses.withLock { uses in uses = uses.filter { all.contains($0.key) } }
        return operators.flatMap { record in
            record.sessions.filter { !self.isGood($0, at: now) }.map { (record.name, $0.hash) }
        }
    }

    /// Takes them out. What the store does not take now is over all the same, and is taken out the next time.
    func sweepSessions(_ core: @Sendable (APICommand) async -> APIResult) async {
        for (name, hash) in self.endedSessions() {
            _ = await core(.changeControl(.changeAccess(name: name, .endSession(hash: hash))))
        }
    }

    // MARK: - Passwords

    enum Try: Equatable, Sendable {
        case good
        case wrong
        /// Too many from the address.
        case refused(waitMilliseconds: Int64)
        /// Too many at the same time.
        case busy
    }

    /// Looks at an operator's password, as slowly as wrong ones have made it.
    /// - Parameter address: what is counted together; empty if it is not known.
    func check(_ password: String, of name: String, from address: String) async -> Try {
        if let wait = self.brake.withLock({ $0.begin(from: address, at: self.now().monotonic) }) {
            return .refused(waitMilliseconds: wait)
        }
        let known = self.registry.operatorNamed(name)?.password
        guard let isGood = try? await self.passwords.matches(password, known) else {
            self.brake.withLock { $0.takeBack(from: address, at: self.now().monotonic) }
            return .busy
        }
        // A name that nobody can have is not kept, however long it is.
        let counted = name.utf8.count <= 64 ? name : ""
        let delay = self.brake.withLock {
            $0.end(counted, from: address, isGood: isGood, at: self.now().monotonic)
        }
        if delay > 0 { try? await Task.sleep(for: .milliseconds(delay)) }
        // Meanwhile it may have been changed.
        return isGood && self.registry.operatorNamed(name)?.password == known ? .good : .wrong
    }
}

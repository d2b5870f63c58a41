import TidingsModel

/// The scrypt hash (RFC 7914) of an operator's password. The password itself is kept nowhere.
package struct PasswordHash: Hashable, Sendable, Codable {
    /// 16 to 64 bytes.
    package var salt: [UInt8]
    /// 32 bytes.
    package var hash: [UInt8]
    /// N of scrypt, a power of two.
    package var cost: Int64
    /// r of scrypt.
    package var blockSize: Int64
    /// p of scrypt.
    package var parallelism: Int64

    private enum CodingKeys: String, CodingKey { case salt, hash, cost = "n", blockSize = "r", parallelism = "p" }

    package init(salt: [UInt8], hash: [UInt8], cost: Int64, blockSize: Int64, parallelism: Int64) {
        self.salt = salt
        self.hash = hash
        self.cost = cost
        self.blockSize = blockSize
        self.parallelism = parallelism
    }
}

/// An operator who has signed in to the console, in one browser.
package struct OperatorSession: Hashable, Sendable, Codable {
    /// SHA-256 of its secret, which is kept nowhere; 32 bytes, unique on the server.
    package var hash: [UInt8]
    /// SHA-256 of what its pages send with whatever changes something (`X-CSRF-Token`); 32 bytes. Drawn apart from the secret, so that who has
    /// the one has not the other.
    package var tokenHash: [UInt8]
    package var createdAt: Int64
    /// It is good until then at most.
    package var endsAt: Int64

    /// The most sessions of one operator; the oldest makes room.
    package static let countMax = 16

    package init(hash: [UInt8], tokenHash: [UInt8], createdAt: Int64, endsAt: Int64) {
        self.hash = hash
        self.tokenHash = tokenHash
        self.createdAt = createdAt
        self.endsAt = endsAt
    }
}

package enum AccessChange: Hashable, Sendable {
    /// Removes it if nil. `keeping`: the session that goes on, by its hash; the operator's others end.
    case setPassword(PasswordHash?, keeping: [UInt8]?)
    /// Refused with `exists` for a secret that another has.
    case addSession(OperatorSession)
    /// Nothing if the operator has no such session any more.
    case endSession(hash: [UInt8])

    /// The word in the audit record.
    var word: String {
        switch self {
        case .setPassword(nil, _): "remove_password"
        case .setPassword: "set_password"
        case .addSession: "sign_in"
        case .endSession: "sign_out"
        }
    }
}

// MARK: - Rules

// - An operator is added without password and sessions, and loses both when removed.
// - A new password, and one that is removed, ends the operator's sessions but for the one that asks for it.
// - An operator has sixteen sessions at most: the one that was added first makes room. Those whose time is over are dropped by the next change of
//   the operator.
extension OperatorRecord {
    mutating func apply(_ change: AccessChange, at now: Int64) throws(ServerFrame.Problem) {
        switch change {
        case .setPassword(let password, let session):
            try ControlState.check { () throws(InvalidField) in try password?.validate() }
            self.password = password
            self.sessions.removeAll { $0.hash != session }
        case .addSession(let session):
            try ControlState.check { () throws(InvalidField) in try session.validate() }
            self.dropEnded(at: now)
            self.sessions.append(session)
            if self.sessions.count > OperatorSession.countMax { self.sessions.removeFirst() }
        case .endSession(let hash): self.sessions.removeAll { $0.hash == hash }
        }
    }

    mutating func dropEnded(at now: Int64) {
        self.hashes.dropEnded(at: now)
        self.sessions.removeAll { $0.endsAt <= now }
    }
}

extension OperatorRecord {
    /// The name of the operator whom `tidings console link` signs in.
    package static let localName = "local"

    /// Throws if the name is taken: the records of `AuditRecord` are found by the words for authors without a name, and an operator with
    /// the name that a link signs in would have that one's role and key.
    func checkIsFree(for author: ControlAuthor) throws(ServerFrame.Problem) {
        let isOfNobody = ControlAuthor.Kind.allCases.contains { $0 != .ofOperator && $0.rawValue == self.name }
        guard isOfNobody || (self.name == Self.localName && author.kind != .commandLine) else { return }
        throw .init(
            code: .invalidField, field: "name",
            rule: "must not be \"\(self.name)\", which is kept for the server's own machine")
    }
}

extension ControlState {
    mutating func apply(
        _ change: AccessChange, to name: String, at now: Int64
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        // Whose it is, is not said.
        if case .addSession(let session) = change,
            self.operators.contains(where: { $0.sessions.contains { $0.hash == session.hash } })
        {
            throw .init(code: .exists, field: "session", rule: "must be new, but there is one of that secret")
        }
        return try self.changeOperator(name, at: now) { record throws(ServerFrame.Problem) in
            try record?.apply(change, at: now)
        }
    }
}

extension PasswordHash {
    fileprivate func validate() throws(InvalidField) {
        try InvalidField.check(self.salt.count, in: 16...64, "password.salt", unit: " bytes")
        try KeyHashes.check(self.hash, field: "password.hash")
        let isPower = self.cost > 1 && self.cost <= 1 << 20 && self.cost & (self.cost - 1) == 0
        try InvalidField.check(isPower, "password.n", "must be a power of two from 2 to 1048576, got \(self.cost)")
        try InvalidField.check(Int(clamping: self.blockSize), in: 1...32, "password.r")
        try InvalidField.check(Int(clamping: self.parallelism), in: 1...16, "password.p")
    }
}

extension OperatorSession {
    fileprivate func validate() throws(InvalidField) {
        try KeyHashes.check(self.hash, field: "session")
        try KeyHashes.check(self.tokenHash, field: "session.token")
        try InvalidField.check(self.endsAt > self.createdAt, "session", "must end after it has begun")
    }
}

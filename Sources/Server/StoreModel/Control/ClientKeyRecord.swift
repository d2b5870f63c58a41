package import TidingsModel

/// A key in the app's binary, with which anyone makes anonymous people of the app, and can do nothing else. It is no secret, so it is kept
/// and told as it is.
package struct ClientKeyRecord: Hashable, Sendable, JSONCodable {
    /// The key itself: `pk_` and 16 to 61 characters; unique on the server, also among those that are revoked.
    package var id: String
    /// Unique among the app's that are good; 1 to 64 bytes of letters, digits, `-`, `_` and `.`.
    package var name: String
    package var createdAt: Int64
    /// Opens nothing from then on; nil for one that is good.
    package var revokedAt: Int64?

    package static let prefix = "pk_"

    /// The store keeps these members, and the HTTP API tells them.
    private enum CodingKeys: String, CodingKey { case id = "key", name, createdAt, revokedAt }

    package init(id: String, name: String, createdAt: Int64, revokedAt: Int64? = nil) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    package var isGood: Bool { self.revokedAt == nil }
}

// MARK: - Rules

// - Sixteen keys of an app are good at most; of those that are revoked the newest sixteen are kept, so that the key of an old build has a name.
// - A key is revoked for good. As long as it is kept nobody gets it again: not the app, and no other.
// - With its first key an app gets the secret by which its anonymous people are known, and keeps it, whatever becomes of its keys.
extension ControlState {
    /// Whose it is; nil also for one that is revoked.
    package func app(ofClientKey id: String) -> AppID? {
        self.apps.first { app in app.clientKeys.contains { $0.id == id && $0.isGood } }?.id
    }

    func checkIsNew(clientKey id: String) throws(ServerFrame.Problem) {
        // Whose it is, is not said.
        if self.apps.contains(where: { app in app.clientKeys.contains { $0.id == id } }) {
            throw Self.taken("key", id)
        }
    }
}

extension ManagedApp {
    package static let clientKeysMax = 16
    package static let revokedClientKeysMax = 16

    mutating func add(_ key: ClientKeyRecord, secret: SealedBytes) throws(ServerFrame.Problem) {
        guard !self.clientKeys.contains(where: { $0.isGood && $0.name == key.name }) else {
            throw ControlState.taken("name", key.name)
        }
        guard !self.clientKeys.contains(where: { $0.id == key.id }) else { throw ControlState.taken("key", key.id) }
        try ControlState.check { () throws(InvalidField) in
            try ControlName.check(key.name, field: "name")
            try key.validate()
            try InvalidField.check(
                self.clientKeys.count(where: \.isGood) + 1, atMost: Self.clientKeysMax, "client_keys")
            try secret.validate("installation_secret", upTo: SealedBytes.bytesMax)
        }
        self.clientKeys.append(ClientKeyRecord(id: key.id, name: key.name, createdAt: key.createdAt))
        if self.installationSecret == nil { self.installationSecret = secret }
    }

    mutating func revokeClientKey(_ id: String, at now: Int64) throws(ServerFrame.Problem) {
        guard let place = self.clientKeys.firstIndex(where: { $0.id == id }) else {
            throw ControlState.unknown("key", "a client key of the app", id)
        }
        guard self.clientKeys[place].isGood else { return }
        self.clientKeys[place].revokedAt = now
        // Those that were revoked first go first; of two at one time the one that was added first.
        let revoked = self.clientKeys.filter { !$0.isGood }
        guard revoked.count > Self.revokedClientKeysMax,
            let oldest = revoked.min(by: { ($0.revokedAt ?? 0) < ($1.revokedAt ?? 0) })
        else { return }
        self.clientKeys.removeAll { $0.id == oldest.id }
    }
}

extension ClientKeyRecord {
    package func validate() throws(InvalidField) {
        let rest = self.id.utf8.dropFirst(Self.prefix.utf8.count)
        let isKey = self.id.hasPrefix(Self.prefix) && (16...61).contains(rest.count)
        let isClean = rest.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                || byte == 0x2d || byte == 0x5f
        }
        try InvalidField.check(
            isKey && isClean, "key",
            "must be \(Self.prefix) and 16 to 61 letters of ASCII, digits, - and _")
    }
}

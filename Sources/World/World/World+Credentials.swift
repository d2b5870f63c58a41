import APNsCore
import APNsModel
import PhoneCore
import StoreModel
import TidingsModel

/// A step that follows some time after the push credentials have begun to change.
enum CredentialStep: Hashable {
    case activateNextKey
    case appleRevokes(keyID: String)
    case rollBack(keyID: String)
    case retireCertificate
}

/// The app's push credentials, by the rules of the store. They are as durable as the store: a server that starts has them again. That a change
/// is on the disk before it is answered `AgainstMemoryTests` holds.
struct WorldCredentials {
    static let firstKeyID = "WORLDKEY01"

    private(set) var control = ControlState()
    /// Keys that Apple knows no longer.
    var revokedKeys: Set<String> = []
    /// Records that were made.
    private(set) var made = 0

    init() {
        let secret = TokenSecret(id: "s1", sealed: Self.sealed, createdAt: 0)
        // Neither is refused: the state is empty.
        try? self.apply(.createApp(World.app, AppSettings(), secret), at: 0)
        let key = self.nextKey(at: 0)
        try? self.apply(.changePushCredential(World.app, .add(key)), at: 0)
        let change = PushCredentialChange.activate(id: key.id, inPlaceOf: nil, unproven: true)
        try? self.apply(.changePushCredential(World.app, change), at: 0)
    }

    var app: ManagedApp? { self.control[app: World.app] }
    var records: [PushCredentialRecord] { self.app?.pushCredentials ?? [] }
    var active: [PushCredentialRecord] { self.records.filter { $0.state == .active } }
    var activeKey: PushCredentialRecord? { self.active.first { $0.kind == .tokenKey } }
    var activeCertificate: PushCredentialRecord? { self.active.first { $0.kind == .certificate } }
    /// True if Apple takes signatures of the active key.
    var isActiveKeyGood: Bool { self.activeKey?.keyID.map { !self.revokedKeys.contains($0) } ?? false }

    mutating func apply(_ change: ControlChange, at wall: Int64) throws(ServerFrame.Problem) {
        _ = try self.control.apply(change, at: wall)
    }

    func identity(of id: String) -> AppleIdentity? {
        guard let record = self.records.first(where: { $0.id == id }) else { return nil }
        switch record.kind {
        case .tokenKey: return record.keyID.map { .key(keyID: $0) }
        case .certificate:
            return .certificate(
                ClientCertificateFacts(
                    fingerprint: record.fingerprint,
                    topics: APNsCertificateTopics(subject: record.subject ?? "", listed: record.topics),
                    expiresAt: record.expiresAt ?? .max))
        }
    }

    mutating func nextKey(at wall: Int64) -> PushCredentialRecord {
        self.made += 1
        let keyID = self.made == 1 ? Self.firstKeyID : "WORLDKEY\(Hexadecimal.text(UInt64(self.made), digits: 2))"
        return PushCredentialRecord(
            id: "key-\(self.made)", kind: .tokenKey, sealed: Self.sealed, fingerprint: self.fingerprint, keyID: keyID,
            teamID: World.teamID, createdAt: wall)
    }

    mutating func nextCertificate(at wall: Int64, expiresAt: Int64) -> PushCredentialRecord {
        self.made += 1
        return PushCredentialRecord(
            id: "certificate-\(self.made)", kind: .certificate, sealed: Self.sealed, fingerprint: self.fingerprint,
            subject: World.bundle.rawValue, topics: [World.bundle.rawValue], createdAt: wall, expiresAt: expiresAt)
    }

    /// Nobody opens it here.
    private static let sealed = SealedBytes(keyID: "k", bytes: [1])
    private var fingerprint: String { Hexadecimal.text(UInt64(self.made), digits: 64) }
}

// The app's push credentials change while it pushes: a key takes the place of another, which Apple revokes some time later or too early, is
// rolled back, or goes before the next one is there; and a certificate comes beside the key.
extension World {
    static func appleKey(_ keyID: String) -> ProviderKey {
        ProviderKey(keyID: keyID, teamID: Self.teamID, environments: [.sandbox], topics: nil)
    }

    mutating func beginCredentials() {
        guard self.options.population.hasRotations else { return }
        self.plan(.credentialsAct, after: 150_000)
    }

    /// Begins an act. Its steps are over before the next one, but for a certificate's end.
    mutating func credentialsAct() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .credentials)
        self.plan(.credentialsAct, after: self.chance.number(300_000...1_200_000))
        guard self.server != nil, self.happens() else { return }
        self.removeOldCredentials()
        let soon = self.chance.number(5_000...90_000)
        let later = self.chance.number(5_000...150_000)
        guard let keyID = self.credentials.activeKey?.keyID else { return self.activateNextKey() }
        switch self.chance.number(0...9) {
        case 0...2:
            self.activateNextKey()
            self.plan(.credentialStep(.appleRevokes(keyID: keyID)), after: later)
        case 3...4:
            self.activateNextKey()
            self.plan(.credentialStep(.rollBack(keyID: keyID)), after: later)
        case 5:
            self.revoke(keyID)
            self.waitForNextKey(soon)
        case 6...7:
            self.appendTrace("\(keyID) is retired, and nothing takes its place")
            if let id = self.credentials.activeKey?.id { self.changeCredentials(.retire(id: id)) }
            self.waitForNextKey(soon)
        default: self.addCertificate(beside: keyID, soon, later)
        }
    }

    private mutating func addCertificate(beside keyID: String, _ soon: Int64, _ later: Int64) {
        guard self.credentials.activeCertificate == nil else { return self.waitForNextKey(soon) }
        let life = self.chance.number(300_000...1_800_000)
        // By the clock that is ahead: the server activates none that has expired.
        let expiresAt = max(self.serverNow.wall, self.now.wall) + life
        let record = self.credentials.nextCertificate(at: self.serverNow.wall, expiresAt: expiresAt)
        self.appendTrace("\(record.id) is active beside \(keyID) for \(life) ms")
        self.changeCredentials(.add(record))
        self.changeCredentials(.activate(id: record.id, inPlaceOf: nil, unproven: true))
        // Others end by themselves.
        if self.chance.chance(perMille: 300) { self.plan(.credentialStep(.retireCertificate), after: soon + 2 * later) }
        guard self.chance.chance(perMille: 700) else { return }
        // The pushes find the way to the certificate by what Apple says of the key: nothing has to wait for the next one.
        self.plan(.credentialStep(.appleRevokes(keyID: keyID)), after: soon)
        self.plan(.credentialStep(.activateNextKey), after: soon + later)
    }

    /// Plans the next key; pushes until then may have to wait for it.
    private mutating func waitForNextKey(_ wait: Int64) {
        self.emit(.held(until: self.time + wait + self.connectingTime, on: nil))
        self.plan(.credentialStep(.activateNextKey), after: wait)
    }

    mutating func takeStep(_ step: CredentialStep) {
        guard !self.hasHealed else { return }
        // Who changes something asks a server that runs; Apple does not.
        if case .appleRevokes(let keyID) = step { return self.revoke(keyID) }
        guard self.server != nil else {
            self.emit(.held(until: self.time + 2_000 + self.connectingTime, on: nil))
            return self.plan(.credentialStep(step), after: 2_000)
        }
        switch step {
        case .appleRevokes: break
        case .activateNextKey: self.activateNextKey()
        case .rollBack(let keyID): self.rollBack(to: keyID)
        case .retireCertificate:
            guard let certificate = self.credentials.activeCertificate else { return }
            self.appendTrace("\(certificate.id) is retired")
            self.changeCredentials(.retire(id: certificate.id))
        }
    }

    mutating func activateNextKey() {
        let before = self.credentials.activeKey
        let key = self.credentials.nextKey(at: self.serverNow.wall)
        self.appendTrace("\(key.id) takes the place of \(before?.id ?? "nothing")")
        if let keyID = key.keyID { self.handle(APNsService.Event.keyAdded(Self.appleKey(keyID))) }
        self.changeCredentials(.add(key))
        self.changeCredentials(.activate(id: key.id, inPlaceOf: before?.id, unproven: true))
        if before != nil { self.emit(.reached(.credentialsReplaced)) }
    }

    /// To the key before, if that was kept; the one that is given up is revoked.
    private mutating func rollBack(to keyID: String) {
        guard let key = self.credentials.activeKey,
            self.credentials.records.contains(where: { $0.id == key.replaces && $0.keyID == keyID })
        else { return }
        self.appendTrace("\(key.id) is rolled back")
        self.changeCredentials(.rollBack(id: key.id))
        self.emit(.reached(.credentialsRolledBack))
        if let keyID = key.keyID { self.revoke(keyID) }
    }

    private mutating func revoke(_ keyID: String) {
        self.appendTrace("Apple revokes \(keyID)")
        self.credentials.revokedKeys.insert(keyID)
        self.handle(APNsService.Event.keyRevoked(keyID: keyID))
        // What is on its way with it is refused, and goes out again.
        self.emit(.held(until: self.time + self.connectingTime, on: nil))
    }

    mutating func changeCredentials(_ change: PushCredentialChange) {
        do throws(ServerFrame.Problem) {
            try self.credentials.apply(.changePushCredential(Self.app, change), at: self.serverNow.wall)
        } catch {
            return self.checkers.foundBug("a change of the push credentials is refused: \(error)")
        }
        self.followCredentials()
    }

    /// But what may be rolled back to: an app has 16 at most.
    private mutating func removeOldCredentials() {
        let wall = self.serverNow.wall
        for record in self.credentials.active where record.isExpired(at: wall) {
            self.changeCredentials(.retire(id: record.id))
        }
        let kept = self.credentials.active.compactMap(\.replaces)
        for record in self.credentials.records where record.state != .active && !kept.contains(record.id) {
            self.changeCredentials(.remove(id: record.id))
        }
    }

    /// From now on there is a good key. Whether the server runs just then does not matter: it follows the records when it starts.
    mutating func healCredentials() {
        guard self.options.population.hasRotations, !self.credentials.isActiveKeyGood else { return }
        self.activateNextKey()
    }
}

import StoreMachine
import TidingsModel

@testable import StoreModel

// Few apps, secrets, keys and operators, so that changes of them meet.
extension CommandGenerator {
    mutating func nextAboutControl() -> StoreCommand {
        if self.chance(10) { return self.clock % 3 == 0 ? .readControl : self.auditQuestion }
        var change = self.controlChange()
        let at = self.time()
        if let access = self.access(inPlaceOf: change) { change = access }
        if let webhook = self.webhookChange(inPlaceOf: change) { change = webhook }
        if let call = self.auditedCall { change = .noteCall(call) }
        return .changeControl(self.controlAuthor.map { .by($0, change) } ?? change, at: at)
    }

    // By the clock: other draws would make other sequences.

    private var controlAuthor: ControlAuthor? {
        switch self.clock % 5 {
        case 0: ControlAuthor(.configuration)
        case 1: ControlAuthor(.commandLine)
        case 2: ControlAuthor(.ofOperator, name: "bob@example.com", address: "192.0.2.1")
        case 3: ControlAuthor(.ofOperator, name: "ann", address: "2001:db8::1")
        default: nil
        }
    }

    private var auditedCall: AuditedCall? {
        guard self.clock % 13 == 0 else { return nil }
        let app: AppID? = self.clock % 3 == 0 ? nil : self.clock % 2 == 0 ? "shop" : "club"
        return AuditedCall(app, action: "POST pushes", subject: "\(self.clock)")
    }

    /// Of kinds that come often.
    private func access(inPlaceOf change: ControlChange) -> ControlChange? {
        let isInPlace =
            switch change {
            case .noteUses: self.clock % 2 == 0
            case .createApp, .changePushCredential: self.clock % 4 == 1
            default: false
            }
        guard isInPlace else { return nil }
        return .changeAccess(name: self.clock % 3 == 0 ? "bob@example.com" : "ann", self.accessChange)
    }

    private var accessChange: AccessChange {
        let hash = Array(repeating: UInt8(self.clock % 2), count: self.clock % 11 == 0 ? 31 : 32)
        switch self.clock % 10 {
        case 0:
            let password = PasswordHash(
                salt: Array(hash.prefix(16)), hash: hash, cost: self.clock % 17 == 0 ? 3 : 1 << 15, blockSize: 8,
                parallelism: 1)
            return .setPassword(self.clock % 3 == 0 ? nil : password, keeping: hash)
        case 5: return .endSession(hash: hash)
        default:
            let time = self.clock % 10 == 8 ? self.clock % 3_000 - 20 : 3_600_000
            return .addSession(
                OperatorSession(hash: hash, tokenHash: hash, createdAt: self.clock, endsAt: self.clock + time))
        }
    }

    private var auditQuestion: StoreCommand {
        let question = AuditQuestion(
            app: self.clock % 2 == 0 ? "shop" : nil, actor: self.clock % 7 < 2 ? "ann" : nil,
            before: self.clock % 11 < 4 ? 1 + self.clock % 30 : nil)
        return .readAudit(question, limit: Int(1 + self.clock % 7))
    }

    private mutating func controlChange() -> ControlChange {
        switch self.number(0..<39) {
        case 0..<3: .createApp(self.chance(90) ? self.controlApp() : "a b", self.appSettings(), self.secret())
        case 3, 4: .importApp(self.section())
        case 5..<8: .setAppSettings(self.controlApp(), self.appSettings(), revision: self.pick([nil, nil, 1, 2]))
        case 8: .suspendApp(self.controlApp(), self.chance(60))
        case 9, 10: .addSecret(self.controlApp(), self.secret(), previousEndsAt: self.end())
        case 11, 34, 35: .removeSecret(self.controlApp(), id: self.secret().id)
        case 12, 13: .addAPIKey(self.controlApp(), self.apiKey())
        case 14:
            .rotateAPIKey(
                self.controlApp(), name: self.keyName(), hash: self.hash(), previousEndsAt: self.end())
        case 15: .removeAPIKey(self.controlApp(), name: self.keyName())
        case 16, 17: .addOperator(self.operatorRecord())
        case 18: .setOperatorRole(name: self.operatorName(), self.pick(OperatorRole.allCases))
        case 19: .rotateOperator(name: self.operatorName(), hash: self.hash(), previousEndsAt: self.end())
        case 20: .removeOperator(name: self.operatorName())
        case 21..<24: .noteUses(self.keyUses())
        case 24: .reseal(self.controlApp(), self.resealed(), digest: self.chance(50) ? self.hash() : nil)
        case 36, 37:
            .addClientKey(
                self.controlApp(), self.clientKey(),
                installationSecret: SealedBytes(keyID: self.pick(["m1", "m2"]), bytes: self.hash()))
        case 38: .revokeClientKey(self.controlApp(), key: self.clientKey().id)
        default: .changePushCredential(self.controlApp(), self.credentialChange())
        }
    }

    private mutating func controlApp() -> AppID { self.chance(80) ? "shop" : "club" }

    private mutating func keyName() -> String { self.pick(["backend", "backend", "robot"]) }

    private mutating func operatorName() -> String { self.pick(["ann", "ann", "bob@example.com"]) }

    private mutating func hash() -> [UInt8] {
        self.chance(95) ? Array(repeating: UInt8(self.number(1..<4)), count: 32) : [1]
    }

    /// Before now, or soon after.
    private mutating func end() -> Int64 { self.clock + Int64(self.number(-500..<3_000)) }

    private mutating func secret() -> TokenSecret {
        let bytes = Array(repeating: UInt8(self.number(0..<256)), count: self.number(1..<40))
        return TokenSecret(
            id: "s\(self.number(1..<6))", sealed: SealedBytes(keyID: self.pick(["m1", "m2"]), bytes: bytes),
            createdAt: self.clock, endsAt: self.chance(30) ? self.end() : nil)
    }

    private mutating func apiKey() -> APIKeyRecord {
        var hashes = KeyHashes(self.hash())
        if self.chance(20) { hashes.previous = KeyHashes.Previous(hash: self.hash(), endsAt: self.end()) }
        return APIKeyRecord(
            name: self.keyName(), hashes: hashes, scopes: self.pick([["trace", "messages"], ["media"], []]),
            createdAt: self.clock, lastUsedAt: self.chance(20) ? self.clock : nil)
    }

    private mutating func clientKey() -> ClientKeyRecord {
        ClientKeyRecord(
            id: self.chance(95) ? "pk_0123456789abcde\(self.number(0..<6))" : "pk_short",
            name: self.pick(["ios", "ios", "beta"]), createdAt: self.clock)
    }

    private mutating func operatorRecord() -> OperatorRecord {
        OperatorRecord(
            name: self.operatorName(), role: self.pick(OperatorRole.allCases + [.administer, .administer]),
            hashes: KeyHashes(self.hash()), createdAt: self.clock)
    }

    private mutating func section() -> ManagedApp {
        var app = ManagedApp(
            id: self.controlApp(), settings: self.appSettings(),
            secrets: (0..<self.number(0..<4)).map { _ in self.secret() }, createdAt: self.clock)
        app.apiKeys = (0..<self.number(0..<3)).map { _ in self.apiKey() }
        app.pushCredentials = (0..<self.number(0..<2)).map { _ in self.credential() }
        if self.chance(20) { app.clientKeys = [self.clientKey()] }
        if self.chance(80) { app.installationSecret = SealedBytes(keyID: "m1", bytes: self.hash()) }
        if self.chance(80) { app.importedDigest = self.hash() }
        if self.chance(30) { app.settings.tokens.keySource = .file(path: "/keys.json") }
        return app
    }

    private mutating func keyUses() -> [KeyUse] { (0..<self.number(0..<4)).map { _ in self.keyUse() } }

    private mutating func keyUse() -> KeyUse {
        let key: KeyUse.Key =
            self.chance(70)
            ? .api(self.controlApp(), name: self.keyName()) : .ofOperator(name: self.operatorName())
        return KeyUse(key, at: self.clock + Int64(self.number(0..<5) * 60_000))
    }

    private mutating func appSettings() -> AppSettings {
        var settings = AppSettings()
        settings.name = self.pick(["", "Shop", "Laden"])
        if self.chance(30) { settings.membersMax = self.number(0..<9) }
        // Of the same draw: another one would make other sequences.
        if let max = settings.membersMax, max > 3 {
            settings.devicesMax = max
            settings.limits[.person, .messages] = max > 5 ? .unlimited : .limit(RateLimit(perSecond: max, burst: 9))
        }
        if self.chance(30) { settings.pushTopics = ["com.example.b", "com.example.a"] }
        if self.chance(20) { settings.offeredAccounts = ["help", "help"] }
        if self.chance(20) { settings.words = AppWords(language: "zh", byLanguage: ["de": .english]) }
        if self.chance(20) { settings.tokens.keySource = .address("https://a/k", trustRootsPath: nil) }
        if self.chance(10) { settings.tokens.keySource = .file(path: "/keys.json") }
        if self.chance(20) { settings.push.options = PushOptions(sound: self.pick([nil, "a.caf"])) }
        settings.push.clientOptions = self.chance(20) ? ["title", "text"] : []
        settings.isOnlyPushSender = self.chance(20)
        settings.needsMediaApproval = self.chance(20)
        settings.hasOwnProfiles = self.chance(20)
        settings.pushText = self.pick(PushTextMode.allCases)
        return settings
    }
}

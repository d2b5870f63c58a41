package import TidingsModel

// The one place of the rules of apps, their keys and secrets, and operators. Those of push credentials and webhooks stand beside.
//
// - An app has a name nobody else has on the server, at least one secret, and settings by the rules of `AppSettings.faults(in:)`. What is kept
//   of settings is what their JSON form says. Files on the server's disk are named by the configuration file alone: a change may leave them as they are.
// - What changes an app adds one to its revision, and drops secrets and replaced keys whose time is over at the time of the change; what
//   changes nothing does neither. An operator's replaced key is dropped in the same way.
// - The first secret signs, and has no end: it is not removed, but followed by a new one.
// - One operator who may administer stays, once there is one.
// - When a key was used last only `noteUses` says, to the minute; a key that is replaced keeps it.
extension ControlState {
    /// Refused, nothing has changed.
    package mutating func apply(
        _ change: ControlChange, at now: Int64
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        switch change {
        case .createApp(let id, let settings, let secret):
            return try self.add(ManagedApp(id: id, settings: settings, secrets: [secret], createdAt: now), at: now)
        case .importApp(let record):
            if let app = self[app: record.id] { return .app(app) }
            return try self.add(record, isImport: true, at: now)
        case .setAppSettings(let id, let settings, let revision):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                if let revision, revision != app.revision { throw Self.changedSince(revision, app) }
                app.settings = try settings.checked(in: id, before: app.settings)
            }
        case .suspendApp(let id, let isSuspended):
            return try self.changeApp(id, at: now) { app in app.isSuspended = isSuspended }
        case .addSecret(let id, let secret, let end):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                try app.add(secret, previousEndsAt: end, at: now)
            }
        case .removeSecret(let id, let secret):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                try app.removeSecret(secret)
            }
        case .addAPIKey(let id, let key):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in try app.add(key) }
        case .rotateAPIKey(let id, let name, let hash, let end):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                let place = try app.place(ofKey: name)
                try app.apiKeys[place].hashes.replace(by: hash, previousEndsAt: end)
            }
        case .removeAPIKey(let id, let name):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                app.apiKeys.remove(at: try app.place(ofKey: name))
            }
        case .changePushCredential(let id, let change): return try self.apply(change, to: id, at: now)
        case .addClientKey(let id, let key, let secret):
            try self.checkIsNew(clientKey: key.id)
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                try app.add(key, secret: secret)
            }
        case .revokeClientKey(let id, let key):
            return try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in
                try app.revokeClientKey(key, at: now)
            }
        case .changeWebhook(let id, let change): return try self.apply(change, to: id, at: now)
        case .reseal(let id, let resealed, let digest):
            return try self.changeApp(id, at: now, isRevision: false) { app throws(ServerFrame.Problem) in
                try app.reseal(resealed, digest: digest)
            }
        case .addOperator(let record): return try self.add(record, at: now)
        case .setOperatorRole(let name, let role):
            return try self.changeOperator(name, at: now) { record in record?.role = role }
        case .rotateOperator(let name, let hash, let end):
            return try self.changeOperator(name, at: now) { record throws(ServerFrame.Problem) in
                try record?.hashes.replace(by: hash, previousEndsAt: end)
            }
        case .removeOperator(let name): return try self.changeOperator(name, at: now) { record in record = nil }
        case .changeAccess(let name, let change): return try self.apply(change, to: name, at: now)
        case .noteUses(let uses): return self.recordUses(uses)
        case .noteCall: return .noted
        case .by(let author, let change):
            if case .addOperator(let record) = change { try record.checkIsFree(for: author) }
            return try self.apply(change, at: now)
        }
    }

    // MARK: Apps

    private mutating func add(
        _ record: ManagedApp, isImport: Bool = false, at now: Int64
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        guard self[app: record.id] == nil else { throw Self.taken("id", record.id.rawValue) }
        try Self.check { () throws(InvalidField) in
            _ = try AppID.validated(record.id.rawValue, field: "id")
            try InvalidField.check(
                self.apps.count < Self.appsMax, "id", "must be one of at most \(Self.appsMax) apps of the server")
            if let digest = record.importedDigest { try KeyHashes.check(digest, field: "imported_digest") }
        }
        var app = record
        app.revision = 1
        app.settings = try record.settings.checked(in: app.id, before: isImport ? record.settings : nil)
        app.secrets = []
        // The newest last, so that each is the newest when it is added.
        for secret in record.secrets.reversed() { try app.add(secret, previousEndsAt: .max, at: now) }
        for (index, secret) in record.secrets.enumerated() where index > 0 {
            app.endSecret(secret.id, at: secret.endsAt)
        }
        guard !app.secrets.isEmpty else {
            throw .init(code: .invalidField, field: "secrets", rule: "must be at least one")
        }
        app.apiKeys = []
        for key in record.apiKeys { try app.add(key) }
        app.pushCredentials = []
        for credential in record.pushCredentials { try app.add(credential, isImport: isImport) }
        app.clientKeys = []
        for key in record.clientKeys {
            try self.checkIsNew(clientKey: key.id)
            guard let secret = record.installationSecret else {
                throw .init(code: .invalidField, field: "installation_secret", rule: "must be given with client keys")
            }
            try app.add(key, secret: secret)
        }
        app.webhooks = []
        for webhook in record.webhooks { try app.add(webhook, at: now) }
        app.dropEnded(at: now)
        self.put(app)
        return .app(app)
    }

    /// - Parameter isRevision: nobody has changed anything if not.
    mutating func changeApp(
        _ id: AppID, at now: Int64, isRevision: Bool = true,
        _ change: (inout ManagedApp) throws(ServerFrame.Problem) -> Void
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        guard let before = self[app: id] else { throw Self.unknown("app", "an app of the server", id.rawValue) }
        var app = before
        try change(&app)
        guard app != before else { return .app(before) }
        app.dropEnded(at: now)
        if isRevision { app.revision += 1 }
        self.put(app)
        return .app(app)
    }

    /// In place of the one with its id, if there is one.
    package mutating func put(_ app: ManagedApp) {
        let place = self.apps.sortedPlace { $0.id < app.id }
        if place < self.apps.count, self.apps[place].id == app.id {
            self.apps[place] = app
        } else {
            self.apps.insert(app, at: place)
        }
    }

    // MARK: Operators

    private mutating func add(
        _ record: OperatorRecord, at now: Int64
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        try Self.check { () throws(InvalidField) in
            try ControlName.check(record.name, field: "name", mayHaveAt: true)
            try record.hashes.check()
        }
        guard self[operatorNamed: record.name] == nil else { throw Self.taken("name", record.name) }
        try Self.check { () throws(InvalidField) in
            try InvalidField.check(
                self.operators.count < Self.operatorsMax, "name",
                "must be one of at most \(Self.operatorsMax) operators of the server")
        }
        var record = record
        (record.lastUsedAt, record.password, record.sessions) = (nil, nil, [])
        record.dropEnded(at: now)
        self.put(record)
        return .ofOperator(record)
    }

    mutating func changeOperator(
        _ name: String, at now: Int64, _ change: (inout OperatorRecord?) throws(ServerFrame.Problem) -> Void
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        guard let before = self[operatorNamed: name] else { throw Self.unknown("name", "an operator", name) }
        var after: OperatorRecord? = before
        try change(&after)
        guard after != before else { return .ofOperator(before) }
        if before.role == .administer, after?.role != .administer,
            self.operators.count(where: { $0.role == .administer }) == 1
        {
            throw .init(
                code: .notAllowed, field: after == nil ? "name" : "role",
                rule: "must leave somebody who may administer: \"\(name)\" is the last one")
        }
        after?.dropEnded(at: now)
        if let after { self.put(after) } else { self.removeOperator(named: name) }
        return .ofOperator(after)
    }

    /// In place of the one with its name, if there is one.
    package mutating func put(_ record: OperatorRecord) {
        let place = self.operators.sortedPlace { $0.name < record.name }
        if place < self.operators.count, self.operators[place].name == record.name {
            self.operators[place] = record
        } else {
            self.operators.insert(record, at: place)
        }
    }

    package mutating func removeOperator(named name: String) { self.operators.removeAll { $0.name == name } }

    // MARK: Uses

    private mutating func recordUses(_ uses: [KeyUse]) -> ControlAnswer {
        for use in uses { self.recordUse(use) }
        return .noted
    }

    /// Passes over keys that are gone.
    private mutating func recordUse(_ use: KeyUse) {
        let minute = use.at - use.at % 60_000
        self.setLastUse(of: use.key, max(minute, self.lastUse(of: use.key) ?? minute))
    }

    /// Nil also for a key that is gone.
    package func lastUse(of key: KeyUse.Key) -> Int64? {
        switch key {
        case .api(let app, let name): self[app: app]?.apiKeys.first { $0.name == name }?.lastUsedAt
        case .ofOperator(let name): self[operatorNamed: name]?.lastUsedAt
        }
    }

    package func hasKey(_ key: KeyUse.Key) -> Bool {
        switch key {
        case .api(let app, let name): self[app: app]?.apiKeys.contains { $0.name == name } ?? false
        case .ofOperator(let name): self[operatorNamed: name] != nil
        }
    }

    package mutating func setLastUse(of key: KeyUse.Key, _ time: Int64) {
        switch key {
        case .api(let app, let name):
            guard let place = self.apps.firstIndex(where: { $0.id == app }),
                let index = self.apps[place].apiKeys.firstIndex(where: { $0.name == name })
            else { return }
            self.apps[place].apiKeys[index].lastUsedAt = time
        case .ofOperator(let name):
            guard let place = self.operators.firstIndex(where: { $0.name == name }) else { return }
            self.operators[place].lastUsedAt = time
        }
    }

    // MARK: Refusals

    static func check(_ checks: () throws(InvalidField) -> Void) throws(ServerFrame.Problem) {
        if let problem = StoreRules.problem(checks) { throw problem }
    }

    static func taken(_ field: String, _ name: String) -> ServerFrame.Problem {
        .init(code: .exists, field: field, rule: "must be new, but \"\(name)\" is taken")
    }

    static func unknown(_ field: String, _ what: String, _ name: String) -> ServerFrame.Problem {
        .init(code: .invalidField, field: field, rule: "must be \(what), got \"\(name)\"")
    }

    private static func changedSince(_ revision: Int64, _ app: ManagedApp) -> ServerFrame.Problem {
        .init(
            code: .notAllowed, field: "revision", rule: "must be the app's, which is \(app.revision), got \(revision)")
    }
}

extension AppSettings {
    /// Returns the settings as they are kept. `before`: the files that these name may be named.
    fileprivate func checked(in app: AppID, before: AppSettings?) throws(ServerFrame.Problem) -> AppSettings {
        do throws(InvalidField) {
            try self.validate(in: app)
            if let source = self.tokens.keySource, source.namesFile, source != before?.tokens.keySource {
                throw InvalidField(
                    field: "tokens.jwks",
                    rule: "must be an address without a file: only the configuration file names files of the server")
            }
            return try AppSettings(json: JSONFields(self.json, root: "settings"))
        } catch {
            throw ServerFrame.Problem(error)
        }
    }
}

extension ManagedApp {
    fileprivate mutating func add(
        _ secret: TokenSecret, previousEndsAt end: Int64, at now: Int64
    ) throws(ServerFrame.Problem) {
        for index in self.secrets.indices { self.secrets[index].endsAt = min(self.secrets[index].endsAt ?? end, end) }
        self.dropEnded(at: now)
        guard !self.secrets.contains(where: { $0.id == secret.id }) else {
            throw ControlState.taken("secret", secret.id)
        }
        try ControlState.check { () throws(InvalidField) in
            try ControlName.check(secret.id, field: "secret")
            try InvalidField.check(secret.sealed.keyID.utf8.count, in: 1...64, "secret.key", unit: " bytes")
            try InvalidField.check(
                secret.sealed.bytes.count, in: 1...SealedBytes.bytesMax, "secret.sealed", unit: " bytes")
            try InvalidField.check(self.secrets.count + 1, atMost: Self.secretsMax, "secrets")
        }
        var secret = secret
        secret.endsAt = nil
        self.secrets.insert(secret, at: 0)
    }

    fileprivate mutating func removeSecret(_ id: String) throws(ServerFrame.Problem) {
        guard let place = self.secrets.firstIndex(where: { $0.id == id }) else {
            throw ControlState.unknown("secret", "a token secret of the app", id)
        }
        guard place > 0 else {
            throw .init(
                code: .notAllowed, field: "secret", rule: "must not be the one that signs: add another before")
        }
        self.secrets.remove(at: place)
    }

    fileprivate mutating func endSecret(_ id: String, at end: Int64?) {
        guard let place = self.secrets.firstIndex(where: { $0.id == id }) else { return }
        self.secrets[place].endsAt = end
    }

    fileprivate mutating func add(_ key: APIKeyRecord) throws(ServerFrame.Problem) {
        guard !self.apiKeys.contains(where: { $0.name == key.name }) else {
            throw ControlState.taken("name", key.name)
        }
        try ControlState.check { () throws(InvalidField) in
            try ControlName.check(key.name, field: "name")
            try key.hashes.check()
            try InvalidField.check(key.scopes.count, in: 1...APIKeyRecord.scopesMax, "scopes")
            for scope in key.scopes { try APIKeyRecord.check(scope: scope) }
            try InvalidField.check(self.apiKeys.count + 1, atMost: Self.apiKeysMax, "api_keys")
        }
        let new = APIKeyRecord(name: key.name, hashes: key.hashes, scopes: key.scopes, createdAt: key.createdAt)
        self.apiKeys.insert(new, at: self.apiKeys.sortedPlace { $0.name < key.name })
    }

    fileprivate func place(ofKey name: String) throws(ServerFrame.Problem) -> Int {
        guard let place = self.apiKeys.firstIndex(where: { $0.name == name }) else {
            throw ControlState.unknown("name", "an API key of the app", name)
        }
        return place
    }

    fileprivate mutating func dropEnded(at now: Int64) {
        self.secrets.removeAll { $0.endsAt.map { $0 <= now } ?? false }
        for index in self.apiKeys.indices { self.apiKeys[index].hashes.dropEnded(at: now) }
        for index in self.webhooks.indices { self.webhooks[index].dropEnded(at: now) }
    }
}

extension KeyHashes {
    static func check(_ hash: [UInt8], field: String) throws(InvalidField) {
        try InvalidField.check(hash.count == 32, field, "must be 32 bytes, got \(hash.count)")
    }

    func check() throws(InvalidField) {
        try Self.check(self.current, field: "hash")
        if let previous = self.previous { try Self.check(previous.hash, field: "hash") }
    }

    fileprivate mutating func replace(by hash: [UInt8], previousEndsAt end: Int64) throws(ServerFrame.Problem) {
        try ControlState.check { () throws(InvalidField) in
            try Self.check(hash, field: "hash")
            try InvalidField.check(hash != self.current, "hash", "must be another key's than before")
        }
        self = KeyHashes(hash, previous: Previous(hash: self.current, endsAt: end))
    }

    mutating func dropEnded(at now: Int64) {
        if let previous = self.previous, previous.endsAt <= now { self.previous = nil }
    }
}

extension APIKeyRecord {
    /// Which words there are the HTTP API knows.
    fileprivate static func check(scope: String) throws(InvalidField) {
        let isWord =
            (1...32).contains(scope.utf8.count) && scope.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x5f }
        try InvalidField.check(isWord, "scopes", "must be words of at most 32 small letters, got \"\(scope)\"")
    }
}

/// Checks the names of keys, secrets and operators.
enum ControlName {
    static func check(_ name: String, field: String, mayHaveAt: Bool = false) throws(InvalidField) {
        let signs = mayHaveAt ? "-_.@" : "-_."
        let isAllowed = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                || signs.utf8.contains(byte)
        }
        try InvalidField.check(
            (1...64).contains(name.utf8.count) && isAllowed, field,
            "must be 1 to 64 letters of ASCII, digits and \(signs.map { "\($0)" }.joined(separator: " "))")
    }
}

package import TidingsModel

// How a store keeps the records: without when keys were used last, which changes too often to be kept with them. Members that another build has
// written are passed over.
extension ManagedApp {
    package var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .string(self.id.rawValue)), ("revision", .int(self.revision)), ("created_at", .int(self.createdAt)),
            ("suspended", .bool(self.isSuspended)), ("settings", self.settings.json),
            ("secrets", .array(self.secrets.map(\.json))), ("api_keys", .array(self.apiKeys.map(\.json))),
        ]
        if !self.pushCredentials.isEmpty {
            members.append(("push_credentials", .array(self.pushCredentials.map(\.json))))
        }
        if !self.clientKeys.isEmpty { members.append(("client_keys", .array(self.clientKeys.map(\.json)))) }
        if let secret = self.installationSecret { members.append(("installation_secret", secret.json)) }
        if !self.webhooks.isEmpty { members.append(("webhooks", .array(self.webhooks.map(\.json)))) }
        if let digest = self.importedDigest { members.append(("imported", .string(Hexadecimal.text(digest)))) }
        return .members(members)
    }

    package init(json fields: JSONFields) throws(InvalidField) {
        self.init(
            id: AppID(try fields.get("id")),
            settings: try AppSettings(json: fields.fields("settings"), isLenient: true),
            createdAt: try fields.get("created_at"))
        self.revision = try fields.get("revision")
        self.isSuspended = try fields.get("suspended")
        for secret in try fields.list("secrets") { self.secrets.append(try TokenSecret(json: secret)) }
        for key in try fields.list("api_keys") { self.apiKeys.append(try APIKeyRecord(json: key)) }
        if fields.has("push_credentials") {
            for credential in try fields.list("push_credentials") {
                self.pushCredentials.append(try PushCredentialRecord(json: credential))
            }
        }
        if fields.has("client_keys") {
            for key in try fields.list("client_keys") { self.clientKeys.append(try ClientKeyRecord(json: key)) }
        }
        if fields.has("installation_secret") {
            self.installationSecret = try SealedBytes(json: fields.fields("installation_secret"))
        }
        if fields.has("webhooks") {
            for webhook in try fields.list("webhooks") { self.webhooks.append(try WebhookRecord(json: webhook)) }
        }
        self.importedDigest = try fields.given("imported", as: String.self) == nil ? nil : fields.bytes("imported")
    }
}

extension OperatorRecord {
    package var json: JSONValue {
        var members: [(String, JSONValue)] =
            [("name", .string(self.name)), ("role", .string(self.role.rawValue))] + self.hashes.members
            + [("created_at", .int(self.createdAt))]
        if let password = self.password { members.append(("password", password.json)) }
        if !self.sessions.isEmpty { members.append(("sessions", .array(self.sessions.map(\.json)))) }
        return .members(members)
    }

    package init(json fields: JSONFields) throws(InvalidField) {
        guard let role: OperatorRole = try fields.word("role") else { throw fields.problem("role", "is missing") }
        self.init(
            name: try fields.get("name"), role: role, hashes: try KeyHashes(json: fields),
            createdAt: try fields.get("created_at"))
        if fields.has("password") { self.password = try PasswordHash(json: fields.fields("password")) }
        if fields.has("sessions") {
            for session in try fields.list("sessions") { self.sessions.append(try OperatorSession(json: session)) }
        }
    }
}

extension TokenSecret {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .string(self.id)), ("key", .string(self.sealed.keyID)),
            ("sealed", .string(Hexadecimal.text(self.sealed.bytes))), ("created_at", .int(self.createdAt)),
        ]
        if let end = self.endsAt { members.append(("ends_at", .int(end))) }
        return .members(members)
    }

    fileprivate init(json fields: JSONFields) throws(InvalidField) {
        self.init(
            id: try fields.get("id"),
            sealed: SealedBytes(keyID: try fields.get("key"), bytes: try fields.bytes("sealed")),
            createdAt: try fields.get("created_at"), endsAt: try fields.given("ends_at", as: Int64.self))
    }
}

extension APIKeyRecord {
    fileprivate var json: JSONValue {
        .members(
            [("name", .string(self.name))] + self.hashes.members
                + [("scopes", .texts(self.scopes)), ("created_at", .int(self.createdAt))])
    }

    fileprivate init(json fields: JSONFields) throws(InvalidField) {
        self.init(
            name: try fields.get("name"), hashes: try KeyHashes(json: fields), scopes: try fields.get("scopes"),
            createdAt: try fields.get("created_at"))
    }
}

extension KeyHashes {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("hash", .string(Hexadecimal.text(self.current)))]
        if let previous = self.previous {
            members.append(("previous_hash", .string(Hexadecimal.text(previous.hash))))
            members.append(("previous_ends_at", .int(previous.endsAt)))
        }
        return members
    }

    fileprivate init(json fields: JSONFields) throws(InvalidField) {
        self.init(try fields.bytes("hash"))
        guard fields.has("previous_hash") else { return }
        self.previous = Previous(
            hash: try fields.bytes("previous_hash"), endsAt: try fields.get("previous_ends_at"))
    }
}

extension JSONFields {
    /// In hexadecimal digits.
    func bytes(_ key: String) throws(InvalidField) -> [UInt8] {
        let text: String = try self.get(key)
        guard let bytes = Hexadecimal.bytes(text.utf8) else {
            throw self.problem(key, "must be pairs of hexadecimal digits")
        }
        return bytes
    }
}

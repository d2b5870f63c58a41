import StoreModel
import TidingsModel

extension AppRegistry {
    /// Makes a registry of the configuration alone, for use without a store.
    convenience init(apps: [ServerConfiguration.App]) throws {
        let keys = MasterKeys.drawn()
        var control = ControlState()
        for app in apps where !app.isCredentialAlone { control.put(try app.record(keys, at: 0)) }
        try self.init(control, keys: keys)
    }
}

extension ServerConfiguration.App {
    /// The id of the file's secrets.
    private static let secretID = "imported"
    private static let previousSecretID = "imported-previous"

    /// The app as the section describes it.
    func record(_ keys: MasterKeys, at now: Int64) throws -> ManagedApp {
        var secrets: [TokenSecret] = []
        for (id, secret) in [(Self.secretID, self.tokenSecret), (Self.previousSecretID, self.previousSecret)] {
            guard let secret else { continue }
            secrets.append(
                TokenSecret(id: id, sealed: try keys.seal(secret.value, of: self.id, id: id), createdAt: now))
        }
        var record = ManagedApp(id: self.id, settings: self.settings, secrets: secrets, createdAt: now)
        record.apiKeys = self.apiKeys.map { $0.record(at: now) }.sorted { $0.name < $1.name }
        record.clientKeys = self.clientKeys.map { ClientKeyRecord(id: $0.key, name: $0.name, createdAt: now) }
        if !self.clientKeys.isEmpty {
            record.installationSecret = try keys.sealInstallationSecret(
                Hexadecimal.text(APIKeys.drawBytes()), of: self.id)
        }
        record.importedDigest = keys.digest(of: self.json.serialized)
        return record
    }

    /// Everything but the credential for pushes, which stays the file's, always in the same form.
    var json: JSONValue {
        let members: JSONMembers = [
            "settings": self.settings.json, "token_secret": self.tokenSecret.value,
            "token_secret_previous": self.previousSecret?.value,
            "api_keys": JSONMembers(
                pairs: self.apiKeys.sorted { $0.id < $1.id }.map { ($0.id, [$0.sha256.lowercased()] + $0.scopeWords) }),
        ]
        // A section without them has the digest it had before there were any.
        guard !self.clientKeys.isEmpty else { return members.json }
        let keys = self.clientKeys.sorted { $0.name < $1.name }
        return (members + ["client_keys": JSONMembers(pairs: keys.map { ($0.name, $0.key) })]).json
    }

    /// In what the app that there is differs from the section, by the names of the members in JSON; empty if the section is what the app
    /// was made from, or says what the app is by now.
    func differences(from app: AppRegistry.App, _ keys: MasterKeys) -> [String] {
        let record = app.record
        if let digest = record.importedDigest, keys.isDigest(digest, of: self.json.serialized) { return [] }
        var names = Self.differences(self.settings.json, record.settings.json, "")
        if app.secrets.first?.text != self.tokenSecret { names.append("token_secret") }
        if let previous = self.previousSecret, !app.secrets.dropFirst().contains(where: { $0.text == previous }) {
            names.append("token_secret_previous")
        }
        let there = Dictionary(record.apiKeys.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let here = Dictionary(self.apiKeys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for name in Set(there.keys).union(here.keys).sorted() {
            guard let key = here[name]?.record(at: 0), let other = there[name], key.scopes == other.scopes,
                key.hashes.current == other.hashes.current
            else {
                names.append("api_key.\(name)")
                continue
            }
        }
        let good = Dictionary(
            record.clientKeys.filter(\.isGood).map { ($0.name, $0.id) }, uniquingKeysWith: { first, _ in first })
        let named = Dictionary(
            self.clientKeys.map { ($0.name, $0.key) }, uniquingKeysWith: { first, _ in first })
        if good != named { names.append("client_keys") }
        return names
    }

    /// Returns the paths of differing members, into objects.
    private static func differences(_ left: JSONValue, _ right: JSONValue, _ path: String) -> [String] {
        guard let left = left.objectValue, let right = right.objectValue else { return left == right ? [] : [path] }
        let names = Set(left.members.map(\.key)).union(right.members.map(\.key)).sorted()
        return names.flatMap { name in
            Self.differences(left[name] ?? .null, right[name] ?? .null, path.isEmpty ? name : "\(path).\(name)")
        }
    }
}

extension ServerConfiguration.APIKey {
    fileprivate var scopeWords: [String] { Set(self.scopes.map(\.rawValue)).sorted() }

    fileprivate func record(at now: Int64) -> APIKeyRecord {
        APIKeyRecord(
            name: self.id, hashes: KeyHashes(Hexadecimal.bytes(self.sha256.lowercased().utf8) ?? []),
            scopes: self.scopeWords, createdAt: now)
    }
}

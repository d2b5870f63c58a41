import APNsClient
import ServerCore
import StoreModel
import Synchronization
import TidingsModel

/// The apps, their keys and secrets, and the operators, as the store has them: every request and every token is checked against them.
/// Changed by the owner loop alone, before it tells the caller of the change; read from any thread.
final class AppRegistry: Sendable {
    /// One revision of an app, with its secrets open.
    final class App: Sendable {
        let record: ManagedApp
        /// The first one signs.
        let secrets: [OpenSecret]
        /// The credentials of pushes, by their ids.
        let pushCredentials: [String: APNsClient.Credential]
        /// Nil if it has never had a client key.
        let installations: InstallationKeys?
        /// The secrets that sign its webhooks' requests, by the webhook's id.
        let webhookSecrets: [String: WebhookSecrets]
        /// The names of this server in the claim `aud`.
        let audiences: [String]

        fileprivate init(_ record: ManagedApp, _ keys: MasterKeys) throws(MasterKeys.Fault) {
            self.record = record
            var secrets: [OpenSecret] = []
            for secret in record.secrets {
                secrets.append(
                    OpenSecret(try keys.unseal(secret.sealed, of: record.id, id: secret.id), endsAt: secret.endsAt))
            }
            self.secrets = secrets
            var credentials: [String: APNsClient.Credential] = [:]
            for credential in record.pushCredentials {
                credentials[credential.id] = try keys.unseal(credential, of: record.id)
            }
            self.pushCredentials = credentials
            self.installations = try record.installationSecret.map { sealed throws(MasterKeys.Fault) in
                InstallationKeys(
                    try keys.unseal(
                        sealed, .installationSecret, of: record.id, id: MasterKeys.installationSecretID))
            }
            var webhookSecrets: [String: WebhookSecrets] = [:]
            for webhook in record.webhooks {
                webhookSecrets[webhook.id] = try keys.openSecrets(of: webhook, in: record.id)
            }
            self.webhookSecrets = webhookSecrets
            let named = record.settings.tokens.audiences
            self.audiences = named.isEmpty ? [record.id.rawValue] : named
        }
    }

    struct OpenSecret: Sendable {
        let text: Secret
        let ofUsers: SharedKey
        let ofExtensions: SharedKey
        let endsAt: Int64?

        fileprivate init(_ text: String, endsAt: Int64?) {
            self.text = Secret(text)
            self.ofUsers = SharedKey(text)
            self.ofExtensions = SharedKey("extension token:" + text)
            self.endsAt = endsAt
        }

        func isGood(at now: Int64) -> Bool { self.endsAt.map { now < $0 } ?? true }
    }

    /// The keys of the tokens of an app's anonymous people: one for each purpose.
    struct InstallationKeys: Sendable {
        let ofUsers: SharedKey
        let ofRenewals: SharedKey

        fileprivate init(_ text: String) {
            self.ofUsers = SharedKey("token of an anonymous person:" + text)
            self.ofRenewals = SharedKey("renewal of an anonymous person:" + text)
        }
    }

    private struct State {
        var apps: [AppID: App] = [:]
        /// The client keys that are good.
        var clientKeys: [String: AppID] = [:]
        var operators: [String: OperatorRecord] = [:]
        /// Whose sessions they are, by their hashes.
        var sessions: [[UInt8]: String] = [:]
        /// The last uses that the records do not have yet, by key.
        var lastUses: [KeyUse.Key: Int64] = [:]
        /// The last uses that the store was not told.
        var untold: Set<KeyUse.Key> = []
        var keySources: [AppID: AppSettings.KeySource] = [:]
        var appsWithApproval: Set<AppID> = []
        var appsWithOwnProfiles: Set<AppID> = []

        mutating func put(_ app: App) {
            let (id, settings) = (app.record.id, app.record.settings)
            for key in self.apps[id]?.record.clientKeys ?? [] { self.clientKeys[key.id] = nil }
            for key in app.record.clientKeys where key.isGood { self.clientKeys[key.id] = id }
            self.apps[id] = app
            self.keySources[id] = settings.tokens.keySource
            Self.set(settings.needsMediaApproval, id, in: &self.appsWithApproval)
            Self.set(settings.hasOwnProfiles, id, in: &self.appsWithOwnProfiles)
        }

        /// In place of the one of that name, if there is one.
        mutating func put(_ name: String, _ record: OperatorRecord?) {
            for session in self.operators[name]?.sessions ?? [] { self.sessions[session.hash] = nil }
            for session in record?.sessions ?? [] { self.sessions[session.hash] = name }
            self.operators[name] = record
        }

        private static func set(_ isMember: Bool, _ app: AppID, in apps: inout Set<AppID>) {
            if isMember { apps.insert(app) } else { apps.remove(app) }
        }

        mutating func forgetUses(of key: KeyUse.Key) {
            self.lastUses[key] = nil
            self.untold.remove(key)
        }
    }

    let keys: MasterKeys
    private let state = Mutex(State())

    /// - Throws: a fault naming the app whose secret cannot be opened.
    init(_ control: ControlState, keys: MasterKeys) throws(MasterKeys.Fault) {
        self.keys = keys
        for app in control.apps {
            let open = try App(app, keys)
            self.state.withLock { $0.put(open) }
        }
        self.state.withLock { state in
            for record in control.operators { state.put(record.name, record) }
        }
    }

    // MARK: - Changing

    /// - Throws: a fault naming a secret that cannot be opened; the app stays as it was.
    func apply(_ change: ControlChange, _ answer: ControlAnswer) throws(MasterKeys.Fault) {
        switch answer {
        case .app(let record):
            let app = try App(record, self.keys)
            self.state.withLock { state in
                if case .removeAPIKey(let id, let name) = change { state.forgetUses(of: .api(id, name: name)) }
                state.put(app)
            }
        case .ofOperator(let record?): self.state.withLock { $0.put(record.name, record) }
        case .ofOperator(nil):
            guard case .removeOperator(let name) = change else { return }
            self.state.withLock { state in
                state.put(name, nil)
                state.forgetUses(of: .ofOperator(name: name))
            }
        case .noted: break
        }
    }

    // MARK: - Reading

    func pushCredential(_ client: PushClient) -> APNsClient.Credential? {
        self.app(client.app)?.pushCredentials[client.credential]
    }

    func app(_ id: AppID) -> App? { self.state.withLock { $0.apps[id] } }

    /// Nil for a key that nobody has, or that is revoked.
    func app(ofClientKey key: String) -> App? {
        self.state.withLock { state in state.clientKeys[key].flatMap { state.apps[$0] } }
    }

    /// Sorted by id.
    var apps: [ManagedApp] { self.state.withLock { Array($0.apps.values) }.map(\.record).sorted { $0.id < $1.id } }

    func operatorNamed(_ name: String) -> OperatorRecord? { self.state.withLock { $0.operators[name] } }

    /// Whose it is; nil if there is none of that hash.
    func session(_ hash: [UInt8]) -> (record: OperatorRecord, session: OperatorSession)? {
        self.state.withLock { state in
            guard let record = state.sessions[hash].flatMap({ state.operators[$0] }),
                let session = record.sessions.first(where: { $0.hash == hash })
            else { return nil }
            return (record, session)
        }
    }

    /// Sorted by name.
    var operators: [OperatorRecord] {
        self.state.withLock { Array($0.operators.values) }.sorted { $0.name < $1.name }
    }

    /// Finds an operator. Looks at all of them, so that it always takes as long.
    func operatorRecord(where isMeant: (OperatorRecord) -> Bool) -> OperatorRecord? {
        let all = self.state.withLock { $0.operators }
        var found: OperatorRecord?
        for record in all.values where isMeant(record) { found = record }
        return found
    }

    /// Where the apps' public keys are.
    var keySources: [AppID: AppSettings.KeySource] { self.state.withLock { $0.keySources } }

    /// With what is set of the apps.
    func completed(_ limits: MediaLimits) -> MediaLimits {
        var limits = limits
        self.state.withLock { state in
            limits.appsWithApproval = state.appsWithApproval
            limits.appsWithOwnProfiles = state.appsWithOwnProfiles
        }
        return limits
    }

    // MARK: - Uses

    private static let minute: Int64 = 60_000

    func noteUse(of key: KeyUse.Key, at now: Int64) {
        let minute = now - now % Self.minute
        self.state.withLock { state in
            guard state.lastUses[key] ?? .min < minute else { return }
            state.lastUses[key] = minute
            state.untold.insert(key)
        }
    }

    /// To the minute; `stored` is what the record says.
    func lastUse(of key: KeyUse.Key, stored: Int64?) -> Int64? {
        let noted = self.state.withLock { $0.lastUses[key] }
        guard let noted else { return stored }
        return max(noted, stored ?? noted)
    }

    /// The uses that the store was not told yet.
    var untoldUses: [KeyUse] {
        self.state.withLock { state in
            state.untold.compactMap { key in state.lastUses[key].map { KeyUse(key, at: $0) } }
        }.sorted { "\($0.key)" < "\($1.key)" }
    }

    /// Tells the store when keys were used last. What it does not take now is told the next time.
    func tellUses(_ core: @Sendable (APICommand) async -> APIResult) async {
        let uses = self.untoldUses
        guard !uses.isEmpty, case .control(.noted) = await core(.changeControl(.noteUses(uses))) else { return }
        self.state.withLock { state in
            for use in uses where state.lastUses[use.key] == use.at { state.untold.remove(use.key) }
        }
    }
}

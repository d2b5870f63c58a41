import ServerCore
import StoreModel
import TidingsModel

extension ServerBench {
    /// Changes an app or an operator by the API.
    @discardableResult
    mutating func change(_ change: ControlChange) -> [String] {
        self.run(.api(APIRequestID(0), .changeControl(change)))
    }

    /// Makes the bench's app.
    @discardableResult
    mutating func makeApp(_ settings: AppSettings = AppSettings()) -> [String] {
        self.change(.createApp(Self.app, settings, Self.secret("s1")))
    }

    static func secret(_ id: String) -> TokenSecret {
        TokenSecret(id: id, sealed: SealedBytes(keyID: "1", bytes: [1, 2, 3]), createdAt: Self.started)
    }

    static func tell(_ answer: ControlAnswer) -> String {
        switch answer {
        case .app(let app): "\(app.id) \(app.revision)\(app.isSuspended ? " suspended" : "")"
        case .ofOperator(let record): record.map { "\($0.name) \($0.role)" } ?? "nobody"
        case .noted: "noted"
        }
    }
}

extension ControlChange {
    /// As the case is called, and whom it is about.
    var name: String {
        switch self {
        case .createApp(let app, _, _): "create \(app)"
        case .importApp(let record): "import \(record.id)"
        case .setAppSettings(let app, _, _): "set \(app)"
        case .suspendApp(let app, let isSuspended): "\(isSuspended ? "suspend" : "resume") \(app)"
        case .addSecret(let app, let secret, _): "add secret \(secret.id) of \(app)"
        case .removeSecret(let app, let id): "remove secret \(id) of \(app)"
        case .addAPIKey(let app, let key): "add key \(key.name) of \(app)"
        case .rotateAPIKey(let app, let name, _, _): "rotate key \(name) of \(app)"
        case .removeAPIKey(let app, let name): "remove key \(name) of \(app)"
        case .changePushCredential(let app, let change): "push credentials of \(app): \(change.name)"
        case .addClientKey(let app, let key, _): "add client key \(key.name) of \(app)"
        case .revokeClientKey(let app, let key): "revoke client key \(key) of \(app)"
        case .changeWebhook(let app, let change): "webhooks of \(app): \(change)"
        case .reseal(let app, let all, _): "seal \(all.count) of \(app) again"
        case .addOperator(let record): "add operator \(record.name)"
        case .setOperatorRole(let name, let role): "make \(name) \(role)"
        case .rotateOperator(let name, _, _): "rotate \(name)"
        case .removeOperator(let name): "remove \(name)"
        case .changeAccess(let name, _): "access of \(name)"
        case .by(let author, let change): "\(author.actor): \(change.name)"
        case .noteCall(let call): "note \(call.action) of \(call.app?.rawValue ?? "no app")"
        case .noteUses(let uses): "note \(uses.count) uses"
        }
    }
}

extension PushCredentialChange {
    fileprivate var name: String {
        switch self {
        case .add(let record): "add \(record.id)"
        case .activate(let id, let other, _): "activate \(id)\(other.map { " in place of \($0)" } ?? "")"
        case .retire(let id): "retire \(id)"
        case .rollBack(let id): "roll back \(id)"
        case .remove(let id): "remove \(id)"
        case .noteProof(let id, let proof):
            "note that \(id) is \(proof.isGood ? "good" : "refused") on \(proof.environment)"
        case .noteAccepted(let id, let topic, let environment): "note that \(id) sends to \(topic) on \(environment)"
        }
    }
}

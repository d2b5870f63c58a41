package import TidingsModel

/// A change of the control part, which is about no person and stands outside the partitions. Each answers the record as it is then
/// (`ControlAnswer`), or is refused and has changed nothing. The rules stand at `ControlState.apply`.
package enum ControlChange: Hashable, Sendable {
    /// Refused with `exists` for an id that is taken, and with `invalid_field`.
    case createApp(AppID, AppSettings, TokenSecret)
    /// Made from a section of the configuration file; nothing if there is an app of that id. Answers the app that is there then.
    indirect case importApp(ManagedApp)
    /// All settings at once. `revision`: refused with `not_allowed` if it is not the app's revision any more; nil for whatever it is.
    case setAppSettings(AppID, AppSettings, revision: Int64?)
    case suspendApp(AppID, Bool)
    /// The new one signs from now on; the ones before are good until `previousEndsAt` at most.
    case addSecret(AppID, TokenSecret, previousEndsAt: Int64)
    /// Refused for the one that signs, which so is never the last one to go.
    case removeSecret(AppID, id: String)
    case addAPIKey(AppID, APIKeyRecord)
    /// The key before is good until `previousEndsAt`.
    case rotateAPIKey(AppID, name: String, hash: [UInt8], previousEndsAt: Int64)
    case removeAPIKey(AppID, name: String)
    case changePushCredential(AppID, PushCredentialChange)
    /// Refused with `exists` for a name or key that is taken. The secret becomes the app's, if it has none yet.
    case addClientKey(AppID, ClientKeyRecord, installationSecret: SealedBytes)
    /// Nothing if it is revoked already.
    case revokeClientKey(AppID, key: String)
    case changeWebhook(AppID, WebhookChange)
    /// Under another master key; what is sealed stays the same, and so does the revision. `digest` takes the place of `importedDigest`, unless
    /// it is nil or there is none.
    case reseal(AppID, [Resealed], digest: [UInt8]?)
    /// Refused with `exists` for a name that is taken.
    case addOperator(OperatorRecord)
    /// Refused for the last one who may administer, as is their removal.
    case setOperatorRole(name: String, OperatorRole)
    case rotateOperator(name: String, hash: [UInt8], previousEndsAt: Int64)
    case removeOperator(name: String)
    /// How an operator signs in without their key.
    indirect case changeAccess(name: String, AccessChange)
    /// When keys were used last; those that are gone are passed over. Answers `.noted`.
    case noteUses([KeyUse])
    /// Changes nothing: that it was done is kept, if it is said by whom. Answers `.noted`.
    case noteCall(AuditedCall)
    /// A change with its author, of which a record is kept: with the change, and also if it is refused.
    indirect case by(ControlAuthor, ControlChange)
}

package struct KeyUse: Hashable, Sendable {
    package enum Key: Hashable, Sendable {
        case api(AppID, name: String)
        case ofOperator(name: String)
    }

    package var key: Key
    package var at: Int64

    package init(_ key: Key, at: Int64) {
        self.key = key
        self.at = at
    }
}

extension ControlChange {
    /// Nil for operators, and for what is of many.
    package var app: AppID? {
        switch self {
        case .createApp(let app, _, _), .setAppSettings(let app, _, _), .suspendApp(let app, _),
            .addSecret(let app, _, _), .removeSecret(let app, _), .addAPIKey(let app, _),
            .rotateAPIKey(let app, _, _, _), .removeAPIKey(let app, _), .changePushCredential(let app, _),
            .addClientKey(let app, _, _), .revokeClientKey(let app, _), .changeWebhook(let app, _),
            .reseal(let app, _, _):
            app
        case .importApp(let record): record.id
        case .noteCall(let call): call.app
        case .by(_, let change): change.app
        case .addOperator, .setOperatorRole, .rotateOperator, .removeOperator, .changeAccess, .noteUses: nil
        }
    }
}

package enum ControlAnswer: Hashable, Sendable {
    indirect case app(ManagedApp)
    /// Nil if it is removed.
    indirect case ofOperator(OperatorRecord?)
    case noted
}

/// The whole control part: few things, so all are in memory.
package struct ControlState: Hashable, Sendable {
    /// Sorted by id.
    package var apps: [ManagedApp] = []
    /// Sorted by name.
    package var operators: [OperatorRecord] = []

    package static let appsMax = 1_000
    package static let operatorsMax = 1_000

    package init() {}

    package subscript(app id: AppID) -> ManagedApp? { self.apps.first { $0.id == id } }
    package subscript(operatorNamed name: String) -> OperatorRecord? { self.operators.first { $0.name == name } }
}

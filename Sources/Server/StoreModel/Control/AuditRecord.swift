package import TidingsModel

/// Who has asked for a change of the control part, as the record of the change tells it.
package struct ControlAuthor: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
        case ofOperator = "operator"
        /// A section of the configuration file, at the start of the server.
        case configuration
        /// A person on the server's own machine, over the socket beside the database.
        case commandLine = "command_line"
    }

    package var kind: Kind
    /// The operator's name; empty for the others.
    package var name: String
    /// Where the request came from; empty for what did not come over a network.
    package var address: String

    package init(_ kind: Kind, name: String = "", address: String = "") {
        self.kind = kind
        self.name = name
        self.address = address
    }
}

/// An operator's call that changes nothing of the control part: `POST pushes` in an app, for example.
package struct AuditedCall: Hashable, Sendable {
    /// Nil for what is in no app: virtual phones.
    package var app: AppID?
    /// Method and route.
    package var action: String
    /// The subject that the route names or the call has made; empty for neither.
    package var subject: String

    package init(_ app: AppID?, action: String, subject: String) {
        self.app = app
        self.action = action
        self.subject = subject
    }
}

/// An author's request to the control part, or an operator's act in an app: never with text, a key or a secret.
package struct AuditRecord: Hashable, Sendable {
    /// Counts the records of the store, from 1, without gaps.
    package var number: Int64
    /// Wall milliseconds.
    package var at: Int64
    package var author: ControlAuthor
    package var action: String
    /// Nil for what is of operators.
    package var app: AppID?
    /// The changed part of app or server: a name of a key or operator, an id of a secret or credential; empty for the app itself.
    package var subject: String
    /// Why the store has refused it, and nothing was changed; nil if it was carried out.
    package var refusal: ServerFrame.Problem.Code?

    /// Older ones are forgotten.
    package static let countMax = 100_000
}

/// Which records are asked for.
package struct AuditQuestion: Hashable, Sendable {
    /// Nil for all, those of operators included.
    package var app: AppID?
    /// The name of an operator, or a word of `ControlAuthor.Kind` for those without a name; nil for everybody's.
    package var actor: String?
    /// The number below which records are asked for; nil for the newest.
    package var before: Int64?

    package init(app: AppID? = nil, actor: String? = nil, before: Int64? = nil) {
        self.app = app
        self.actor = actor
        self.before = before
    }

    package func isAbout(_ record: AuditRecord) -> Bool {
        (self.app == nil || self.app == record.app) && (self.actor == nil || self.actor == record.author.actor)
            && self.before.map { record.number < $0 } ?? true
    }
}

extension ControlAuthor {
    /// By which records of its are found.
    package var actor: String { self.name.isEmpty ? self.kind.rawValue : self.name }
}

extension AuditRecord {
    package var json: JSONValue {
        JSONMembers([
            "number": self.number, "at": self.at,
            "actor": JSONMembers(["kind": self.author.kind, "name": self.author.name]), "address": self.author.address,
            "action": self.action, "app": self.app, "subject": self.subject,
            "outcome": self.refusal?.rawValue ?? Self.done,
        ]).json
    }

    private static let done = "done"

    package init(json fields: JSONFields) throws(InvalidField) {
        let actor = try fields.fields("actor")
        let outcome: String = try fields.get("outcome")
        let refusal = ServerFrame.Problem.Code(rawValue: outcome)
        guard refusal != nil || outcome == Self.done else { throw fields.problem("outcome", "is not known") }
        self.init(
            number: try fields.get("number"), at: try fields.get("at"),
            author: ControlAuthor(
                try actor.get("kind"), name: try actor.get("name"), address: try fields.get("address")),
            action: try fields.get("action"), app: try fields.optional("app"), subject: try fields.get("subject"),
            refusal: refusal)
    }
}

extension ControlChange {
    /// Who asks for it, and what for.
    package var withAuthor: (author: ControlAuthor?, change: ControlChange) {
        guard case .by(let author, let change) = self else { return (nil, self) }
        return (author, change.withAuthor.change)
    }

    /// True if nothing but a record is kept of it.
    package var isCall: Bool {
        if case .noteCall = self.withAuthor.change { true } else { false }
    }

    /// Returns the record to keep; nil for a change without an author.
    package func audited(number: Int64, at now: Int64, refusal: ServerFrame.Problem.Code? = nil) -> AuditRecord? {
        let (author, change) = self.withAuthor
        guard let author else { return nil }
        let (action, subject) = change.told
        return AuditRecord(
            number: number, at: now, author: author, action: action, app: change.app, subject: subject,
            refusal: refusal)
    }

    private var told: (action: String, subject: String) {
        switch self {
        case .by(_, let change): change.told
        case .createApp: ("create_app", "")
        case .importApp: ("import_app", "")
        case .setAppSettings: ("set_settings", "")
        case .suspendApp(_, let isSuspended): (isSuspended ? "suspend" : "resume", "")
        case .addSecret(_, let secret, _): ("add_token_secret", secret.id)
        case .removeSecret(_, let id): ("remove_token_secret", id)
        case .addAPIKey(_, let key): ("add_api_key", key.name)
        case .rotateAPIKey(_, let name, _, _): ("rotate_api_key", name)
        case .removeAPIKey(_, let name): ("remove_api_key", name)
        case .changePushCredential(_, let change): change.told
        case .addClientKey(_, let key, _): ("add_client_key", key.name)
        case .revokeClientKey(_, let key): ("revoke_client_key", key)
        case .changeWebhook(_, let change): change.told
        case .reseal: ("reseal", "")
        case .addOperator(let record): ("add_operator", record.name)
        case .setOperatorRole(let name, let role): ("set_role_\(role.rawValue)", name)
        case .rotateOperator(let name, _, _): ("rotate_operator_key", name)
        case .removeOperator(let name): ("remove_operator", name)
        case .changeAccess(let name, let change): (change.word, name)
        case .noteUses: ("note_uses", "")
        case .noteCall(let call): (call.action, call.subject)
        }
    }
}

extension PushCredentialChange {
    fileprivate var told: (action: String, subject: String) {
        switch self {
        case .add(let record): ("add_push_credential", record.id)
        case .activate(let id, _, _): ("activate_push_credential", id)
        case .retire(let id): ("retire_push_credential", id)
        case .rollBack(let id): ("roll_back_push_credential", id)
        case .remove(let id): ("remove_push_credential", id)
        case .noteProof(let id, _): ("prove_push_credential", id)
        case .noteAccepted(let id, _, _): ("note_push_credential", id)
        }
    }
}

import StoreModel
import TidingsModel

// Apps, their keys and secrets, and operators, by the rules of `ControlState`: few, so all are in memory. A change is a record of the journal
// with the app or operator as it is then. When keys were used last are rows written along with the journal's records, not records: there may be
// as many a minute as there are keys, and the journal forgets nothing.
extension StoreEngine {
    enum ControlKey: Hashable {
        case app(AppID)
        case ofOperator(String)
    }

    func changeControl(_ change: ControlChange, at now: Int64) throws -> StoreResult {
        var next = self.control
        let answer: ControlAnswer
        do throws(ServerFrame.Problem) {
            answer = try next.apply(change, at: now)
        } catch {
            if let audit = change.audited(number: self.lastAudit + 1, at: now, refusal: error.code) {
                _ = try self.write(.control(ControlEntry(nil, audit)))
            }
            return .refused(error)
        }
        guard next != self.control || change.isCall else { return .control(answer) }
        let before = self.control
        let audit = change.audited(number: self.lastAudit + 1, at: now)
        switch answer {
        case .app(let app): _ = try self.write(.control(ControlEntry(.app(app), audit)))
        case .ofOperator(let record?): _ = try self.write(.control(ControlEntry(.ofOperator(record), audit)))
        case .ofOperator(nil):
            if case .removeOperator(let name) = change.withAuthor.change {
                _ = try self.write(.control(ControlEntry(.removedOperator(name), audit)))
            }
        case .noted: if let audit { _ = try self.write(.control(ControlEntry(nil, audit))) }
        }
        self.control = next
        let uses = change.keysUsed.map { ($0, before.lastUse(of: $0), next.lastUse(of: $0)) }
        for (key, earlier, now) in uses where earlier != now { try self.writeAlong { try self.store(now, of: key) } }
        return .control(answer)
    }

    func applyControl(_ entry: ControlEntry) {
        if let audit = entry.audit {
            self.auditTail.append(audit)
            self.lastAudit = audit.number
        }
        switch entry.record {
        case nil: break
        case .app(let app)?:
            self.control.put(app)
            self.controlTail.insert(.app(app.id))
        case .ofOperator(let record)?:
            self.control.put(record)
            self.controlTail.insert(.ofOperator(record.name))
        case .removedOperator(let name)?:
            self.control.removeOperator(named: name)
            self.controlTail.insert(.ofOperator(name))
        }
    }

    private func store(_ time: Int64?, of key: KeyUse.Key) throws {
        let (app, name) = key.row
        guard let time else { return try self.sql.deleteKeyUse.bind(app, name).run() }
        try self.sql.putKeyUse.bind(app, name, time).run()
    }

    func loadControl() throws {
        for app in try self.sql.allApps.all({ try ManagedApp(stored: $0.text(0)) }) { self.control.put(app) }
        for record in try self.sql.allOperators.all({ try OperatorRecord(stored: $0.text(0)) }) {
            self.control.put(record)
        }
        try self.loadAudit()
    }

    /// Once everything is recovered: they are ahead of the records.
    func loadKeyUses() throws {
        for use in try Self.keyUses(self.sql.allKeyUses) { self.control.setLastUse(of: use.key, use.at) }
    }

    static func keyUses(_ rows: SQLStatement) throws -> [KeyUse] {
        try rows.all { KeyUse(KeyUse.Key(app: $0.text(0), name: $0.text(1)), at: $0.int(2)) }
    }

    func storeControl() throws {
        // tidy: order does not leave: each row is its own
        for key in self.controlTail {
            switch key {
            case .app(let id):
                if let app = self.control[app: id] { try self.sql.putApp.bind(id.rawValue, app.json.text).run() }
            case .ofOperator(let name):
                if let record = self.control[operatorNamed: name] {
                    try self.sql.putOperator.bind(name, record.json.text).run()
                } else {
                    try self.sql.deleteOperator.bind(name).run()
                }
            }
        }
        self.controlTail.removeAll()
        try self.storeAudit()
    }
}

/// A change of the control part, and the record of who has asked for it. What was refused has that alone, and so has a call.
struct ControlEntry: Hashable {
    var record: ControlRecord?
    var audit: AuditRecord?

    init(_ record: ControlRecord?, _ audit: AuditRecord? = nil) {
        self.record = record
        self.audit = audit
    }
}

/// What is changed of the control part: what it concerns, as it is from now on, but for when keys were used.
enum ControlRecord: Hashable {
    case app(ManagedApp)
    case ofOperator(OperatorRecord)
    case removedOperator(String)
}

/// JSON, so that later builds can say more of an app under the same number.
extension ControlEntry: StoredValue {
    func write(to writer: inout ByteWriter) {
        var members: [(String, JSONValue)] = []
        switch self.record {
        case .app(let app)?: members.append(("app", app.json))
        case .ofOperator(let record)?: members.append(("operator", record.json))
        case .removedOperator(let name)?: members.append(("removed_operator", .string(name)))
        case nil: break
        }
        if let audit = self.audit { members.append(("audit", audit.json)) }
        writer.text(JSONValue.members(members).text)
    }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(nil)
        let text = try reader.text()
        do throws(InvalidField) {
            let fields = try JSONFields(parsing: text.utf8, root: "record")
            if fields.has("app") {
                self.record = .app(try ManagedApp(json: fields.fields("app")))
            } else if fields.has("operator") {
                self.record = .ofOperator(try OperatorRecord(json: fields.fields("operator")))
            } else if fields.has("removed_operator") || !fields.has("audit") {
                self.record = .removedOperator(try fields.get("removed_operator"))
            }
            if fields.has("audit") { self.audit = try AuditRecord(json: fields.fields("audit")) }
        } catch {
            throw .badValue("change of an app or operator: \(error)")
        }
    }
}

extension ManagedApp {
    fileprivate init(stored text: String) throws(StoredBytesFault) {
        do throws(InvalidField) {
            try self.init(json: JSONFields(parsing: text.utf8, root: "record"))
        } catch {
            throw .badValue("app: \(error)")
        }
    }
}

extension OperatorRecord {
    fileprivate init(stored text: String) throws(StoredBytesFault) {
        do throws(InvalidField) {
            try self.init(json: JSONFields(parsing: text.utf8, root: "record"))
        } catch {
            throw .badValue("operator: \(error)")
        }
    }
}

extension KeyUse.Key {
    /// Operators' keys are those of the empty app, which nobody has.
    var row: (app: String, name: String) {
        switch self {
        case .api(let app, let name): (app.rawValue, name)
        case .ofOperator(let name): ("", name)
        }
    }

    init(app: String, name: String) { self = app.isEmpty ? .ofOperator(name: name) : .api(AppID(app), name: name) }
}

extension ControlChange {
    /// Those whose last use it may change.
    fileprivate var keysUsed: Set<KeyUse.Key> {
        switch self {
        case .by(_, let change): change.keysUsed
        case .noteUses(let uses): Set(uses.map(\.key))
        case .removeAPIKey(let app, let name): [.api(app, name: name)]
        case .removeOperator(let name): [.ofOperator(name: name)]
        case .createApp, .importApp, .setAppSettings, .suspendApp, .addSecret, .removeSecret, .addAPIKey, .rotateAPIKey,
            .changePushCredential, .addClientKey, .revokeClientKey, .changeWebhook, .reseal, .addOperator,
            .setOperatorRole, .rotateOperator, .changeAccess, .noteCall:
            []
        }
    }
}

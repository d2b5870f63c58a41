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
            return .refused(error)
        }
        guard next != self.control else { return .control(answer) }
        let before = self.control
        switch answer {
        case .app(let app): _ = try self.write(.control(.app(app)))
        case .ofOperator(let record?): _ = try self.write(.control(.ofOperator(record)))
        case .ofOperator(nil):
            if case .removeOperator(let name) = change { _ = try self.write(.control(.removedOperator(name))) }
        case .noted: break
        }
        self.control = next
        let uses = change.keysUsed.map { ($0, before.lastUse(of: $0), next.lastUse(of: $0)) }
        for (key, earlier, now) in uses where earlier != now { try self.writeAlong { try self.store(now, of: key) } }
        return .control(answer)
    }

    func applyControl(_ record: ControlRecord) {
        switch record {
        case .app(let app):
            self.control.put(app)
            self.controlTail.insert(.app(app.id))
        case .ofOperator(let record):
            self.control.put(record)
            self.controlTail.insert(.ofOperator(record.name))
        case .removedOperator(let name):
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
    }
}

/// What is changed of the control part: what it concerns, as it is from now on, but for when keys were used.
enum ControlRecord: Hashable {
    case app(ManagedApp)
    case ofOperator(OperatorRecord)
    case removedOperator(String)
}

/// JSON, so that later builds can say more of an app under the same number.
extension ControlRecord: StoredValue {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .app(let app): writer.text(JSONValue.members([("app", app.json)]).text)
        case .ofOperator(let record): writer.text(JSONValue.members([("operator", record.json)]).text)
        case .removedOperator(let name): writer.text(JSONValue.members([("removed_operator", .string(name))]).text)
        }
    }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        let text = try reader.text()
        do throws(InvalidField) {
            let fields = try JSONFields(parsing: text.utf8, root: "record")
            if fields.has("app") {
                self = .app(try ManagedApp(json: fields.fields("app")))
            } else if fields.has("operator") {
                self = .ofOperator(try OperatorRecord(json: fields.fields("operator")))
            } else {
                self = .removedOperator(try fields.get("removed_operator"))
            }
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
        case .noteUses(let uses): Set(uses.map(\.key))
        case .removeAPIKey(let app, let name): [.api(app, name: name)]
        case .removeOperator(let name): [.ofOperator(name: name)]
        case .createApp, .importApp, .setAppSettings, .suspendApp, .addSecret, .removeSecret, .addAPIKey, .rotateAPIKey,
            .changePushCredential, .addClientKey, .revokeClientKey, .reseal, .addOperator, .setOperatorRole,
            .rotateOperator:
            []
        }
    }
}

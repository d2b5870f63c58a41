package import StoreModel
import TidingsModel

// Apps, their keys and secrets, and operators, by the rules of `ControlState`: few, so all are in memory. A change is a record of the journal
// with the app or operator as it is then. When keys were used last are rows written along with the journal's records, not records: there may be
// as many a minute as there are keys, and the journal forgets nothing.
extension StoreMachine {
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
        // tidy: order does not leave: each row is its own
        let uses = change.keysUsed.map { ($0, before.lastUse(of: $0), next.lastUse(of: $0)) }
        for (key, earlier, now) in uses where earlier != now {
            try self.writeAlong { try self.rows.put(.keyUse(key, now)) }
        }
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

    func storeControl() throws {
        // tidy: order does not leave: each row is its own
        for key in self.controlTail {
            switch key {
            case .app(let id):
                if let app = self.control[app: id] { try self.rows.put(.app(app)) }
            case .ofOperator(let name): try self.rows.put(.ofOperator(name, self.control[operatorNamed: name]))
            }
        }
        self.controlTail.removeAll()
        try self.storeAudit()
    }
}

/// A change of the control part, and the record of who has asked for it. What was refused has that alone, and so has a call.
package struct ControlEntry: Hashable {
    package var record: ControlRecord?
    package var audit: AuditRecord?

    package init(_ record: ControlRecord?, _ audit: AuditRecord? = nil) {
        self.record = record
        self.audit = audit
    }
}

/// A change of the control part: its subject, as it is from now on, but for when keys were used.
package enum ControlRecord: Hashable {
    case app(ManagedApp)
    case ofOperator(OperatorRecord)
    case removedOperator(String)
}

/// JSON, so that later builds can say more of an app under the same number.
extension ControlEntry: StoredValue {
    package func write(to writer: inout ByteWriter) {
        var members = JSONMembers()
        switch self.record {
        case .app(let app)?: members += ["app": app]
        case .ofOperator(let record)?: members += ["operator": record]
        case .removedOperator(let name)?: members += ["removed_operator": name]
        case nil: break
        }
        if let audit = self.audit { members += ["audit": audit.json] }
        writer.text(members.json.text)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(nil)
        let text = try reader.text()
        do throws(InvalidField) {
            let fields = try JSONFields(parsing: text.utf8, root: "record")
            if fields.has("app") {
                self.record = .app(try fields.get("app"))
            } else if fields.has("operator") {
                self.record = .ofOperator(try fields.get("operator"))
            } else if fields.has("removed_operator") || !fields.has("audit") {
                self.record = .removedOperator(try fields.get("removed_operator"))
            }
            if fields.has("audit") { self.audit = try AuditRecord(json: fields.fields("audit")) }
        } catch {
            throw .badValue("change of an app or operator: \(error)")
        }
    }
}

extension ControlChange {
    /// The keys whose last use it may change.
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

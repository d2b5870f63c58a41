import StoreMachine
import Testing
import TidingsModel

@testable import StoreModel

private let olga = ControlAuthor(.ofOperator, name: "olga", address: "192.0.2.1")
private let file = ControlAuthor(.configuration)

private let secret = TokenSecret(id: "s1", sealed: SealedBytes(keyID: "m1", bytes: [1]), createdAt: 1)

private func somebody(_ name: String, _ role: OperatorRole = .administer) -> OperatorRecord {
    OperatorRecord(name: name, role: role, hashes: KeyHashes(Array(repeating: 7, count: 32)), createdAt: 3)
}

private func record(
    _ number: Int64, by author: ControlAuthor = olga, _ action: String, app: AppID? = nil, _ subject: String = "",
    refusal: ServerFrame.Problem.Code? = nil
) -> AuditRecord {
    AuditRecord(
        number: number, at: 10, author: author, action: action, app: app, subject: subject, refusal: refusal)
}

extension Opened {
    fileprivate mutating func ask(_ change: ControlChange, by author: ControlAuthor? = olga) throws -> StoreResult {
        try self.apply(.changeControl(author.map { .by($0, change) } ?? change, at: 10))
    }

    fileprivate mutating func audit(_ question: AuditQuestion = AuditQuestion(), limit: Int = 9) throws -> StoreResult {
        try self.apply(.readAudit(question, limit: limit))
    }

    /// A shop that the configuration has made, and two operators, of whom the shop's is suspended by one.
    fileprivate static func changed() throws -> Opened {
        var opened = Opened()
        let section = ManagedApp(id: "shop", secrets: [secret], createdAt: 1)
        _ = try opened.ask(.importApp(section), by: file)
        _ = try opened.ask(.addOperator(somebody("olga")))
        _ = try opened.ask(.suspendApp("shop", true))
        return opened
    }
}

@Suite struct `What is kept of changes of apps and operators` {
    @Test func `is who has changed what, the newest first`() throws {
        var opened = try Opened.changed()
        let all = [
            record(3, "suspend", app: "shop"), record(2, "add_operator", "olga"),
            record(1, by: file, "import_app", app: "shop"),
        ]
        #expect(try opened.audit() == .audit(all, hasMore: false))
        #expect(try opened.audit(limit: 2) == .audit(Array(all.prefix(2)), hasMore: true))
        #expect(try opened.audit(AuditQuestion(before: 2)) == .audit([all[2]], hasMore: false))
        #expect(try opened.audit(AuditQuestion(app: "shop")) == .audit([all[0], all[2]], hasMore: false))
        #expect(try opened.audit(AuditQuestion(actor: "olga")) == .audit(Array(all.prefix(2)), hasMore: false))
        #expect(try opened.audit(AuditQuestion(actor: "configuration")) == .audit([all[2]], hasMore: false))
        #expect(try opened.audit(AuditQuestion(app: "club")) == .audit([], hasMore: false))
    }

    @Test func `tells of what was refused, and why`() throws {
        var opened = try Opened.changed()
        let refused = try opened.ask(.removeOperator(name: "olga"))
        guard case .refused(let problem) = refused else { Issue.record("\(refused)"); return }
        #expect(problem.code == .notAllowed)
        let kept = record(4, "remove_operator", "olga", refusal: .notAllowed)
        #expect(try opened.audit(limit: 1) == .audit([kept], hasMore: true))
    }

    @Test func `is what operators have done in an app, though it changed nothing here`() throws {
        var opened = try Opened.changed()
        let before = opened.store.dump().control
        let sent = AuditedCall("shop", action: "POST pushes", subject: "01qdq6qdr0000")
        #expect(try opened.ask(.noteCall(sent)) == .control(.noted))
        _ = try opened.ask(.noteCall(sent))
        let kept = record(4, "POST pushes", app: "shop", "01qdq6qdr0000")
        var again = kept
        again.number = 5
        #expect(try opened.audit(limit: 2) == .audit([again, kept], hasMore: true))
        #expect(opened.store.dump().control == before)
    }

    @Test func `is what they have done to phones, too, which are in no app`() throws {
        var opened = try Opened.changed()
        _ = try opened.ask(.noteCall(AuditedCall(nil, action: "POST phones/{id}/commands", subject: "alice home")))
        let kept = record(4, "POST phones/{id}/commands", "alice home")
        #expect(try opened.audit(limit: 1) == .audit([kept], hasMore: true))
        guard case .audit(let ofShop, _) = try opened.audit(AuditQuestion(app: "shop")) else {
            Issue.record("no audit")
            return
        }
        #expect(!ofShop.contains(kept))
    }

    @Test func `leaves out what changed nothing, and what nobody has asked for`() throws {
        var opened = try Opened.changed()
        _ = try opened.ask(.suspendApp("shop", true))
        _ = try opened.ask(.noteUses([KeyUse(.ofOperator(name: "olga"), at: 60_000)]), by: nil)
        _ = try opened.ask(.suspendApp("shop", false), by: nil)
        _ = try opened.ask(.noteCall(AuditedCall("shop", action: "POST pushes", subject: "")), by: nil)
        guard case .audit(let records, _) = try opened.audit() else { Issue.record("no audit"); return }
        #expect(records.map(\.number) == [3, 2, 1])
    }

    @Test func `answers as the change does`() throws {
        var opened = Opened()
        var plain = Opened()
        #expect(
            try opened.ask(.addOperator(somebody("olga"))) == (try plain.ask(.addOperator(somebody("olga")), by: nil))
        )
        #expect(opened.store.dump().control == plain.store.dump().control)
    }

    @Test func `is the newest hundred thousand`() throws {
        var opened = Opened()
        _ = try opened.ask(.addOperator(somebody("olga")))
        _ = try opened.ask(.addOperator(somebody("ben", .view)))
        for count in 0..<AuditRecord.countMax {
            _ = try opened.ask(.setOperatorRole(name: "ben", count % 2 == 0 ? .send : .view))
        }
        let audit = opened.store.dump().audit
        #expect(audit.count == AuditRecord.countMax && audit.first?.number == 3)
    }

    @Test func `is read from its JSON as it was`() throws {
        for kept in [
            record(1, "set_role_view", "ben"), record(2, by: file, "import_app", app: "shop"),
            record(3, "create_app", app: "shop", refusal: .exists),
        ] {
            #expect(try AuditRecord(json: JSONFields(kept.json)) == kept)
        }
        #expect(throws: InvalidField(field: "outcome", rule: "is not known")) {
            try AuditRecord(
                json: JSONFields(
                    parsing: record(3, "suspend").json.text.replacing(#""done""#, with: #""done?""#).utf8,
                    root: "record")
            )
        }
        #expect(
            record(3, "create_app", app: "shop", refusal: .exists).json.text
                == #"{"number":3,"at":10,"actor":{"kind":"operator","name":"olga"},"address":"192.0.2.1","action":"create_app","app":"shop","subject":"","outcome":"exists"}"#
        )
    }
}

import StoreMachine
import StoreModel
import Testing
import TidingsModel

private func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] { Array(repeating: byte, count: count) }

private func password(
    _ byte: UInt8 = 1, salt: Int = 16, cost: Int64 = 1 << 15, blockSize: Int64 = 8, parallelism: Int64 = 1
) -> PasswordHash {
    PasswordHash(
        salt: bytes(byte, salt), hash: bytes(byte), cost: cost, blockSize: blockSize, parallelism: parallelism)
}

private func session(_ byte: UInt8, endsAt: Int64 = 100) -> OperatorSession {
    OperatorSession(hash: bytes(byte), tokenHash: bytes(byte), createdAt: 5, endsAt: endsAt)
}

private func someone(_ name: String, _ byte: UInt8 = 7) -> OperatorRecord {
    OperatorRecord(name: name, role: .administer, hashes: KeyHashes(bytes(byte)), createdAt: 3)
}

extension Opened {
    fileprivate mutating func access(
        _ change: AccessChange, of name: String = "ann", at: Int64 = 10
    ) throws -> StoreResult {
        try self.apply(.changeControl(.changeAccess(name: name, change), at: at))
    }

    fileprivate func sessions(of name: String = "ann") -> [[UInt8]] {
        self.store.dump().control[operatorNamed: name]?.sessions.map(\.hash) ?? []
    }

    fileprivate static func withOperators() throws -> Opened {
        var opened = Opened()
        for name in ["ann", "bob"] { _ = try opened.apply(.changeControl(.addOperator(someone(name)), at: 10)) }
        return opened
    }
}

@Suite struct `The access of an operator to the console` {
    @Test func `begins without a password and sessions, whatever record is added`() throws {
        var opened = Opened()
        var ann = someone("ann")
        ann.password = password()
        ann.sessions = [session(1)]
        #expect(
            try opened.apply(.changeControl(.addOperator(ann), at: 10)) == .control(.ofOperator(someone("ann"))))
    }

    @Test func `is a password and sessions, which end one by one`() throws {
        var opened = try Opened.withOperators()
        var ann = someone("ann")
        ann.password = password()
        #expect(try opened.access(.setPassword(password(), keeping: nil)) == .control(.ofOperator(ann)))
        ann.sessions = [session(1)]
        #expect(try opened.access(.addSession(session(1))) == .control(.ofOperator(ann)))
        _ = try opened.access(.addSession(session(2)))
        _ = try opened.access(.addSession(session(3)), of: "bob")
        #expect(opened.sessions() == [bytes(1), bytes(2)])
        _ = try opened.access(.endSession(hash: bytes(1)))
        #expect(opened.sessions() == [bytes(2)])
        // Another's is left alone, and one that has ended is nothing.
        let before = opened.store.dump()
        _ = try opened.access(.endSession(hash: bytes(3)))
        _ = try opened.access(.endSession(hash: bytes(1)))
        #expect(opened.store.dump() == before)
        #expect(opened.sessions(of: "bob") == [bytes(3)])
    }

    @Test func `ends with another password, or with none, but for the session that asks for it`() throws {
        var opened = try Opened.withOperators()
        for byte in UInt8(1)...3 { _ = try opened.access(.addSession(session(byte))) }
        _ = try opened.access(.addSession(session(9)), of: "bob")
        _ = try opened.access(.setPassword(password(), keeping: bytes(2)))
        #expect(opened.sessions() == [bytes(2)])
        _ = try opened.access(.addSession(session(4)))
        _ = try opened.access(.setPassword(nil, keeping: nil))
        #expect(opened.sessions() == [])
        #expect(opened.store.dump().control[operatorNamed: "ann"]?.password == nil)
        #expect(opened.sessions(of: "bob") == [bytes(9)])
    }

    @Test func `ends with the operator`() throws {
        var opened = try Opened.withOperators()
        _ = try opened.access(.setPassword(password(), keeping: nil))
        _ = try opened.access(.addSession(session(1)))
        _ = try opened.apply(.changeControl(.removeOperator(name: "ann"), at: 10))
        #expect(refused(try opened.access(.addSession(session(2)))) == "invalid_field name")
        _ = try opened.apply(.changeControl(.addOperator(someone("ann")), at: 10))
        #expect(opened.store.dump().control[operatorNamed: "ann"] == someone("ann"))
        // Its secret may be another's then.
        _ = try opened.access(.addSession(session(1)), of: "bob")
        #expect(opened.sessions(of: "bob") == [bytes(1)])
    }

    @Test func `has sixteen sessions at most: the oldest makes room, and those that are over go before it`() throws {
        var opened = try Opened.withOperators()
        _ = try opened.access(.addSession(session(1, endsAt: 50)))
        for byte in UInt8(2)...16 { _ = try opened.access(.addSession(session(byte))) }
        #expect(opened.sessions() == (UInt8(1)...16).map { bytes($0) })
        _ = try opened.access(.addSession(session(17)), at: 49)
        #expect(opened.sessions() == (UInt8(2)...17).map { bytes($0) })
        _ = try opened.access(.addSession(session(18, endsAt: 300)), at: 99)
        #expect(opened.sessions() == (UInt8(3)...18).map { bytes($0) })
        _ = try opened.access(.addSession(session(19, endsAt: 300)), at: 100)
        #expect(opened.sessions() == [bytes(18), bytes(19)])
    }

    @Test func `drops sessions that are over with the next change of the operator`() throws {
        var opened = try Opened.withOperators()
        _ = try opened.access(.addSession(session(1, endsAt: 50)))
        _ = try opened.apply(.changeControl(.setOperatorRole(name: "bob", .view), at: 50))
        #expect(opened.sessions() == [bytes(1)])
        _ = try opened.access(.setPassword(password(), keeping: bytes(1)), at: 50)
        #expect(opened.sessions() == [])
    }

    @Test func `goes on with another role and another key`() throws {
        var opened = try Opened.withOperators()
        _ = try opened.access(.addSession(session(1)))
        _ = try opened.apply(.changeControl(.setOperatorRole(name: "ann", .view), at: 10))
        _ = try opened.apply(
            .changeControl(.rotateOperator(name: "ann", hash: bytes(8), previousEndsAt: 10), at: 10))
        #expect(opened.sessions() == [bytes(1)])
    }

    @Test func `is refused with what breaks a rule, and then nothing changes`() throws {
        var opened = try Opened.withOperators()
        _ = try opened.access(.addSession(session(1)))
        let before = opened.store.dump()
        let changes: [(AccessChange, String, String)] = [
            (.addSession(session(1)), "ann", "exists session"), (.addSession(session(1)), "bob", "exists session"),
            (.addSession(session(2)), "cleo", "invalid_field name"),
            (.endSession(hash: bytes(1)), "cleo", "invalid_field name"),
            (.setPassword(nil, keeping: nil), "cleo", "invalid_field name"),
            (
                .addSession(OperatorSession(hash: bytes(2, 31), tokenHash: bytes(2), createdAt: 5, endsAt: 100)), "ann",
                "invalid_field session"
            ),
            (
                .addSession(OperatorSession(hash: bytes(2), tokenHash: bytes(2, 0), createdAt: 5, endsAt: 100)), "ann",
                "invalid_field session.token"
            ), (.addSession(session(2, endsAt: 5)), "ann", "invalid_field session"),
            (.setPassword(password(salt: 15), keeping: nil), "ann", "invalid_field password.salt"),
            (.setPassword(password(salt: 65), keeping: nil), "ann", "invalid_field password.salt"),
            (.setPassword(password(cost: 1), keeping: nil), "ann", "invalid_field password.n"),
            (.setPassword(password(cost: 48), keeping: nil), "ann", "invalid_field password.n"),
            (.setPassword(password(cost: 1 << 21), keeping: nil), "ann", "invalid_field password.n"),
            (.setPassword(password(blockSize: 0), keeping: nil), "ann", "invalid_field password.r"),
            (.setPassword(password(parallelism: 17), keeping: nil), "ann", "invalid_field password.p"),
        ]
        for (change, name, answer) in changes {
            #expect(refused(try opened.access(change, of: name)) == answer, "\(change)")
        }
        #expect(opened.store.dump() == before)
    }

    @Test func `is read from its JSON as it was`() throws {
        var ann = someone("ann")
        #expect(try OperatorRecord(json: ann.json) == ann)
        ann.password = password(3, salt: 20, cost: 4, blockSize: 2, parallelism: 3)
        ann.sessions = [session(1), session(2, endsAt: 7)]
        #expect(try OperatorRecord(json: ann.json) == ann)
    }

    @Test func `is kept in the record of changes without password and secret`() throws {
        var opened = try Opened.withOperators()
        let olga = ControlAuthor(.ofOperator, name: "olga")
        for change: AccessChange in [
            .setPassword(password(), keeping: nil), .addSession(session(0x5e)), .endSession(hash: bytes(0x5e)),
            .endSession(hash: bytes(0x5e)), .setPassword(nil, keeping: nil),
        ] { _ = try opened.apply(.changeControl(.by(olga, .changeAccess(name: "ann", change)), at: 10)) }
        guard case .audit(let records, _) = try opened.apply(.readAudit(AuditQuestion(), limit: 9)) else {
            Issue.record("no audit")
            return
        }
        #expect(records.map(\.action) == ["remove_password", "sign_out", "sign_in", "set_password"])
        #expect(records.allSatisfy { $0.subject == "ann" && $0.app == nil && !$0.json.text.contains("5e5e") })
    }
}

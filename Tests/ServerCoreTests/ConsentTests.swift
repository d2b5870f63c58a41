import ServerCore
import StoreModel
import Testing
import TidingsModel

private let team = ConversationID.group("team")

private func made(
    _ action: ConversationAction, version: UInt64, _ people: [UserID], at position: LogPosition = 1
) -> MadeChange {
    MadeChange(
        ConversationChange(conversation: team, version: version, action: action, by: "alice", at: 1),
        people.map { Delivery(user: $0, position: position, unread: 0) })
}

@Suite struct `A request by which people are invited` {
    private static let changes = [
        made(.add(["bob"]), version: 2, ["alice", "bob"]),
        made(.invite(["carol", "dave"], name: "Team", portrait: nil), version: 3, ["alice", "bob", "carol"], at: 2),
    ]

    @Test func `is answered with who they are, and everybody it concerns is told`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        bench.connect("carol")
        bench.script = [.changed(Self.changes, invited: ["carol", "dave"])]
        #expect(
            bench.ask(alice, 7, .change(team, .add(["bob", "carol", "dave"]))) == [
                "store add GRP:team", "s1 ← answer 7 invited([carol, dave], 2)", "s1 ← entry 1 GRP:team add",
                "s2 ← entry 1 GRP:team add", "s1 ← entry 2 GRP:team invite", "s2 ← entry 2 GRP:team invite",
                "s3 ← entry 2 GRP:team invite",
            ])
    }

    @Test func `tells an invited person of nobody else`() {
        let change = Self.changes[1].change
        #expect(change.seen(by: "carol").action == .invite(["carol"], name: "Team", portrait: nil))
        #expect(change.seen(by: "bob") == change)
        var withdrawn = change
        withdrawn.action = .withdraw(["carol", "dave"])
        #expect(withdrawn.seen(by: "dave").action == .withdraw(["dave"]))
    }

    @Test func `is nobody's to ask for`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        let lines = bench.ask(alice, 1, .change(team, .invite(["carol"], name: "Team", portrait: nil)))
        #expect(lines.count == 1 && lines[0].contains("invalid_field"))
    }
}

@Suite struct `Somebody who is muted` {
    @Test(arguments: [
        ([Member("alice", mute: Mute()), Member("bob")], false), ([Member("alice"), Member("bob")], true),
    ])
    func `types unseen, as does a member where only owner and admins write`(
        members: [Member], onlyAdminsWrite: Bool
    ) {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        func info(_ members: [Member], onlyAdminsWrite: Bool) -> StoreResult {
            .conversation(
                ConversationInfo(
                    id: team, version: 1, name: "Team", portrait: nil, members: members, isDissolved: false,
                    onlyAdminsWrite: onlyAdminsWrite))
        }
        bench.script = [info(members, onlyAdminsWrite: onlyAdminsWrite)]
        #expect(bench.run(.frame(alice, .typing(team, isTyping: true))).outside == [])
        bench.pass(10_000)
        bench.script = [info([Member("alice", role: .admin), Member("bob")], onlyAdminsWrite: true)]
        #expect(
            bench.run(.frame(alice, .typing(team, isTyping: true))).outside == [
                "s2 ← signal typing(GRP:team, alice, isTyping: true)"
            ])
    }
}

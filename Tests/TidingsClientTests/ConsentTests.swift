import ClientCore
import Foundation
import SDKTestSupport
import Testing
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"

@Suite struct `A client whose person wants to be asked` {
    /// Connected, with the setting known to the server.
    private func reserved(_ bench: ClientBench) async throws -> ChatClient {
        let client = try bench.client()
        try await client.connect(userID: alice, token: "alice")
        try client.setMayBeAdded(by: .nobody)
        _ = await bench.server.frame {
            if case .request(_, .setPersonSettings(PersonSettings(mayBeAddedBy: .nobody))) = $0 { true } else { false }
        }
        #expect(try client.settings().person.mayBeAddedBy == .nobody)
        return client
    }

    @Test func `is told of an invitation, keeps it, and knows nothing else of the group`() async throws {
        let bench = try ClientBench()
        let client = try await self.reserved(bench)
        var changes = client.invitationChanges.makeAsyncIterator()
        bench.server.request(.change(team, .create(name: "Team", portrait: nil, members: [alice])), as: bob)
        guard case .made(let invitation)? = await changes.next() else {
            return #expect(Bool(false), "the invitation")
        }
        #expect(invitation.id == team && invitation.name == "Team" && invitation.by == bob)
        #expect(try client.invitations() == [invitation])
        #expect(try client.storedConversationInfo(team) == nil)
        await client.signOut()
    }

    @Test func `comes in by joining, and does not by declining`() async throws {
        let bench = try ClientBench()
        let client = try await self.reserved(bench)
        var changes = client.invitationChanges.makeAsyncIterator()
        bench.server.request(.change(team, .create(name: "Team", portrait: nil, members: [alice])), as: bob)
        _ = await changes.next()
        try await client.declineInvitation(to: team)
        #expect(await changes.next() == .ended(team))
        #expect(try client.invitations() == [])
        bench.server.request(.change(team, .add([alice])), as: bob)
        _ = await changes.next()
        try await client.join(team)
        #expect(await changes.next() == .ended(team))
        #expect(try client.invitations() == [])
        while try client.storedConversationInfo(team)?.members.map(\.id) != [alice, bob] { await Task.yield() }
        await client.signOut()
    }

    @Test func `names whom it has invited instead of adding`() async throws {
        let (bench, client) = try await ClientBench.connected()
        bench.server.request(.setPersonSettings(PersonSettings(mayBeAddedBy: .nobody)), as: bob)
        _ = try await client.createGroup(named: "Team", members: [], id: "team")
        #expect(try await client.addMembers([bob, "carol"], to: team) == [bob])
        #expect(try await client.addMembers(["dave"], to: team) == [])
        #expect(try await client.conversationInfo(team).members.map(\.id) == [alice, "carol", "dave"])
        await client.signOut()
    }

    @Test func `shows who is muted, until when, and who may write`() async throws {
        let (bench, client) = try await ClientBench.connected()
        var entries = client.logEntries.makeAsyncIterator()
        _ = try await client.createGroup(named: "Team", members: [bob], id: "team")
        let until = bench.clock.now.wall + 60_000
        try await client.mute([bob], in: team, until: Date(timeIntervalSince1970: Double(until) / 1_000))
        try await client.setOnlyAdminsWrite(true, in: team)
        for _ in 1...3 { _ = await entries.next() }
        let info = try #require(try client.storedConversationInfo(team))
        #expect(info.members == [Member(alice, role: .owner), Member(bob, mute: Mute(until: until))])
        #expect(info.onlyAdminsWrite)
        #expect(info.mayWrite(alice, at: until) && !info.mayWrite(bob, at: until))
        #expect(try await client.conversationInfo(team) == info)
        await client.signOut()
    }
}

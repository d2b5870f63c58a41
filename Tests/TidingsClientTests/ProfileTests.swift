import ClientCore
import SDKTestSupport
import Testing
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"

@Suite struct `A client` {
    @Test func `asks the server what people are called, which stands in for the app's names where it has chosen so`()
        async throws
    {
        let (bench, client) = try ClientBench.withClient()
        try await client.connect(userID: bob, token: "bob")
        let profiles = [UserProfile(alice, Profile(name: "Alice"))]
        bench.server.answerRequests(.profiles(profiles))
        let question = NameQuestion(sender: alice, group: nil)
        #expect(await client.filled(ResolvedNames(), for: question) == ResolvedNames())
        #expect(bench.server.requests == [])
        #expect(try await client.profiles(of: [alice]) == profiles)
        client.usesServerNames = true
        #expect(await client.filled(ResolvedNames(), for: question) == ResolvedNames(user: "Alice"))
        #expect(await client.filled(ResolvedNames(user: "Al"), for: question) == ResolvedNames(user: "Al"))
        #expect(bench.server.requests == [.profiles([alice]), .profiles([alice])])
        bench.server.answerRequests(.done(0))
        try await client.setProfile(Profile(name: "Bob"))
        #expect(bench.server.requests.last == .setProfile(Profile(name: "Bob")))
        await #expect(throws: ChatError.self) { try await client.setProfile(Profile(name: "\u{202e}Bob")) }
        await client.signOut()
    }
}

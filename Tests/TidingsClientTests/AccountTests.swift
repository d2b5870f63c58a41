import SDKTestSupport
import Testing
import TidingsClient
import TidingsModel

private let news = ConversationID(type: .publicService, target: "news")

@Suite struct `A client, and the accounts of its app` {
    @Test func `follows one, says which it follows, and follows it no longer`() async throws {
        let bench = try ClientBench()
        defer { bench.remove() }
        let client = try bench.client()
        try await client.connect(userID: "bob", token: "bob")
        bench.server.answerRequests(.done(0))
        try await client.follow(news)
        bench.server.answerRequests(.following([news]))
        #expect(try await client.followedAccounts() == [news])
        bench.server.answerRequests(.done(0))
        try await client.unfollow(news)
        #expect(bench.server.requests == [.setFollowing(news, true), .following, .setFollowing(news, false)])
        await #expect(throws: ChatError.self) {
            try await client.follow(ConversationID(type: .direct, target: "alice"))
        }
        await client.signOut()
    }

    @Test func `edits and recalls what its person has sent as one, of which nothing is kept here`() async throws {
        let bench = try ClientBench()
        defer { bench.remove() }
        let client = try bench.client()
        try await client.connect(userID: "olga", token: "olga")
        bench.server.answerRequests(.done(0))
        let sent = MessageID(rawValue: 7)
        try await client.edit(sent, text: "new")
        try await client.recall(sent)
        #expect(bench.server.requests == [.edit(sent, content: #"{"content":"new"}"#), .recall(sent)])
        await client.signOut()
    }
}

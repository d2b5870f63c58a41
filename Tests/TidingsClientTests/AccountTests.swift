import SDKTestSupport
import Testing
import TidingsClient
import TidingsModel

private let toBob = ConversationID(type: .customerService, target: "bob")
private let news = ConversationID(type: .publicService, target: "news")

@Suite struct `A client, and the accounts of its app` {
    @Test func `follows one, says which it follows, and follows it no longer`() async throws {
        let (bench, client) = try ClientBench.withClient()
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

    @Test func `says what its person is called in the audiences of pushes`() async throws {
        let (bench, client) = try ClientBench.withClient()
        try await client.connect(userID: "bob", token: "bob")
        bench.server.answerRequests(.tags(["shoes", "vip"]))
        #expect(try await client.setTags(["vip", "shoes"]) == ["shoes", "vip"])
        #expect(bench.server.requests == [.setTags(["vip", "shoes"])])
        await #expect(throws: ChatError.self) { try await client.setTags([""]) }
        await client.signOut()
    }

    @Test func `edits and recalls what its person has sent as one, of which nothing is kept here`() async throws {
        let (bench, client) = try ClientBench.withClient()
        try await client.connect(userID: "olga", token: "olga")
        let sent = MessageID(rawValue: 7)
        bench.server.setScript { script in
            script.answer = { _, frame in
                switch frame {
                case .send(let draft):
                    [
                        .sendAccepted(
                            .init(clientMessageID: draft.clientMessageID, messageID: sent, sentAt: 5, position: 0))
                    ]
                case .request(let number, _): [.answer(number, .done(0))]
                default: nil
                }
            }
        }
        let message = try await client.send(text: "hi", to: toBob, as: "help")
        #expect(message.id == sent)
        #expect(message.sender == "help")
        try await client.edit(sent, text: "new")
        try await client.recall(sent)
        #expect(bench.server.requests == [.edit(sent, content: #"{"content":"new"}"#), .recall(sent)])
        #expect(try client.history(conversation: toBob).isEmpty)
        #expect(try client.conversations().isEmpty)
        await client.signOut()
    }
}

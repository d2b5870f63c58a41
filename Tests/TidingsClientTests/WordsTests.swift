import Testing
import TidingsModel

@testable import TidingsClient

@Suite struct `The words of the extension` {
    @Test func `follow the language the person sets, until they sign out`() async throws {
        let bench = try ClientBench()
        let own = AppWords(language: "de", byLanguage: ["de": NotificationWords(recalled: "Zurückgezogen")])
        let client = try bench.client { $0.words = own }
        try await client.connect(userID: "alice", token: "alice")
        let group = try #require(client.engine?.parts.group)
        let recalled = { try group.update { $0.words.recalled } }
        #expect(try recalled() == "Zurückgezogen")
        try client.setPushLanguage("zh-Hans")
        while try recalled() != NotificationWords.simplifiedChinese.recalled { await Task.yield() }
        await client.signOut()
        #expect(try recalled() == "Zurückgezogen")
    }
}

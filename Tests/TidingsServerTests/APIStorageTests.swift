import HTTPTypes
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(5))) struct `What the HTTP API tells of what is kept` {
    @Test func `is a number for each kind, with bytes where there is a content`() async throws {
        var use = StorageUse()
        use.messages.add(3, bytes: 90)
        use.customMessages.add(2, bytes: 20)
        use.pushes.add(1, bytes: 5)
        (use.logEntries, use.conversations, use.people, use.devices, use.keptAnswers) = (7, 1, 4, 6, 8)
        let api = try await APIDouble(reading: .storageUse(use))
        let answer = try await api.request(.get, "storage")
        #expect(answer.status == 200)
        func number(_ number: Int64) -> JSONValue { ["number": .int(number), "bytes": .null] }
        #expect(
            answer.json == [
                "messages": ["number": 3, "bytes": 90], "custom_messages": ["number": 2, "bytes": 20],
                "pushes": ["number": 1, "bytes": 5], "media": ["number": 0, "bytes": 0], "log_entries": number(7),
                "conversations": number(1), "people": number(4), "devices": number(6), "kept_answers": number(8),
            ])
        #expect(api.reads == [.readStorageUse("demo")])
        #expect(try await APIDouble(scopes: [.settings]).request(.get, "storage").status == 403)
    }

    @Test func `is what a running server has`() async throws {
        try await TestServer.with { server in
            func messages() async throws -> JSONValue? {
                try await server.request("GET", "/v1/apps/demo/storage").json["messages"]
            }
            let before = try await messages()
            #expect(before == ["number": 0, "bytes": 0])
            let body = """
                {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},"text":"hi"}
                """
            let sent = try await server.request("POST", "/v1/apps/demo/messages", body: body)
            let id = try #require(sent.json["message_id"]?.stringValue)
            let after = try await messages()
            #expect(after == ["number": 1, "bytes": .int(Int64(#"{"content":"hi"}"#.utf8.count))])
            _ = try await server.request("DELETE", "/v1/apps/demo/messages/\(id)")
            let recalled = try await messages()
            #expect(recalled == ["number": 0, "bytes": 0])
        }
    }
}

import Foundation
import StoreModel
import TidingsClient
import TidingsModel

/// Fills the console's pages for `tidings demo --stay`, by the HTTP API and a client of its own.
struct DemoSeeds {
    let site: LocalServer

    /// Deliveries to the webhook are given up at once.
    static let settings = ["webhooks.allowed_networks": "[127.0.0.1]", "webhooks.attempts_max": "1"]
    static let line =
        "GRP:weekend of five people; a push for tomorrow, and one that APNs refused; a webhook with dead letters"

    private static let said = [
        ("carol", "Who has time on Saturday?"), ("dan", "I have. The lake?"), ("alice", "Count me in"),
        ("erin", "The train leaves at nine"), ("bob", "See you there"),
    ]

    func plant() async throws {
        let key = try await OperatorCommand.addOverSocket(
            database: self.site.database, name: "demo", role: .administer)
        // Nobody listens on the port of RFC 863.
        try await self.call(
            "POST", "webhooks",
            ["name": "Orders", "url": "http://127.0.0.1:9/orders", "types": ["message_accepted"]], key: key)
        let members = JSONValue(texts: Self.said.map(\.0))
        try await self.call("PUT", "conversations/GRP/weekend", ["name": "Weekend", "members": members])
        for (user, text) in Self.said {
            try await self.call(
                "POST", "messages",
                [
                    "sender": .string(user), "client_message_id": "weekend", "text": .string(text),
                    "conversation": ["type": "group", "target": "weekend"],
                ])
        }
        try await self.signIn("erin", pushToken: Data(repeating: 0xe1, count: 32))
        try await self.call(
            "POST", "pushes", ["notification": ["text": "Your order is on its way"], "audience": ["users": ["erin"]]])
        let tomorrow = Int64(Date().timeIntervalSince1970 * 1_000) + 86_400_000
        try await self.call(
            "POST", "pushes",
            [
                "notification": ["text": "Half price today"], "audience": ["everybody": true],
                "send_at": .int(tomorrow),
            ])
    }

    @discardableResult
    private func call(
        _ method: String, _ path: String, _ body: JSONValue? = nil, key: String? = nil
    ) async throws -> JSONValue {
        try await APIAccess(api: self.site.apiAddress, key: key ?? self.site.apiKey).request(
            method, "apps/\(LocalServer.app)/\(path)", body: body)
    }

    /// Signs a person in on a device without a screen, and hangs up.
    private func signIn(_ user: String, pushToken: Data) async throws {
        guard let url = URL(string: self.site.gatewayAddress) else { throw ToolFailure("the gateway has no address") }
        var configuration = ChatClient.Configuration(appKey: LocalServer.app, serverURL: url)
        configuration.storeFolder = URL(fileURLWithPath: "\(self.site.folder.path)/\(user)", isDirectory: true)
        configuration.bundleIdentifier = LocalServer.topic
        let client = ChatClient(configuration: configuration)
        try client.register(deviceToken: DeviceToken(pushToken), environment: .sandbox)
        try await client.connect(userID: UserID(user), token: try self.site.userToken(user))
        for _ in 0..<100 {
            let devices = try await self.call("GET", "users/\(user)/devices")["devices"]?.arrayValue ?? []
            if devices.contains(where: { $0["push"] == "registered" }) { return client.disconnect() }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw ToolFailure("\(user)'s push token is not registered after 10 s")
    }
}

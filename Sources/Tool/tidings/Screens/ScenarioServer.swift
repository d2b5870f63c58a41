import Foundation
import ScenarioCore
import TidingsModel

/// A server and a local APNs of one case, and the example's backend where a person signs in there.
final class ScenarioServer {
    private let site: LocalServer
    private let backend: ExampleBackend?

    var courierPort: Int { self.site.courierPort }

    static func start(_ setup: ServerSetup, topic: String) async throws -> ScenarioServer {
        let site = try await LocalServer.start(
            name: "scenario", withAPNs: true, topic: topic, settings: setup.settings)
        guard !setup.people.isEmpty else { return ScenarioServer(site, nil) }
        do {
            let people = setup.people.map { (user: $0.user, password: $0.password) }
            return ScenarioServer(site, try await ExampleBackend.start(for: site, port: try freePort(), people: people))
        } catch {
            await site.stop()
            site.remove()
            throw error
        }
    }

    private init(_ site: LocalServer, _ backend: ExampleBackend?) { (self.site, self.backend) = (site, backend) }

    func value(of word: ServerWords) throws -> String {
        switch word {
        case .backend: self.backend?.address ?? ""
        case .gateway: self.site.gatewayAddress
        case .api: self.site.apiAddress
        case .phones: self.site.phoneAddress
        case .token(let user): try self.site.userToken(user)
        }
    }

    /// Returns its id, by which its notification is known, too.
    func send(_ message: ServerMessage) async throws -> String {
        let content = JSONValue.members([("content", .string(message.text))])
        let answer = try await HTTP.json(
            "POST", "\(self.site.apiAddress)/v1/apps/\(LocalServer.app)/messages", key: self.site.apiKey,
            body: [
                "sender": .string(message.sender), "client_message_id": .string(UUID().uuidString),
                "conversation": ["type": "PR", "target": .string(message.recipient)], "content": .string(content.text),
            ])
        guard let id = answer["message_id"]?.stringValue else {
            throw ToolFailure("the server's answer to a message names no message_id: \(answer.text)")
        }
        return id
    }

    func stop() async {
        await self.backend?.process.stop()
        await self.site.stop()
        self.site.remove()
    }
}

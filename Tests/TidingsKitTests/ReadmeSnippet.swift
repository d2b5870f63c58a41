import ClientCore
import Foundation
import TidingsClient
import TidingsKit
import TidingsModel

/// An app's own backend, which asks the server's HTTP API for user tokens.
private protocol Backend: Sendable {
    func userToken() async throws -> String
}

/// "The SDK in ten lines" of docs/app/README.md, compiled: the tidy test holds that the page shows these lines.
@MainActor private func sdkInTenLines(
    serverURL: URL, names: some UserInfoProvider & GroupInfoProvider, screens: NavigationExecutor,
    backend: some Backend, show: (StoredMessage) -> Void
) async throws {
    let kit = NotificationIntegration(
        configuration: .init(appKey: "demo", appGroupIdentifier: "group.com.example.chat", serverURL: serverURL),
        pushEnvironment: .production)
    kit.userInfoProvider = names
    kit.groupInfoProvider = names
    kit.responseHandler = { response in screens.open(response.route) }
    await kit.registerForNotifications()
    try await kit.client.connect(userID: "bob") { try await backend.userToken() }
    try await kit.client.send(text: "hi", to: ConversationID(type: .direct, target: "alice"))
    for await message in kit.client.messages { show(message) }
}

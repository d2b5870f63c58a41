import APNsClient
import APNsModel
import Logging
import TidingsModel

// What docs/server/apns-client.md and docs/testing/apns-simulator.md show, compiled: the tidy test holds that the pages show these lines.

private func firstPush(p8: String, token: PushToken, logger: Logger) async throws {
    let credential = try APNsClient.TokenCredential(privateKeyPEM: p8, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    let client = try APNsClient(configuration: .init(environment: .production, credential: credential), logger: logger)
    var payload = APNsPayload()
    payload.alert = .init(title: "Ann", body: "Lunch?")
    let response = try await client.send(
        APNsRequest(
            token: token, topic: "com.example.chat", payload: try payload.serialized(for: .alert),
            environment: .production))
    await client.shutdown()
    _ = response
}

/// What the documentation of `APNsClient` itself shows.
private func entryPoint(p8: String, request: APNsRequest, logger: Logger) async throws {
    let credential = try APNsClient.TokenCredential(privateKeyPEM: p8, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    let client = try APNsClient(configuration: .init(environment: .production, credential: credential), logger: logger)
    let response = try await client.send(request)
    await client.shutdown()
    _ = response
}

private func manyPushes(
    _ client: APNsClient, _ requests: some AsyncSequence<APNsRequest, any Error> & Sendable
) async throws {
    for try await (request, outcome) in client.send(contentsOf: requests, inFlightMax: 1_000) {
        if let refusal = outcome.refusal { print(request.token, refusal) }
    }
}

private func channels(_ client: APNsClient, update: [UInt8]) async throws {
    let channel = try await client.createChannel(.mostRecentMessage, bundleID: "com.example.chat")
    try await client.broadcast(
        APNsBroadcast(bundleID: "com.example.chat", channelID: channel, payload: update, environment: .production))
    try await client.deleteChannel(channel, bundleID: "com.example.chat")
}

private func localAPNs(p8: String, keyID: String) throws -> APNsClient.Configuration {
    let credential = try APNsClient.TokenCredential(privateKeyPEM: p8, keyID: keyID, teamID: "TIDINGSDEV")
    var configuration = APNsClient.Configuration(environment: .sandbox, credential: credential)
    configuration.host = "localhost"
    configuration.port = 7443
    configuration.trustRoots = .file(path: "apns-state/ca.pem")
    return configuration
}

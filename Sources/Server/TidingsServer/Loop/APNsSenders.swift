import APNsClient
import APNsModel
import Foundation
import Logging
import NIOCore
import TidingsModel

/// `APNsClient` as one app's sender.
private struct APNsSender: PushSender {
    let client: APNsClient
    let environment: PushEnvironment

    func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        self.client.submit(request, completion: completion)
    }

    func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void) {
        self.client.reportLanes(to: report)
    }
}

/// A client for each app with a push credential.
struct APNsSenders: Sendable {
    /// The senders by app.
    let byApp: [AppID: any PushSender]
    private let clients: [APNsClient]

    /// Reads the keys and prepares the clients; none connects yet.
    ///
    /// - Throws: `ConfigurationFaults` with every credential that cannot be used.
    init(
        _ server: ServerConfiguration, group: any EventLoopGroup, logger: Logger
    ) async throws(ConfigurationFaults) {
        var byApp: [AppID: any PushSender] = [:]
        var clients: [APNsClient] = []
        var faults: [ConfigurationFault] = []
        for app in server.apps {
            guard let apns = app.apns else { continue }
            do throws(ConfigurationFault) {
                let client = try Self.client(
                    apns, name: "\(app.id)", prefix: "app.\(app.id).apns",
                    outage: server.pushOutage, group: group, logger: logger)
                clients.append(client)
                byApp[app.id] = APNsSender(client: client, environment: apns.environment)
            } catch {
                faults.append(error)
            }
        }
        self.byApp = byApp
        self.clients = clients
        guard faults.isEmpty else {
            await self.close()
            throw ConfigurationFaults(faults)
        }
    }

    private static func client(
        _ apns: ServerConfiguration.APNs, name: String, prefix: String, outage: ServerConfiguration.PushOutage,
        group: any EventLoopGroup, logger: Logger
    ) throws(ConfigurationFault) -> APNsClient {
        guard let pem = try? String(contentsOfFile: apns.keyPath, encoding: .utf8) else {
            throw ConfigurationFault(
                field: "\(prefix).key_path", rule: "must name a readable file, got \"\(apns.keyPath)\"",
                remedy: "give the path of the .p8 file from Apple's developer account")
        }
        do throws(InvalidField) {
            let credential = try APNsClient.TokenCredential(
                privateKeyPEM: pem, keyID: apns.keyID, teamID: apns.teamID)
            var configuration = APNsClient.Configuration(environment: apns.environment, credential: credential)
            configuration.name = name
            configuration.host = apns.host
            configuration.port = apns.port
            // The core knows whose tokens they are, and which have worked before.
            configuration.badTokensMax = nil
            configuration.providerFailuresMax = outage.failuresMax
            configuration.outagePause = outage.pause
            configuration.outagePauseMax = max(outage.pause, outage.pauseMax)
            if let path = apns.trustRootsPath { configuration.trustRoots = .file(path: path) }
            return try APNsClient(configuration: configuration, logger: logger, group: group)
        } catch {
            throw ConfigurationFault(
                field: "\(prefix).\(error.field)", rule: error.rule,
                remedy: "check the key file, its ids and the trust roots of this app")
        }
    }

    /// Closes all clients; waits for the answers that are due.
    func close() async { for client in self.clients { await client.shutdown() } }
}

import APNsClient
import APNsModel
import Crypto
import Logging
import NIOCore
import ServerCore
import TidingsModel

/// Makes the clients of APNs: where they connect and whom they trust is the server's own, whatever app they send for.
struct APNsClients: Sendable {
    let servers: ServerConfiguration.APNsServers
    let outage: ServerConfiguration.PushOutage
    let group: any EventLoopGroup
    let logger: Logger

    init(_ configuration: ServerConfiguration, group: any EventLoopGroup, logger: Logger) {
        self.servers = configuration.apns
        self.outage = configuration.pushOutage
        self.group = group
        self.logger = logger
    }

    /// Where to send with a credential.
    ///
    /// - Throws: `InvalidField` naming `proxy`.
    func configuration(
        _ environment: PushEnvironment, _ credential: APNsClient.Credential
    ) throws(InvalidField) -> APNsClient.Configuration {
        let server =
            switch environment {
            case .sandbox: self.servers.sandbox
            case .production: self.servers.production
            }
        var configuration = APNsClient.Configuration(environment: environment, credential: credential)
        configuration.host = server.host.isEmpty ? nil : server.host
        configuration.port = server.port
        configuration.managementHost = server.managementHost.isEmpty ? nil : server.managementHost
        configuration.managementPort = server.managementPort == 0 ? nil : server.managementPort
        if !self.servers.trustRootsPath.isEmpty {
            configuration.trustRoots = .file(path: self.servers.trustRootsPath)
        }
        configuration.proxy = try self.servers.parsedProxy
        return configuration
    }

    /// Throws if no clients can be made at all.
    ///
    /// - Throws: a fault naming the key of the configuration.
    func check() throws {
        let key = P256.Signing.PrivateKey().pemRepresentation
        let credential = try APNsClient.TokenCredential(privateKeyPEM: key, keyID: "none", teamID: "none")
        for environment in PushEnvironment.allCases {
            do throws(InvalidField) {
                try APNsClient.check(try self.configuration(environment, .token(credential)))
            } catch {
                throw ConfigurationFaults([self.fault(error, environment)])
            }
        }
    }

    private func fault(_ error: InvalidField, _ environment: PushEnvironment) -> ConfigurationFault {
        switch error.field {
        case "trust_roots":
            ConfigurationFault(
                field: "apns.trust_roots_path", rule: error.rule, remedy: "give a PEM file with certificates")
        case "host", "port", "management_host", "management_port":
            ConfigurationFault(
                field: "apns.\(environment.rawValue)_\(error.field)", rule: error.rule,
                remedy: "leave it out for Apple's")
        default:
            ConfigurationFault(field: "apns.\(error.field)", rule: error.rule, remedy: "correct it")
        }
    }

    /// A client that has not connected yet.
    func sender(for client: PushClient, of apps: AppRegistry) throws -> any PushSender {
        guard let credential = apps.pushCredential(client) else { throw PushSenders.Gone() }
        var configuration = try self.configuration(client.environment, credential)
        configuration.name = "\(client.app)"
        // The core knows whose tokens they are, and which have worked before.
        configuration.badTokensMax = nil
        configuration.providerFailuresMax = self.outage.failuresMax
        configuration.outagePause = self.outage.pause
        configuration.outagePauseMax = max(self.outage.pause, self.outage.pauseMax)
        return APNsSender(client: try APNsClient(configuration: configuration, logger: self.logger, group: self.group))
    }

    /// Asks APNs about a credential, on a connection of its own.
    func prove(
        _ credential: APNsClient.Credential, in environment: PushEnvironment, topic: String, token: PushToken?
    ) async throws(InvalidField) -> CredentialProof {
        try await APNsClient.prove(
            try self.configuration(environment, credential), topic: topic, token: token, logger: self.logger,
            group: self.group)
    }
}

/// `APNsClient` as a sender.
private struct APNsSender: PushSender {
    let client: APNsClient

    func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        self.client.submit(request, completion: completion)
    }

    func send(_ broadcast: APNsBroadcast, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        self.client.submit(broadcast, completion: completion)
    }

    func manage(_ asked: APNsChannelRequest, completion: @escaping @Sendable (ChannelOutcome) -> Void) {
        self.client.submit(asked, completion: completion)
    }

    func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void) {
        self.client.reportLanes(to: report)
    }

    func close() async { await self.client.shutdown() }
}

extension ServerConfiguration.APNsServers {
    /// `HOST:PORT` or `USER:PASSWORD@HOST:PORT`; nil if there is none.
    var parsedProxy: APNsClient.Configuration.Proxy? {
        get throws(InvalidField) {
            guard !self.proxy.isEmpty else { return nil }
            let parts = self.proxy.split(separator: "@", omittingEmptySubsequences: false)
            let place = parts.last ?? ""
            guard let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]),
                (1...65_535).contains(port), colon > place.startIndex
            else { throw Self.wrongProxy }
            var proxy = APNsClient.Configuration.Proxy(host: String(place[..<colon]), port: port)
            guard parts.count > 1 else { return proxy }
            // A password may have an @.
            let user = self.proxy.dropLast(place.count + 1)
            guard let end = user.firstIndex(of: ":") else { throw Self.wrongProxy }
            proxy.credentials = .init(user: String(user[..<end]), password: String(user[user.index(after: end)...]))
            return proxy
        }
    }

    private static let wrongProxy = InvalidField(field: "proxy", rule: "must be HOST:PORT or USER:PASSWORD@HOST:PORT")
}

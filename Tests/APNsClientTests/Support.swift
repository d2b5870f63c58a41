import APNsClient
import APNsModel
import APNsSimulator
import APNsTestSupport
import Foundation
import Logging
import Testing
import TidingsModel

/// A started simulator, a phone at its courier with one registered app, and what a client needs.
struct Stage: Sendable {
    var simulator: APNsSimulator
    var addresses: APNsSimulator.Addresses
    var phone: LineSocket
    var token: PushToken

    /// Runs a body on a fresh stage; everything is closed and removed afterwards.
    static func run(
        _ change: (inout APNsSimulator.Configuration) -> Void = { _ in }, _ body: (Stage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/apns-client-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = APNsSimulator.Configuration(stateFolder: folder)
        configuration.port = 0
        configuration.courierPort = 0
        configuration.controlPort = 0
        configuration.channelPort = 0
        // Our own client is held to the clean form of a provider token.
        configuration.isStrict = true
        change(&configuration)
        let simulator = try APNsSimulator(configuration: configuration)
        let addresses = try await simulator.start()
        do {
            let phone = try await LineSocket.connect(port: addresses.courierPort)
            try await phone.write(
                #"{"type":"hello","phone":"alice"}"# + "\n"
                    + #"{"type":"register","id":1,"topic":"com.example.chat","environment":"sandbox"}"# + "\n")
            _ = try await phone.next()
            let token = try #require(try await phone.next()?["token"]?.stringValue)
            try await body(
                Stage(simulator: simulator, addresses: addresses, phone: phone, token: PushToken(token)))
            await phone.close()
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    var privateKey: String { (try? String(contentsOfFile: self.addresses.privateKeyPath, encoding: .utf8)) ?? "" }

    func configuration(
        privateKey: String? = nil, teamID: String? = nil, host: String = "127.0.0.1"
    ) throws -> APNsClient.Configuration {
        let credential = try APNsClient.TokenCredential(
            privateKeyPEM: privateKey ?? self.privateKey, keyID: self.addresses.keyID,
            teamID: teamID ?? self.addresses.teamID)
        var configuration = APNsClient.Configuration(environment: .sandbox, credential: credential)
        configuration.host = host
        configuration.port = self.addresses.port
        configuration.trustRoots = .file(path: self.addresses.authorityPath)
        return configuration
    }

    func client(_ configuration: APNsClient.Configuration? = nil) throws -> APNsClient {
        try APNsClient(configuration: try configuration ?? self.configuration(), logger: Self.logger)
    }

    /// A client that lets a busy machine take its time.
    func patientClient() throws -> APNsClient {
        var configuration = try self.configuration()
        configuration.requestDeadline = 600_000
        return try self.client(configuration)
    }

    static let logger = Logger(label: "apns-client-tests") { _ in SwiftLogNoOpLogHandler() }

    func request(_ change: (inout APNsRequest) -> Void = { _ in }) -> APNsRequest {
        var request = APNsRequest(
            token: self.token, topic: "com.example.chat", collapseID: "m1",
            payload: Array(#"{"aps":{"alert":{"body":"hi"},"badge":1},"rc":{"mId":"m1"}}"#.utf8),
            environment: .sandbox)
        change(&request)
        return request
    }

    func setFaults(_ json: String) async throws {
        let (status, _) = try await LineSocket.http("POST", "/faults", body: json, port: self.addresses.controlPort)
        #expect(status == 200)
    }

    /// The events of the delivery log, of one push or of all.
    func log(of apnsID: String? = nil) async throws -> [String] {
        let path = apnsID.map { "/log?apns_id=\($0)" } ?? "/log"
        let (_, log) = try await LineSocket.http("GET", path, port: self.addresses.controlPort)
        return log.arrayValue?.compactMap { $0["event"]?.stringValue } ?? []
    }

    /// Waits until the log of a push has come so far.
    func awaitLog(of apnsID: String, _ event: String) async throws {
        while try await !self.log(of: apnsID).contains(event) { try await Task.sleep(for: .milliseconds(5)) }
    }
}

let sampleID = "123e4567-e89b-12d3-a456-426614174000"

import APNsSimulator
import ArgumentParser
import Foundation
import Logging
import TidingsModel
import TidingsServer

/// `tidings apns`: the local APNs.
struct APNs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Run a local APNs: HTTP/2 on 7443, courier for virtual phones on 7444, log and faults on 7445.",
        discussion: """
            The first start makes a local authority, a certificate, a team and a key in the state folder; a provider needs \
            ca.pem, AuthKey_<key id>.p8 and the ids in credential.json. Any APNs client can be pointed at it: host \
            localhost, the port, and ca.pem as trust root. GET /log on the control port shows what became of every push; \
            POST /faults makes it refuse, delay or lose answers.
            """)

    @Option(help: "Folder for certificates, key and credential.json; made if missing.") var state = "apns-state"
    @Option(help: "Address to listen on. Anything but loopback makes it reachable for others.") var host = "127.0.0.1"
    @Option(help: "Port of the provider API, sandbox side; 0 takes a free one.") var port = 7_443
    @Option(help: "Port of the provider API, production side; none unless given.") var productionPort: Int?
    @Option(help: "Port phones connect to; 0 takes a free one.") var courierPort = 7_444
    @Option(help: "Port of log, devices and faults over HTTP; 0 takes a free one.") var controlPort = 7_445
    @Option(help: "Team of the key, 10 capital letters and digits.") var teamID = "TIDINGSDEV"
    @Option(help: "A bundle identifier the key may push to; may be given again; all if left out.") var topic: [String] =
        []
    @Flag(help: "Refuse provider tokens that Apple tolerates (DER signatures, standard base64, iat as text).")
    var strict = false

    func run() async throws {
        var configuration = APNsSimulator.Configuration(stateFolder: self.state)
        configuration.host = self.host
        configuration.port = self.port
        configuration.productionPort = self.productionPort
        configuration.courierPort = self.courierPort
        configuration.controlPort = self.controlPort
        configuration.teamID = self.teamID
        configuration.topics = self.topic.isEmpty ? nil : self.topic
        configuration.isStrict = self.strict
        let logger = Logger(label: "tidings.apns") { LineLogHandler(label: $0, format: .text, level: .info) }
        let simulator = try APNsSimulator(configuration: configuration, logger: logger)
        let addresses = try await simulator.start()
        print("provider API  https://localhost:\(addresses.port)  (sandbox)")
        if let port = addresses.productionPort { print("provider API  https://localhost:\(port)  (production)") }
        print("courier       tcp://\(self.host):\(addresses.courierPort)")
        print("control       http://\(self.host):\(addresses.controlPort)")
        print("team \(addresses.teamID), key \(addresses.keyID), credential \(addresses.credentialPath)")
        fflush(nil)
        await Signals.wait(for: [SIGTERM, SIGINT])
        await simulator.stop()
    }
}

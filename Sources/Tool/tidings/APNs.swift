import APNsSimulator
import ArgumentParser
import Foundation
import Logging
import TidingsServer

struct APNs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Run a local APNs: HTTP/2 on 7443, phones on 7444, control on 7445, channels on 7446.",
        discussion: """
            The first start makes a local authority, a certificate, a team and a key in the state folder; a provider needs \
            ca.pem, AuthKey_<key id>.p8 and the ids in credential.json. Any APNs client can be pointed at it: host \
            localhost, the port, and ca.pem as trust root. Provider tokens and client certificates work on the same ports.

            Control, HTTP on the control port:
              GET  /log                         what became of every push; filters apns_id, unique_id, token, topic,
                                                environment, channel_id, event, since_ms, limit
              GET  /metrics                     counts by topic and environment
              POST /tally                       begins to count accepted pushes by device; {"enabled":false} ends it
              GET  /tally                       how many devices had one push, one more than once, several
              GET  /devices                     every token; filters phone, topic, token
              POST /devices                     registers apps on phones that need not connect, and answers with tokens:
                                                {"phones":[...],"topic":ID,"environment":NAME}
              POST /devices/TOKEN/retire        ends a token: 410 from now on; {"end":"unregistered" or "expired"}
              GET  /channels?bundle_id=ID       the channels of an app
              POST /broadcast                   {"bundle_id":ID,"enabled":true or false}
              POST /keys                        adds a key: {"topics":[...],"environments":[...],"team_id":ID,
                                                "related_key_id":ID}, all optional
              POST /keys/KEYID/revoke           the key is good for nothing from now on
              POST /certificates                issues a client certificate as PEM and p12: {"bundle_id":ID,
                                                "topics":[...],"environments":[...],"password":TEXT,"variant":"good",
                                                "expired", "revoked" or "unknown_issuer"}
              POST /certificates/SHA256/revoke  the certificate is good for nothing from now on
              GET  /faults                      the plan, and how often each rule matched and was injected
              POST /faults                      sets the plan; {} ends all faults

            A fault plan is {"seed":7,"rules":[{"fault":KIND, ...}]}. Kinds: respond (status, reason, retry_after), delay \
            (ms), lose_answer, black_hole, reset_stream (code), refuse_stream, goaway (reason or text, last_stream current \
            or previous), cut, tls_alert (alert), refuse_connect, stream_limit (limit, for), clock_skew (seconds), outage. \
            Each rule may have per_mille, after, count, topic and token. A status Apple does not document needs a reason.
            """)

    @Option(help: "Folder for certificates, keys and credential.json; made if missing.") var state = "apns-state"
    @Option(help: "SQLite file for devices, stored pushes, channels and further keys; in memory unless given.")
    var stateDb: String?
    @Option(help: "Address to listen on. Anything but loopback makes it reachable for others.") var host = "127.0.0.1"
    @Option(help: "Port of the provider API, sandbox side; 0 takes a free one.") var port = 7_443
    @Option(help: "Port of the provider API, production side; none unless given.") var productionPort: Int?
    @Option(help: "Port of channel management, sandbox side; 0 takes a free one.") var channelPort = 7_446
    @Option(help: "Port of channel management, production side; none unless given.") var productionChannelPort: Int?
    @Option(help: "Port phones connect to; 0 takes a free one.") var courierPort = 7_444
    @Option(help: "Port of the control API over HTTP; 0 takes a free one.") var controlPort = 7_445
    @Option(help: "Team of the key, 10 capital letters and digits.") var teamID = "TIDINGSDEV"
    @Option(help: "A bundle identifier the key may push to; may be given again; all if left out.") var topic: [String] =
        []
    @Flag(help: "Refuse provider tokens that Apple tolerates (DER signatures, standard base64, iat as text).")
    var strict = false
    @Option(help: "A file with the fault plan to begin with.") var faults: String?
    @Option(help: "Artificial round-trip time to providers in milliseconds, 0 to 60000.") var rttMs: Int64 = 0
    @Option(help: "Artificial bandwidth to providers, in thousands of bits a second each way; any unless given.")
    var bandwidthKbit: Int64?
    @Option(help: "Close connections without a request for so many seconds; never unless given.") var idleSeconds:
        Int64?
    @Option(
        help: "End a connection after so many errors in a row: 4xx is one, BadDeviceToken two, 410 and 429 none.")
    var errorsMax = 100
    @Flag(help: "After ExpiredProviderToken a connection answers it for good, as a client's authors saw at Apple's.")
    var expiredTokenSticks = false
    @Option(help: "Stream limit after a refused push until the next accepted one; unchanged unless given.")
    var streamsAfterRejection: Int?
    @Option(help: "Pushes an hour to one device before TooManyRequests; any number unless given.")
    var devicePushesPerHour: Int64?
    @Option(help: "How many pushes of one app wait for a connected phone before newer ones overwrite older ones.")
    var waitingPerAppMax = 64
    @Option(help: "How many lines of the delivery log are kept.") var logEntriesMax = 100_000

    func run() async throws {
        var configuration = APNsSimulator.Configuration(stateFolder: self.state)
        configuration.host = self.host
        configuration.port = self.port
        configuration.productionPort = self.productionPort
        configuration.channelPort = self.channelPort
        configuration.productionChannelPort = self.productionChannelPort
        configuration.courierPort = self.courierPort
        configuration.controlPort = self.controlPort
        configuration.teamID = self.teamID
        configuration.topics = self.topic.isEmpty ? nil : self.topic
        configuration.isStrict = self.strict
        configuration.stateDatabase = self.stateDb
        configuration.faultsFile = self.faults
        configuration.roundTripMilliseconds = self.rttMs
        configuration.bandwidthKilobits = self.bandwidthKbit
        configuration.idleSeconds = self.idleSeconds
        configuration.errorsMax = self.errorsMax
        configuration.expiredTokenSticks = self.expiredTokenSticks
        configuration.streamsAfterRejection = self.streamsAfterRejection
        configuration.devicePushesPerHour = self.devicePushesPerHour
        configuration.waitingPerAppMax = self.waitingPerAppMax
        configuration.logEntriesMax = self.logEntriesMax
        let logger = Logger(label: "tidings.apns") { LineLogHandler(label: $0, format: .text, level: .info) }
        let simulator = try APNsSimulator(configuration: configuration, logger: logger)
        let addresses = try await simulator.start()
        print("provider API  https://localhost:\(addresses.port)  (sandbox)")
        if let port = addresses.productionPort { print("provider API  https://localhost:\(port)  (production)") }
        print("channels      https://localhost:\(addresses.channelPort)  (sandbox)")
        if let port = addresses.productionChannelPort { print("channels      https://localhost:\(port)  (production)") }
        print("courier       tcp://\(self.host):\(addresses.courierPort)")
        print("control       http://\(self.host):\(addresses.controlPort)")
        print("team \(addresses.teamID), key \(addresses.keyID), credential \(addresses.credentialPath)")
        fflush(nil)
        await Leftovers.waitForSignal()
        await simulator.stop()
    }
}

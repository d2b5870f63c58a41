import APNsCore
import APNsModel
public import Logging
import NIOConcurrencyHelpers
public import TidingsModel

/// A local Apple: the provider API over real HTTP/2 and TLS, a courier for virtual phones, and a control port.
///
/// At its first start it makes a local authority, a server certificate, a team and a key, and writes into the state
/// folder what a provider needs: `ca.pem`, `AuthKey_<key id>.p8` and `credential.json` with `team_id`, `key_id`,
/// `p8_path` and `ca_path`. Later starts use the same ones. Devices, stored pushes, channels and further keys live in
/// memory, or in an SQLite file; the delivery log lives in memory.
///
/// ```swift
/// let simulator = try APNsSimulator(configuration: .init(stateFolder: "apns-state"), logger: logger)
/// let addresses = try await simulator.start()
/// ```
public final class APNsSimulator: Sendable {
    /// Where it listens, and which of its rules differ from Apple's.
    public struct Configuration: Sendable {
        /// The folder for certificates, keys and `credential.json`; made if missing.
        public var stateFolder: String
        /// An SQLite file for devices, stored pushes, channels and further keys, made if missing; nil keeps them in
        /// memory.
        public var stateDatabase: String?
        /// The address to listen on. Anything but a loopback address makes the simulator reachable for others.
        public var host = "127.0.0.1"
        /// The provider API's port for the sandbox environment; 0 takes a free one.
        public var port = 7_443
        /// A second provider API port, for the production environment; 0 takes a free one, nil opens none.
        public var productionPort: Int?
        /// The port for the management of the sandbox's channels; 0 takes a free one.
        public var channelPort = 7_446
        /// A second port for that, for production; 0 takes a free one, nil opens none.
        public var productionChannelPort: Int?
        /// The port phones connect to; 0 takes a free one.
        public var courierPort = 7_444
        /// The port of log, metrics, devices, keys, certificates and faults over HTTP; 0 takes a free one.
        public var controlPort = 7_445
        /// The team of the first key, 10 letters and digits. Kept from the first start; a different one later is
        /// refused.
        public var teamID = "TIDINGSDEV"
        /// The bundle identifiers the first key may push to; nil for a team-scoped key, which may push to all.
        public var topics: [String]?
        /// Refuse the provider tokens that Apple tolerates: signatures in DER, standard base64, `iat` as text (APNs
        /// reference, section 4).
        public var isStrict = false
        /// The stream limit of a connection before its first good provider token, 0 or more; Apple's is 1 (APNs
        /// reference, section 3.1).
        public var streamsBeforeToken = 1
        /// The stream limit after it, 1 or more; Apple's is about 1,000.
        public var streamsAfterToken = 1_000
        /// The stream limit after a refused push until the next accepted one, 1 or more; nil leaves it alone.
        public var streamsAfterRejection: Int?
        /// How long a connection must use one provider token before another one, in seconds, 0 to 31,536,000; Apple's
        /// is 20 minutes (APNs reference, section 4).
        public var tokenUpdateMinSeconds: Int64 = 1_200
        /// True if a connection on which `ExpiredProviderToken` was answered answers it for good, whatever token comes. Apple documents no
        /// such thing; the authors of Pushy saw it and close the connection (APNs reference, section 4).
        public var expiredTokenSticks = false
        /// How many errors in a row end a connection, 1 or more; nil for never. An answer of 400 to 499 counts one,
        /// `BadDeviceToken` two, 410 and 429 none, and an accepted request ends the row (APNs reference, section 3.1).
        public var errorsMax: Int? = 100
        /// After how many seconds without a request a connection is closed, 1 to 31,536,000; nil for never.
        public var idleSeconds: Int64?
        /// How many pushes an hour one device token may get before `TooManyRequests`, 1 to 3,600,000, and as many at
        /// once after a pause; nil for any number.
        public var devicePushesPerHour: Int64?
        /// How long the way to a provider is, both directions together, in milliseconds, 0 to 60,000.
        public var roundTripMilliseconds: Int64 = 0
        /// How narrow it is, in thousands of bits a second in each direction, 1 or more; nil for any number.
        public var bandwidthKilobits: Int64?
        /// A file with the fault plan to begin with, as `POST /faults` takes it; nil for none.
        public var faultsFile: String?
        /// How many pushes of one app may wait for a connected phone's acknowledgement before newer ones overwrite
        /// older ones, 1 or more.
        public var waitingPerAppMax = 64
        /// How many lines of the delivery log are kept, 1 or more; the oldest go first.
        public var logEntriesMax = 100_000

        /// Loopback, the usual ports, no production ports, Apple's rules.
        public init(stateFolder: String) { self.stateFolder = stateFolder }
    }

    /// The addresses of a started simulator, and its credential.
    public struct Addresses: Sendable, Hashable {
        /// The provider API for the sandbox.
        public var port: Int
        /// The provider API for production, if it was asked for.
        public var productionPort: Int?
        /// The management of the sandbox's channels.
        public var channelPort: Int
        /// The management of production's channels, if it was asked for.
        public var productionChannelPort: Int?
        /// The courier.
        public var courierPort: Int
        /// The control port.
        public var controlPort: Int
        /// The team.
        public var teamID: String
        /// The key.
        public var keyID: String
        /// The path of the `.p8` file.
        public var privateKeyPath: String
        /// The path of the authority's certificate.
        public var authorityPath: String
        /// The path of `credential.json`.
        public var credentialPath: String
    }

    private let configuration: Configuration
    private let logger: Logger
    let running = NIOLockedValueBox<RunningSimulator?>(nil)

    /// A simulator that has not started.
    ///
    /// - Throws: `InvalidField` naming the option and the rule.
    public init(configuration: Configuration, logger: Logger = Logger(label: "apns-simulator")) throws(InvalidField) {
        try configuration.validate()
        self.configuration = configuration
        self.logger = logger
    }

    /// Opens all ports.
    ///
    /// - Throws: `InvalidField` naming the port that is in use, the folder or file that cannot be read or written, or
    ///   the option
    ///   that does not fit what the state folder holds; nothing is left open.
    public func start() async throws -> Addresses {
        let folder = StateFolder(path: self.configuration.stateFolder)
        let material = try folder.material(self.configuration)
        let running = try await RunningSimulator.start(
            self.configuration, material, folder: folder, logger: self.logger)
        let isSecond = self.running.withLockedValue { held in
            guard held == nil else { return true }
            held = running
            return false
        }
        if isSecond {
            await running.stop()
            throw InvalidField(field: "simulator", rule: "must be started only once")
        }
        return running.addresses
    }

    /// Cuts all connections and closes all ports.
    public func stop() async {
        let running = self.running.withLockedValue { held in
            defer { held = nil }
            return held
        }
        await running?.stop()
    }
}

extension APNsSimulator.Configuration {
    func validate() throws(InvalidField) {
        try InvalidField.check(!self.stateFolder.isEmpty, "state_folder", "must not be empty")
        try InvalidField.check(!self.host.isEmpty, "host", "must not be empty")
        let ports = [
            ("port", self.port), ("production_port", self.productionPort ?? 0), ("channel_port", self.channelPort),
            ("production_channel_port", self.productionChannelPort ?? 0), ("courier_port", self.courierPort),
            ("control_port", self.controlPort),
        ]
        for (name, port) in ports { try InvalidField.check(port, in: 0...65_535, name) }
        let isPlain = self.teamID.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
        }
        try InvalidField.check(
            self.teamID.utf8.count == 10 && isPlain, "team_id", "must be 10 capital letters and digits")
        try InvalidField.check(self.topics?.isEmpty != true, "topics", "must not be empty; leave it out for all topics")
        for (index, topic) in (self.topics ?? []).enumerated() {
            try InvalidField.check(
                APNsFormat.isBundleID(topic), "topics[\(index)]",
                "must be a bundle identifier without the suffix of a push type, got \(topic)")
        }
        try InvalidField.check((0...60_000).contains(self.roundTripMilliseconds), "rtt_ms", "must be 0 to 60000")
        try InvalidField.check(self.bandwidthKilobits ?? 1 >= 1, "bandwidth_kbit", "must be 1 or more")
        try InvalidField.check(self.logEntriesMax >= 1, "log_entries_max", "must be 1 or more")
        try self.rules(keys: []).validate()
    }

    func rules(keys: [ProviderKey]) -> APNsService.Configuration {
        var rules = APNsService.Configuration(keys: keys)
        rules.streamsBeforeToken = self.streamsBeforeToken
        rules.streamsAfterToken = self.streamsAfterToken
        rules.streamsAfterRejection = self.streamsAfterRejection
        rules.errorsMax = self.errorsMax
        rules.tokenUpdateMinSeconds = self.tokenUpdateMinSeconds
        rules.expiredTokenSticks = self.expiredTokenSticks
        rules.idleSeconds = self.idleSeconds
        rules.waitingPerAppMax = self.waitingPerAppMax
        rules.deviceRate = self.devicePushesPerHour.map { APNsService.Rate(perHour: $0, burst: min($0, 1_000_000)) }
        return rules
    }

    var way: ArtificialLink.Way? {
        guard self.roundTripMilliseconds > 0 || self.bandwidthKilobits != nil else { return nil }
        return ArtificialLink.Way(
            roundTripMilliseconds: self.roundTripMilliseconds, kilobits: self.bandwidthKilobits)
    }
}

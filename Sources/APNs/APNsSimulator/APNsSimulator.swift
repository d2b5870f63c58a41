public import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
public import TidingsModel

/// A local Apple: the provider API over real HTTP/2 and TLS, a courier for virtual phones, and a control port.
///
/// At its first start it makes a local authority, a server certificate, a team and a key, and writes into the state
/// folder what a
/// provider needs: `ca.pem`, `AuthKey_<key id>.p8` and `credential.json` with `team_id`, `key_id`, `p8_path` and
/// `ca_path`. Later
/// starts use the same ones. Devices, stored pushes and the delivery log live in memory.
///
/// ```swift
/// let simulator = try APNsSimulator(configuration: .init(stateFolder: "apns-state"), logger: logger)
/// let ports = try await simulator.start()
/// ```
public final class APNsSimulator: Sendable {
    /// Where it listens, and which of its rules differ from Apple's.
    public struct Configuration: Sendable {
        /// The folder for `ca.pem`, the server's certificate and key, the `.p8` file and `credential.json`; made if
        /// missing.
        public var stateFolder: String
        /// The address to listen on. Anything but a loopback address makes the simulator reachable for others.
        public var host: String
        /// The provider API's port for the sandbox environment; 0 takes a free one.
        public var port: Int
        /// A second provider API port, for the production environment; 0 takes a free one, nil opens none.
        public var productionPort: Int?
        /// The port phones connect to; 0 takes a free one.
        public var courierPort: Int
        /// The port of log, devices and faults over HTTP; 0 takes a free one.
        public var controlPort: Int
        /// The team of the key, 10 letters and digits. Kept from the first start; a different one later is refused.
        public var teamID: String
        /// The bundle identifiers the key may push to; nil for a team-scoped key, which may push to all.
        public var topics: [String]?
        /// Refuse the provider tokens that Apple tolerates: signatures in DER, standard base64, `iat` as text
        /// (apns.md §4).
        public var isStrict: Bool
        /// The stream limit of a connection before its first good provider token; Apple's is 1 (apns.md §3.1).
        public var streamsBeforeToken: Int
        /// The stream limit after it; Apple's is about 1,000.
        public var streamsAfterToken: Int
        /// How many pushes of one app may wait for a connected phone's acknowledgement before newer ones overwrite
        /// older ones.
        public var waitingPerAppMax: Int
        /// How many lines of the delivery log are kept; the oldest go first.
        public var logEntriesMax: Int

        /// Loopback, the usual ports (7443, courier 7444, control 7445), no production port, Apple's rules.
        public init(stateFolder: String) {
            self.stateFolder = stateFolder
            self.host = "127.0.0.1"
            self.port = 7_443
            self.productionPort = nil
            self.courierPort = 7_444
            self.controlPort = 7_445
            self.teamID = "TIDINGSDEV"
            self.topics = nil
            self.isStrict = false
            self.streamsBeforeToken = 1
            self.streamsAfterToken = 1_000
            self.waitingPerAppMax = 64
            self.logEntriesMax = 100_000
        }
    }

    /// What a started simulator listens on, and where its credential is.
    public struct Addresses: Sendable, Hashable {
        /// The provider API for the sandbox.
        public var port: Int
        /// The provider API for production, if it was asked for.
        public var productionPort: Int?
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
    private let running = NIOLockedValueBox<RunningSimulator?>(nil)

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
        let material = try StateFolder(path: self.configuration.stateFolder).material(self.configuration)
        let running = try await RunningSimulator.start(self.configuration, material, logger: self.logger)
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
        func check(_ holds: Bool, _ field: String, _ rule: String) throws(InvalidField) {
            guard holds else { throw InvalidField(field: field, rule: rule) }
        }
        try check(!self.stateFolder.isEmpty, "state_folder", "must not be empty")
        try check(!self.host.isEmpty, "host", "must not be empty")
        let ports = [
            ("port", self.port), ("production_port", self.productionPort ?? 0), ("courier_port", self.courierPort),
            ("control_port", self.controlPort),
        ]
        for (name, port) in ports {
            try check((0...65_535).contains(port), name, "must be 0 to 65535, got \(port)")
        }
        let isPlain = self.teamID.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
        }
        try check(self.teamID.utf8.count == 10 && isPlain, "team_id", "must be 10 capital letters and digits")
        try check(self.topics?.isEmpty != true, "topics", "must not be empty; leave it out for all topics")
        try check(self.streamsBeforeToken >= 0, "streams_before_token", "must be 0 or more")
        try check(self.streamsAfterToken >= 1, "streams_after_token", "must be 1 or more")
        try check(self.waitingPerAppMax >= 1, "waiting_per_app_max", "must be 1 or more")
        try check(self.logEntriesMax >= 1, "log_entries_max", "must be 1 or more")
    }
}

package import ServerCore
package import TidingsModel

/// Everything an operator can set. Each key, its unit, default and range stand in `ConfigurationKey`; the values come from a
/// file, the environment and flags (`ServerConfiguration.load`) or are set in code, and are checked by `validate()`.
package struct ServerConfiguration: Equatable, Sendable {
    /// The WebSocket gateway.
    package var gateway = Gateway()
    /// The HTTP API.
    package var api = Api()
    /// The database.
    package var store = Store()
    /// User tokens.
    package var tokens = Tokens()
    /// What goes to standard output.
    package var log = Log()
    /// Times and limits of the core; `frameBytesMax` is kept equal to the gateway's by `coreSettings`.
    package var core = ServerSettings()
    /// The apps (tenants), in the order they were named.
    package var apps: [App] = []

    /// The defaults: loopback only, and no app.
    package init() {}

    /// Where clients connect.
    package struct Gateway: Equatable, Sendable {
        /// The address to listen on; loopback unless told otherwise.
        package var host = "127.0.0.1"
        /// The TCP port; 0 takes any free one.
        package var port = 7_400
        /// The largest message of a client, in bytes.
        package var frameBytesMax = 262_144
        /// How long a connection may take until its hello is there, in milliseconds.
        package var unauthenticatedMilliseconds = 10_000
        /// How many bytes may wait for a reader before it is cut off.
        package var backlogBytesMax = 1_048_576
        /// How many connections there may be at the same time.
        package var connectionsMax = 100_000
    }

    /// Where operators and backends talk to the server.
    package struct Api: Equatable, Sendable {
        /// The address to listen on; loopback unless told otherwise.
        package var host = "127.0.0.1"
        /// The TCP port; 0 takes any free one.
        package var port = 7_480
        /// The largest body of a request, in bytes.
        package var bodyBytesMax = 1_048_576
    }

    /// Where messages are kept.
    package struct Store: Equatable, Sendable {
        /// The SQLite file; its folder must exist.
        package var path = "tidings.sqlite"
        /// `full`; or `normal`, which breaks the promise that an acknowledged message survives a loss of power, and exists
        /// only so that the proof of that promise can be seen to fail.
        package var synchronous = "full"
    }

    /// What holds for the user tokens of all apps; the rest is the core's.
    package struct Tokens: Equatable, Sendable {
        /// How long before its `nbf` or `iat` a token is taken already, in milliseconds.
        package var leewayMilliseconds = 30_000
        /// How often apps' key sets are looked at, in milliseconds.
        package var keysRefreshMilliseconds = 60_000
    }

    /// Logs.
    package struct Log: Equatable, Sendable {
        /// The lowest level that is written: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
        package var level = "info"
        /// `json` or `text`.
        package var format = "json"
    }

    /// One app (tenant).
    package struct App: Equatable, Sendable {
        /// The app's id; the claim `app` of its user tokens.
        package var id: AppID
        /// The secret that signs user tokens (HS256), at least 32 bytes.
        package var tokenSecret: Secret
        /// Which user tokens it takes beside those of `tokenSecret`, and for whom they have to be.
        package var tokens = TokenRules()
        /// The keys of the HTTP API.
        package var apiKeys: [ApiKey] = []
        /// How its pushes are sent; nil for none.
        package var apns: Apns?
        /// How many members its groups, discussions and chat rooms may have; nil for `policy.members_max`.
        package var membersMax: Int?
        /// What its pushes say, by language.
        package var words = AppWords()

        /// An app without API keys and pushes.
        package init(id: AppID, tokenSecret: Secret) {
            self.id = id
            self.tokenSecret = tokenSecret
        }
    }

    /// Which user tokens an app takes.
    package struct TokenRules: Equatable, Sendable {
        /// The secret before the present one, whose tokens are still good; nil for none.
        package var previousSecret: Secret?
        /// Where the public keys for ES256 and RS256 are; nil for none.
        package var keySource: KeySource?
        /// What stands for this server in the claim `aud`; with none, the app's id.
        package var audiences: [String] = []
        /// A token without `aud` is refused.
        package var demandsAudience = false

        /// Tokens of the one secret only.
        package init() {}
    }

    /// Where a JSON web key set is.
    package enum KeySource: Equatable, Sendable {
        /// A file.
        case file(path: String)
        /// An address beginning with `https://`, or `http://` on this machine; a PEM file with the authorities to trust instead of
        /// the system's, or nil.
        case address(String, trustRootsPath: String?)
    }

    /// One key of the HTTP API. The key itself is not kept, only its hash.
    package struct ApiKey: Equatable, Sendable {
        /// The key's name in logs.
        package var id: String
        /// SHA-256 of the key, 64 hexadecimal digits.
        package var sha256: String
        /// What it may do.
        package var scopes: [ApiScope]

        /// A key from its parts.
        package init(id: String, sha256: String, scopes: [ApiScope]) {
            self.id = id
            self.sha256 = sha256
            self.scopes = scopes
        }
    }

    /// The credential for an app's pushes, and where they go.
    package struct Apns: Equatable, Sendable {
        /// Which of Apple's sides the app's tokens belong to.
        package var environment: PushEnvironment = .production
        /// The team's id, 10 characters.
        package var teamID = ""
        /// The id of the key, 10 characters.
        package var keyID = ""
        /// The `.p8` file with the key.
        package var keyPath = ""
        /// The app's bundle identifier.
        package var topic = ""
        /// Another server than Apple's, for example the local APNs; nil for Apple's.
        package var host: String?
        /// The port of `host`, 443 unless told otherwise.
        package var port = 443
        /// A PEM file with the authorities to trust instead of the system's; nil for the system's.
        package var trustRootsPath: String?

        /// An empty credential.
        package init() {}
    }

    /// How many of a person's devices may be signed in: a raw value of `DevicePolicy`.
    package var devicePolicy = DevicePolicy.all.rawValue

    /// Whether the limits hold: `enforce`, or `none`.
    package var limitsMode = "enforce"

    /// The salt of recipient tags, as an operator writes it.
    var recipientTagSalt: Int {
        get { Int(clamping: self.core.recipientTagSalt) }
        set { self.core.recipientTagSalt = UInt64(clamping: newValue) }
    }

    /// The core's settings with the limits the gateway keeps.
    package var coreSettings: ServerSettings {
        var settings = self.core
        settings.frameBytesMax = UInt32(clamping: self.gateway.frameBytesMax)
        if self.limitsMode == "none" { settings.limits = .none }
        settings.devicePolicy = DevicePolicy(rawValue: self.devicePolicy) ?? .all
        for app in self.apps {
            settings.words[app.id] = app.words
            settings.membersMaxByApp[app.id] = app.membersMax
        }
        return settings
    }
}

/// What a key of the HTTP API may do.
package enum ApiScope: String, Hashable, Sendable, CaseIterable {
    /// Issue user tokens.
    case tokens
    /// Send, withdraw and change messages as a person or as the app's backend.
    case messages
    /// Make, read and change conversations with members.
    case conversations
    /// Read the messages a person can read.
    case history
    /// Read and change what a person has set, and read how much is unread.
    case settings
    /// Read the life of a message.
    case trace
    /// Ban people, let them in again, and revoke their tokens.
    case accounts
}

/// A text that is never printed.
package struct Secret: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself.
    package let value: String

    /// Hides a text.
    package init(_ value: String) { self.value = value }

    /// `<secret>`.
    package var description: String { "<secret>" }
    /// `<secret>`.
    package var debugDescription: String { "<secret>" }
    /// Without children, so that `dump` prints nothing either.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// One thing wrong with the configuration.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key or file at fault, for example `gateway.port`.
    package var field: String
    /// The rule it breaks, in words that follow the field's name.
    package var rule: String
    /// What to do.
    package var remedy: String

    /// A fault from its parts.
    package init(field: String, rule: String, remedy: String) {
        self.field = field
        self.rule = rule
        self.remedy = remedy
    }

    /// `field rule; remedy`.
    package var description: String { "\(self.field) \(self.rule); \(self.remedy)" }
}

/// Everything that is wrong, at once.
package struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faults in the order of the keys.
    package var faults: [ConfigurationFault]

    /// Wraps a list.
    package init(_ faults: [ConfigurationFault]) { self.faults = faults }

    /// One line per fault.
    package var description: String { self.faults.map(\.description).joined(separator: "\n") }
}

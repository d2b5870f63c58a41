package import ServerCore
import StoreModel
package import TidingsModel

/// Everything an operator can set. Each key, its unit, default and range stand in `ConfigurationKey`; the values come from a
/// file, the environment and flags (`ServerConfiguration.load`) or are set in code, and are checked by `validate()`.
package struct ServerConfiguration: Equatable, Sendable {
    /// The WebSocket gateway.
    package var gateway = Gateway()
    /// The HTTP API.
    package var api = API()
    /// The routes for phones.
    package var phone = Phone()
    /// What holds for the HTTP connections of both.
    package var http = Http()
    /// Proxies in front of the server.
    package var proxy = Proxy()
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
    package init() {
        // The write-ahead log and its writing back take 64 MiB at most; the rest is for what is still taken.
        self.core.freeBytesMin = 268_435_456
    }

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
    package struct API: Equatable, Sendable {
        /// The address to listen on; loopback unless told otherwise.
        package var host = "127.0.0.1"
        /// The TCP port; 0 takes any free one.
        package var port = 7_480
        /// The largest body of a request, in bytes.
        package var bodyBytesMax = 1_048_576
        /// How many connections there may be at the same time.
        package var connectionsMax = 1_024
    }

    /// Where phones talk HTTP to the server: what the notification service extension asks. Not where backends and operators do,
    /// so that a proxy or firewall can let phones through to it and to nothing else.
    package struct Phone: Equatable, Sendable {
        /// The address to listen on; loopback unless told otherwise.
        package var host = "127.0.0.1"
        /// The TCP port; 0 takes any free one.
        package var port = 7_481
        /// How many connections there may be at the same time.
        package var connectionsMax = 1_024
    }

    /// Time limits of HTTP connections, in milliseconds.
    package struct Http: Equatable, Sendable {
        /// How long a new connection may take until the head of its first request is there.
        package var headerMilliseconds = 10_000
        /// How long the body of a request may take.
        package var bodyMilliseconds = 30_000
        /// How long a connection may wait for its next request, or for its answer to be read.
        package var idleMilliseconds = 60_000
    }

    /// Proxies in front of the server.
    package struct Proxy: Equatable, Sendable {
        /// Addresses, or networks such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` and `X-Request-Id` are believed.
        package var addresses: [String] = []
    }

    /// Where messages are kept.
    package struct Store: Equatable, Sendable {
        /// The SQLite file; its folder must exist.
        package var path = "tidings.sqlite"
        /// `full`; or `normal`, which breaks the promise that an acknowledged message survives a loss of power, and exists
        /// only so that the proof of that promise can be seen to fail.
        package var synchronous = "full"
        /// How long a text that was recalled or edited over may stay in the file, in milliseconds.
        package var eraseMilliseconds: Int64 = 60_000
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
        /// A file for the lines of the audit log; empty for among the other lines.
        package var auditPath = ""
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
        package var apiKeys: [APIKey] = []
        /// How its pushes are sent; nil for none.
        package var apns: APNs?
        /// The topics its phones may register for, beside the one of `apns`.
        package var pushTopics: [String] = []
        /// How many members its groups, discussions and chat rooms may have; nil for `policy.members_max`.
        package var membersMax: Int?
        /// What its pushes say, by language.
        package var words = AppWords()

        /// An app without API keys and pushes.
        package init(id: AppID, tokenSecret: Secret) {
            self.id = id
            self.tokenSecret = tokenSecret
        }

        /// Every topic its phones may register for, sorted; nil if none is known, for then any is taken until a credential is there.
        package var topics: [String]? {
            let topics = Set(self.pushTopics + (self.apns.map { [$0.topic] } ?? [])).sorted()
            return topics.isEmpty ? nil : topics
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
    package struct APIKey: Equatable, Sendable {
        /// The key's name in logs.
        package var id: String
        /// SHA-256 of the key, 64 hexadecimal digits.
        package var sha256: String
        /// What it may do.
        package var scopes: [APIScope]

        /// A key from its parts.
        package init(id: String, sha256: String, scopes: [APIScope]) {
            self.id = id
            self.sha256 = sha256
            self.scopes = scopes
        }
    }

    /// The credential for an app's pushes, and where they go.
    package struct APNs: Equatable, Sendable {
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

    /// Who makes, joins and adds: raw values of `ConversationPolicy`, by kind.
    package var create = PolicyWords(
        group: ConversationPolicy.group.create.rawValue, discussion: ConversationPolicy.discussion.create.rawValue,
        chatRoom: ConversationPolicy.chatRoom.create.rawValue)
    /// The same for coming in.
    package var join = PolicyWords(
        group: ConversationPolicy.group.join.rawValue, discussion: ConversationPolicy.discussion.join.rawValue,
        chatRoom: ConversationPolicy.chatRoom.join.rawValue)
    /// The same for adding people.
    package var add = PolicyWords(
        group: ConversationPolicy.group.add.rawValue, discussion: ConversationPolicy.discussion.add.rawValue,
        chatRoom: ConversationPolicy.chatRoom.add.rawValue)

    /// A word for each kind of conversation that has members.
    package struct PolicyWords: Hashable, Sendable {
        /// For groups.
        package var group: String
        /// For discussions.
        package var discussion: String
        /// For chat rooms.
        package var chatRoom: String
    }

    private func policy(_ word: KeyPath<PolicyWords, String>, or standard: ConversationPolicy) -> ConversationPolicy {
        ConversationPolicy(
            create: .init(rawValue: self.create[keyPath: word]) ?? standard.create,
            join: .init(rawValue: self.join[keyPath: word]) ?? standard.join,
            add: .init(rawValue: self.add[keyPath: word]) ?? standard.add)
    }

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
        settings.groupPolicy = self.policy(\.group, or: .group)
        settings.discussionPolicy = self.policy(\.discussion, or: .discussion)
        settings.chatRoomPolicy = self.policy(\.chatRoom, or: .chatRoom)
        for app in self.apps {
            settings.words[app.id] = app.words
            settings.membersMaxByApp[app.id] = app.membersMax
            settings.pushTopics[app.id] = app.topics
        }
        return settings
    }
}

/// What a key of the HTTP API may do.
package enum APIScope: String, Hashable, Sendable, CaseIterable {
    /// Issue user tokens.
    case tokens
    /// Send, recall and change messages as a person or as the app's backend.
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

package import ServerCore
package import StoreModel
package import TidingsModel

/// Everything an operator can set. `ConfigurationKey` describes each key with its unit, default and range; the values come from a
/// file, the environment and flags (`ServerConfiguration.load`) or are set in code, and are checked by `validate()`.
package struct ServerConfiguration: Equatable, Sendable {
    package var gateway = Gateway()
    package var api = API()
    package var phone = Phone()
    package var http = Http()
    package var proxy = Proxy()
    package var console = Console()
    package var store = Store()
    package var tokens = Tokens()
    package var media = Media()
    package var search = Search()
    package var webhooks = Webhooks()
    package var log = Log()
    /// `frameBytesMax` is kept equal to the gateway's by `coreSettings`.
    package var core = ServerSettings()
    package var apns = APNsServers()
    /// When the APNs clients stop sending, and for how long.
    package var pushOutage = PushOutage()
    /// In the order they were named.
    package var apps: [App] = []

    /// Loopback only, and no app.
    package init() {
        // The write-ahead log and its writing back take 64 MiB at most; the rest is for what is still taken.
        self.core.freeBytesMin = 268_435_456
    }

    package struct PushOutage: Equatable, Sendable {
        /// Failures of APNs's in a row.
        package var failuresMax = 10
        /// The first pause in milliseconds, doubled by each failed try.
        package var pause: Int64 = 15_000
        package var pauseMax: Int64 = 600_000
    }

    /// Where pushes go, whatever app they are of.
    package struct APNsServers: Equatable, Sendable {
        package var sandbox = Endpoint()
        package var production = Endpoint()
        /// Empty for the system's authorities.
        package var trustRootsPath = ""
        /// Empty for none.
        package var proxy = ""

        package struct Endpoint: Equatable, Sendable {
            /// Empty for Apple's.
            package var host = ""
            package var port = 443
            /// Which manages broadcast channels. Empty for Apple's.
            package var managementHost = ""
            /// 0 for Apple's, which differs between the sides.
            package var managementPort = 0
        }

        package init() {}
    }

    package struct Gateway: Equatable, Sendable {
        package var host = "127.0.0.1"
        package var port = 7_400
        package var frameBytesMax = 262_144
        package var unauthenticatedMilliseconds = 10_000
        package var backlogBytesMax = 1_048_576
        package var connectionsMax = 100_000
    }

    package struct API: Equatable, Sendable {
        package var host = "127.0.0.1"
        package var port = 7_480
        package var bodyBytesMax = 1_048_576
        package var connectionsMax = 1_024
    }

    /// The listener for the notification service extension. Its port is apart from the API's, so that a proxy or firewall can let phones
    /// through to it and to nothing else.
    package struct Phone: Equatable, Sendable {
        package var host = "127.0.0.1"
        package var port = 7_481
        package var connectionsMax = 1_024
    }

    package struct Http: Equatable, Sendable {
        package var headerMilliseconds = 10_000
        package var bodyMilliseconds = 30_000
        package var idleMilliseconds = 60_000
        /// At which an answer has to be read.
        package var answerBytesPerSecond = 1_024
        /// For so long an answer may stand still.
        package var answerMilliseconds = 15_000
        /// The limits of all answers of a listener together, and of those to one address.
        package var unreadBytesMax = 33_554_432
        package var unreadPerAddressMax = 256
        package var answersPerPersonMax = 16
    }

    /// The pages for operators, on the API's port.
    package struct Console: Equatable, Sendable {
        /// `true` or `false`.
        package var enabled = "true"
        /// The names by which browsers ask for it.
        package var hosts = ["localhost", "127.0.0.1", "::1"]
        /// `auto`, `true` or `false` (`takesLocal`).
        package var local = "auto"
        /// Where `tidings phones` listens, `host:port`; empty for no phones.
        package var phones = ""
        package var phonesTokenPath = "phones/control.token"

        package var isEnabled: Bool { self.enabled == "true" }
    }

    package struct Proxy: Equatable, Sendable {
        /// Addresses, or networks such as `10.0.0.0/8`, whose `X-Forwarded-For` is believed.
        package var addresses: [String] = []
    }

    package struct Store: Equatable, Sendable {
        package var path = "tidings.sqlite"
        /// `normal` breaks the promise that an acknowledged message survives a loss of power, and exists only so that the proof of
        /// that promise can fail.
        package var synchronous = "full"
        package var eraseMilliseconds: Int64 = 60_000
        /// Empty for the one beside the database.
        package var masterKeyPath = ""
        /// Instead of a file.
        package var masterKeys: Secret?
    }

    /// The environment variable of the master keys as they stand in the file, with semicolons between.
    package static let masterKeyVariable = "TIDINGS_MASTER_KEY"

    package struct Media: Equatable, Sendable {
        /// Empty for none.
        package var path = ""
        /// The limits for all apps; `kinds` only for those without their own.
        package var limits = MediaLimits()
        /// Raw values of `MediaKind`.
        package var types = MediaLimits().kinds.map(\.rawValue)
        /// Read and written at a time, by `DescriptorBudget`.
        package var filesMax = Int.max
    }

    package struct Search: Equatable, Sendable {
        /// Empty for none.
        package var path = ""
    }

    /// The settings of webhooks.
    package struct Webhooks: Equatable, Sendable {
        /// Empty for the one beside the database.
        package var path = ""
        /// Addresses and networks to which webhooks go although they are not everybody's, and by `http:`, too.
        package var allowedNetworks: [String] = []
        /// Empty for the system's authorities.
        package var trustRootsPath = ""
        package var attemptsMax = 8
    }

    package var webhooksPath: String {
        self.webhooks.path.isEmpty ? self.store.path + ".webhooks" : self.webhooks.path
    }

    /// Without what is set of apps.
    package var mediaLimits: MediaLimits {
        var limits = self.media.limits
        limits.kinds = self.media.types.compactMap(MediaKind.init(rawValue:))
        return limits
    }

    package struct Tokens: Equatable, Sendable {
        package var leewayMilliseconds = 30_000
        package var keysRefreshMilliseconds = 60_000
    }

    package struct Log: Equatable, Sendable {
        package var level = "info"
        package var format = "auto"
        /// Empty for among the other lines.
        package var auditPath = ""
    }

    /// A section of the file: an app is made from it that the store does not have yet, and the store's goes before it from then on
    /// (docs/inside/decisions/0043-apps-at-run-time.md).
    package struct App: Equatable, Sendable {
        package var id: AppID
        /// Signs user tokens with HS256; at least 32 bytes. Empty if the section has nothing but a credential.
        package var tokenSecret: Secret
        /// Whose tokens are still good.
        package var previousSecret: Secret?
        package var settings = AppSettings()
        package var apiKeys: [APIKey] = []
        package var clientKeys: [ClientKey] = []
        package var apns: APNs?

        package init(id: AppID, tokenSecret: Secret) {
            self.id = id
            self.tokenSecret = tokenSecret
        }

        /// True if the section only gives a credential to an app that is made otherwise.
        var isCredentialAlone: Bool {
            self.apns != nil && self.tokenSecret.value.isEmpty && self.previousSecret == nil && self.apiKeys.isEmpty
                && self.clientKeys.isEmpty
                && self.settings == AppSettings()
        }
    }

    /// The key itself is not kept, only its hash.
    package struct APIKey: Equatable, Sendable {
        package var id: String
        /// 64 hexadecimal digits.
        package var sha256: String
        package var scopes: [APIScope]
    }

    /// A key that stands in the app's binary.
    package struct ClientKey: Equatable, Sendable {
        package var name: String
        package var key: String
    }

    /// A token key, from which the app's first push credential is made.
    package struct APNs: Equatable, Sendable {
        package var environment: PushEnvironment = .production
        package var teamID = ""
        package var keyID = ""
        /// The `.p8` file.
        package var keyPath = ""
        /// The app's bundle identifier.
        package var topic = ""

        package init() {}
    }

    /// A raw value of `DevicePolicy`.
    package var devicePolicy = DevicePolicy.all.rawValue

    /// Raw values of `ConversationPolicy`, by kind.
    package var create = PolicyWords(
        group: ConversationPolicy.group.create.rawValue, discussion: ConversationPolicy.discussion.create.rawValue,
        chatRoom: ConversationPolicy.chatRoom.create.rawValue)
    package var join = PolicyWords(
        group: ConversationPolicy.group.join.rawValue, discussion: ConversationPolicy.discussion.join.rawValue,
        chatRoom: ConversationPolicy.chatRoom.join.rawValue)
    package var add = PolicyWords(
        group: ConversationPolicy.group.add.rawValue, discussion: ConversationPolicy.discussion.add.rawValue,
        chatRoom: ConversationPolicy.chatRoom.add.rawValue)

    package struct PolicyWords: Hashable, Sendable {
        package var group: String
        package var discussion: String
        package var chatRoom: String
    }

    private func policy(_ word: KeyPath<PolicyWords, String>, or standard: ConversationPolicy) -> ConversationPolicy {
        ConversationPolicy(
            create: .init(rawValue: self.create[keyPath: word]) ?? standard.create,
            join: .init(rawValue: self.join[keyPath: word]) ?? standard.join,
            add: .init(rawValue: self.add[keyPath: word]) ?? standard.add)
    }

    /// `enforce` or `none`.
    package var limitsMode = "enforce"

    var recipientTagSalt: Int {
        get { Int(clamping: self.core.recipientTagSalt) }
        set { self.core.recipientTagSalt = UInt64(clamping: newValue) }
    }

    package var coreSettings: ServerSettings {
        var settings = self.core
        settings.frameBytesMax = UInt32(clamping: self.gateway.frameBytesMax)
        if self.limitsMode == "none" { (settings.limits, settings.isRateFree) = (.none, true) }
        settings.devicePolicy = DevicePolicy(rawValue: self.devicePolicy) ?? .all
        settings.groupPolicy = self.policy(\.group, or: .group)
        settings.discussionPolicy = self.policy(\.discussion, or: .discussion)
        settings.chatRoomPolicy = self.policy(\.chatRoom, or: .chatRoom)
        for app in self.apps {
            settings.apply(app.settings, to: app.id)
        }
        return settings
    }
}

package enum APIScope: String, Hashable, Sendable, CaseIterable {
    case tokens
    /// Writes as a person or as the app's backend.
    case messages
    case conversations
    case history
    case settings
    case trace
    case accounts
    case media
}

/// A text that is never printed.
package struct Secret: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let value: String

    package init(_ value: String) { self.value = value }

    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key or file at fault, for example `gateway.port`.
    package var field: String
    /// In words that follow the field's name.
    package var rule: String
    package var remedy: String

    package var description: String { "\(self.field) \(self.rule); \(self.remedy)" }
}

extension [ConfigurationFault] {
    mutating func append(field: String, rule: String, remedy: String) {
        self.append(ConfigurationFault(field: field, rule: rule, remedy: remedy))
    }
}

package struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    /// In the order of the keys.
    package var faults: [ConfigurationFault]

    package init(_ faults: [ConfigurationFault]) { self.faults = faults }

    init(field: String, rule: String, remedy: String) {
        self.faults = [ConfigurationFault(field: field, rule: rule, remedy: remedy)]
    }

    package var description: String { self.faults.map(\.description).joined(separator: "\n") }
}

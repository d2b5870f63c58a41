public import ClientCore
public import Foundation
import TidingsAppGroup
public import TidingsModel

extension ChatClient {
    /// The configuration of a client.
    public struct Configuration: Sendable {
        /// The app's key on the server: the tenant.
        public var appKey: AppID
        /// Where the server's gateway is: `ws://host:port` or `wss://host:port`.
        public var serverURL: URL
        /// Where the server's HTTP API is: `https://host:port`. The notification service extension fetches missed messages and
        /// writes receipts there; without it, it does neither.
        public var apiURL: URL?
        /// The app group shared with the notification service extension; nil for an app without one.
        public var appGroupIdentifier: String?
        /// The keychain group the extension token lies in, with the team's prefix; the same in the extension's options, and among
        /// the entitlements of both targets. Nil keeps it in a file of the app group.
        public var keychainAccessGroup: String?
        /// Names the icon's number in the app group; the same in the extension's `BadgeStore` (S2.14).
        public var badgeKey = "badge"
        /// The app group's container. On Apple's systems it is found by the identifier; elsewhere it is set here.
        public var appGroupFolder: URL?
        /// The app's own folder for the local store; nil is `Tidings` in the application-support folder.
        public var storeFolder: URL?
        /// The app's bundle identifier: the topic of its pushes. Nil is the main bundle's.
        public var bundleIdentifier: String?
        /// The words of notifications beside the messages' own, by language: the same as `words` of the app on the server. The language is
        /// that of a person who has set none (`setPushLanguage`); by default the phone's, and the built-in words.
        public var words = AppWords(language: PhoneLanguage.tag)
        /// How long the connection is kept in the background at most (S0.6); less if the system gives less (S3.2).
        public var backgroundConnectionLimitMilliseconds: Int64 = 120_000
        /// The same as a duration (iOS 16).
        @available(iOS 16, *)
        public var backgroundConnectionLimit: Duration {
            get { .milliseconds(self.backgroundConnectionLimitMilliseconds) }
            set { self.backgroundConnectionLimitMilliseconds = newValue.milliseconds }
        }
        /// How long `connect` waits for the server's welcome before it throws `ChatError.timedOut`, in seconds.
        public var connectTimeLimit: TimeInterval = 30
        /// How many elements each stream of the client holds that its reader has not taken, 1 or more. One more, and the oldest falls
        /// out: `ChatClient.streamGaps` tells the reader's app to look into the local store, where it still is.
        public var streamElementsMax = 1_000
        /// True if the process was started in the foreground. A push that wakes the app starts it in the background.
        public var isStartedInForeground = true
        /// Where problems are written; by default the system's log, or standard error where there is none.
        public var log: @Sendable (ClientProblem) -> Void = { ClientLog.write($0) }
        /// On Linux, for `wss` to a server with a certificate of a local authority: a PEM file. Nil believes the system's.
        public var certificateAuthorityFile: URL?

        /// A configuration with default limits.
        public init(appKey: AppID, appGroupIdentifier: String? = nil, serverURL: URL) {
            self.appKey = appKey
            self.appGroupIdentifier = appGroupIdentifier
            self.serverURL = serverURL
        }

        static var platform: String {
            #if os(iOS)
                "ios"
            #elseif os(macOS)
                "macos"
            #else
                "linux"
            #endif
        }

        var extensionTokens: (any ExtensionTokens)? {
            self.keychainAccessGroup.map { KeychainTokens(accessGroup: $0) }
        }

        var resolvedStoreFolder: URL {
            if let folder = self.storeFolder { return folder }
            let support =
                FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
                ?? FileManager.default.temporaryDirectory
            return support.appendingPathComponent("Tidings", isDirectory: true)
        }

        var resolvedAppGroupFolder: URL? {
            #if canImport(Darwin)
                self.appGroupFolder
                    ?? self.appGroupIdentifier.flatMap {
                        FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0)
                    }
            #else
                self.appGroupFolder
            #endif
        }
    }
}

/// A device token as APNs gives it; its length varies (ios-delivery.md §13).
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    /// The bytes.
    public var data: Data

    /// Wraps the bytes the system hands to the app's delegate.
    public init(_ data: Data) { self.data = data }

    /// Lowercase hexadecimal, two digits a byte: the form the server and APNs want.
    public var hexString: String { Hexadecimal.text(self.data) }

    /// Base 64.
    public var base64EncodedString: String { self.data.base64EncodedString() }

    /// Hexadecimal.
    public var description: String { self.hexString }
}

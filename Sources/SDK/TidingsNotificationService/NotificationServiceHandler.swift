import ClientCore
public import Foundation
public import TidingsAppGroup
public import TidingsModel
public import UserNotifications

/// Handles each push in a notification service extension (S2.18–S2.22; design.md P3, §5, §7). The app's extension forwards both calls:
///
/// ```swift
/// final class NotificationService: UNNotificationServiceExtension {
///     let handler = NotificationServiceHandler(appGroupIdentifier: "group.com.example.chat")
///     override func didReceive(
///         _ request: UNNotificationRequest,
///         withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
///     ) { self.handler.didReceive(request, contentHandler: contentHandler) }
///     override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
/// }
/// ```
///
/// Several pushes may be at work at once, on different threads. Each content handler is called exactly once: with what was
/// decided, at the latest when the time is up or the handler is given up.
public final class NotificationServiceHandler: Sendable {
    /// Tests put their own in their place.
    package struct Surroundings: Sendable {
        /// Nil where it cannot be used now, for example before the first unlock.
        package var group: @Sendable () -> AppGroup?
        package var http: any ExtensionHTTP
        package var wall: @Sendable () -> Int64
        package var tokens: (any ExtensionTokens)?
        /// For example `17.0`; nil if it cannot be told.
        package var version: @Sendable () -> String?
        /// In milliseconds; returns early if its task is cancelled.
        package var sleep: @Sendable (Int64) async -> Void = {
            try? await Task.sleep(nanoseconds: UInt64(max(0, $0)) * 1_000_000)
        }
        package var safety: any FileSafety = SystemFileSafety()

        package init(
            group: @escaping @Sendable () -> AppGroup?, http: any ExtensionHTTP = URLSessionHTTP(),
            wall: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) },
            tokens: (any ExtensionTokens)? = nil,
            version: @escaping @Sendable () -> String? = { ServiceProcess.systemVersion }
        ) {
            self.tokens = tokens
            self.version = version
            self.group = group
            self.http = http
            self.wall = wall
        }
    }

    /// Why the app group cannot be used: nearly always a name that was not replaced in one of the targets (S2.14). Nil if all is well.
    public let problem: BadgeStoreProblem?

    let surroundings: Surroundings
    let options: Options
    private let runs = Locked<[NotificationServiceRun]>([])

    /// The path of the flag by which another sender's push recalls a message (S2.22).
    public static let cornerMarkDecrease = CornerMarkDecrease.keyPath

    /// The app's options for its extension.
    public struct Options: Sendable {
        /// The server's HTTP API, `https://host:port`; nil for the one the app has noted in the app group. Without either,
        /// nothing is fetched and no receipt is written.
        public var apiURL: URL?
        /// The keychain group the extension token lies in: the one of the app's `ChatClient.Configuration`. Nil finds it in the
        /// app group's file.
        public var keychainAccessGroup: String?
        /// The hosts that images of messages may be fetched from: `cdn.example.com`, or `*.example.com` for every host below `example.com`.
        /// The sender chooses the URL, and its host learns when and from which address the person's phone asks; without any host, which is
        /// the default, no image is fetched.
        public var imageHosts: [String]
        /// True if the extension has `com.apple.developer.usernotifications.filtering`: pushes that would be shown silently are then not
        /// shown at all, from iOS 13.3 on.
        public var isFilteringEntitled: Bool
        /// True if notifications are shown as coming from a person (ios-delivery.md §11); the app needs the capability.
        public var usesCommunicationNotifications: Bool
        /// Returns true if another sender's push recalls a message; S2.22 by default.
        public var isRecall: @Sendable (JSONValue) -> Bool

        /// Options; by default nothing special.
        public init(
            apiURL: URL? = nil, imageHosts: [String] = [], isFilteringEntitled: Bool = false,
            usesCommunicationNotifications: Bool = false,
            isRecall: @escaping @Sendable (JSONValue) -> Bool = CornerMarkDecrease.isSet(in:)
        ) {
            self.apiURL = apiURL
            self.imageHosts = imageHosts
            self.isFilteringEntitled = isFilteringEntitled
            self.usesCommunicationNotifications = usesCommunicationNotifications
            self.isRecall = isRecall
        }

        var extensionTokens: (any ExtensionTokens)? {
            self.keychainAccessGroup.map { KeychainTokens(accessGroup: $0) }
        }
    }

    /// A handler over a badge store in the app group; nil if the app group cannot be used: contents then stay as they came
    /// (S2.20).
    public convenience init(
        badgeStore: BadgeStore?, isRecall: @escaping @Sendable (JSONValue) -> Bool = CornerMarkDecrease.isSet(in:)
    ) {
        self.init(badgeStore: badgeStore, options: Options(isRecall: isRecall))
    }

    /// A handler over a badge store in the app group; nil if the app group cannot be used: contents then stay as they came
    /// (S2.20).
    public convenience init(badgeStore: BadgeStore?, options: Options) {
        let group = badgeStore?.group
        self.init(
            surroundings: Surroundings(group: { group }, tokens: options.extensionTokens), options: options,
            problem: nil)
    }

    /// A handler over an app group's container. Before the first unlock the container cannot be used; contents then stay as
    /// they came (S2.20).
    ///
    /// An identifier or key that is wrong is told in `problem` and on the standard error (S2.14); contents stay as they came.
    public convenience init(appGroupIdentifier: String, badgeKey: String = "badge", options: Options = Options()) {
        var problem: BadgeStoreProblem?
        do {
            problem = try BadgeStore(appGroupIdentifier: appGroupIdentifier, key: badgeKey).problem
        } catch {
            problem = error
        }
        if let problem { FileHandle.standardError.write(Data("Tidings: \(problem)\n".utf8)) }
        let opened = Locked<AppGroup?>(nil)
        let group: @Sendable () -> AppGroup? = {
            opened.withLock { group in
                // Tried again at each push: the person may have unlocked the phone meanwhile.
                if group == nil {
                    group = (try? BadgeStore(appGroupIdentifier: appGroupIdentifier, key: badgeKey))?.group
                }
                return group
            }
        }
        self.init(
            surroundings: Surroundings(group: group, tokens: options.extensionTokens), options: options,
            problem: problem)
    }

    package init(surroundings: Surroundings, options: Options = Options(), problem: BadgeStoreProblem? = nil) {
        self.surroundings = surroundings
        self.options = options
        self.problem = problem
    }

    deinit { self.serviceExtensionTimeWillExpire() }

    /// Decides what the push shows and calls the content handler, at the latest from `serviceExtensionTimeWillExpire`.
    public func didReceive(
        _ request: UNNotificationRequest, contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let run = NotificationServiceRun(
            request, group: self.surroundings.group(), surroundings: self.surroundings, options: self.options,
            handler: contentHandler)
        self.runs.withLock { runs in
            runs.removeAll { !$0.isOpen }
            runs.append(run)
        }
        run.handle(.received)
    }

    /// The time is up: the best content so far is shown (S2.21).
    public func serviceExtensionTimeWillExpire() {
        let runs = self.runs.withLock { runs in
            defer { runs = [] }
            return runs
        }
        for run in runs { run.handle(.timeExpired) }
    }
}

// On Apple's systems the same is part of `TidingsAppGroup`: there Foundation knows the container.
#if os(Linux)
    extension BadgeStore {
        /// A store in an app group's container.
        ///
        /// - Parameters:
        ///   - appGroupIdentifier: the group's name, the same in app and extension (S2.14).
        ///   - key: names the number; the same in app and extension (S2.14).
        /// - Throws: `BadgeStoreProblem`: this process does not belong to the group, the key is no key, or the container cannot be
        ///   used now.
        public init(appGroupIdentifier: String, key: String = "badge") throws(BadgeStoreProblem) {
            guard
                let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroupIdentifier)
            else { throw .unknownAppGroup(appGroupIdentifier) }
            try self.init(appGroupFolder: folder, identifier: appGroupIdentifier, key: key)
        }
    }
#endif

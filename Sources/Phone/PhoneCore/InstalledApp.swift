public import TidingsModel

/// An app's bundle identifier, which is also its push topic.
public struct BundleID: StringIdentifier {
    /// The identifier's text.
    public let rawValue: String
    /// Wraps the text unchecked.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The longest bundle identifier App Store Connect takes.
    public static var bytesMax: Int { 155 }
}

/// Which delegate methods an app has (ios-delivery.md §0.3); iOS asks before it calls.
public struct DelegateMethods: OptionSet, Hashable, Sendable, Codable {
    /// One bit per member.
    public let rawValue: UInt32
    /// Members of the given bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `application(_:didReceiveRemoteNotification:)`.
    public static let receiveRemote = DelegateMethods(rawValue: 1 << 0)
    /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    public static let receiveRemoteFetch = DelegateMethods(rawValue: 1 << 1)
    /// `application(_:didReceive: UILocalNotification)`.
    public static let receiveLocal = DelegateMethods(rawValue: 1 << 2)
    /// `userNotificationCenter(_:willPresent:withCompletionHandler:)`.
    public static let willPresent = DelegateMethods(rawValue: 1 << 3)
    /// `userNotificationCenter(_:didReceive:withCompletionHandler:)`.
    public static let receiveResponse = DelegateMethods(rawValue: 1 << 4)
    /// `application(_:performFetchWithCompletionHandler:)`.
    public static let performFetch = DelegateMethods(rawValue: 1 << 5)
    /// `userNotificationCenter(_:openSettingsFor:)`.
    public static let openSettings = DelegateMethods(rawValue: 1 << 6)
    /// `application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)`.
    public static let actionRemote = DelegateMethods(rawValue: 1 << 7)
    /// `application(_:handleActionWithIdentifier:for:completionHandler:)`.
    public static let actionLocal = DelegateMethods(rawValue: 1 << 8)
    /// `application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)`.
    public static let actionRemoteText = DelegateMethods(rawValue: 1 << 9)
    /// `application(_:handleActionWithIdentifier:for:withResponseInfo:completionHandler:)`.
    public static let actionLocalText = DelegateMethods(rawValue: 1 << 10)

    /// The methods of a present-day app: `didReceiveRemoteNotification:fetchCompletionHandler:`, `willPresent` and `didReceive(response)`.
    public static let modern: DelegateMethods = [.receiveRemoteFetch, .willPresent, .receiveResponse]
}

/// The background modes an app declares in its Info.plist.
public struct BackgroundModes: OptionSet, Hashable, Sendable {
    /// One bit per member.
    public let rawValue: UInt32
    /// Members of the given bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `remote-notification`: silent pushes wake the app.
    public static let remoteNotification = BackgroundModes(rawValue: 1 << 0)
    /// `fetch`: Background Fetch.
    public static let fetch = BackgroundModes(rawValue: 1 << 1)
    /// `voip`: PushKit may launch the app.
    public static let voip = BackgroundModes(rawValue: 1 << 2)
}

/// Entitlements that change how an app's notifications are presented (ios-delivery.md §4 gate 5, §11).
public struct Entitlements: OptionSet, Hashable, Sendable, Codable {
    /// One bit per member.
    public let rawValue: UInt32
    /// Members of the given bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `com.apple.developer.usernotifications.time-sensitive`.
    public static let timeSensitive = Entitlements(rawValue: 1 << 0)
    /// `com.apple.developer.usernotifications.critical-alerts`.
    public static let criticalAlerts = Entitlements(rawValue: 1 << 1)
    /// `com.apple.developer.usernotifications.communication`.
    public static let communication = Entitlements(rawValue: 1 << 2)
}

/// The receiver of an app's life-cycle: its delegate or its scenes (ios-delivery.md §2.2).
public enum LifecycleStyle: String, Hashable, Sendable, CaseIterable, Codable {
    case application
    /// Counts from iOS 13; on older systems the app falls back to `application`.
    case scenes
}

/// The phone's knowledge of an installed app.
public struct InstalledApp: Hashable, Sendable {
    /// Its bundle identifier and push topic.
    public var bundleID: BundleID
    /// Who is told about the life-cycle.
    public var lifecycle: LifecycleStyle
    /// The delegate methods it has.
    public var methods: DelegateMethods
    /// The background modes it declares.
    public var backgroundModes: BackgroundModes
    /// True if it brings a notification service extension.
    public var hasServiceExtension: Bool
    /// True if it may discard pushes: `com.apple.developer.usernotifications.filtering`, iOS 13.3 (ios-delivery.md §10).
    public var hasFilteringEntitlement: Bool
    /// The app group it shares with its extension; nil for none.
    public var appGroup: String?
    /// The other entitlements.
    public var entitlements: Entitlements
    /// The app's own string table, for `loc-key` and its like (ios-delivery.md §3.1): format by key, with `%@` and `%1$@`.
    public var localizations: [String: String]
    /// `BGTaskSchedulerPermittedIdentifiers`; naming any turns Background Fetch off from iOS 13 (ios-delivery.md §8).
    public var permittedTasks: [String]
    /// True if it is an app clip, which may notify for a limited time without asking (iOS 14).
    public var isAppClip: Bool
    /// The SDK it was built with; nil is one older than iOS 27's, with which scenes are required (ios-delivery.md §5.4).
    public var sdkVersion: OSVersion?

    /// An app of the given facts; the defaults are a present-day messenger.
    public init(
        bundleID: BundleID, lifecycle: LifecycleStyle = .scenes, methods: DelegateMethods = .modern,
        backgroundModes: BackgroundModes = .remoteNotification, hasServiceExtension: Bool = true,
        hasFilteringEntitlement: Bool = false, appGroup: String? = nil, entitlements: Entitlements = [],
        localizations: [String: String] = [:], permittedTasks: [String] = [], isAppClip: Bool = false,
        sdkVersion: OSVersion? = nil
    ) {
        self.bundleID = bundleID
        self.lifecycle = lifecycle
        self.methods = methods
        self.backgroundModes = backgroundModes
        self.hasServiceExtension = hasServiceExtension
        self.hasFilteringEntitlement = hasFilteringEntitlement
        self.appGroup = appGroup
        self.entitlements = entitlements
        self.localizations = localizations
        self.permittedTasks = permittedTasks
        self.isAppClip = isAppClip
        self.sdkVersion = sdkVersion
    }

    func hasScenes(on version: OSVersion) -> Bool { self.lifecycle == .scenes && version.hasScenes }

    /// From iOS 27 an app built with that SDK must have scenes (ios-delivery.md §5.4).
    func refusesLaunch(_ turn: inout Turn) -> Bool {
        guard turn.version >= 27, self.sdkVersion.map({ $0 >= 27 }) == true, self.lifecycle == .application else {
            return false
        }
        turn.recordFault("app \(self.bundleID) was built with the iOS 27 SDK and must use scenes")
        return true
    }
}

/// One operating-system process of an app or of its extension. A number is never used again on a phone.
public struct ProcessID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The app it belongs to.
    public var app: BundleID
    /// The process's role.
    public var role: Role
    /// 1 for the first process of the phone, then upwards; content extensions are counted for themselves.
    public var number: UInt64

    /// The role of a process.
    public enum Role: String, Hashable, Sendable {
        case app
        case serviceExtension
        /// Run by the shells alone; the core does not know it.
        case contentExtension
    }

    /// Names a process.
    public init(app: BundleID, role: Role, number: UInt64) {
        self.app = app
        self.role = role
        self.number = number
    }

    /// The number first: it nearly always tells two apart, and processes are compared with every event.
    public static func == (left: ProcessID, right: ProcessID) -> Bool {
        left.number == right.number && left.role == right.role && left.app == right.app
    }

    /// Feeds the number, which tells the processes of a phone apart.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.number) }

    /// Orders by number: older first.
    public static func < (left: ProcessID, right: ProcessID) -> Bool { left.number < right.number }

    /// `app#3` or `app/serviceExtension#4`.
    public var description: String {
        switch self.role {
        case .app: "\(self.app)#\(self.number)"
        case .serviceExtension, .contentExtension: "\(self.app)/\(self.role.rawValue)#\(self.number)"
        }
    }
}

/// A device of the person's own, as they see it.
public struct OwnDevice: Hashable, Sendable, Identifiable {
    /// Its id.
    public var id: DeviceID
    /// The platform, as its client names it, for example `ios`.
    public var platform: String
    /// True if it is the one that asks.
    public var isCurrent: Bool
    /// When the server heard of it last, in wall milliseconds since 1970; nil while it is connected.
    public var lastSeenAt: Int64?
    /// When it connected last, in wall milliseconds since 1970.
    public var connectedAt: Int64
    /// Says if pushes reach it.
    public var push: PushStatus
    /// The app's version; nil if the device has not told.
    public var appVersion: String?
    /// The system's version, for example `17.4`; nil if the device has not told.
    public var systemVersion: String?
    /// Apple's identifier of the model, for example `iPhone16,1`; nil if the device has not told.
    public var model: String?

    /// The state of pushes to a device.
    public enum PushStatus: String, Hashable, Sendable, CaseIterable {
        /// It has registered no token.
        case none
        case registered
        /// APNs refuses its token for a reason that may pass.
        case quarantined
        /// APNs has said that the app is not there any more.
        case dead
    }

    /// A device from its parts.
    public init(
        id: DeviceID, platform: String, isCurrent: Bool, lastSeenAt: Int64?, connectedAt: Int64, push: PushStatus,
        appVersion: String? = nil, systemVersion: String? = nil, model: String? = nil
    ) {
        self.id = id
        self.platform = platform
        self.isCurrent = isCurrent
        self.lastSeenAt = lastSeenAt
        self.connectedAt = connectedAt
        self.push = push
        self.appVersion = appVersion
        self.systemVersion = systemVersion
        self.model = model
    }
}

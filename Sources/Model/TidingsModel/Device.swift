/// Which of Apple's two sides a device token belongs to (apns.md §1).
public enum PushEnvironment: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
    /// Development builds.
    case sandbox
    /// App Store and TestFlight builds.
    case production
}

/// A device's push registration as the SDK reports it after connecting (S2.7).
public struct PushRegistration: Hashable, Sendable {
    /// The token in lowercase hexadecimal.
    public var token: PushToken
    /// Which of Apple's sides the token belongs to.
    public var environment: PushEnvironment
    /// The app's bundle identifier: the topic of alert pushes. Of the token for calls with `voIPSuffix` behind it.
    public var topic: String

    /// The suffix after the bundle identifier in the topic of VoIP pushes (apns.md §6).
    public static let voIPSuffix = ".voip"

    /// A registration.
    public init(token: PushToken, environment: PushEnvironment, topic: String) {
        self.token = token
        self.environment = environment
        self.topic = topic
    }
}

/// The run state of the app, as the SDK tells the server (S0.1; design.md §4).
public enum ReportedRunState: Hashable, Sendable {
    case foreground
    /// The connection is kept for at most this long (S0.6).
    case background(remainingMilliseconds: Int64)
    /// The app is about to close its connection (S3.2).
    case suspending
}

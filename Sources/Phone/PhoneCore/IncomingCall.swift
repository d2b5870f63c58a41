/// A call as an app reports it to CallKit (iOS 10; ios-delivery.md §12).
public struct IncomingCall: Hashable, Sendable, Codable {
    /// The app's UUID of it.
    public var identifier: String
    /// The caller's name on the screen.
    public var caller: String
    /// True if it is a call with video.
    public var hasVideo: Bool

    /// A call.
    public init(identifier: String, caller: String, hasVideo: Bool = false) {
        self.identifier = identifier
        self.caller = caller
        self.hasVideo = hasVideo
    }
}

/// A call on the screen, whether the phone is locked or not.
public struct ShownCall: Hashable, Sendable {
    /// The app that has reported it.
    public var app: BundleID
    /// The call.
    public var call: IncomingCall
    /// It rings until the person answers.
    public var isAnswered: Bool
}

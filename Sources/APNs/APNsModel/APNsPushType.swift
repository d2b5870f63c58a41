/// The kind of a push: the header `apns-push-type` (APNs reference, section 7).
public enum APNsPushType: String, Hashable, Sendable, CaseIterable {
    /// Shows an alert, plays a sound or sets the badge.
    case alert
    /// Wakes the app without a word (`content-available`); never immediate (APNs reference, section 14).
    case background
    /// An incoming call, through PushKit and a token of its own.
    case voip
    /// A watch complication.
    case complication
    /// A file provider extension.
    case fileprovider
    /// Device management; the topic is the UID of the certificate's subject.
    case mdm
    /// A location query; token authentication only.
    case location
    /// A Live Activity.
    case liveactivity
    /// Push to talk.
    case pushtotalk
    /// A widget reload.
    case widgets
    /// A control reload.
    case controls

    /// Reads the header's value in whatever case: Apple's pages write `liveactivity`, `Liveactivity` and `LiveActivity`
    /// (APNs reference, section 17). Nil for a type nobody knows.
    public init?(wireName: some StringProtocol) {
        self.init(rawValue: wireName.lowercased())
    }

    /// The suffix of the topic after the bundle identifier; empty for the types whose topic is the bundle identifier, or is free (`mdm`).
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The header `apns-topic` of this type for an app; for `mdm`, whose topic is the UID of the certificate's subject,
    /// the text itself.
    ///
    /// - Parameter bundleID: the app's bundle identifier, without a suffix.
    public func topic(forBundle bundleID: String) -> String { bundleID + self.topicSuffix }

    /// The largest body in bytes of JSON as sent: 5,120 for `voip`, otherwise 4,096 (APNs reference, section 6). A
    /// broadcast has a limit of its own: `APNsBroadcast.payloadBytesMax`.
    public var payloadBytesMax: Int { self == .voip ? 5_120 : 4_096 }

    /// The priorities APNs takes for this type, the most urgent first: 10 is an error with `background`, and a Live
    /// Activity on a device has 10 or 5 (APNs reference, section 7). A broadcast takes all three.
    public var allowedPriorities: [APNsPriority] {
        switch self {
        case .background: [.powerAware, .powerFirst]
        case .liveactivity: [.immediate, .powerAware]
        case .alert, .voip, .complication, .fileprovider, .mdm, .location, .pushtotalk, .widgets, .controls:
            [.immediate, .powerAware, .powerFirst]
        }
    }

    /// Returns true if APNs takes this priority for this type.
    public func allows(_ priority: APNsPriority) -> Bool { self.allowedPriorities.contains(priority) }

    /// The rule for a certificate for pushes of this type. A provider token may send every type (APNs reference, section 7).
    public var certificateRule: APNsCertificateRule {
        switch self {
        case .alert, .background, .fileprovider: .ownApp
        case .mdm: .subject
        case .voip, .complication, .pushtotalk, .liveactivity, .widgets, .controls: .listed
        case .location: .never
        }
    }

    /// Returns true if this authentication may send pushes of this type to this topic. APNs answers others with `TopicDisallowed`.
    ///
    /// A provider token passes here for every topic: which topics a key covers only APNs knows.
    public func maySend(to topic: String, with authentication: APNsAuthentication) -> Bool {
        switch (authentication, self.certificateRule) {
        case (.token, _): true
        case (.certificate(let topics), .ownApp):
            topics.listed.contains(topic) || self.topic(forBundle: topics.subject) == topic
        case (.certificate(let topics), .subject): topics.subject == topic
        case (.certificate(let topics), .listed): topics.listed.contains(topic)
        case (.certificate, .never): false
        }
    }
}

/// The rule for a certificate for pushes of one type (APNs reference, sections 5 and 7).
public enum APNsCertificateRule: Hashable, Sendable {
    /// The app in the certificate's subject, or a topic in its list.
    case ownApp
    /// The UID of the certificate's subject is the topic.
    case subject
    /// The topic stands in the certificate's list.
    case listed
    /// No certificate may send it.
    case never
}

/// How a provider proves who it is (APNs reference, sections 4 and 5).
public enum APNsAuthentication: Hashable, Sendable {
    /// A provider token in every request.
    case token
    /// A client certificate, presented in TLS.
    case certificate(APNsCertificateTopics)
}

/// The topics of a provider certificate (APNs reference, section 5).
public struct APNsCertificateTopics: Hashable, Sendable {
    /// The UID of the subject: the app's bundle identifier, or for device management the topic.
    public var subject: String
    /// The topics in the extension 1.2.840.113635.100.6.3.6; empty for a certificate without it.
    public var listed: [String]

    /// Topics as they stand in a certificate.
    public init(subject: String, listed: [String] = []) {
        self.subject = subject
        self.listed = listed
    }

    /// The topic of a request without `apns-topic`: the subject, if the certificate has no other topic. Nil means that
    /// the header is mandatory (`MissingTopic`).
    public var onlyTopic: String? {
        self.listed.allSatisfy { $0 == self.subject } ? self.subject : nil
    }
}

/// How urgent a push is: the header `apns-priority` (APNs reference, section 6).
public enum APNsPriority: Int, Hashable, Sendable, CaseIterable {
    /// At once.
    case immediate = 10
    /// Minds the phone's power; may be grouped or held back.
    case powerAware = 5
    /// Power first: never wakes the phone.
    case powerFirst = 1
}

public import TidingsModel

/// The JSON of a push, member by member (APNs reference, section 13). Writing it is byte-exact: what is measured is what
/// is sent.
///
/// The fields carry Apple's keys of `aps`; `custom` is what the app puts beside `aps`. Rules are checked when the payload
/// is written, those of one kind of push by `serialized(for:)`.
public struct APNsPayload: Hashable, Sendable {
    /// The alert.
    public var alert: Alert?
    /// The absolute number on the icon, 0 or more; 0 removes it.
    public var badge: Int?
    /// The sound. Written inside the alert if `liveActivity` is set, which is where a Live Activity has it.
    public var sound: Sound?
    /// Groups notifications: the conversation.
    public var threadID: String?
    /// A registered category, for action buttons.
    public var category: String?
    /// Run the notification service extension first; it runs for alerts with words only.
    public var mutableContent: Bool
    /// Wake the app in the background.
    public var contentAvailable: Bool
    /// How loudly it may interrupt.
    public var interruptionLevel: InterruptionLevel?
    /// How much it matters beside the app's other notifications: 0…1 for the summary, any finite number for a Live
    /// Activity.
    public var relevanceScore: Double?
    /// The text that the app's Focus filter compares.
    public var filterCriteria: String?
    /// The window to bring forward.
    public var targetContentID: String?
    /// The event of a Live Activity.
    public var liveActivity: LiveActivity?
    /// Reload a widget or a control.
    public var contentChanged: Bool
    /// The app's own members beside `aps`, in order.
    public var custom: JSONObject

    /// A payload.
    public init(
        alert: Alert? = nil, badge: Int? = nil, sound: Sound? = nil, threadID: String? = nil, category: String? = nil,
        mutableContent: Bool = false, contentAvailable: Bool = false, interruptionLevel: InterruptionLevel? = nil,
        relevanceScore: Double? = nil, filterCriteria: String? = nil, targetContentID: String? = nil,
        liveActivity: LiveActivity? = nil, contentChanged: Bool = false, custom: JSONObject = JSONObject()
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.threadID = threadID
        self.category = category
        self.mutableContent = mutableContent
        self.contentAvailable = contentAvailable
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.filterCriteria = filterCriteria
        self.targetContentID = targetContentID
        self.liveActivity = liveActivity
        self.contentChanged = contentChanged
        self.custom = custom
    }
}

extension APNsPayload {
    /// The words of an alert; a title, a subtitle or a body must be there, as text or from the app's tables.
    public struct Alert: Hashable, Sendable {
        /// The first line.
        public var title: String?
        /// The second line.
        public var subtitle: String?
        /// The text; shortened if the payload would not fit.
        public var body: String?
        /// The first line from the app's tables: `title-loc-key`, or for a Live Activity `title` as an object.
        public var titleLocalization: Localization?
        /// The second line from the app's tables: `subtitle-loc-key`.
        public var subtitleLocalization: Localization?
        /// The text from the app's tables: `loc-key`, or for a Live Activity `body` as an object.
        public var bodyLocalization: Localization?
        /// The image or storyboard the app shows while it starts: `launch-image`.
        public var launchImage: String?

        /// The words.
        public init(
            title: String? = nil, subtitle: String? = nil, body: String? = nil, titleLocalization: Localization? = nil,
            subtitleLocalization: Localization? = nil, bodyLocalization: Localization? = nil, launchImage: String? = nil
        ) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.titleLocalization = titleLocalization
            self.subtitleLocalization = subtitleLocalization
            self.bodyLocalization = bodyLocalization
            self.launchImage = launchImage
        }
    }

    /// A text the device looks up in the app's `Localizable.strings`.
    public struct Localization: Hashable, Sendable {
        /// The key in the table, not empty.
        public var key: String
        /// The replacements of each `%@` of the text, in order.
        public var arguments: [String]

        /// A key and its arguments.
        public init(_ key: String, _ arguments: [String] = []) {
            self.key = key
            self.arguments = arguments
        }
    }

    /// A sound: `sound`.
    public enum Sound: Hashable, Sendable, ExpressibleByStringLiteral {
        /// A file in the app's bundle or its `Library/Sounds`, or `default`.
        case named(String)
        /// A critical alert's sound, which the mute switch does not silence; needs an entitlement. `volume` is 0…1.
        case critical(name: String = "default", volume: Double = 1)

        /// A file's name, or `default`.
        public init(stringLiteral value: String) { self = .named(value) }
    }

    /// How loudly a notification may interrupt: `interruption-level`.
    public enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
        /// Into the list without lighting the screen.
        case passive
        /// The usual level.
        case active
        /// Breaks through a Focus; needs an entitlement.
        case timeSensitive = "time-sensitive"
        /// Breaks through the mute switch; needs an entitlement.
        case critical
    }

    /// An event of a Live Activity: the members of `aps` such a push has beside the alert.
    public struct LiveActivity: Hashable, Sendable {
        /// The kind of event: `event`.
        public enum Event: String, Hashable, Sendable, CaseIterable, JSONWritable {
            /// The activity begins; needs `attributesType`, `attributes` and an alert, and cannot be broadcast.
            case start
            /// The activity shows another state.
            case update
            /// The activity is over; its final state may come along.
            case end
        }

        /// The kind of event.
        public var event: Event
        /// UNIX seconds of the state; of several pushes the newest wins.
        public var timestamp: Int64
        /// The state as the app's `ContentState` decodes it; needed for `start` and `update`.
        public var contentState: JSONObject?
        /// The name of the app's type of attributes; with `start` alone.
        public var attributesType: String?
        /// The attributes that stay from the activity's start to its end; with `start` alone.
        public var attributes: JSONObject?
        /// UNIX seconds after which the state is shown as outdated.
        public var staleDate: Int64?
        /// UNIX seconds after which an ended activity leaves the screen; a time in the past removes it at once. Without
        /// it the system does within 4 hours.
        public var dismissalDate: Int64?
        /// The channel the new activity listens to; with `start` alone.
        public var inputPushChannel: APNsChannelID?
        /// True if the new activity gets a push token of its own; with `start` alone.
        public var inputPushToken: Bool

        /// An event from its parts.
        public init(
            event: Event, timestamp: Int64, contentState: JSONObject? = nil, attributesType: String? = nil,
            attributes: JSONObject? = nil, staleDate: Int64? = nil, dismissalDate: Int64? = nil,
            inputPushChannel: APNsChannelID? = nil, inputPushToken: Bool = false
        ) {
            self.event = event
            self.timestamp = timestamp
            self.contentState = contentState
            self.attributesType = attributesType
            self.attributes = attributes
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.inputPushChannel = inputPushChannel
            self.inputPushToken = inputPushToken
        }
    }
}

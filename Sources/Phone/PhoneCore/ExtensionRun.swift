/// A process of a notification service extension. It may serve several pushes at once, and later ones while it lives
/// (ios-delivery.md §10).
struct ExtensionProcess: Equatable, Sendable {
    let process: ProcessID
    /// By when it must have reported its start, in monotonic milliseconds; nil once it has.
    var startDeadline: Int64?
    /// The pushes at work, oldest first.
    var runs: [ExtensionRun] = []
    /// When it ends while nothing is at work, in monotonic milliseconds.
    var endsAt: Int64 = 0
    /// Open `performExpiringActivity` blocks: the process goes on for them.
    var activities: [BackgroundTaskNumber] = []
    /// Until when they may keep the process, in monotonic milliseconds.
    var activitiesUntil: Int64 = 0
    /// Whether those were told that the time is over.
    var activitiesExpired = false

    /// When something happens by itself, in monotonic milliseconds.
    var deadline: Int64 { self.startDeadline ?? self.runs.lazy.map(\.deadline).min() ?? self.endsAt }
}

/// One push at work in an extension's process.
struct ExtensionRun: Equatable, Sendable {
    /// The push as it came: what is shown if the extension fails.
    let arrival: Arrival
    private(set) var stage: Stage = .waiting

    enum Stage: Equatable, Sendable {
        /// The process has not reported yet.
        case waiting
        case running(call: CallbackNumber, deadline: Int64)
        /// `serviceExtensionTimeWillExpire()` was called; the content handler may still be.
        case expiring(call: CallbackNumber, deadline: Int64)
    }

    init(arrival: Arrival) { self.arrival = arrival }

    /// The only place that changes the stage.
    mutating func enter(_ stage: Stage) { self.stage = stage }

    /// When the stage ends by itself, in monotonic milliseconds.
    var deadline: Int64 {
        switch self.stage {
        case .waiting: .max
        case .running(_, let deadline), .expiring(_, let deadline): deadline
        }
    }

    /// The call whose answer is the content; nil before it was made.
    var call: CallbackNumber? {
        switch self.stage {
        case .waiting: nil
        case .running(let call, _), .expiring(let call, _): call
        }
    }
}

/// What an extension made of a push.
enum ExtensionResult {
    /// The arrival to go on with (ios-delivery.md §10): the delivered content; without text and sound, nothing is shown
    /// if the app may filter, else the original text stays and only the badge is taken.
    static func apply(
        _ content: NotificationContent, to arrival: Arrival, app: InstalledApp, version: OSVersion
    ) -> Arrival {
        var result = arrival
        guard !content.hasText, content.sound == nil else {
            result.request.content = content
            return result
        }
        if self.mayFilter(app, version: version), arrival.pushType ?? "alert" == "alert" {
            result.request.content = content
            result.isVisible = false
            result.isFiltered = true
            return result
        }
        result.request.content.badge = content.badge
        return result
    }

    /// The arrival of an extension that went away without an answer and may filter: nothing is shown (Q14).
    static func discard(_ arrival: Arrival) -> Arrival {
        var result = arrival
        result.isVisible = false
        result.isFiltered = true
        result.request.content.badge = nil
        return result
    }

    /// Whether the app may discard pushes: the entitlement, from iOS 13.3.
    static func mayFilter(_ app: InstalledApp, version: OSVersion) -> Bool {
        app.hasFilteringEntitlement && version >= OSVersion(13, 3)
    }
}

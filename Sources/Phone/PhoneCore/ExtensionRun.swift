/// One run of a notification service extension for one push (ios-delivery.md §10).
struct ExtensionRun: Equatable, Sendable {
    let process: ProcessID
    /// The push as it came: what is shown if the extension fails.
    let arrival: Arrival
    private(set) var stage: Stage

    enum Stage: Equatable, Sendable {
        case starting(deadline: Int64)
        case running(call: CallbackNumber, deadline: Int64)
        /// EXP was called; the content handler may still be.
        case expiring(call: CallbackNumber, deadline: Int64)
        /// It delivered; the process may go on for a moment.
        case done(deadline: Int64)
    }

    init(process: ProcessID, arrival: Arrival, deadline: Int64) {
        self.process = process
        self.arrival = arrival
        self.stage = .starting(deadline: deadline)
    }

    /// The only place that changes the stage.
    mutating func enter(_ stage: Stage) { self.stage = stage }

    /// When the stage ends by itself, in monotonic milliseconds.
    var deadline: Int64 {
        switch self.stage {
        case .starting(let deadline), .running(_, let deadline), .expiring(_, let deadline), .done(let deadline):
            deadline
        }
    }

    /// Whether the push still waits for it.
    var isPending: Bool {
        switch self.stage {
        case .starting, .running, .expiring: true
        case .done: false
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

    /// Whether the app may discard pushes: the entitlement, from iOS 13.3.
    static func mayFilter(_ app: InstalledApp, version: OSVersion) -> Bool {
        app.hasFilteringEntitlement && version >= OSVersion(13, 3)
    }
}

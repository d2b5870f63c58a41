/// May serve several pushes at once, and later ones while it lives (ios-delivery.md §10).
struct ExtensionProcess: Equatable, Sendable {
    let process: ProcessID
    /// In monotonic milliseconds; nil once it has reported its start.
    var startDeadline: Int64?
    var runs: [ExtensionRun] = []
    /// In monotonic milliseconds; counts while no push is at work.
    var endsAt: Int64 = 0
    var activities: [BackgroundTaskNumber] = []
    /// In monotonic milliseconds.
    var activitiesUntil: Int64 = 0
    var activitiesExpired = false

    var deadline: Int64 { self.startDeadline ?? self.runs.lazy.map(\.deadline).min() ?? self.endsAt }
}

struct ExtensionRun: Equatable, Sendable {
    /// The push as it came: shown if the extension fails.
    let arrival: Arrival
    var stage: Stage = .waiting

    enum Stage: Equatable, Sendable {
        case waiting
        case running(call: CallbackNumber, deadline: Int64)
        /// The content handler may still be called.
        case expiring(call: CallbackNumber, deadline: Int64)
    }

    var deadline: Int64 {
        switch self.stage {
        case .waiting: .max
        case .running(_, let deadline), .expiring(_, let deadline): deadline
        }
    }

    var call: CallbackNumber? {
        switch self.stage {
        case .waiting: nil
        case .running(let call, _), .expiring(let call, _): call
        }
    }
}

enum ExtensionResult {
    /// ios-delivery.md §10: without text and sound nothing is shown if the app may filter, else the original text
    /// stays and only the badge is used.
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

    /// Q14.
    static func discard(_ arrival: Arrival) -> Arrival {
        var result = arrival
        result.isVisible = false
        result.isFiltered = true
        result.request.content.badge = nil
        return result
    }

    static func mayFilter(_ app: InstalledApp, version: OSVersion) -> Bool {
        app.hasFilteringEntitlement && version >= OSVersion(13, 3)
    }
}

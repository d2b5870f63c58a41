import TidingsModel

/// Live Activities (ios-delivery.md §12): started by the app or by a push, changed by both, ordered by timestamp.
extension PhoneCore {
    /// Those on the lock screen, in the order they were started.
    var shownActivities: [ShownActivity] {
        self.apps.flatMap { app in
            app.background.activities.map { activity in
                ShownActivity(
                    app: app.installed.bundleID, activity: activity.identifier, contentState: activity.contentState)
            }
        }
    }

    private var hasActivities: Bool { self.version >= OSVersion(16, 1) }

    private func position(of activity: String, _ index: Int) -> Int? {
        self.apps[index].background.activities.firstIndex { $0.identifier == activity }
    }

    // MARK: By the app

    /// `Activity.request`: only in front.
    mutating func startActivity(
        _ activity: String, wantsToken: Bool, contentState: JSONValue, _ index: Int, _ turn: inout Turn
    ) {
        let app = self.apps[index].installed.bundleID
        guard self.hasActivities, self.apps[index].state.isInFront else {
            return turn.record(app, .fault("activity \(activity) needs iOS 16.1 and the app in front"))
        }
        self.addActivity(
            activity, wantsToken: wantsToken, contentState: contentState, timestamp: 0, index, &turn)
    }

    private mutating func addActivity(
        _ activity: String, wantsToken: Bool, contentState: JSONValue, timestamp: Int64, _ index: Int,
        _ turn: inout Turn
    ) {
        let app = self.apps[index].installed.bundleID
        guard self.position(of: activity, index) == nil,
            self.apps[index].background.activities.count < self.settings.activitiesMax
        else { return turn.record(app, .fault("activity \(activity) must be new and one of few")) }
        self.apps[index].background.activities.append(
            LiveActivity(
                identifier: activity, contentState: contentState, wantsToken: wantsToken, timestamp: timestamp,
                until: turn.now.monotonic + self.settings.activityTime))
        turn.record(
            app, .activity(ActivityUpdate(activity: activity, change: .started, contentState: contentState)))
        if wantsToken, !self.airplaneMode { turn.add(.requestToken(app, .activity(activity))) }
    }

    /// `Activity.update` or `Activity.end`.
    mutating func changeActivity(
        _ activity: String, contentState: JSONValue?, _ index: Int, _ turn: inout Turn
    ) {
        let app = self.apps[index].installed.bundleID
        guard let position = self.position(of: activity, index),
            !self.apps[index].background.activities[position].hasEnded
        else { return turn.record(app, .fault("activity \(activity) must be there and not over")) }
        guard let contentState else {
            return self.endActivity(position, dismissAfter: self.settings.activityLinger, index, &turn)
        }
        self.apps[index].background.activities[position].contentState = contentState
        self.apps[index].background.activities[position].staleAt = nil
        turn.record(
            app, .activity(ActivityUpdate(activity: activity, change: .updated, contentState: contentState)))
    }

    // MARK: By a push

    mutating func receiveActivity(_ push: Push, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index].installed.bundleID
        let aps = push.payload["aps"]
        guard self.hasActivities, let timestamp = aps?["timestamp"]?.intValue,
            let event = aps?["event"]?.stringValue.flatMap(ActivityUpdate.Change.init(rawValue:))
        else { return turn.record(app, .fault("a Live Activity's push must bring aps.timestamp and aps.event")) }
        let contentState = aps?["content-state"] ?? .null
        defer { self.advanceActivities(index, &turn) }
        switch event {
        case .started: self.startByPush(push, contentState: contentState, timestamp: timestamp, index, &turn)
        case .updated, .ended:
            guard let activity = push.activity, let position = self.position(of: activity, index),
                !self.apps[index].background.activities[position].hasEnded
            else { return turn.record(app, .fault("a Live Activity's push must name one that is not over")) }
            // One that was overtaken on the way changes nothing.
            guard timestamp >= self.apps[index].background.activities[position].timestamp else { return }
            self.apps[index].background.activities[position].timestamp = timestamp
            if contentState != .null {
                self.apps[index].background.activities[position].contentState = contentState
            }
            self.apps[index].background.activities[position].staleAt = aps?["stale-date"]?.intValue.map { stale in
                self.monotonic(seconds: stale, turn.now)
            }
            if event == .ended {
                let gone = aps?["dismissal-date"]?.intValue.map { self.monotonic(seconds: $0, turn.now) }
                let linger = gone.map { $0 - turn.now.monotonic } ?? self.settings.activityLinger
                return self.endActivity(position, dismissAfter: min(linger, self.settings.activityLinger), index, &turn)
            }
            self.announce(activity, .updated, index, &turn)
        case .dismissed, .stale:
            turn.record(app, .fault("aps.event must be start, update or end"))
        }
    }

    /// Push-to-start (iOS 17.2). The app gets a moment in the background to learn the new token.
    private mutating func startByPush(
        _ push: Push, contentState: JSONValue, timestamp: Int64, _ index: Int, _ turn: inout Turn
    ) {
        let app = self.apps[index]
        let aps = push.payload["aps"]
        guard self.version >= OSVersion(17, 2), app.background.wantsPushToStart, push.activity == nil,
            aps?["attributes-type"]?.stringValue != nil, aps?["attributes"]?.objectValue != nil
        else {
            let rule = "a push that starts a Live Activity needs iOS 17.2, its token, attributes-type and attributes"
            return turn.record(app.installed.bundleID, .fault(rule))
        }
        self.identifierCount += 1
        let activity = "activity-\(self.identifierCount)"
        self.addActivity(
            activity, wantsToken: true, contentState: contentState, timestamp: timestamp, index, &turn)
        guard self.position(of: activity, index) != nil else { return }
        if self.settings.quirks.pushToStartWakes, app.state != .forceQuit, self.lock != .beforeFirstUnlock {
            self.wake(index, inFront: false, options: LaunchOptions(), &turn)
        }
        self.tell(
            ActivityUpdate(activity: activity, change: .started, contentState: contentState), index, &turn)
    }

    /// A moment in seconds since 1970 on the phone's monotonic clock.
    private func monotonic(seconds: Int64, _ now: Now) -> Int64 {
        let (wall, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds > 0 ? .max : now.monotonic }
        return wall <= now.wall ? now.monotonic : wall - now.wall + now.monotonic
    }

    // MARK: By the system and the person

    /// What is due: stale, over, or off the lock screen.
    mutating func advanceActivities(_ index: Int, _ turn: inout Turn) {
        let now = turn.now.monotonic
        while let position = self.apps[index].background.activities.firstIndex(where: { $0.deadline <= now }) {
            let activity = self.apps[index].background.activities[position]
            if activity.until > now {
                self.apps[index].background.activities[position].staleAt = nil
                self.announce(activity.identifier, .stale, index, &turn)
            } else if activity.hasEnded {
                self.apps[index].background.activities.remove(at: position)
            } else {
                self.endActivity(position, dismissAfter: self.settings.activityLinger, index, &turn)
            }
        }
    }

    /// It is over, its token void; it stays on the lock screen for a while.
    private mutating func endActivity(
        _ position: Int, dismissAfter milliseconds: Int64, _ index: Int, _ turn: inout Turn
    ) {
        let activity = self.apps[index].background.activities[position].identifier
        self.apps[index].background.activities[position].hasEnded = true
        self.apps[index].background.activities[position].staleAt = nil
        self.apps[index].background.activities[position].until = turn.now.monotonic + max(0, milliseconds)
        self.dropActivityToken(position, index, &turn)
        self.announce(activity, .ended, index, &turn)
        if milliseconds <= 0 { self.apps[index].background.activities.remove(at: position) }
    }

    /// The person took it off the lock screen.
    mutating func dismissActivity(_ activity: String, of app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn) else { return }
        guard let position = self.position(of: activity, index) else {
            return turn.record(app, .fault("activity \(activity) must be on the lock screen"))
        }
        self.dropActivityToken(position, index, &turn)
        self.announce(activity, .dismissed, index, &turn)
        self.apps[index].background.activities.remove(at: position)
    }

    /// All of an app's are gone, as after a restart.
    mutating func endActivities(_ index: Int, _ turn: inout Turn) {
        while !self.apps[index].background.activities.isEmpty {
            let activity = self.apps[index].background.activities[0]
            self.dropActivityToken(0, index, &turn)
            if !activity.hasEnded { self.announce(activity.identifier, .ended, index, &turn) }
            self.apps[index].background.activities.removeFirst()
        }
    }

    private mutating func dropActivityToken(_ position: Int, _ index: Int, _ turn: inout Turn) {
        let activity = self.apps[index].background.activities[position]
        guard activity.wantsToken else { return }
        self.apps[index].background.activities[position].wantsToken = false
        self.apps[index].background.activities[position].token = nil
        turn.add(.dropToken(self.apps[index].installed.bundleID, .activity(activity.identifier)))
    }

    /// Records a change and tells the app's process, if it has one.
    private mutating func announce(
        _ activity: String, _ change: ActivityUpdate.Change, _ index: Int, _ turn: inout Turn
    ) {
        guard let position = self.position(of: activity, index) else { return }
        let update = ActivityUpdate(
            activity: activity, change: change,
            contentState: self.apps[index].background.activities[position].contentState)
        turn.record(self.apps[index].installed.bundleID, .activity(update))
        self.tell(update, index, &turn)
    }

    /// A suspended process learns only the newest change when it runs again.
    private mutating func tell(_ update: ActivityUpdate, _ index: Int, _ turn: inout Turn) {
        self.dropSteps(index) { callback in
            if case .activityUpdated(let old) = callback { old.activity == update.activity } else { false }
        }
        self.append(.call(.activityUpdated(update)), to: index, &turn)
    }
}

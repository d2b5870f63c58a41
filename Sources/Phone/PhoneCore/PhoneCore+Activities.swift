import TidingsModel

/// Live Activities (ios-delivery.md §12). What pushes do to them is in PhoneCore+ActivityPushes.swift.
extension PhoneCore {
    var shownActivities: [ShownActivity] {
        self.apps.flatMap { app in
            app.background.activities.map { activity in
                ShownActivity(
                    app: app.installed.bundleID, activity: activity.identifier, contentState: activity.contentState)
            }
        }
    }

    var hasActivities: Bool { self.version >= OSVersion(16, 1) }
    var hasChannels: Bool { self.version >= 18 }

    func position(of activity: String, _ index: Int) -> Int? {
        self.apps[index].background.activities.firstIndex { $0.identifier == activity }
    }

    // MARK: By the app

    mutating func startActivity(
        _ activity: String, pushType: ActivityPushType?, contentState: JSONValue, _ index: Int, _ turn: inout Turn
    ) {
        guard self.hasActivities, self.apps[index].state.isInForeground else {
            return turn.recordFault(
                self.bundleID(index), "activity \(activity) needs iOS 16.1 and the app in the foreground")
        }
        if case .channel(let channel)? = pushType, !self.hasChannels {
            return turn.recordFault(self.bundleID(index), "activity \(activity) on channel \(channel) needs iOS 18")
        }
        self.addActivity(activity, pushType: pushType, contentState: contentState, timestamp: 0, index, &turn)
    }

    mutating func addActivity(
        _ activity: String, pushType: ActivityPushType?, contentState: JSONValue, timestamp: Int64, _ index: Int,
        _ turn: inout Turn
    ) {
        let app = self.bundleID(index)
        guard self.position(of: activity, index) == nil,
            self.apps[index].background.activities.count < self.settings.activitiesMax
        else { return turn.recordFault(app, "activity \(activity) must be new and one of few") }
        let isFirst = !self.listens(to: pushType, index)
        self.apps[index].background.activities.append(
            LiveActivity(
                identifier: activity, contentState: contentState, pushType: pushType, timestamp: timestamp,
                until: turn.now.monotonic + self.settings.activityTime))
        turn.record(app, .activity(ActivityUpdate(activity: activity, change: .started, contentState: contentState)))
        switch pushType {
        case .token: if !self.airplaneMode { turn.add(.requestToken(app, .activity(activity))) }
        case .channel(let channel): if isFirst { turn.add(.subscribe(app, channel: channel)) }
        case nil: break
        }
    }

    private func listens(to pushType: ActivityPushType?, _ index: Int) -> Bool {
        self.apps[index].background.activities.contains { $0.pushType == pushType }
    }

    /// nil ends it.
    mutating func changeActivity(_ activity: String, contentState: JSONValue?, _ index: Int, _ turn: inout Turn) {
        guard let position = self.position(of: activity, index),
            !self.apps[index].background.activities[position].hasEnded
        else { return turn.recordFault(self.bundleID(index), "activity \(activity) must be there and not over") }
        guard let contentState else {
            return self.endActivity(position, dismissAfter: self.settings.activityLinger, index, &turn)
        }
        self.apps[index].background.activities[position].contentState = contentState
        self.apps[index].background.activities[position].staleAt = nil
        turn.record(
            self.bundleID(index),
            .activity(ActivityUpdate(activity: activity, change: .updated, contentState: contentState)))
    }

    // MARK: By the system and the person

    mutating func advanceActivities(_ index: Int, _ turn: inout Turn) {
        let now = turn.now.monotonic
        while let position = self.apps[index].background.activities.firstIndex(where: { $0.deadline <= now }) {
            let activity = self.apps[index].background.activities[position]
            if activity.until > now {
                self.apps[index].background.activities[position].staleAt = nil
                self.publishActivityChange(activity.identifier, .stale, index, &turn)
            } else if activity.hasEnded {
                self.apps[index].background.activities.remove(at: position)
            } else {
                self.endActivity(position, dismissAfter: self.settings.activityLinger, index, &turn)
            }
        }
    }

    mutating func endActivity(_ position: Int, dismissAfter milliseconds: Int64, _ index: Int, _ turn: inout Turn) {
        let activity = self.apps[index].background.activities[position].identifier
        self.apps[index].background.activities[position].end(until: turn.now.monotonic + max(0, milliseconds))
        self.dropActivityPushes(position, index, &turn)
        self.publishActivityChange(activity, .ended, index, &turn)
        if milliseconds <= 0 { self.apps[index].background.activities.remove(at: position) }
    }

    mutating func dismissActivity(_ activity: String, of app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn) else { return }
        guard let position = self.position(of: activity, index) else {
            return turn.recordFault(app, "activity \(activity) must be on the lock screen")
        }
        self.dropActivityPushes(position, index, &turn)
        self.publishActivityChange(activity, .dismissed, index, &turn)
        self.apps[index].background.activities.remove(at: position)
    }

    mutating func endActivities(_ index: Int, _ turn: inout Turn) {
        while !self.apps[index].background.activities.isEmpty {
            let activity = self.apps[index].background.activities[0]
            self.dropActivityPushes(0, index, &turn)
            if !activity.hasEnded { self.publishActivityChange(activity.identifier, .ended, index, &turn) }
            self.apps[index].background.activities.removeFirst()
        }
    }

    private mutating func dropActivityPushes(_ position: Int, _ index: Int, _ turn: inout Turn) {
        let app = self.bundleID(index)
        let activity = self.apps[index].background.activities[position]
        self.apps[index].background.activities[position].pushType = nil
        self.apps[index].background.activities[position].token = nil
        switch activity.pushType {
        case .token: turn.add(.dropToken(app, .activity(activity.identifier)))
        case .channel(let channel):
            if !self.listens(to: activity.pushType, index) { turn.add(.unsubscribe(app, channel: channel)) }
        case nil: break
        }
    }

    mutating func publishActivityChange(
        _ activity: String, _ change: ActivityUpdate.Change, _ index: Int, _ turn: inout Turn
    ) {
        guard let position = self.position(of: activity, index) else { return }
        let update = ActivityUpdate(
            activity: activity, change: change,
            contentState: self.apps[index].background.activities[position].contentState)
        turn.record(self.bundleID(index), .activity(update))
        self.queueActivityUpdate(update, index, &turn)
    }

    /// A suspended process learns only the newest change when it runs again.
    mutating func queueActivityUpdate(_ update: ActivityUpdate, _ index: Int, _ turn: inout Turn) {
        self.dropSteps(index) { callback in
            if case .activityUpdated(let old) = callback { old.activity == update.activity } else { false }
        }
        self.append(.call(.activityUpdated(update)), to: index, &turn)
    }
}

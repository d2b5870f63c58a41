import TidingsModel

/// Pushes to Live Activities (ios-delivery.md §12), ordered by their timestamps.
extension PhoneCore {
    mutating func receiveActivity(_ push: Push, _ index: Int, _ turn: inout Turn) {
        let aps = push.payload["aps"]
        guard self.hasActivities, let timestamp = aps?["timestamp"]?.intValue,
            let event = aps?["event"]?.stringValue.flatMap(ActivityUpdate.Change.init(rawValue:))
        else {
            return turn.recordFault(
                self.bundleID(index), "a Live Activity's push must bring aps.timestamp and aps.event")
        }
        defer { self.advanceActivities(index, &turn) }
        switch event {
        case .started:
            guard push.channel == nil else {
                return turn.recordFault(self.bundleID(index), "a broadcast cannot start a Live Activity")
            }
            self.startByPush(push, contentState: aps?["content-state"] ?? .null, timestamp: timestamp, index, &turn)
        case .updated, .ended:
            let targets = self.targets(of: push, index)
            guard !targets.isEmpty else {
                let rule = push.channel == nil ? "name one that is not over" : "come on a channel that one listens to"
                return turn.recordFault(self.bundleID(index), "a Live Activity's push must \(rule)")
            }
            // A broadcast to several alerts once.
            var alerting: String?
            for activity in targets
            where self.applyActivityPush(activity, aps, timestamp: timestamp, isEnd: event == .ended, index, &turn) {
                if alerting == nil { alerting = activity }
            }
            if let alerting { self.presentActivityAlert(aps, alerting, index, &turn) }
        case .dismissed, .stale: turn.recordFault(self.bundleID(index), "aps.event must be start, update or end")
        }
    }

    private func targets(of push: Push, _ index: Int) -> [String] {
        self.apps[index].background.activities.filter { activity in
            guard !activity.hasEnded else { return false }
            guard let channel = push.channel else { return activity.identifier == push.activity }
            return self.hasChannels && activity.pushType == .channel(channel)
        }.map(\.identifier)
    }

    /// Returns whether an alert that the push brings is due: a push that comes twice alerts once.
    private mutating func applyActivityPush(
        _ activity: String, _ aps: JSONValue?, timestamp: Int64, isEnd: Bool, _ index: Int, _ turn: inout Turn
    ) -> Bool {
        guard let position = self.position(of: activity, index),
            timestamp >= self.apps[index].background.activities[position].timestamp
        else { return false }
        let isNews = self.apps[index].background.activities[position].alertedAt.map { $0 < timestamp } ?? true
        self.apps[index].background.activities[position].timestamp = timestamp
        if self.hasAlert(aps) { self.apps[index].background.activities[position].alertedAt = timestamp }
        if let contentState = aps?["content-state"], contentState != .null {
            self.apps[index].background.activities[position].contentState = contentState
        }
        self.setStaleDate(aps, position, index, turn.now)
        guard isEnd else {
            self.publishActivityChange(activity, .updated, index, &turn)
            return isNews
        }
        let gone = aps?["dismissal-date"]?.intValue.map { self.monotonic(seconds: $0, turn.now) }
        let linger = gone.map { $0 - turn.now.monotonic } ?? self.settings.activityLinger
        self.endActivity(position, dismissAfter: min(linger, self.settings.activityLinger), index, &turn)
        return isNews
    }

    private func hasAlert(_ aps: JSONValue?) -> Bool { (aps?["alert"] ?? .null) != .null }

    /// A locked phone's screen lights up, an unlocked one shows a banner; the texts are for Apple Watch only
    /// (ActivityKit, `AlertConfiguration`). Nothing while the app itself is in the foreground or a Focus forbids it:
    /// Apple's pages do not say, so this is a choice.
    private mutating func presentActivityAlert(_ aps: JSONValue?, _ activity: String, _ index: Int, _ turn: inout Turn)
    {
        guard self.hasAlert(aps), !self.apps[index].state.isInForeground else { return }
        let facts = self.presentationFacts(index, isLocal: false)
        var record = PresentationRecord(identifier: activity, isRemote: true, reason: .liveActivity)
        if facts.focus == nil {
            // Apple's samples have the sound inside the alert (APNs reference, section 13).
            let sound = (aps?["alert"]?["sound"] ?? aps?["sound"]).flatMap(NotificationSound.init(payloadValue:))
            record.sound = sound != nil && !facts.isMuted
            record.banner = !facts.isLocked
            record.lit = facts.isLocked
            if record.lit { self.notices.litUntil = turn.now.monotonic + self.settings.bannerTime }
        } else {
            record.reason = .focus
        }
        turn.record(self.bundleID(index), .presentation(record))
    }

    /// Push-to-start (iOS 17.2): the app gets a moment in the background to learn the new token. With
    /// `input-push-channel` it listens to that channel instead (iOS 18; APNs reference, section 13).
    private mutating func startByPush(
        _ push: Push, contentState: JSONValue, timestamp: Int64, _ index: Int, _ turn: inout Turn
    ) {
        let app = self.apps[index]
        let aps = push.payload["aps"]
        guard self.version >= OSVersion(17, 2), app.background.wantsPushToStart, push.activity == nil,
            aps?["attributes-type"]?.stringValue != nil, aps?["attributes"]?.objectValue != nil
        else {
            let rule = "a push that starts a Live Activity needs iOS 17.2, its token, attributes-type and attributes"
            return turn.recordFault(app.installed.bundleID, rule)
        }
        let activity = self.newActivityName(index)
        let channel = self.hasChannels ? aps?["input-push-channel"]?.stringValue : nil
        self.addActivity(
            activity, pushType: channel.map { .channel($0) } ?? .token, contentState: contentState,
            timestamp: timestamp, index, &turn)
        guard let position = self.position(of: activity, index) else { return }
        self.setStaleDate(aps, position, index, turn.now)
        if self.settings.quirks.pushToStartWakes, app.state != .forceQuit, self.lock != .beforeFirstUnlock {
            self.wake(index, inForeground: false, options: LaunchOptions(), &turn)
        }
        self.queueActivityUpdate(
            ActivityUpdate(activity: activity, change: .started, contentState: contentState), index, &turn)
        self.presentActivityAlert(aps, activity, index, &turn)
    }

    private mutating func setStaleDate(_ aps: JSONValue?, _ position: Int, _ index: Int, _ now: Now) {
        self.apps[index].background.activities[position].staleAt = aps?["stale-date"]?.intValue.map { stale in
            self.monotonic(seconds: stale, now)
        }
    }

    private mutating func newActivityName(_ index: Int) -> String {
        while true {
            self.identifierCount += 1
            let name = "activity-\(self.identifierCount)"
            if self.position(of: name, index) == nil { return name }
        }
    }

    private func monotonic(seconds: Int64, _ now: Now) -> Int64 {
        let (wall, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds > 0 ? .max : now.monotonic }
        return wall <= now.wall ? now.monotonic : wall - now.wall + now.monotonic
    }
}

import TidingsModel

/// The Live Activities of an app (ios-delivery.md §12). What the process has not changed itself is returned, to be recorded and told.
struct LiveActivities: Equatable, Sendable {
    let app: BundleID
    private(set) var activities: [Activity] = []

    struct Activity: Equatable, Sendable, Due {
        let identifier: String
        var contentState: JSONValue
        var pushType: ActivityPushType?
        var token: PushToken?
        /// `aps.timestamp` of the newest push, in seconds since 1970.
        var timestamp: Int64
        /// Monotonic milliseconds; nil never, or it is stale.
        var staleAt: Int64?
        /// `aps.timestamp` of the newest push that alerted: one that comes twice sounds once.
        var alertedAt: Int64?
        var hasEnded = false
        /// Monotonic milliseconds: when the system ends it, and afterwards when it leaves the lock screen.
        var until: Int64

        var deadline: Int64 { min(self.staleAt ?? .max, self.until) }
        var lacksToken: Bool { self.pushType == .token && self.token == nil }

        func update(_ change: ActivityUpdate.Change) -> ActivityUpdate {
            ActivityUpdate(activity: self.identifier, change: change, contentState: self.contentState)
        }
    }

    /// A change with what it is no longer addressed by, which comes first.
    struct Change {
        var dropped: PhoneEffect?
        let update: ActivityUpdate
    }

    /// The consequences of a push.
    struct Reception {
        var started: ActivityUpdate?
        var changes: [Change] = []
        /// The one whose alert is due: a broadcast to several alerts once, and a push that comes twice, too.
        var alerting: String?
    }

    @inline(__always) var nextDeadline: Int64 { self.activities.nextDeadline }

    var shown: [ShownActivity] {
        self.activities.map { ShownActivity(app: self.app, activity: $0.identifier, contentState: $0.contentState) }
    }

    func position(of activity: String) -> Int? { self.activities.firstIndex { $0.identifier == activity } }

    private func listens(to pushType: ActivityPushType?) -> Bool {
        self.activities.contains { $0.pushType == pushType }
    }

    mutating func moveStaleDates(by step: Int64) {
        for position in self.activities.indices {
            guard let staleAt = self.activities[position].staleAt else { continue }
            let (moved, overflow) = staleAt.addingReportingOverflow(step)
            if !overflow { self.activities[position].staleAt = moved }
        }
    }

    // MARK: By the app

    mutating func start(
        _ activity: String, pushType: ActivityPushType?, contentState: JSONValue, isInForeground: Bool,
        _ turn: inout Turn
    ) {
        guard turn.version.hasActivities, isInForeground else {
            return turn.recordFault("activity \(activity) needs iOS 16.1 and the app in the foreground")
        }
        if case .channel(let channel)? = pushType, !turn.version.hasChannels {
            return turn.recordFault("activity \(activity) on channel \(channel) needs iOS 18")
        }
        self.add(activity, pushType: pushType, contentState: contentState, timestamp: 0, &turn)
    }

    /// Returns its position; records a fault if it is known already or there is no room.
    @discardableResult
    private mutating func add(
        _ activity: String, pushType: ActivityPushType?, contentState: JSONValue, timestamp: Int64, _ turn: inout Turn
    ) -> Int? {
        guard self.position(of: activity) == nil, self.activities.count < turn.settings.activitiesMax else {
            turn.recordFault("activity \(activity) must be new and one of few")
            return nil
        }
        let isFirst = !self.listens(to: pushType)
        let started = Activity(
            identifier: activity, contentState: contentState, pushType: pushType, timestamp: timestamp,
            until: turn.now.monotonic + turn.settings.activityTime)
        self.activities.append(started)
        turn.record(.activity(started.update(.started)))
        switch pushType {
        case .token: turn.requestToken(.activity(activity))
        case .channel(let channel): if isFirst { turn.add(.subscribe(self.app, channel: channel)) }
        case nil: break
        }
        return self.activities.count - 1
    }

    /// nil ends it.
    mutating func change(_ activity: String, contentState: JSONValue?, _ turn: inout Turn) -> [Change] {
        guard let position = self.position(of: activity), !self.activities[position].hasEnded else {
            turn.recordFault("activity \(activity) must be there and not over")
            return []
        }
        guard let contentState else { return [self.end(position, &turn)] }
        self.activities[position].contentState = contentState
        self.activities[position].staleAt = nil
        turn.record(.activity(self.activities[position].update(.updated)))
        return []
    }

    // MARK: By the system and the person

    mutating func advance(_ turn: inout Turn) -> [Change] {
        var changes: [Change] = []
        while let position = self.activities.firstDue(at: turn.now.monotonic) {
            if self.activities[position].until > turn.now.monotonic {
                self.activities[position].staleAt = nil
                changes.append(Change(update: self.activities[position].update(.stale)))
            } else if self.activities[position].hasEnded {
                self.activities.remove(at: position)
            } else {
                changes.append(self.end(position, &turn))
            }
        }
        return changes
    }

    mutating func dismiss(_ activity: String, _ turn: inout Turn) -> [Change] {
        if let position = self.position(of: activity) { return [self.remove(position, .dismissed)] }
        turn.recordFault("activity \(activity) must be on the lock screen")
        return []
    }

    mutating func endAll() -> [Change] {
        self.activities.removeAll { $0.hasEnded }
        return self.activities.indices.map { _ in self.remove(0, .ended) }
    }

    private mutating func end(_ position: Int, dismissAfter linger: Int64 = .max, _ turn: inout Turn) -> Change {
        let linger = min(linger, turn.settings.activityLinger)
        guard linger > 0 else { return self.remove(position, .ended) }
        self.activities[position].hasEnded = true
        self.activities[position].staleAt = nil
        self.activities[position].until = turn.now.monotonic + linger
        return Change(dropped: self.dropPushes(position), update: self.activities[position].update(.ended))
    }

    private mutating func remove(_ position: Int, _ change: ActivityUpdate.Change) -> Change {
        let dropped = self.dropPushes(position)
        return Change(dropped: dropped, update: self.activities.remove(at: position).update(change))
    }

    private mutating func dropPushes(_ position: Int) -> PhoneEffect? {
        let activity = self.activities[position]
        self.activities[position].pushType = nil
        self.activities[position].token = nil
        switch activity.pushType {
        case .token: return .dropToken(self.app, .activity(activity.identifier))
        case .channel(let channel):
            return self.listens(to: activity.pushType) ? nil : .unsubscribe(self.app, channel: channel)
        case nil: return nil
        }
    }

    mutating func take(_ token: PushToken, of activity: String) -> Callback? {
        guard let position = self.position(of: activity), self.activities[position].pushType == .token,
            self.activities[position].token != token
        else { return nil }
        self.activities[position].token = token
        return .activityTokenUpdated(activity: activity, token)
    }

    func requestMissingTokens(_ turn: inout Turn) {
        for activity in self.activities where activity.lacksToken { turn.requestToken(.activity(activity.identifier)) }
    }

    // MARK: By pushes, ordered by their timestamps

    mutating func receive(_ push: Push, isStartWanted: Bool, _ turn: inout Turn) -> Reception {
        let aps = push.payload["aps"]
        var reception = Reception()
        guard turn.version.hasActivities, let timestamp = aps?["timestamp"]?.intValue,
            let event = aps?["event"]?.stringValue.flatMap(ActivityUpdate.Change.init(rawValue:))
        else {
            turn.recordFault("a Live Activity's push must bring aps.timestamp and aps.event")
            return reception
        }
        switch event {
        case .started:
            reception.started = self.start(by: push, timestamp: timestamp, isWanted: isStartWanted, &turn)
            reception.alerting = reception.started?.activity
        case .updated, .ended:
            let targets = self.activities.filter { activity in
                guard !activity.hasEnded else { return false }
                guard let channel = push.channel else { return activity.identifier == push.activity }
                return turn.version.hasChannels && activity.pushType == .channel(channel)
            }
            for activity in targets where timestamp >= activity.timestamp {
                guard let position = self.position(of: activity.identifier) else { continue }
                if reception.alerting == nil, activity.alertedAt.map({ $0 < timestamp }) ?? true {
                    reception.alerting = activity.identifier
                }
                reception.changes.append(
                    self.apply(aps, to: position, timestamp: timestamp, isEnd: event == .ended, &turn))
            }
            if targets.isEmpty {
                let rule = push.channel == nil ? "name one that is not over" : "come on a channel that one listens to"
                turn.recordFault("a Live Activity's push must \(rule)")
            }
        case .dismissed, .stale: turn.recordFault("aps.event must be start, update or end")
        }
        if !Self.hasAlert(aps) { reception.alerting = nil }
        return reception
    }

    /// Push-to-start (iOS 17.2). With `input-push-channel` it listens to that channel instead (iOS 18; APNs reference, section 13).
    private mutating func start(
        by push: Push, timestamp: Int64, isWanted: Bool, _ turn: inout Turn
    ) -> ActivityUpdate? {
        let aps = push.payload["aps"]
        guard push.channel == nil else {
            turn.recordFault("a broadcast cannot start a Live Activity")
            return nil
        }
        guard turn.version >= OSVersion(17, 2), isWanted, push.activity == nil,
            aps?["attributes-type"]?.stringValue != nil, aps?["attributes"]?.objectValue != nil
        else {
            turn.recordFault(
                "a push that starts a Live Activity needs iOS 17.2, its token, attributes-type and attributes")
            return nil
        }
        var name: String
        repeat { name = turn.newIdentifier("activity") } while self.position(of: name) != nil
        let channel = turn.version.hasChannels ? aps?["input-push-channel"]?.stringValue : nil
        guard
            let position = self.add(
                name, pushType: channel.map { .channel($0) } ?? .token, contentState: aps?["content-state"] ?? .null,
                timestamp: timestamp, &turn)
        else { return nil }
        self.activities[position].staleAt = Self.staleDate(aps, turn.now)
        return self.activities[position].update(.started)
    }

    private mutating func apply(
        _ aps: JSONValue?, to position: Int, timestamp: Int64, isEnd: Bool, _ turn: inout Turn
    ) -> Change {
        self.activities[position].timestamp = timestamp
        if Self.hasAlert(aps) { self.activities[position].alertedAt = timestamp }
        if let contentState = aps?["content-state"], contentState != .null {
            self.activities[position].contentState = contentState
        }
        self.activities[position].staleAt = Self.staleDate(aps, turn.now)
        guard isEnd else { return Change(update: self.activities[position].update(.updated)) }
        let gone = aps?["dismissal-date"]?.intValue.map { Self.monotonic(seconds: $0, turn.now) }
        return self.end(position, dismissAfter: gone.map { $0 - turn.now.monotonic } ?? .max, &turn)
    }

    private static func hasAlert(_ aps: JSONValue?) -> Bool { (aps?["alert"] ?? .null) != .null }

    private static func staleDate(_ aps: JSONValue?, _ now: Now) -> Int64? {
        aps?["stale-date"]?.intValue.map { self.monotonic(seconds: $0, now) }
    }

    private static func monotonic(seconds: Int64, _ now: Now) -> Int64 {
        let (wall, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds > 0 ? .max : now.monotonic }
        return wall <= now.wall ? now.monotonic : wall - now.wall + now.monotonic
    }
}

extension OSVersion {
    fileprivate var hasActivities: Bool { self >= OSVersion(16, 1) }
    fileprivate var hasChannels: Bool { self >= 18 }
}

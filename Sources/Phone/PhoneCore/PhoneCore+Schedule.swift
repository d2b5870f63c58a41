import TidingsModel

/// Scheduled local notifications (ios-delivery.md §9).
extension PhoneCore {
    /// In monotonic milliseconds; `.max` if no clock fires it, nil if it never can fire.
    func firstMoment(of request: NotificationRequest, at now: Now) -> Int64? {
        guard request.trigger?.outOfRange == nil else { return nil }
        switch request.trigger {
        case nil, .push: return nil
        case .timeInterval(let milliseconds, let repeats):
            return milliseconds >= (repeats ? CalendarMath.minute : 1) ? now.monotonic + milliseconds : nil
        case .calendar(let components, _):
            guard components.isValid else { return nil }
            return self.monotonic(
                CalendarMath.next(components, after: now.wall, utcOffset: self.settings.utcOffsetMinutes), now)
        case .location(let region, _): return region.notifiesOnEntry || region.notifiesOnExit ? .max : nil
        case .fireDate(let date, let interval):
            return self.monotonic(
                CalendarMath.next(
                    date, every: interval, after: now.wall, utcOffset: self.settings.utcOffsetMinutes), now)
        }
    }

    private func monotonic(_ wall: Int64?, _ now: Now) -> Int64? { wall.map { now.monotonic + ($0 - now.wall) } }

    /// Moves what is set for a time of day after the wall clock was set; smaller steps are the clocks' own drift.
    mutating func followWallClock(_ now: Now) {
        let offset = now.wall - now.monotonic
        guard let old = self.wallOffset else { return self.wallOffset = offset }
        let step = offset - old
        guard step.magnitude >= CalendarMath.second.magnitude else { return }
        self.wallOffset = offset
        self.notices.summaryAt = self.notices.summaryAt.map { $0 - step }
        for index in self.apps.indices {
            self.apps[index].background.moveStaleDates(by: -step)
            let pending = self.apps[index].pending
            guard pending.contains(where: \.followsCalendar) else { continue }
            self.apps[index].pending = []
            for var scheduled in pending {
                if scheduled.followsCalendar { scheduled.fireAt -= step }
                self.schedule(scheduled, index)
            }
        }
    }

    mutating func schedule(_ scheduled: ScheduledRequest, _ index: Int) {
        self.apps[index].pending.removeAll { $0.request.identifier == scheduled.request.identifier }
        let position =
            self.apps[index].pending.firstIndex { $0.fireAt > scheduled.fireAt } ?? self.apps[index].pending.endIndex
        self.apps[index].pending.insert(scheduled, at: position)
        if self.apps[index].pending.count > self.settings.pendingLimit { self.apps[index].pending.removeLast() }
    }

    /// Repeating requests are scheduled again after now.
    mutating func firePending(_ index: Int, _ turn: inout Turn) {
        while let due = self.apps[index].pending.first, due.fireAt <= turn.now.monotonic {
            self.apps[index].pending.removeFirst()
            if let next = self.nextMoment(of: due, at: turn.now) {
                self.schedule(ScheduledRequest(request: due.request, fireAt: next), index)
            }
            self.presentLocal(due.request, index, &turn)
        }
    }

    private func nextMoment(of due: ScheduledRequest, at now: Now) -> Int64? {
        switch due.request.trigger {
        case .timeInterval(let interval, repeats: true):
            let missed = (now.monotonic - due.fireAt) / interval
            return due.fireAt + (missed + 1) * interval
        case .calendar(_, repeats: true), .fireDate(_, repeatInterval: .some):
            return self.firstMoment(of: due.request, at: now)
        case nil, .push, .timeInterval, .calendar, .location, .fireDate: return nil
        }
    }

    mutating func crossRegion(_ name: String, entered: Bool, _ turn: inout Turn) {
        for index in self.apps.indices {
            for scheduled in self.apps[index].pending {
                guard case .location(let region, let repeats) = scheduled.request.trigger, region.identifier == name,
                    entered ? region.notifiesOnEntry : region.notifiesOnExit
                else { continue }
                if !repeats {
                    self.apps[index].pending.removeAll { $0.request.identifier == scheduled.request.identifier }
                }
                self.presentLocal(scheduled.request, index, &turn)
            }
        }
    }

    // MARK: UILocalNotification

    /// A date in the past means now; the call exists from iOS 4 (ios-delivery.md §0.3).
    mutating func scheduleLegacy(_ request: NotificationRequest, _ index: Int, _ turn: inout Turn) {
        if let rule = request.trigger?.outOfRange {
            return turn.recordFault(self.bundleID(index), "local notification \(request.identifier): \(rule)")
        }
        guard self.version >= 4 else {
            return turn.recordFault(self.bundleID(index), "scheduleLocalNotification must not be used before iOS 4")
        }
        guard !request.content.isEmpty else { return }
        guard let fireAt = self.firstMoment(of: request, at: turn.now) else {
            self.apps[index].pending.removeAll { $0.request.identifier == request.identifier }
            return self.presentLocal(request, index, &turn)
        }
        self.schedule(ScheduledRequest(request: request, fireAt: fireAt), index)
    }
}

extension NotificationAttachment {
    /// Judged by the name alone (ios-delivery.md §9).
    var fault: NotificationError? {
        guard self.url.hasPrefix("file://") || self.url.hasPrefix("/") else { return .attachmentInvalidURL }
        let name = self.url.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return .attachmentUnrecognizedType }
        let kind = name[name.index(after: dot)...].lowercased()
        return Self.kinds.contains(kind) ? nil : .attachmentUnrecognizedType
    }

    private static let kinds: Set<String> = [
        "aif", "aiff", "wav", "mp3", "m4a", "jpg", "jpeg", "gif", "png", "mpg", "mpeg", "mp4", "avi", "mov",
    ]
}

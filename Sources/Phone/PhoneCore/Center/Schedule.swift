import TidingsModel

/// An app's scheduled local notifications (ios-delivery.md §9).
struct Schedule: Equatable, Sendable {
    /// Sorted by the moment they fire.
    var requests: [ScheduledRequest] = []

    func has(_ identifier: String) -> Bool { self.requests.contains { $0.request.identifier == identifier } }

    /// nil removes all.
    mutating func remove(_ identifiers: [String]?) {
        self.requests.removeAll { identifiers?.contains($0.request.identifier) ?? true }
    }

    /// Replaces a request of the same identifier. Returns false, and changes nothing, if it never can fire.
    mutating func add(_ request: NotificationRequest, _ turn: inout Turn) -> Bool {
        guard let fireAt = Self.firstMoment(of: request, &turn) else { return false }
        self.insert(ScheduledRequest(request: request, fireAt: fireAt), limit: turn.settings.pendingLimit)
        return true
    }

    private mutating func insert(_ scheduled: ScheduledRequest, limit: Int) {
        self.remove([scheduled.request.identifier])
        let position = self.requests.firstIndex { $0.fireAt > scheduled.fireAt } ?? self.requests.endIndex
        self.requests.insert(scheduled, at: position)
        if self.requests.count > limit { self.requests.removeLast() }
    }

    /// In monotonic milliseconds; `.max` if no clock fires it, nil if it never can fire.
    private static func firstMoment(of request: NotificationRequest, _ turn: inout Turn) -> Int64? {
        guard request.trigger?.outOfRange == nil else { return nil }
        let (now, offset) = (turn.now, turn.settings.utcOffsetMinutes)
        switch request.trigger {
        case nil, .push: return nil
        case .timeInterval(let milliseconds, let repeats):
            return milliseconds >= (repeats ? CalendarMath.minute : 1) ? now.monotonic + milliseconds : nil
        case .calendar(let components, _):
            guard components.isValid else { return nil }
            return CalendarMath.next(components, after: now.wall, utcOffset: offset).map(now.monotonic(wall:))
        case .location(let region, _): return region.notifiesOnEntry || region.notifiesOnExit ? .max : nil
        case .fireDate(let date, let interval):
            return CalendarMath.next(date, every: interval, after: now.wall, utcOffset: offset).map(
                now.monotonic(wall:))
        }
    }

    /// Takes the next that is due. Repeating requests are scheduled again after now.
    mutating func takeDue(_ turn: inout Turn) -> NotificationRequest? {
        guard let due = self.requests.first, due.fireAt <= turn.now.monotonic else { return nil }
        self.requests.removeFirst()
        if let next = Self.nextMoment(of: due, &turn) {
            self.insert(ScheduledRequest(request: due.request, fireAt: next), limit: turn.settings.pendingLimit)
        }
        return due.request
    }

    private static func nextMoment(of due: ScheduledRequest, _ turn: inout Turn) -> Int64? {
        switch due.request.trigger {
        case .timeInterval(let interval, repeats: true):
            let missed = (turn.now.monotonic - due.fireAt) / interval
            return due.fireAt + (missed + 1) * interval
        case .calendar(_, repeats: true), .fireDate(_, repeatInterval: .some):
            return self.firstMoment(of: due.request, &turn)
        case nil, .push, .timeInterval, .calendar, .location, .fireDate: return nil
        }
    }

    /// Takes what crossing a region fires. Repeating requests stay.
    mutating func take(crossing name: String, entered: Bool) -> [NotificationRequest] {
        let due = self.requests.filter { scheduled in
            guard case .location(let region, _) = scheduled.request.trigger, region.identifier == name else {
                return false
            }
            return entered ? region.notifiesOnEntry : region.notifiesOnExit
        }.map(\.request)
        self.remove(
            due.filter { if case .location(_, repeats: false) = $0.trigger { true } else { false } }.map(\.identifier))
        return due
    }

    /// The wall clock was set.
    mutating func followWallClock(by step: Int64, limit: Int) {
        guard self.requests.contains(where: \.followsCalendar) else { return }
        let old = self.requests
        self.requests = []
        for var scheduled in old {
            if scheduled.followsCalendar { scheduled.fireAt += step }
            self.insert(scheduled, limit: limit)
        }
    }
}

struct ScheduledRequest: Equatable, Sendable {
    var request: NotificationRequest
    /// Monotonic milliseconds.
    var fireAt: Int64

    var followsCalendar: Bool {
        switch self.request.trigger {
        case .calendar, .fireDate: true
        case nil, .push, .timeInterval, .location: false
        }
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

import TidingsModel

/// What processes ask.
extension PhoneCore {
    mutating func answer(
        _ query: Query, _ number: QueryNumber, of process: ProcessID, _ index: Int, _ turn: inout Turn
    ) {
        let app = self.apps[index]
        let answer: QueryAnswer? =
            switch query {
            case .requestAuthorization(let options): self.authorize(options, number, of: process, index)
            case .settings: .settings(app.settings)
            case .add(let request): self.add(request, number, of: process, index, &turn)
            case .pendingRequests: .pending(app.pending.map(\.request))
            case .deliveredNotifications:
                .delivered(self.list.entries.filter { $0.app == process.app }.map(\.notification))
            case .categories: .categories(app.categories)
            case .setBadgeCount(let count): self.setBadgeCount(count, index, &turn)
            case .badgeCount: .badge(app.badge)
            case .backgroundTimeRemaining:
                .backgroundTime(
                    process.role == .app ? self.backgroundTimeRemaining(of: process.app, at: turn.now) : nil)
            }
        if let answer { turn.add(.answer(process, number, answer)) }
    }

    /// The first request prompts, or grants quietly if provisional; later ones get the stored answer
    /// (ios-delivery.md §9). nil: the person must answer first.
    private mutating func authorize(
        _ options: AuthorizationOptions, _ number: QueryNumber, of process: ProcessID, _ index: Int
    ) -> QueryAnswer? {
        switch self.apps[index].settings.authorizationStatus {
        case .authorized, .provisional: return .granted(true)
        case .denied: return .granted(false)
        case .notDetermined: break
        }
        guard process.role == .app, self.apps[index].run?.process == process else { return .granted(false) }
        if options.contains(.provisional), self.version >= 12 {
            self.apps[index].settings.decide(options, status: .provisional)
            return .granted(true)
        }
        self.prompts.append(PermissionPrompt(process: process, query: number, options: options))
        return nil
    }

    private mutating func setBadgeCount(_ count: Int, _ index: Int, _ turn: inout Turn) -> QueryAnswer {
        guard self.allowsBadge(index) || count <= 0 else { return .refused(.notificationsNotAllowed) }
        self.setBadge(count, index, &turn)
        return .done
    }

    /// Adds a local request: presented now without a trigger, else scheduled; a pending one of the same identifier is
    /// replaced (ios-delivery.md §9). nil: it was answered here, before it is presented.
    private mutating func add(
        _ request: NotificationRequest, _ number: QueryNumber, of process: ProcessID, _ index: Int,
        _ turn: inout Turn
    ) -> QueryAnswer? {
        guard self.apps[index].settings.allowsPresentation else { return .refused(.notificationsNotAllowed) }
        guard !request.content.isEmpty else { return .refused(.noContent) }
        switch request.trigger {
        case .push:
            return .refused(.invalidTrigger)
        case nil:
            self.apps[index].pending.removeAll { $0.request.identifier == request.identifier }
            turn.add(.answer(process, number, .added))
            self.present(local: request, index, &turn)
            return nil
        case .timeInterval(let milliseconds, let repeats):
            guard milliseconds >= (repeats ? 60_000 : 1) else { return .refused(.invalidTrigger) }
            self.schedule(
                ScheduledRequest(request: request, fireAt: turn.now.monotonic + milliseconds), index)
            return .added
        }
    }

    /// Keeps the soonest of an app's scheduled requests.
    private mutating func schedule(_ scheduled: ScheduledRequest, _ index: Int) {
        self.apps[index].pending.removeAll { $0.request.identifier == scheduled.request.identifier }
        let position =
            self.apps[index].pending.firstIndex { $0.fireAt > scheduled.fireAt } ?? self.apps[index].pending.endIndex
        self.apps[index].pending.insert(scheduled, at: position)
        if self.apps[index].pending.count > self.settings.pendingLimit { self.apps[index].pending.removeLast() }
    }

    /// Presents the scheduled requests that are due; repeating ones are scheduled again after now.
    mutating func firePending(_ index: Int, _ turn: inout Turn) {
        let now = turn.now.monotonic
        while let due = self.apps[index].pending.first, due.fireAt <= now {
            self.apps[index].pending.removeFirst()
            if case .timeInterval(let interval, repeats: true) = due.request.trigger {
                let missed = (now - due.fireAt) / interval
                self.schedule(
                    ScheduledRequest(request: due.request, fireAt: due.fireAt + (missed + 1) * interval), index)
            }
            self.present(local: due.request, index, &turn)
        }
    }
}

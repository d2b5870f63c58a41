extension PhoneCore {
    mutating func answer(
        _ query: Query, _ number: QueryNumber, of process: ProcessID, _ index: Int, _ turn: inout Turn
    ) {
        if let (rule, refusal) = self.refusal(of: query) {
            turn.recordFault(process.app, rule)
            return turn.add(.answer(process, number, refusal))
        }
        let app = self.apps[index]
        let answer: QueryAnswer? =
            switch query {
            case .requestAuthorization(let options): self.authorize(options, number, of: process, index)
            case .settings: .settings(app.settings)
            case .add(let request): self.add(request, number, of: process, index, &turn)
            case .pendingRequests: .pending(app.pending.map(\.request))
            case .deliveredNotifications:
                .delivered(
                    (self.notices.heldForSummary.reversed() + self.list.entries).filter { $0.app == process.app }
                        .map(\.notification))
            case .categories: .categories(app.categories)
            case .setBadgeCount(let count): self.setBadgeCount(count, index, &turn)
            case .badgeCount: .badge(app.badge)
            case .backgroundTimeRemaining:
                .backgroundTime(
                    process.role == .app ? self.backgroundTimeRemaining(of: process.app, at: turn.now) : nil)
            case .lowPowerMode: .lowPowerMode(self.lowPowerMode)
            case .protectedDataAvailable: .protectedData(isAvailable: self.lock == .unlocked)
            case .remoteRegistration: .registered(app.isRegistered)
            case .backgroundRefreshStatus: .backgroundRefreshStatus(self.backgroundRefreshStatus(index))
            case .submitRefreshTask(let request): self.submit(request, of: process, index, &turn)
            case .pendingRefreshTasks: .refreshTasks(app.background.refreshTasks)
            }
        if let answer { turn.add(.answer(process, number, answer)) }
    }

    /// An app must check the version first; what the system answers nevertheless (ios-delivery.md §0.3, §9).
    private func refusal(of query: Query) -> (String, QueryAnswer)? {
        switch query {
        case .requestAuthorization where !self.version.hasUserNotifications:
            ("UNUserNotificationCenter must not be used before iOS 10", .granted(false))
        case .add where !self.version.hasUserNotifications:
            ("UNUserNotificationCenter must not be used before iOS 10", .refused(.notificationsNotAllowed))
        case .setBadgeCount where self.version < 16:
            ("setBadgeCount must not be used before iOS 16", .refused(.notificationsNotAllowed))
        default: nil
        }
    }

    /// The first request prompts, or grants quietly if provisional; later ones get the stored answer (ios-delivery.md
    /// §9). nil: the person must answer first.
    private mutating func authorize(
        _ options: AuthorizationOptions, _ number: QueryNumber, of process: ProcessID, _ index: Int
    ) -> QueryAnswer? {
        switch self.apps[index].settings.authorizationStatus {
        case .authorized, .provisional, .ephemeral: return .granted(true)
        case .denied: return .granted(false)
        case .notDetermined: break
        }
        guard process.role == .app, self.apps[index].run?.process == process else { return .granted(false) }
        if options.contains(.provisional), self.version >= 12 {
            self.apps[index].settings.decide(options, status: .provisional)
            return .granted(true)
        }
        self.prompts.append(PermissionPrompt(process: process, origin: .query(number), options: options))
        return nil
    }

    private mutating func setBadgeCount(_ count: Int, _ index: Int, _ turn: inout Turn) -> QueryAnswer {
        guard self.allowsBadge(index) || count <= 0 else { return .refused(.notificationsNotAllowed) }
        self.setBadge(count, index, &turn)
        return .done
    }

    /// Presented now without a trigger; replaces a pending request of the same identifier (ios-delivery.md §9). nil:
    /// answered here, before it is presented.
    private mutating func add(
        _ request: NotificationRequest, _ number: QueryNumber, of process: ProcessID, _ index: Int, _ turn: inout Turn
    ) -> QueryAnswer? {
        guard self.apps[index].settings.allowsPresentation else { return .refused(.notificationsNotAllowed) }
        guard !request.content.isEmpty else { return .refused(.noContent) }
        for attachment in request.content.attachments { if let fault = attachment.fault { return .refused(fault) } }
        guard request.trigger != nil else {
            self.apps[index].pending.removeAll { $0.request.identifier == request.identifier }
            turn.add(.answer(process, number, .added))
            self.presentLocal(request, index, &turn)
            return nil
        }
        guard let fireAt = self.firstMoment(of: request, at: turn.now) else { return .refused(.invalidTrigger) }
        self.schedule(ScheduledRequest(request: request, fireAt: fireAt), index)
        return .added
    }
}

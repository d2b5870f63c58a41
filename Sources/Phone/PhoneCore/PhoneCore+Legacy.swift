import TidingsModel

/// What apps of iOS 3–9 report (ios-delivery.md §4 gate 3, §9).
extension PhoneCore {
    mutating func legacyReported(_ event: ProcessEvent, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index].installed.bundleID
        switch event {
        case .remoteTypesRequested(let types): self.requestRemoteTypes(types, index, &turn)
        case .userNotificationSettingsRegistered(let types, let categories):
            self.registerUserSettings(types, categories, index, &turn)
        case .localNotificationScheduled(let request): self.scheduleLegacy(request, index, &turn)
        case .localNotificationCancelled(let identifier):
            let identifiers = identifier.map { [$0] }
            self.apps[index].pending.removeAll { identifiers?.contains($0.request.identifier) ?? true }
            self.list.remove(app: app, identifiers: identifiers)
            self.notices.remove(app: app, identifiers: identifiers)
        default: break
        }
    }

    /// `registerForRemoteNotificationTypes`, gone from iOS 8: the person is asked once, then comes the token.
    private mutating func requestRemoteTypes(_ types: AuthorizationOptions, _ index: Int, _ turn: inout Turn) {
        guard self.version < 8 else {
            return turn.record(
                self.apps[index].installed.bundleID,
                .fault("registerForRemoteNotificationTypes must not be used from iOS 8"))
        }
        self.ask(.remoteTypes, types, index, &turn)
    }

    /// `registerUserNotificationSettings`: sets the categories; the person is asked once.
    private mutating func registerUserSettings(
        _ types: AuthorizationOptions, _ categories: [NotificationCategory], _ index: Int, _ turn: inout Turn
    ) {
        guard self.version >= 8 else {
            return turn.record(
                self.apps[index].installed.bundleID,
                .fault("registerUserNotificationSettings must not be used before iOS 8"))
        }
        self.apps[index].categories = categories
        self.ask(.userSettings, types, index, &turn)
    }

    private mutating func ask(
        _ purpose: PermissionPrompt.Purpose, _ options: AuthorizationOptions, _ index: Int, _ turn: inout Turn
    ) {
        guard let process = self.apps[index].run?.process else { return }
        let prompt = PermissionPrompt(process: process, purpose: purpose, options: options)
        let status = self.apps[index].settings.authorizationStatus
        if status == .notDetermined { return self.prompts.append(prompt) }
        self.report(prompt, allowed: status != .denied, index, &turn)
    }

    /// Tells the app what the person answered.
    mutating func report(_ prompt: PermissionPrompt, allowed: Bool, _ index: Int, _ turn: inout Turn) {
        switch prompt.purpose {
        case .query(let query): turn.add(.answer(prompt.process, query, .granted(allowed)))
        case .remoteTypes:
            if allowed { self.register(index, &turn) }
        case .userSettings:
            let types = self.apps[index].settings.allowedKinds.intersection(prompt.options)
            self.append(.call(.registeredUserNotificationSettings(types)), to: index, &turn)
        }
    }
}

extension NotificationSettings {
    /// The kinds that are on.
    fileprivate var allowedKinds: AuthorizationOptions {
        guard self.allowsPresentation else { return [] }
        var kinds: AuthorizationOptions = []
        if self.alert { kinds.insert(.alert) }
        if self.sound { kinds.insert(.sound) }
        if self.badge { kinds.insert(.badge) }
        return kinds
    }
}

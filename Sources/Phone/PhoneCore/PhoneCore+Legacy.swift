/// Handles the reports of apps of iOS 3–9 (ios-delivery.md §4 gate 3, §9).
extension PhoneCore {
    /// Gone from iOS 8: the person is asked once, then comes the token.
    mutating func requestRemoteTypes(_ types: AuthorizationOptions, _ index: Int, _ turn: inout Turn) {
        guard self.version < 8 else {
            return turn.recordFault(
                self.bundleID(index), "registerForRemoteNotificationTypes must not be used from iOS 8")
        }
        self.requestPermission(.remoteTypes, types, index, &turn)
    }

    mutating func registerUserSettings(
        _ types: AuthorizationOptions, _ categories: [NotificationCategory], _ index: Int, _ turn: inout Turn
    ) {
        guard self.version >= 8 else {
            return turn.recordFault(
                self.bundleID(index), "registerUserNotificationSettings must not be used before iOS 8")
        }
        self.apps[index].categories = categories
        self.requestPermission(.userSettings, types, index, &turn)
    }

    private mutating func requestPermission(
        _ origin: PermissionPrompt.Origin, _ options: AuthorizationOptions, _ index: Int, _ turn: inout Turn
    ) {
        guard let process = self.apps[index].run?.process else { return }
        let prompt = PermissionPrompt(process: process, origin: origin, options: options)
        let status = self.apps[index].settings.authorizationStatus
        if status == .notDetermined { return self.prompts.append(prompt) }
        self.reportPermission(prompt, allowed: status != .denied, index, &turn)
    }

    mutating func reportPermission(_ prompt: PermissionPrompt, allowed: Bool, _ index: Int, _ turn: inout Turn) {
        switch prompt.origin {
        case .query(let query): turn.add(.answer(prompt.process, query, .granted(allowed)))
        case .remoteTypes: if allowed { self.registerForPushes(index, &turn) }
        case .userSettings:
            let types = self.apps[index].settings.allowedKinds.intersection(prompt.options)
            self.append(.call(.registeredUserNotificationSettings(types)), to: index, &turn)
        }
    }
}

extension NotificationSettings {
    fileprivate var allowedKinds: AuthorizationOptions {
        guard self.allowsPresentation else { return [] }
        var kinds: AuthorizationOptions = []
        if self.alert { kinds.insert(.alert) }
        if self.sound { kinds.insert(.sound) }
        if self.badge { kinds.insert(.badge) }
        return kinds
    }
}

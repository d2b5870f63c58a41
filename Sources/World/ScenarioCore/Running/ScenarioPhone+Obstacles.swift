import PhoneCore

// Steps that cannot be done: a scenario that asks for one says so instead of doing nothing.
extension ScenarioPhone {
    /// Why a step is not possible now; nil if it is.
    func obstacle(to action: StepAction) -> String? {
        switch action {
        case .phone(.person(let event)): return self.obstacle(to: event)
        case .phone(.system(let event)): return self.obstacle(to: event)
        case .app(let call): return self.obstacle(to: call)
        case .local(_, let moment): return self.obstacle(to: moment)
        case .refreshTask: return self.needs(13, "a BGAppRefreshTask")
        case .act(_, .provisional): return self.needs(12, "a provisional notification")
        case .sdk(.message(let message)) where message.isCatchUp:
            let isConnected = self.app.sdk?.connection != nil && self.app.sdk?.isSuspended == false
            return isConnected ? nil : "the app has no connection that could break: \(self.state.word)"
        case .sdk(.signOut): return self.app.sdk?.isSignedOut == true ? "nobody is signed in" : nil
        case .sdk(.signIn):
            guard let sdk = self.app.sdk, sdk.isSignedOut else { return "somebody is signed in" }
            if sdk.isLeaving { return "the server has not heard of the sign-out" }
            return self.state.isInForeground ? nil : "the app is \(self.state.word)"
        case .phone, .phones, .push, .act, .reinstall, .switches, .activity, .activityPush, .wait, .clear, .expect,
            .sdk, .screen:
            return nil
        }
    }

    private func needs(_ version: OSVersion, _ what: String) -> String? {
        self.setup.phone.version >= version ? nil : "\(what) needs iOS \(version.major)"
    }

    private func obstacle(to event: PersonEvent) -> String? {
        let screen = self.core.screen
        switch event {
        case .locked: return screen.lock == .unlocked || screen.asksToUnlockFor != nil ? nil : "the phone is locked"
        case .unlocked: return screen.lock == .unlocked ? "the phone is unlocked" : nil
        case .overlayAppeared: return self.state == .foregroundActive ? nil : "the app is \(self.state.word)"
        case .overlayDisappeared: return self.state == .foregroundInactive ? nil : "the app is \(self.state.word)"
        case .permissionAnswered: return screen.permissionPrompt == nil ? "no prompt is on the screen" : nil
        case .alertPanelAnswered: return screen.alertPanel == nil ? "no alert panel is on the screen" : nil
        case .callAnswered:
            return screen.calls.contains { !$0.isAnswered } ? nil : "no call rings on the screen"
        case .callDeclined: return screen.calls.isEmpty ? "no call is on the screen" : nil
        case .focusChanged(.some): return self.needs(15, "a Focus")
        case .summaryTimesChanged: return self.needs(15, "the scheduled summary")
        default: return nil
        }
    }

    private func obstacle(to event: SystemEvent) -> String? {
        switch event {
        case .appKilled, .appEvicted: return self.state.hasProcess ? nil : "the app is \(self.state.word)"
        case .appFrozen:
            return self.state.hasProcess && self.state != .suspended ? nil : "the app is \(self.state.word)"
        case .sceneDisconnected:
            if self.state.hasProcess, !self.state.isInForeground { return self.needs(13, "a scene") }
            return "the app is \(self.state.word)"
        case .prewarmed: return self.state.hasProcess ? "the app is \(self.state.word)" : self.needs(15, "a prewarm")
        default: return nil
        }
    }

    private func obstacle(to call: AppCall) -> String? {
        switch call {
        case .query(.requestAuthorization): self.needs(10, "requestAuthorization")
        case .query(.setBadgeCount): self.needs(16, "setBadgeCount")
        case .event(.delegateChanged): self.needs(10, "the UN delegate")
        case .event(.minimumFetchIntervalSet): self.needs(7, "Background Fetch")
        case .event(.expiringActivityBegan): self.needs(8, "performExpiringActivity")
        case .event, .query: nil
        }
    }

    private func obstacle(to moment: LocalMoment) -> String? {
        switch moment {
        case .atOnce, .after(_, repeats: false): return nil
        case .after(let wait, repeats: true):
            if self.setup.phone.version.hasUserNotifications || Self.interval(wait) != nil { return nil }
            return
                "before iOS 10 a notification repeats every minute, hour, day or week: in must be 1 min, 1 h, 1 d or 7 d"
        case .region: return self.needs(8, "a region")
        }
    }
}

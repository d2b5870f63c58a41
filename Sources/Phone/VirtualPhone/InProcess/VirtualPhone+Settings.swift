public import PhoneCore

// What a person changes in Settings and Control Center, and answers on the screen. A call without an app means the first one
// installed.

extension VirtualPhone {
    // MARK: Settings

    /// Turns a switch in Settings.
    public func set(_ setting: SettingSwitch, to isOn: Bool, for app: BundleID? = nil) async {
        await self.postAndSettle(.person(.settingChanged(self.target(app), setting, isOn: isOn)))
    }
    /// Chooses how an app's alerts appear on the unlocked phone.
    public func setAlertStyle(_ style: AlertStyle, for app: BundleID? = nil) async {
        await self.postAndSettle(.person(.alertStyleChanged(self.target(app), style)))
    }
    /// Chooses when an app's texts are shown (iOS 11).
    public func setPreviews(_ previews: ShowPreviews, for app: BundleID? = nil) async {
        await self.postAndSettle(.person(.previewsChanged(self.target(app), previews)))
    }
    /// Sets the delivery times of the scheduled summary, in minutes after midnight from 0 to 1439; none turns it off
    /// (iOS 15).
    public func setSummaryTimes(_ minutes: [Int]) async {
        await self.postAndSettle(.person(.summaryTimesChanged(minutes)))
    }
    /// Turns Background App Refresh of the whole phone on or off.
    public func setBackgroundRefresh(_ isOn: Bool) async {
        await self.postAndSettle(.person(.backgroundRefreshChanged(isOn: isOn)))
    }
    /// Turns the ring/silent switch: true is silent.
    public func setMuted(_ isOn: Bool) async { await self.postAndSettle(.person(.muteChanged(isOn: isOn))) }
    /// Turns a Focus on, or off with nil (iOS 15).
    public func setFocus(_ focus: Focus?) async { await self.postAndSettle(.person(.focusChanged(focus))) }
    /// Turns airplane mode on or off.
    public func setAirplaneMode(_ isOn: Bool) async {
        await self.postAndSettle(.person(.airplaneModeChanged(isOn: isOn)))
    }
    /// Turns Low Power Mode on or off.
    public func setLowPowerMode(_ isOn: Bool) async {
        await self.postAndSettle(.person(.lowPowerModeChanged(isOn: isOn)))
    }

    /// Presses the settings button of a notification, which asks the app for its own settings (iOS 12).
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Precondition: the list has it.
    public func openNotificationSettings(of identifier: String? = nil) async {
        await self.postAndSettle(.person(.notificationSettingsOpened(self.key(identifier))))
    }
    /// Presses the button to the app's own settings in Settings (iOS 12).
    public func openAppSettings(of app: BundleID? = nil) async {
        await self.postAndSettle(.person(.appSettingsOpened(self.target(app))))
    }

    // MARK: Prompts

    /// Allows notifications: the prompt that is there, and those to come.
    public func allowNotifications() async { await self.answerPrompts(true) }
    /// Denies notifications: the prompt that is there, and those to come.
    public func denyNotifications() async { await self.answerPrompts(false) }
    /// Presses "Keep" or "Turn Off" on an app's provisional notification (iOS 12).
    public func answerProvisional(keep: Bool, for app: BundleID? = nil) async {
        await self.postAndSettle(.person(.provisionalAnswered(self.target(app), keep: keep)))
    }
    /// Answers the alert panel on the screen: its "View" button is a tap (iOS 3–9).
    public func answerAlertPanel(opens: Bool) async {
        await self.postAndSettle(.person(.alertPanelAnswered(opens: opens)))
    }
    /// Swipes a banner off the screen; it stays in the list, and nothing is reported.
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Precondition: the list has it.
    public func swipeBannerAway(_ identifier: String? = nil) async {
        await self.postAndSettle(.person(.bannerSwipedAway(self.key(identifier))))
    }
    /// Takes a Live Activity off the lock screen.
    public func dismissActivity(_ activity: String, of app: BundleID? = nil) async {
        await self.postAndSettle(.person(.activityDismissed(self.target(app), activity: activity)))
    }
    /// Answers the first call that rings.
    public func answerCall() async { await self.postAndSettle(.person(.callAnswered)) }
    /// Declines the first call that rings, or ends the first that was answered.
    public func declineCall() async { await self.postAndSettle(.person(.callDeclined)) }
}

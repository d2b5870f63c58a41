public import PhoneCore
public import TidingsModel

// What a person, the system and APNs do to a phone. Each waits until the apps' work that follows is done. A call without
// an app means the first one installed.

extension VirtualPhone {
    // MARK: Person

    /// Opens an app by its icon.
    public func launch(_ app: BundleID? = nil) async { await self.perform(.person(.appOpened(self.target(app)))) }
    /// Goes to the home screen.
    public func home() async { await self.perform(.person(.wentHome)) }
    /// Locks the phone.
    public func lock() async { await self.perform(.person(.locked)) }
    /// Unlocks the phone.
    public func unlock() async { await self.perform(.person(.unlocked)) }
    /// Quits an app from the app switcher.
    public func forceQuit(_ app: BundleID? = nil) async {
        await self.perform(.person(.appForceQuit(self.target(app))))
    }

    /// Taps a notification of the list.
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Precondition: the list has it.
    public func tap(_ identifier: String? = nil) async {
        await self.perform(.person(.notificationTapped(self.key(identifier))))
    }

    /// Clears a notification from the list.
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Precondition: the list has it.
    public func dismiss(_ identifier: String? = nil) async {
        await self.perform(.person(.notificationDismissed(self.key(identifier))))
    }

    /// Presses a notification's button.
    ///
    /// - Parameters:
    ///   - action: the action's identifier.
    ///   - identifier: the request's identifier; nil is the newest.
    ///   - text: what is typed into a text-input action.
    /// - Precondition: the list has the notification.
    public func perform(action: String, on identifier: String? = nil, text: String? = nil) async {
        await self.perform(.person(.actionPerformed(self.key(identifier), action: action, text: text)))
    }

    /// Allows notifications: the prompt that is there, and those to come.
    public func allowNotifications() async { await self.answerPrompts(true) }
    /// Denies notifications: the prompt that is there, and those to come.
    public func denyNotifications() async { await self.answerPrompts(false) }
    /// Turns a switch in Settings.
    public func set(_ setting: SettingSwitch, to isOn: Bool, for app: BundleID? = nil) async {
        await self.perform(.person(.settingChanged(self.target(app), setting, isOn: isOn)))
    }
    /// Turns airplane mode on or off.
    public func setAirplaneMode(_ isOn: Bool) async { await self.perform(.person(.airplaneModeChanged(isOn: isOn))) }
    /// Turns Low Power Mode on or off.
    public func setLowPowerMode(_ isOn: Bool) async { await self.perform(.person(.lowPowerModeChanged(isOn: isOn))) }
    /// Covers the app in front, as a call does.
    public func showOverlay() async { await self.perform(.person(.overlayAppeared)) }
    /// Uncovers the app in front.
    public func hideOverlay() async { await self.perform(.person(.overlayDisappeared)) }
    /// Hands a value to the app's own interface (`PhoneInput`).
    ///
    /// - Precondition: the app runs.
    public func input(_ value: JSONValue, to app: BundleID? = nil) async {
        await self.input(value, to: self.target(app))
    }

    // MARK: System

    /// Suspends an app at once, without a word.
    public func suspend(_ app: BundleID? = nil) async { await self.perform(.system(.appFrozen(self.target(app)))) }
    /// Kills an app without a word.
    public func terminate(_ app: BundleID? = nil) async { await self.perform(.system(.appKilled(self.target(app)))) }
    /// Ends an app for memory: told if it runs, not if it is suspended.
    public func evict(_ app: BundleID? = nil) async { await self.perform(.system(.appEvicted(self.target(app)))) }
    /// Restarts the phone, which is then locked and before its first unlock.
    public func restart() async { await self.perform(.system(.restarted)) }

    /// Lets time pass, stopping at every deadline on the way.
    public func advance(by duration: Duration) async {
        let (seconds, attoseconds) = duration.components
        await self.moveClock(to: self.elapsedMilliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    // MARK: APNs

    /// Brings a push. While the phone is offline the newest per app is kept and comes later, as with APNs.
    ///
    /// - Parameters:
    ///   - payload: the payload, an object.
    ///   - collapseID: `apns-collapse-id`, which becomes the request's identifier.
    ///   - pushType: `apns-push-type`; nil if the sender named none.
    /// - Precondition: the payload is an object.
    public func deliver(
        _ payload: JSONValue, to app: BundleID? = nil, collapseID: String? = nil, pushType: String? = "alert"
    ) async {
        guard let object = payload.objectValue else { preconditionFailure("payload must be an object") }
        await self.bring(
            Push(
                delivery: self.nextDelivery(), topic: self.target(app).rawValue, payload: object, pushType: pushType,
                collapseID: collapseID))
    }

    private func key(_ identifier: String?) -> NotificationKey {
        let list = self.screen.list
        guard let entry = list.first(where: { identifier == nil || $0.key.identifier == identifier }) else {
            preconditionFailure("the list has no notification \(identifier ?? "at all")")
        }
        return entry.key
    }
}

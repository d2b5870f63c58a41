public import PhoneCore
public import TidingsModel

// What a person, the system and APNs do to a phone. Each waits until the apps' work that follows is done. A call without
// an app means the first one installed.

extension VirtualPhone {
    // MARK: Person

    /// Opens an app by its icon.
    public func launch(_ app: BundleID? = nil) async { await self.postAndSettle(.person(.appOpened(self.target(app)))) }
    /// Goes to the home screen.
    public func home() async { await self.postAndSettle(.person(.wentHome)) }
    /// Locks the phone.
    public func lock() async { await self.postAndSettle(.person(.locked)) }
    /// Unlocks the phone.
    public func unlock() async { await self.postAndSettle(.person(.unlocked)) }
    /// Quits an app from the app switcher.
    public func forceQuit(_ app: BundleID? = nil) async {
        await self.postAndSettle(.person(.appForceQuit(self.target(app))))
    }

    /// Taps a notification of the list.
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Precondition: the list has it.
    public func tap(_ identifier: String? = nil) async {
        let key = self.key(identifier)
        self.collapse()
        await self.postAndSettle(.person(.notificationTapped(key)))
    }

    /// Clears a notification from the list.
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Precondition: the list has it.
    public func dismiss(_ identifier: String? = nil) async {
        let key = self.key(identifier)
        self.collapse()
        await self.postAndSettle(.person(.notificationDismissed(key)))
    }

    /// Presses a notification's button. If it is expanded, its content extension is asked first.
    ///
    /// - Parameters:
    ///   - action: the action's identifier.
    ///   - identifier: the request's identifier; nil is the newest.
    ///   - text: what is typed into a text-input action.
    /// - Precondition: the list has the notification.
    public func perform(action: String, on identifier: String? = nil, text: String? = nil) async {
        let key = self.key(identifier)
        guard await self.queryContentExtension(key, action: action, text: text) else { return }
        await self.postAndSettle(.person(.actionPerformed(key, action: action, text: text)))
    }

    /// Covers the app in the foreground, as a call does.
    public func showOverlay() async { await self.postAndSettle(.person(.overlayAppeared)) }
    /// Uncovers the app in the foreground.
    public func hideOverlay() async { await self.postAndSettle(.person(.overlayDisappeared)) }
    /// Hands a value to the app's own interface (`PhoneInput`).
    ///
    /// - Precondition: the app runs.
    public func input(_ value: JSONValue, to app: BundleID? = nil) async {
        await self.input(value, to: self.target(app))
    }

    // MARK: Time

    /// Lets time pass, stopping at every deadline on the way.
    public func advance(by duration: Duration) async {
        let (seconds, attoseconds) = duration.components
        await self.moveClock(to: self.elapsedMilliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    // MARK: APNs

    /// Brings a push. While the phone is offline the newest per topic is kept and comes later, as with APNs.
    ///
    /// - Parameters:
    ///   - payload: the payload, an object.
    ///   - app: whom it is for; nil for the one installed first.
    ///   - collapseID: `apns-collapse-id`, which becomes the request's identifier.
    ///   - pushType: `apns-push-type`; nil if the sender named none.
    ///   - priority: `apns-priority`: 1, 5 or 10.
    ///   - expiration: `apns-expiration` in seconds since 1970; 0 is not kept for a phone that is offline.
    /// - Precondition: the payload is an object.
    public func deliver(
        _ payload: JSONValue, to app: BundleID? = nil, collapseID: String? = nil, pushType: String? = "alert",
        priority: Int = 10, expiration: Int64? = nil
    ) async {
        await self.deliverPush(
            Push(
                delivery: self.nextDelivery(), topic: self.target(app).rawValue, payload: Self.object(payload),
                pushType: pushType, priority: priority, collapseID: collapseID, expiration: expiration))
    }

    /// Brings a VoIP push, with the topic `<bundle>.voip` (ios-delivery.md §12).
    ///
    /// - Precondition: the payload is an object.
    public func deliverVoIP(_ payload: JSONValue, to app: BundleID? = nil) async {
        await self.deliverPush(
            Push(
                delivery: self.nextDelivery(), topic: TokenKind.voip.topic(of: self.target(app)),
                payload: Self.object(payload), pushType: "voip"))
    }

    /// Brings a Live Activity's push, with the topic `<bundle>.push-type.liveactivity` (ios-delivery.md §12).
    ///
    /// - Parameters:
    ///   - payload: the payload, an object.
    ///   - app: whom it is for; nil for the one installed first.
    ///   - activity: the activity whose token it was sent to; nil is the push-to-start token.
    /// - Precondition: the payload is an object.
    public func deliverActivity(_ payload: JSONValue, to app: BundleID? = nil, activity: String?) async {
        await self.deliverPush(
            Push(
                delivery: self.nextDelivery(), topic: TokenKind.pushToStart.topic(of: self.target(app)),
                payload: Self.object(payload), pushType: "liveactivity", activity: activity))
    }

    /// Sends a broadcast on a channel, which arrives if one of the app's Live Activities listens to it (iOS 18). Like one on a
    /// channel that stores nothing, it is lost on a phone that is offline.
    ///
    /// - Precondition: the payload is an object.
    public func broadcast(_ payload: JSONValue, to app: BundleID? = nil, channel: String) async {
        let object = Self.object(payload)
        let app = self.target(app)
        guard self.channels.contains(SubscribedChannel(app: app, id: channel)) else { return }
        await self.deliverPush(
            Push(
                delivery: self.nextDelivery(), topic: TokenKind.pushToStart.topic(of: app), payload: object,
                pushType: "liveactivity", expiration: 0, channel: channel))
    }

    private static func object(_ payload: JSONValue) -> JSONObject {
        guard let object = payload.objectValue else { fatalError("payload must be an object") }
        return object
    }

    func key(_ identifier: String?) -> NotificationKey {
        let list = self.screen.list
        guard let entry = list.first(where: { identifier == nil || $0.key.identifier == identifier }) else {
            fatalError("the list has no notification \(identifier ?? "at all")")
        }
        return entry.key
    }
}

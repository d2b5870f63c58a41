package import ClientCore
package import PhoneCore
import TidingsModel

// What the shipped kit takes over from Apple's delegates and hands to Apple's calls, for the virtual iPhone's.

extension KitMachine.Event {
    /// Nil for a call that is not about notifications.
    package init?(
        _ callback: Callback, _ call: CallbackNumber, _ state: ApplicationState, isCenterDelegateSet: Bool
    ) {
        switch callback {
        case .willPresent(let notification): self = .presentationRequested(.init(notification.request), call)
        case .receiveRemoteFetch(let payload), .receiveRemote(let payload):
            self = .remoteArrived(
                .init(payload: .object(payload)), .init(state), isCenterDelegateSet: isCenterDelegateSet,
                callback.isAnsweredByKit ? call : nil)
        case .receiveLocal(let request): self = .localArrived(.init(request), .init(state))
        case .performFetch: self = .fetchRequested(call)
        case .receiveResponse(let response): self = .responded(.init(response, origin: .callback), call)
        case .sceneWillConnect(let response?): self = .responded(.init(response, origin: .sceneConnection), nil)
        case .handleActionRemote(let identifier, let payload, let text):
            let payload = JSONValue.object(payload)
            self = .responded(
                .init(
                    userInfo: payload, text: AlertText(userInfo: payload), action: identifier, userText: text,
                    origin: .callback), call)
        case .handleActionLocal(let identifier, let request, let text):
            let arrival = KitMachine.Arrival(request)
            self = .responded(
                .init(
                    userInfo: arrival.userInfo, text: arrival.text, action: identifier, userText: text,
                    origin: .callback), call)
        case .didFinishLaunching(let options):
            let arrival =
                options.remoteNotification.map { KitMachine.Arrival(payload: .object($0)) }
                ?? options.localNotification.map { KitMachine.Arrival($0) }
            guard let arrival else { return nil }
            self = .launched(
                .init(userInfo: arrival.userInfo, text: arrival.text, origin: .launchOptions), .init(state))
        case .failedToRegisterForRemoteNotifications: self = .registrationFailed
        case .applicationDidBecomeActive, .sceneDidBecomeActive: self = .becameActive
        default: return nil  // tidy: the others tell nothing of notifications
        }
    }
}

extension KitMachine.Arrival {
    fileprivate init(_ request: NotificationRequest) {
        let content = request.content
        self.init(
            userInfo: .object(content.userInfo),
            text: AlertText(title: content.title, subtitle: content.subtitle, body: content.body),
            hasSound: content.sound != nil)
    }
}

extension KitMachine.Tap {
    fileprivate init(_ response: UserResponse, origin: PersonResponse.Origin) {
        let arrival = KitMachine.Arrival(response.notification.request)
        self.init(
            userInfo: arrival.userInfo, text: arrival.text, action: response.actionIdentifier,
            userText: response.userText, origin: origin, request: response.notification.request.identifier,
            deliveredAt: response.notification.date)
    }
}

extension KitMachine.AppState {
    fileprivate init(_ state: ApplicationState) {
        switch state {
        case .active: self = .active
        case .inactive: self = .inactive
        case .background: self = .background
        }
    }
}

extension Callback {
    /// True if it has a completion handler that the kit calls for its own notifications.
    package var isAnsweredByKit: Bool {
        switch self {
        case .willPresent, .receiveRemoteFetch, .performFetch, .receiveResponse, .handleActionRemote,
            .handleActionLocal:
            true
        default: false  // tidy: the others have none
        }
    }
}

extension FetchResult {
    package init(_ result: BackgroundRefreshResult) {
        switch result {
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}

extension NotificationCenterQueue {
    package enum PendingQuery: Hashable {
        case posting(Number)
        case listing(Number)
        case badge(Number)

        package func event(for answer: QueryAnswer) -> Event {
            switch (self, answer) {
            case (.posting(let number), .added): .posted(.shown, number)
            case (.posting(let number), .refused(.notificationsNotAllowed)): .posted(.notAuthorized, number)
            case (.posting(let number), _): .posted(.failed, number)
            case (.listing(let number), .delivered(let notifications)):
                .listed(notifications.map { Entry($0.request) }, number)
            case (.listing(let number), _): .listed([], number)
            // Also where the person does not allow a number.
            case (.badge(let number), _): .badgeShown(number)
            }
        }
    }
}

extension NotificationCenterQueue.Entry {
    package init(_ request: NotificationRequest) {
        self.init(
            identifier: request.identifier, userInfo: .object(request.content.userInfo),
            thread: request.content.threadIdentifier)
    }
}

extension DeviceStatus {
    /// Makes the kit's report of a phone with these settings; the client adds who sets the icon's number.
    package init(_ settings: NotificationSettings, version: OSVersion) {
        let authorization: Authorization =
            switch settings.authorizationStatus {
            case .notDetermined: .notDetermined
            case .denied: .denied
            case .authorized: .authorized
            case .provisional: .provisional
            case .ephemeral: .ephemeral
            }
        self.init(
            authorization: authorization, alert: settings.alert, sound: settings.sound, badge: settings.badge,
            lockScreen: settings.lockScreen, notificationCenter: settings.notificationCenter,
            backgroundRefresh: settings.backgroundRefresh ? .available : .denied, systemVersion: version.description,
            model: PhoneCore.model)
    }
}

extension LocalNotification {
    /// Returns the donation to the system before the notification centre, and the centre's request. Where the person has not allowed
    /// notifications the kit does not begin, and the centre refuses; an app that is not entitled posts plain content.
    ///
    /// - Parameters:
    ///   - badge: nil where the icon is left alone.
    ///   - hasCategory: the app has registered the kit's actions.
    package func posted(
        badge: Int?, hasCategory: Bool, isEntitled: Bool, settings: NotificationSettings?
    ) -> (donated: DonatedMessage?, request: NotificationRequest) {
        var notification = self
        if !isEntitled { notification.communication = nil }
        let request = notification.request(badge: badge, hasCategory: hasCategory)
        return (settings?.mayPost == true ? notification.communication?.donation : nil, request)
    }

    private func request(badge: Int?, hasCategory: Bool) -> NotificationRequest {
        var content = NotificationContent(
            title: self.title.notificationText, subtitle: self.subtitle?.notificationText ?? "",
            body: self.body.notificationText, badge: badge, userInfo: self.userInfo.objectValue ?? JSONObject())
        content.apply(self.manner(category: hasCategory ? MessageCategory.identifier : ""))
        if let form = self.communication { content.show(form) }
        return NotificationRequest(identifier: self.message.description, content: content)
    }
}

extension NotificationSettings {
    fileprivate var mayPost: Bool {
        switch self.authorizationStatus {
        case .notDetermined, .denied: false
        case .authorized, .provisional, .ephemeral: true
        }
    }
}

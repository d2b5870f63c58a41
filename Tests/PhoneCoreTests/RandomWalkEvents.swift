import TidingsModel

@testable import PhoneCore

/// What can happen to a phone, by chance: every kind of event, those that lead somewhere more often.
extension RandomWalk {
    static let read = NotificationAction(identifier: "read", title: "Read", options: .foreground)
    static let reply = NotificationAction(identifier: "reply", title: "Reply", takesText: true)
    static let category = NotificationCategory(identifier: "", actions: [read, reply], reportsDismissal: true)
    static let activities = ["activity-1", "a", "b"]

    mutating func event() -> PhoneEvent {
        if !self.intentions.isEmpty, self.random.chance(3, of: 4) { return self.intentions.removeFirst() }
        return switch self.random.below(40) {
        case 0..<8: .person(self.personEvent())
        case 8: .system(self.systemEvent())
        case 9..<15: .courier(self.courierEvent())
        default: self.processEvent()
        }
    }

    mutating func install(_ app: BundleID) -> InstalledApp {
        let modes: BackgroundModes = [.remoteNotification, .fetch, .voip]
        if app == Self.apps[0] {
            return InstalledApp(
                bundleID: app, lifecycle: .scenes, methods: [.modern, .performFetch], backgroundModes: modes,
                hasFilteringEntitlement: self.random.chance(1, of: 2), entitlements: [.timeSensitive, .criticalAlerts],
                permittedTasks: self.random.chance(2, of: 3) ? ["refresh"] : [])
        }
        return InstalledApp(
            bundleID: app, lifecycle: .application,
            methods: DelegateMethods(rawValue: UInt32(self.random.below(2_048))),
            backgroundModes: modes, isAppClip: self.random.chance(1, of: 6))
    }

    private mutating func app() -> BundleID { self.random.pick(Self.apps) }

    private mutating func flag() -> Bool { self.random.chance(1, of: 2) }

    private mutating func key() -> NotificationKey {
        let entries = self.core.listed
        guard !entries.isEmpty, !self.random.chance(1, of: 20) else {
            return self.core.screen.banners.first?.key ?? NotificationKey(app: self.app(), identifier: "1")
        }
        return self.random.pick(entries).key
    }

    private mutating func personEvent() -> PersonEvent {
        let isOn = self.flag()
        switch self.random.below(40) {
        case 0, 1, 2: return .unlocked
        case 3: return .locked
        case 4..<13: return .appOpened(self.app())
        case 13, 14: return .wentHome
        case 15: return .appForceQuit(self.app())
        case 16..<19: return .notificationTapped(self.key())
        case 20: return .notificationDismissed(self.key())
        case 19, 21: return .actionPerformed(self.key(), action: "read", text: nil)
        case 22: return .actionPerformed(self.key(), action: "reply", text: "yes")
        case 23: return .permissionAnswered(allowed: isOn)
        case 24: return .settingChanged(self.app(), .notifications, isOn: !self.random.chance(1, of: 5))
        case 25: return .settingChanged(self.app(), self.random.pick(SettingSwitch.allCases), isOn: isOn)
        case 26: return .airplaneModeChanged(isOn: self.random.chance(1, of: 4))
        case 27: return .lowPowerModeChanged(isOn: self.random.chance(1, of: 4))
        case 28: return .overlayAppeared
        case 29: return .overlayDisappeared
        case 30: return .alertStyleChanged(self.app(), self.random.pick(AlertStyle.allCases))
        case 31: return .previewsChanged(self.app(), self.random.pick(ShowPreviews.allCases))
        case 32: return .focusChanged(isOn ? Focus(allowsTimeSensitive: self.flag()) : nil)
        case 33: return .summaryTimesChanged(isOn ? [480, 1_080] : [])
        case 34: return .backgroundRefreshChanged(isOn: !self.random.chance(1, of: 4))
        case 35: return .muteChanged(isOn: isOn)
        case 36: return isOn ? .notificationSettingsOpened(self.key()) : .appSettingsOpened(self.app())
        case 37: return .bannerSwipedAway(self.key())
        case 39: return isOn ? .callAnswered : .callDeclined
        case 38:
            return isOn ? .alertPanelAnswered(opens: self.flag()) : .provisionalAnswered(self.app(), keep: self.flag())
        default: return .activityDismissed(self.app(), activity: self.random.pick(Self.activities))
        }
    }

    private mutating func systemEvent() -> SystemEvent {
        let app = self.app()
        if self.core.state(of: app) == nil { return .appInstalled(self.install(app)) }
        switch self.random.below(24) {
        case 0, 1: return .appKilled(app)
        case 2, 3, 4, 5: return .appFrozen(app)
        case 6, 7: return .appEvicted(app)
        case 8, 9: return .memoryRanLow
        case 10: return .restarted
        case 11: return .appInstalled(self.install(app))
        case 12: return .appRemoved(app)
        case 13: return .sceneDisconnected(app)
        case 14, 15: return .prewarmed(app)
        case 16: return .appUpdated(self.install(app))
        case 17: return .appReinstalled(self.install(app))
        case 18: return .restoredFromBackup
        case 19, 20, 21: return .backgroundChance(app)
        case 22: return .backgroundRefreshRestricted(self.random.chance(1, of: 3))
        default: return .regionCrossed("home", entered: self.flag())
        }
    }

    // MARK: The courier

    private mutating func courierEvent() -> CourierEvent {
        self.count += 1
        let app = self.app()
        let token = PushToken(self.flag() ? "beef" : "cafe")
        switch self.random.below(24) {
        case 0, 1: return .tokenIssued(app, token)
        case 2: return .registrationFailed(app, reason: "no route to APNs")
        case 3: return .tokenOfKindIssued(app, .voip, token)
        case 4, 5: return .tokenOfKindIssued(app, .activity(self.random.pick(Self.activities)), token)
        case 6: return .tokenOfKindIssued(app, .pushToStart, token)
        case 7:
            return .pushArrived(
                Push(delivery: self.count, topic: app.rawValue + ".voip", payload: JSONObject([("call", "ann")])))
        case 8, 9:
            return .pushArrived(
                Push(
                    delivery: self.count, topic: app.rawValue + ".push-type.liveactivity",
                    payload: self.activityPayload().objectValue ?? JSONObject(), pushType: "liveactivity",
                    activity: self.random.chance(1, of: 3) ? nil : self.random.pick(["a", "a", "a", "activity-1", "b"]))
            )
        default:
            return .pushArrived(
                Push(
                    delivery: self.count, topic: app.rawValue, payload: self.payload().objectValue ?? JSONObject(),
                    pushType: self.flag() ? "alert" : "background",
                    collapseID: self.flag() ? "\(1 + self.random.below(5))" : nil))
        }
    }

    private mutating func payload() -> JSONValue {
        switch self.random.below(8) {
        case 0, 1: Payload.alert
        case 2: Payload.alertAndContent
        case 3: Payload.content
        case 4, 5: Payload.mutable
        case 6:
            [
                "aps": [
                    "alert": "hello", "mutable-content": 1, "thread-id": "t",
                    "interruption-level": .string(
                        self.random.pick(["passive", "active", "time-sensitive", "critical"])),
                    "sound": ["critical": 1, "name": "default"],
                ]
            ]
        default: ["aps": [:]]
        }
    }

    private mutating func activityPayload() -> JSONValue {
        let now = self.now.wall / 1_000
        let event = self.random.pick(["start", "update", "update", "end"])
        return [
            "aps": [
                "timestamp": .int(now - Int64(self.random.below(3))), "event": .string(event),
                "content-state": ["score": .int(self.random.below(9))],
                "stale-date": .int(now + Int64(self.random.below(60))),
                "dismissal-date": .int(now + Int64(self.random.below(60))), "attributes-type": "Match",
                "attributes": [:],
            ]
        ]
    }

    // MARK: The processes

    private mutating func processEvent() -> PhoneEvent {
        if !self.starting.isEmpty, !self.random.chance(1, of: 3) {
            return .process(self.starting.removeFirst(), .started)
        }
        if !self.open.isEmpty, !self.random.chance(1, of: 6) {
            let index = self.random.below(min(3, self.open.count))
            let call = self.open[index]
            // Now and then the answer comes twice, and now and then never.
            if !self.random.chance(1, of: 16) { self.open.remove(at: index) }
            if self.random.chance(1, of: 24) { return .timerReached }
            return .process(call.process, .callbackCompleted(call.number, self.result(of: call.callback)))
        }
        guard !self.living.isEmpty else { return .timerReached }
        let process = self.random.pick(self.living)
        return .process(process, self.report())
    }

    private mutating func result(of callback: Callback) -> CallbackResult {
        switch callback {
        case .receiveRemoteFetch, .performFetch: .fetch(self.random.pick(FetchResult.allCases))
        case .willPresent: .presentation(WillPresentOptions(rawValue: UInt(self.random.below(32))))
        case .serviceExtensionReceive(let request): .content(self.flag() ? request.content : NotificationContent())
        default: .returned
        }
    }

    private mutating func report() -> ProcessEvent {
        let task = BackgroundTaskNumber(1 + self.random.below(3))
        let activity = self.random.pick(Self.activities)
        let isOn = self.flag()
        switch self.random.below(44) {
        case 0:
            return self.random.chance(1, of: 3)
                ? .exited(crashed: isOn)
                : .incomingCallReported(IncomingCall(identifier: activity, caller: "Ann"))
        case 1..<6: return .delegateChanged(isSet: !self.random.chance(1, of: 4))
        case 6..<11: return .remoteRegistrationRequested
        case 11: return self.random.chance(1, of: 4) ? .remoteRegistrationEnded : .remoteRegistrationRequested
        case 12, 13: return .backgroundTaskBegan(task)
        case 14: return .backgroundTaskEnded(task)
        case 15: return isOn ? .expiringActivityBegan(task) : .expiringActivityEnded(task)
        case 16: return .iconBadgeNumberSet(self.random.below(5) - 1)
        case 17, 18: return .categoriesSet([Self.category])
        case 19: return .pendingRemoved(identifiers: isOn ? ["1"] : nil)
        case 20: return .deliveredRemoved(identifiers: ["1", "2"])
        case 21: return .remoteTypesRequested([.alert, .badge, .sound])
        case 22, 23: return .userNotificationSettingsRegistered([.alert, .sound], [Self.category])
        case 24: return .localNotificationScheduled(self.request())
        case 25: return .localNotificationCancelled(identifier: isOn ? "1" : nil)
        case 26: return .minimumFetchIntervalSet(isOn ? 1_000 : nil)
        case 27: return .refreshTaskRegistered(identifier: "refresh")
        case 28: return .refreshTaskCompleted(identifier: "refresh", success: isOn)
        case 29: return .refreshTaskCancelled(identifier: isOn ? "refresh" : nil)
        case 30: return .voipRegistrationChanged(isOn: !self.random.chance(1, of: 4))
        case 31: return isOn ? .callEnded(identifier: activity) : .screenChanged("Chat")
        case 32, 33:
            return .activityStarted(
                activity: activity, pushType: self.random.chance(1, of: 3) ? .channel("c") : isOn ? .token : nil,
                contentState: .null)
        case 34:
            return isOn
                ? .activityContentChanged(activity: activity, contentState: .null) : .activityEnded(activity: activity)
        case 35: return .pushToStartRequested
        case 36: return isOn ? .appGroupLockTaken("badge") : .appGroupLockReleased("badge")
        case 37: return .memoryUseChanged(bytes: self.random.below(30_000_000))
        default: return .query(1, self.query())
        }
    }

    private mutating func query() -> Query {
        switch self.random.below(20) {
        case 0, 1: .requestAuthorization([.alert, .sound, .badge])
        case 2: .requestAuthorization([.alert, .provisional])
        case 3: .settings
        case 4: .pendingRequests
        case 5: .deliveredNotifications
        case 6: .categories
        case 7: .setBadgeCount(self.random.below(4))
        case 8: .badgeCount
        case 9: .backgroundTimeRemaining
        case 10: .backgroundRefreshStatus
        case 11, 12: .submitRefreshTask(RefreshTaskRequest(identifier: "refresh"))
        case 13: .pendingRefreshTasks
        case 14: .lowPowerMode
        case 15: .protectedDataAvailable
        default: .add(self.request())
        }
    }

    private mutating func request() -> NotificationRequest {
        let trigger: NotificationTrigger? =
            switch self.random.below(7) {
            case 0: .timeInterval(milliseconds: 7_000, repeats: false)
            case 1: .timeInterval(milliseconds: 90_000, repeats: true)
            case 2: .calendar(CalendarComponents(hour: 9, minute: 30), repeats: self.flag())
            case 3: .location(NotificationRegion(identifier: "home"), repeats: self.flag())
            case 4: .fireDate(self.now.wall + Int64(self.random.below(9_000)), repeatInterval: nil)
            case 5: .fireDate(self.now.wall, repeatInterval: self.random.pick(RepeatInterval.allCases))
            default: nil
            }
        return NotificationRequest(
            identifier: "\(1 + self.random.below(5))",
            content: NotificationContent(body: "hello", badge: 1, sound: .standard), trigger: trigger)
    }
}

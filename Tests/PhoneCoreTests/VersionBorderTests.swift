import PhoneCore
import Testing
import TidingsModel

/// The first version of a rule and the last one without it (ios-delivery.md §0.3, §4, §5, §9, §12).
@Suite struct `The first version` {
    static let plain = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, hasServiceExtension: false)

    static func request(_ trigger: NotificationTrigger? = nil) -> NotificationRequest {
        NotificationRequest(identifier: "m", content: NotificationContent(body: "hello"), trigger: trigger)
    }

    @Test(arguments: [(OSVersion(9, 3), false), (OSVersion(10), true)])
    func `of the notification centre is 10, and an app that does not look is told`(version: OSVersion, exists: Bool) {
        var rig = PhoneRig(version, Self.plain, allowed: false, in: .foregroundActive)
        #expect(rig.ask(.requestAuthorization([.alert])) == (exists ? nil : .granted(false)))
        #expect((rig.core.screen.permissionPrompt != nil) == exists)
        rig.person(.settingChanged(PhoneRig.chat, .notifications, isOn: true))
        #expect(rig.ask(.add(Self.request())) == (exists ? .added : .refused(.notificationsNotAllowed)))
        let rule = "UNUserNotificationCenter must not be used before iOS 10"
        #expect(rig.faults == (exists ? [] : [rule, rule]))
    }

    @Test(arguments: [(OSVersion(15, 4), false), (OSVersion(16), true)])
    func `of setBadgeCount is 16`(version: OSVersion, exists: Bool) {
        var rig = PhoneRig(version, Self.plain)
        rig.enter(.foregroundActive)
        #expect(rig.ask(.setBadgeCount(4)) == (exists ? .done : .refused(.notificationsNotAllowed)))
        #expect(rig.badge == (exists ? 4 : 0))
        #expect(rig.faults == (exists ? [] : ["setBadgeCount must not be used before iOS 16"]))
    }

    @Test(arguments: [(OSVersion(3), false), (OSVersion(4), true)])
    func `of local notifications is 4`(version: OSVersion, exists: Bool) {
        var rig = PhoneRig(version, Self.plain, in: .backgroundRunning)
        rig.app(.localNotificationScheduled(Self.request()))
        #expect(rig.story == (exists ? ["show(panel)"] : []))
        #expect(rig.faults == (exists ? [] : ["scheduleLocalNotification must not be used before iOS 4"]))
    }

    @Test(arguments: [(OSVersion(14, 8), "show(banner,list,badge)"), (OSVersion(15), "show(list,badge)")])
    func `of levels and Focus is 15`(version: OSVersion, shown: String) {
        for change in [true, false] {
            var rig = PhoneRig(version, Self.plain)
            if change { rig.person(.focusChanged(Focus())) }
            rig.clear()
            let level: JSONValue = change ? "active" : "passive"
            rig.push(["aps": ["alert": "hello", "badge": 1, "interruption-level": level]])
            #expect(rig.story == [shown])
        }
    }

    @Test(arguments: [(OSVersion(14, 8), ["m"]), (OSVersion(15), [])])
    func `of the scheduled summary is 15`(version: OSVersion, list: [String]) {
        var rig = PhoneRig(version, Self.plain)
        rig.person(.settingChanged(PhoneRig.chat, .scheduledDelivery, isOn: true))
        rig.person(.summaryTimesChanged([480]))
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.list == list)
    }

    @Test(arguments: [(OSVersion(13, 7), AuthorizationStatus.notDetermined), (OSVersion(14), .ephemeral)])
    func `of app clips is 14`(version: OSVersion, status: AuthorizationStatus) {
        var clip = Self.plain
        clip.isAppClip = true
        var rig = PhoneRig(version, clip, allowed: false)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == status)
    }

    @Test(arguments: [(OSVersion(13, 7), "none(willPresent)"), (OSVersion(14), "show(banner,list)")])
    func `of WP's banner and list is 14`(version: OSVersion, shown: String) {
        var rig = PhoneRig(
            version, Self.plain, behaviour: AppBehaviour(presentation: [.banner, .list]), in: .foregroundActive)
        rig.push(Payload.alert)
        #expect(rig.story == ["WP", shown])
    }

    @Test(arguments: [(OSVersion(10, 3), false), (OSVersion(11), true)])
    func `of hidden previews is 11`(version: OSVersion, hides: Bool) {
        var rig = PhoneRig(version, Self.plain)
        rig.person(.previewsChanged(PhoneRig.chat, .never))
        rig.push(Payload.alert)
        #expect((rig.core.screen.list.first?.hidden != nil) == hides)
    }

    @Test(arguments: [(OSVersion(11, 4), AuthorizationStatus.notDetermined), (OSVersion(12), .provisional)])
    func `of provisional notifications is 12`(version: OSVersion, status: AuthorizationStatus) {
        var rig = PhoneRig(version, Self.plain, allowed: false)
        rig.enter(.foregroundActive)
        rig.ask(.requestAuthorization([.alert, .provisional]))
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == status)
    }

    @Test(arguments: [(OSVersion(11, 4), "show(banner,list)"), (OSVersion(12), "show(banner,list,sound)")])
    func `of critical sounds is 12`(version: OSVersion, shown: String) {
        var app = Self.plain
        app.entitlements = .criticalAlerts
        var rig = PhoneRig(version, app)
        rig.person(.settingChanged(PhoneRig.chat, .criticalAlert, isOn: true))
        rig.person(.muteChanged(isOn: true))
        rig.clear()
        rig.push(["aps": ["alert": "x", "sound": ["critical": 1, "name": "a.caf"]]])
        #expect(rig.story == [shown])
    }

    @Test(arguments: [(OSVersion(12, 5), false), (OSVersion(13), true)])
    func `that wants a call for each VoIP push is 13`(version: OSVersion, wants: Bool) {
        var app = Self.plain
        app.backgroundModes = .voip
        var rig = PhoneRig(version, app, behaviour: AppBehaviour(reportsCall: false), in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.enter(.suspended)
        rig.push(["call": "ann"], suffix: ".voip")
        #expect(rig.ends == (wants ? [.noCallReported] : []))
    }

    @Test(arguments: [(OSVersion(7, 1), false), (OSVersion(8), true)])
    func `of PushKit is 8`(version: OSVersion, exists: Bool) {
        var app = Self.plain
        app.backgroundModes = .voip
        var rig = PhoneRig(version, app, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        #expect(rig.effects.contains(.requestToken(PhoneRig.chat, .voip)) == exists)
    }

    @Test(arguments: [(OSVersion(16), false), (OSVersion(16, 1), true)])
    func `of Live Activities is 16_1`(version: OSVersion, exists: Bool) {
        var rig = PhoneRig(version, Self.plain, in: .foregroundActive)
        rig.app(.activityStarted(activity: "a", pushType: nil, contentState: .null))
        #expect(rig.core.screen.activities.count == (exists ? 1 : 0))
    }

    @Test(arguments: [(OSVersion(25), "DF(remoteNotification)"), (OSVersion(26), "DF")])
    func `without the payload in the options of a wake is 26`(version: OSVersion, launch: String) {
        var rig = PhoneRig(version)
        rig.push(Payload.content)
        #expect(rig.calls == ["WF", launch, "RF(background)"])
    }

    static let builds: [(OSVersion, OSVersion?, LifecycleStyle, Bool)] = [
        (26, 27, .application, true), (27, 27, .application, false), (27, 27, .scenes, true),
        (27, 26, .application, true), (27, nil, .application, true),
    ]

    @Test(arguments: builds)
    func `that starts no app of its own SDK without scenes is 27`(
        version: OSVersion, sdk: OSVersion?, lifecycle: LifecycleStyle, starts: Bool
    ) {
        var core = PhoneCore(
            version: version,
            apps: [InstalledApp(bundleID: PhoneRig.chat, lifecycle: lifecycle, sdkVersion: sdk)])
        let effects = core.handle(.person(.appOpened(PhoneRig.chat)), at: Now(monotonic: 0, wall: 0))
        #expect((core.process(of: PhoneRig.chat) != nil) == starts)
        let faults = effects.compactMap { effect -> String? in
            if case .record(let record) = effect, case .fault(let text) = record.entry { text } else { nil }
        }
        #expect(faults == (starts ? [] : ["app chat.example was built with the iOS 27 SDK and must use scenes"]))
        #expect(core.screen.foregroundApp == (starts ? PhoneRig.chat : nil))
        #expect(core.state(of: PhoneRig.chat) == (starts ? .foregroundInactive : .notRunning))
    }
}

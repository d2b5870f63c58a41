import PhoneCore
import Requirements
import Testing
import TidingsModel

/// The gates of ios-delivery.md §4, each with the case in which it stops something.
@Suite struct `A gate` {
    static func app(_ entitlements: Entitlements = []) -> InstalledApp {
        InstalledApp(
            bundleID: PhoneRig.chat, lifecycle: .application, hasServiceExtension: false, entitlements: entitlements)
    }

    static func story(
        _ level: String, version: OSVersion = 17, entitlements: Entitlements = [], lock: Bool = false,
        _ change: (inout PhoneRig) -> Void = { _ in }
    ) -> [String] {
        var rig = PhoneRig(version, Self.app(entitlements))
        change(&rig)
        if lock { rig.person(.locked) }
        rig.clear()
        rig.push([
            "aps": ["alert": "hello", "sound": "default", "badge": 3, "interruption-level": .string(level)]
        ])
        return rig.story
    }

    // MARK: 1, 2: registered, online

    @Test(.requirement("S2.5")) func `1 lets nothing in for an app that is not registered`() {
        var rig = PhoneRig(17, Self.app(), in: .foregroundActive)
        rig.app(.remoteRegistrationEnded)
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == [])
        #expect(rig.faults == ["topic chat.example must belong to an app that is registered"])
    }

    @Test func `2 lets nothing in while the phone is offline`() {
        var rig = PhoneRig(17, Self.app())
        rig.person(.airplaneModeChanged(isOn: true))
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.effects == [])
    }

    // MARK: 3: authorization

    @Test(.requirement("S4.9"), arguments: ["denied", "unasked"])
    func `3 shows nothing without authorization, calls RF and not WP`(status: String) {
        var rig = PhoneRig(17, Self.app(), allowed: false)
        if status == "denied" { rig.person(.settingChanged(PhoneRig.chat, .notifications, isOn: false)) }
        rig.enter(.foregroundActive)
        rig.push(Payload.alertAndContent)
        #expect(rig.story == ["RF(active)", "none(notAuthorized)"])
        rig.person(.wentHome)
        rig.clear()
        rig.push(Payload.alertAndContent)
        #expect(rig.story == ["none(notAuthorized)", "wake(delivered)", "RF(background)"])
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.story == ["wake(delivered)", "RF(background)"])
    }

    @Test
    func `3 lists provisional notifications without banner, sound, badge or light, and asks WP in the foreground`() {
        var rig = PhoneRig(17, Self.app(), allowed: false, in: .foregroundActive)
        rig.ask(.requestAuthorization([.alert, .sound, .badge, .provisional]))
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["WP", "show(list)"])
        rig.person(.locked)
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["show(list)"])
        #expect(rig.badge == 0)
        #expect(!rig.core.screen.isLit)
    }

    @Test func `3 keeps what was provisional quiet after Keep, and denies after Turn Off`() {
        var rig = PhoneRig(17, Self.app(), allowed: false, in: .foregroundActive)
        rig.ask(.requestAuthorization([.alert, .sound, .badge, .provisional]))
        rig.person(.wentHome)
        var off = rig
        rig.person(.provisionalAnswered(PhoneRig.chat, keep: true))
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == .authorized)
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["show(list)"])
        off.person(.provisionalAnswered(PhoneRig.chat, keep: false))
        off.clear()
        off.push(Payload.alert)
        #expect(off.story == ["none(notAuthorized)"])
    }

    @Test func `3 lets an app clip notify for eight hours after it was opened`() {
        var clip = Self.app()
        clip.isAppClip = true
        var rig = PhoneRig(17, clip, allowed: false)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == .ephemeral)
        rig.person(.wentHome)
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["show(banner,list,sound,badge)"])
        rig.pass(seconds: 8 * 3_600)
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == .notDetermined)
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["none(notAuthorized)"])
        var old = PhoneRig(13, clip, allowed: false)
        old.person(.appOpened(PhoneRig.chat))
        #expect(old.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == .notDetermined)
    }

    @Test(arguments: [OSVersion(8), OSVersion(9, 3)])
    func `3 makes every push silent on iOS 8 and 9 without registered settings`(version: OSVersion) {
        var rig = PhoneRig(version, Self.app(), allowed: false)
        rig.push(Payload.alert)
        #expect(rig.story == ["none(notRegistered)"])
        rig.clear()
        rig.push(Payload.alertAndContent)
        #expect(
            rig.story
                == ["none(notRegistered)", "wake(delivered)", "WF", "DF(remoteNotification)", "RF(background)"])
        rig.person(.appOpened(PhoneRig.chat))
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["RF(active)", "none(inForegroundBeforeIOS10)"])
    }

    // MARK: 4: kinds

    @Test(
        .requirement("S2.6"),
        arguments: [
            (SettingSwitch.alert, "show(list,sound,badge)"), (.sound, "show(banner,list,badge)"),
            (.badge, "show(banner,list,sound)"), (.notificationCenter, "show(banner,sound,badge)"),
        ])
    func `4 drops the kind that is off, in the foreground too, where WP still gets everything`(
        setting: SettingSwitch, shown: String
    ) {
        var rig = PhoneRig(17, Self.app())
        rig.person(.settingChanged(PhoneRig.chat, setting, isOn: false))
        rig.enter(.backgroundRunning)
        rig.push(Payload.alert)
        #expect(rig.story == [shown])
        rig.enter(.foregroundActive)
        rig.push(Payload.alert)
        #expect(rig.story == ["WP", shown])
        let contents = rig.effects.compactMap { effect -> NotificationContent? in
            guard case .call(_, _, .willPresent(let notification), _) = effect else { return nil }
            return notification.request.content
        }
        #expect(contents.map(\.body) == ["hello"])
        #expect(contents.map(\.badge) == [3])
        #expect(contents.map(\.sound) == [.standard])
    }

    @Test func `4 keeps the lock screen dark if it is off there, and drops what only it showed`() {
        #expect(Self.story("active", lock: true) == ["show(banner,list,sound,badge,lit)"])
        #expect(
            Self.story("active", lock: true) { $0.person(.settingChanged(PhoneRig.chat, .lockScreen, isOn: false)) }
                == ["show(list,sound,badge)"])
        var rig = PhoneRig(17, Self.app())
        rig.person(.settingChanged(PhoneRig.chat, .notificationCenter, isOn: false))
        rig.person(.locked)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.list == ["m"])
        rig.person(.unlocked)
        #expect(rig.list == [])
    }

    // MARK: 5: level, Focus, summary

    @Test func `5 lists a passive notification without banner, sound or light`() {
        #expect(Self.story("passive") == ["show(list,badge)"])
        #expect(Self.story("passive", lock: true) == ["show(list,badge)"])
        #expect(Self.story("passive", version: 14) == ["show(banner,list,sound,badge)"], "levels come with iOS 15")
    }

    @Test func `5 quiets an active one under a Focus that does not allow the app`() {
        let full = ["show(banner,list,sound,badge)"]
        #expect(Self.story("active") { $0.person(.focusChanged(Focus())) } == ["show(list,badge)"])
        #expect(Self.story("active") { $0.person(.focusChanged(Focus(allowedApps: [PhoneRig.chat]))) } == full)
        #expect(
            Self.story("active") {
                $0.person(.focusChanged(Focus()))
                $0.person(.focusChanged(nil))
            } == full)
        #expect(Self.story("active", version: 14) { $0.person(.focusChanged(Focus())) } == full)
        #expect(Self.story("active", lock: true) { $0.person(.focusChanged(Focus())) } == ["show(list,badge)"])
    }

    @Test func `5 lets a time-sensitive one through with entitlement, setting and the Focus's leave`() {
        let full = ["show(banner,list,sound,badge)"]
        let quiet = ["show(list,badge)"]
        #expect(
            Self.story("time-sensitive", entitlements: .timeSensitive) { $0.person(.focusChanged(Focus())) } == full)
        #expect(Self.story("time-sensitive") { $0.person(.focusChanged(Focus())) } == quiet, "no entitlement")
        #expect(
            Self.story("time-sensitive", entitlements: .timeSensitive) {
                $0.person(.settingChanged(PhoneRig.chat, .timeSensitive, isOn: false))
                $0.person(.focusChanged(Focus()))
            } == quiet, "turned off")
        #expect(
            Self.story("time-sensitive", entitlements: .timeSensitive) {
                $0.person(.focusChanged(Focus(allowsTimeSensitive: false)))
            } == quiet, "the Focus does not allow it")
    }

    @Test func `5 lets a critical one through mute and Focus with entitlement and setting only`() {
        let critical = { (rig: inout PhoneRig) in
            rig.person(.settingChanged(PhoneRig.chat, .criticalAlert, isOn: true))
            rig.person(.settingChanged(PhoneRig.chat, .sound, isOn: false))
            rig.person(.muteChanged(isOn: true))
            rig.person(.focusChanged(Focus(allowsTimeSensitive: false)))
        }
        #expect(
            Self.story("critical", entitlements: .criticalAlerts, critical) == ["show(banner,list,sound,badge)"])
        #expect(Self.story("critical", critical) == ["show(list,badge)"], "no entitlement")
        #expect(
            Self.story("critical", entitlements: .criticalAlerts) {
                critical(&$0)
                $0.person(.settingChanged(PhoneRig.chat, .criticalAlert, isOn: false))
            } == ["show(list,badge)"], "turned off")
    }

    @Test func `5 plays no sound on a muted phone, in the foreground neither`() {
        #expect(Self.story("active") { $0.person(.muteChanged(isOn: true)) } == ["show(banner,list,badge)"])
        var rig = PhoneRig(17, Self.app())
        rig.person(.muteChanged(isOn: true))
        rig.enter(.foregroundActive)
        rig.push(Payload.alert)
        #expect(rig.story == ["WP", "show(banner,list,badge)"])
    }

    @Test func `5 plays a critical sound of iOS 12 through mute, before levels existed`() {
        let aps: JSONValue = ["alert": "x", "sound": ["critical": 1, "name": "a.caf", "volume": 1]]
        for (entitlements, shown) in [
            (Entitlements.criticalAlerts, "show(banner,list,sound)"), ([], "show(banner,list)"),
        ] {
            var rig = PhoneRig(12, Self.app(entitlements))
            rig.person(.settingChanged(PhoneRig.chat, .criticalAlert, isOn: true))
            rig.person(.muteChanged(isOn: true))
            rig.clear()
            rig.push(["aps": aps])
            #expect(rig.story == [shown])
        }
    }

    @Test func `5 lets a message from a person through Focus and summary`() {
        func play(_ entitlements: Entitlements, direct: Bool = true, communication: Bool = true) -> [String] {
            var app = Self.app(entitlements)
            app.hasServiceExtension = true
            var rig = PhoneRig(17, app)
            rig.behaviour.deliver = { content in
                var content = content
                content.communication =
                    communication ? CommunicationDetails(sender: "Bob", conversation: "PR:bob") : nil
                return content
            }
            rig.person(.settingChanged(PhoneRig.chat, .directMessages, isOn: direct))
            rig.person(.focusChanged(Focus()))
            rig.person(.summaryTimesChanged([480]))
            rig.clear()
            rig.push(Payload.mutable)
            return rig.story
        }
        #expect(play(.communication) == ["NSE", "show(banner,list,sound,badge)"])
        #expect(play(.communication, communication: false) == ["NSE", "show(list,badge)"])
        #expect(play([]) == ["NSE", "show(list,badge)"])
        #expect(play(.communication, direct: false) == ["NSE", "show(list,badge)"])
    }

    @Test func `5 holds an active one for the next summary, which rings for nothing`() {
        var rig = PhoneRig(17, Self.app())
        rig.person(.settingChanged(PhoneRig.chat, .scheduledDelivery, isOn: true))
        // 22:13:20 UTC by the rig's clock: the next time is 08:00.
        rig.person(.summaryTimesChanged([480, 1_080]))
        rig.clear()
        rig.push(Payload.alert, collapse: "a")
        rig.push(Payload.alert, collapse: "b")
        #expect(rig.presentations.map(\.reason) == [.heldForSummary, .heldForSummary])
        #expect(rig.list == [])
        #expect(rig.badge == 3)
        #expect(rig.core.screen.heldForSummary.map(\.key.identifier) == ["b", "a"])
        rig.clear()
        rig.pass(seconds: 9 * 3_600 + 46 * 60 + 39)
        #expect(rig.story == [])
        rig.pass(seconds: 1)
        #expect(rig.story == ["show(list)", "show(list)"])
        #expect(rig.presentations.map(\.reason) == [.summary, .summary])
        #expect(rig.list == ["b", "a"])
        #expect(rig.core.screen.heldForSummary == [])
    }

    @Test func `5 holds nothing that is time-sensitive, and lets go when the summary is turned off`() {
        var rig = PhoneRig(17, Self.app(.timeSensitive))
        rig.person(.settingChanged(PhoneRig.chat, .scheduledDelivery, isOn: true))
        rig.person(.summaryTimesChanged([480]))
        rig.clear()
        rig.push(["aps": ["alert": "now", "interruption-level": "time-sensitive"]], collapse: "now")
        rig.push(Payload.alert, collapse: "later")
        #expect(rig.list == ["now"])
        var switched = rig
        rig.person(.summaryTimesChanged([]))
        #expect(rig.list == ["later", "now"])
        switched.person(.settingChanged(PhoneRig.chat, .scheduledDelivery, isOn: false))
        #expect(switched.list == ["later", "now"])
    }

    // MARK: 6, 7: extension, presentation

    @Test func `6 runs no extension with alerts off`() {
        var rig = PhoneRig(17)
        rig.person(.settingChanged(PhoneRig.chat, .alert, isOn: false))
        rig.clear()
        rig.push(Payload.mutable)
        #expect(rig.story == ["show(list,sound,badge)"])
    }

    @Test(.requirement("S2.9")) func `7 shows in the foreground what WP answers and nothing else`() {
        let answers: [(WillPresentOptions, OSVersion, String)] = [
            ([], 17, "none(willPresent)"), ([.banner], 17, "show(banner)"), ([.list], 17, "show(list)"),
            ([.sound], 17, "show(sound)"), ([.badge], 17, "show(badge)"), (.alert, 17, "show(banner,list)"),
            (.alert, 12, "show(banner,list)"), ([.banner, .list], 12, "none(willPresent)"),
            ([.banner, .list, .sound, .badge], 14, "show(banner,list,sound,badge)"),
        ]
        for (answer, version, shown) in answers {
            var rig = PhoneRig(
                version, Self.app(), behaviour: AppBehaviour(presentation: answer), in: .foregroundActive)
            rig.push(Payload.alert)
            #expect(rig.story == ["WP", shown])
        }
    }
}

import PhoneCore
import Testing
import TidingsModel

/// What still shows, or still may show, when the person or another notification comes in between (ios-delivery.md §4, §5.0).
extension `What is shown` {
    @Test func `in the foreground has no banner with the style none, and WP cannot raise one`() {
        var rig = Self.front()
        rig.person(.alertStyleChanged(PhoneRig.chat, .none))
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["WP", "show(list,sound,badge)"])
    }

    @Test func `in the foreground has a critical sound with sounds off, if the app may`() {
        for (entitlements, shown) in [
            (Entitlements.criticalAlerts, "show(banner,list,sound,badge)"), ([], "show(banner,list,badge)"),
        ] {
            var rig = Self.front(entitlements)
            rig.person(.settingChanged(PhoneRig.chat, .criticalAlert, isOn: true))
            rig.person(.settingChanged(PhoneRig.chat, .sound, isOn: false))
            rig.clear()
            rig.push(["aps": ["alert": "x", "sound": "default", "badge": 1, "interruption-level": "critical"]])
            #expect(rig.story == ["WP", shown])
        }
    }

    @Test func `follows what the person turns off while WP is asked`() {
        var rig = PhoneRig(17, Self.app(.modern), behaviour: AppBehaviour(presentation: nil), in: .foregroundActive)
        rig.push(Payload.alert, collapse: "m")
        rig.person(.settingChanged(PhoneRig.chat, .notifications, isOn: false))
        let call = rig.open("WP")[0]
        rig.process(call.process, .callbackCompleted(call.number, .presentation([.banner, .list, .sound, .badge])))
        #expect(rig.story == ["WP", "none(willPresent)"])
        #expect(rig.badge == 0)
        #expect(rig.list == [])
    }

    @Test func `as a persistent banner leaves the screen when the phone is locked, which goes dark`() {
        var rig = Self.rig(17, style: .alert)
        rig.push(Payload.alert, collapse: "m")
        rig.person(.locked)
        #expect(rig.banners == [])
        #expect(rig.list == ["m"])
        #expect(!rig.core.screen.isLit)
        rig.push(Payload.alert, collapse: "n")
        #expect(rig.core.screen.isLit)
        rig.pass(seconds: 5)
        #expect(!rig.core.screen.isLit)
        #expect(rig.core.nextDeadline == nil)
    }

    @Test func `as a panel lights a locked screen for a moment and stays`() {
        var rig = Self.rig(4, locked: true)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.core.screen.isLit)
        rig.pass(seconds: 5)
        #expect(!rig.core.screen.isLit)
        #expect(rig.core.screen.alertPanel?.key.identifier == "m")
    }

    @Test func `as a banner or a panel goes when a newer one of its name shows less`() {
        var new = Self.rig(17, style: .alert)
        new.push(["aps": ["alert": "old"]], collapse: "m")
        new.push(["aps": ["alert": "new", "interruption-level": "passive"]], collapse: "m")
        #expect(new.banners == [])
        #expect(new.core.screen.list.map(\.notification.request.content.body) == ["new"])
        var old = Self.rig(9, style: .alert)
        old.push(["aps": ["alert": "old"]], collapse: "m")
        old.person(.alertStyleChanged(PhoneRig.chat, .none))
        old.push(["aps": ["alert": "new"]], collapse: "m")
        #expect(old.core.screen.alertPanel == nil)
        #expect(old.list == ["m"])
    }

    @Test func `of a provisional app is on no lock screen`() {
        var rig = PhoneRig(17, Self.app(.modern), allowed: false, in: .foregroundActive)
        rig.ask(.requestAuthorization([.alert, .provisional]))
        rig.person(.settingChanged(PhoneRig.chat, .notificationCenter, isOn: false))
        rig.person(.locked)
        rig.clear()
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.story == ["none(provisional)"])
        #expect(rig.list == [])
    }

    @Test(arguments: [
        NotificationContent(badge: 0, categoryIdentifier: "c"), NotificationContent(badge: 0, threadIdentifier: "t"),
    ])
    func `is nothing for a request that only takes the badge away, whatever it is filed under`(
        content: NotificationContent
    ) {
        var rig = PhoneRig(17)
        rig.push(Payload.alert)
        rig.enter(.backgroundRunning)
        #expect(rig.ask(.add(NotificationRequest(identifier: "m", content: content))) == .added)
        #expect(rig.story == [])
        #expect(rig.badge == 3)
    }

    static func app(_ methods: DelegateMethods) -> InstalledApp {
        InstalledApp(
            bundleID: PhoneRig.chat, lifecycle: .application, methods: methods, hasServiceExtension: false)
    }

    static func front(_ entitlements: Entitlements = []) -> PhoneRig {
        var app = Self.app(.modern)
        app.entitlements = entitlements
        var rig = PhoneRig(17, app)
        rig.enter(.foregroundActive)
        return rig
    }
}

extension `A tap` {
    @Test func `while Notification Center covers the app calls DR and DBA, and no WEF`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.push(Payload.alert, collapse: "m")
        rig.enter(.foregroundInactive)
        rig.tap("m")
        #expect(rig.calls == ["DR", "sceneDBA"])
    }
}

extension `What a person does with a notification` {
    @Test(arguments: [OSVersion(10), 17])
    func `from iOS 10 without a UN delegate calls AR and AL, and no dismissal`(version: OSVersion) {
        func rig(local: Bool) -> PhoneRig {
            var category = Self.category
            category.options.insert(.customDismissAction)
            var rig = PhoneRig(
                version,
                InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: Self.old9),
                behaviour: AppBehaviour(delegate: .never))
            rig.enter(.foregroundActive)
            rig.app(.categoriesSet([category]))
            rig.person(.wentHome)
            if local { rig.fireLocal(category: "message") } else { rig.push(Self.payload, collapse: "m") }
            rig.clear()
            return rig
        }
        #expect(Self.press(rig(local: false), "read").calls == ["AR9"])
        #expect(Self.press(rig(local: true), "reply", text: "yes").calls == ["AL9"])
        #expect(Self.dismiss(rig(local: false)).calls == [])
    }

    @Test func `unlocks no phone before its first unlock unless it must`() {
        var rig = Self.rig(17, .modern, state: "NK", category: Self.category)
        rig.send(.system(.restarted))
        rig.clear()
        let quiet = Self.press(rig, "read")
        #expect(quiet.calls == ["WF", "DF(remoteNotification)", "DR(read)"])
        #expect(quiet.core.screen.lock == .beforeFirstUnlock)
        let asking = Self.press(rig, "pay")
        #expect(asking.core.screen.lock == .beforeFirstUnlock && asking.core.screen.asksToUnlockFor != nil)
        #expect(Self.press(rig, "open").core.screen.lock == .unlocked)
    }
}

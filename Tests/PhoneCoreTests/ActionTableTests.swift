import PhoneCore
import Requirements
import Testing
import TidingsModel

/// The tables of ios-delivery.md §6.3 to §6.5.
@Suite struct `What a person does with a notification` {
    static let category = NotificationCategory(
        identifier: "message",
        actions: [
            NotificationAction(identifier: "read", title: "Mark as read"),
            NotificationAction(identifier: "open", title: "Open", options: .foreground),
            NotificationAction(identifier: "pay", title: "Pay", options: .authenticationRequired),
            NotificationAction(identifier: "delete", title: "Delete", options: .destructive),
            NotificationAction(identifier: "reply", title: "Reply", takesText: true),
        ])
    static let payload: JSONValue = ["aps": ["alert": "hello", "category": "message"]]

    static func rig(
        _ version: OSVersion, _ methods: DelegateMethods, state: String, category: NotificationCategory = category,
        local: Bool = false
    ) -> PhoneRig {
        var rig = PhoneRig(
            version, InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: methods))
        rig.enter(.foregroundActive)
        rig.app(.categoriesSet([category]))
        switch state {
        case "BR": rig.person(.wentHome)
        case "SU":
            rig.person(.wentHome)
            rig.pass(seconds: 6)
        case "NQ": rig.person(.appForceQuit(PhoneRig.chat))
        case "NK": rig.send(.system(.appKilled(PhoneRig.chat)))
        default: break
        }
        if local {
            rig.fireLocal(category: "message")
        } else {
            rig.push(Self.payload, collapse: "m")
        }
        rig.clear()
        return rig
    }

    static func press(_ rig: PhoneRig, _ action: String, text: String? = nil) -> PhoneRig {
        var rig = rig
        rig.person(
            .actionPerformed(NotificationKey(app: PhoneRig.chat, identifier: "m"), action: action, text: text))
        return rig
    }

    static let old: DelegateMethods = [.receiveRemoteFetch, .actionRemote, .actionLocal]
    static let old9: DelegateMethods = [.actionRemote, .actionLocal, .actionRemoteText, .actionLocalText]

    @Test func `cannot be an action before iOS 8`() {
        let rig = Self.press(Self.rig(7, Self.old, state: "BR"), "read")
        #expect(rig.calls == [])
        #expect(rig.list == ["m"])
        #expect(rig.faults == ["action read must be in the notification's category"])
    }

    @Test(arguments: [("BR", ["AR"]), ("SU", ["AR"]), ("NK", ["WF", "DF(remoteNotification)", "AR"])])
    func `on iOS 8 calls AR in the background`(state: String, calls: [String]) {
        let rig = Self.press(Self.rig(8, Self.old, state: state), "read")
        #expect(rig.calls == calls)
        #expect(rig.core.screen.foregroundApp == nil)
        #expect(rig.list == [])
    }

    @Test
    func `on iOS 8 calls AL for a local notification, and for an action in the foreground comes between WEF and DBA`() {
        #expect(Self.press(Self.rig(8, Self.old, state: "BR", local: true), "read").calls == ["AL"])
        #expect(Self.press(Self.rig(8, Self.old, state: "SU"), "open").calls == ["WEF", "AR", "DBA"])
        #expect(Self.press(Self.rig(8, Self.old, state: "SU", local: true), "open").calls == ["WEF", "AL", "DBA"])
    }

    @Test func `on iOS 9 prefers the form with text, on iOS 8 it does not exist`() {
        #expect(Self.press(Self.rig(9, Self.old9, state: "BR"), "reply", text: "yes").calls == ["AR9"])
        #expect(Self.press(Self.rig(9, Self.old9, state: "BR", local: true), "reply", text: "yes").calls == ["AL9"])
        #expect(Self.press(Self.rig(9, Self.old, state: "BR"), "reply", text: "yes").calls == ["AR"])
        #expect(Self.press(Self.rig(8, Self.old9, state: "BR"), "reply", text: "yes").calls == ["AR"])
        let texts = Self.press(Self.rig(9, Self.old9, state: "BR"), "reply", text: "yes").effects.compactMap {
            if case .call(_, _, .handleActionRemote(_, _, let text), _) = $0 { text } else { nil }
        }
        #expect(texts == ["yes"])
    }

    @Test(
        .requirement("S1.13"),
        arguments: [
            ("FA", ["DR(read)"]), ("BR", ["DR(read)"]), ("SU", ["DR(read)"]),
            ("NK", ["WF", "DF(remoteNotification)", "DR(read)"]),
            ("NQ", ["WF", "DF(remoteNotification)", "DR(read)"]),
        ])
    func `from iOS 10 without options wakes or launches the app in the background`(
        state: String, calls: [String]
    ) {
        let rig = Self.press(Self.rig(17, .modern, state: state), "read")
        #expect(rig.calls == calls)
        #expect((rig.core.screen.foregroundApp == nil) == (state != "FA"))
    }

    @Test(arguments: [
        ("FA", ["DR(open)"]), ("BR", ["WEF", "DR(open)", "DBA"]), ("SU", ["WEF", "DR(open)", "DBA"]),
        ("NK", ["WF", "DF(remoteNotification)", "DR(open)", "DBA"]),
        ("NQ", ["WF", "DF(remoteNotification)", "DR(open)", "DBA"]),
    ])
    func `from iOS 10 in the foreground is a tap with its own identifier`(state: String, calls: [String]) {
        let rig = Self.press(Self.rig(17, .modern, state: state), "open")
        #expect(rig.calls == calls)
        #expect(rig.state == .foregroundActive)
    }

    static func asking(state: String = "NK") -> PhoneRig {
        var locked = Self.rig(17, .modern, state: state)
        locked.person(.locked)
        return Self.press(locked, "pay")
    }

    @Test func `that needs authentication asks for the unlock, and runs after it`() {
        var rig = Self.asking()
        #expect(rig.core.screen.lock == .locked)
        #expect(rig.core.screen.asksToUnlockFor == NotificationKey(app: PhoneRig.chat, identifier: "m"))
        #expect(rig.calls == [])
        #expect(rig.list == ["m"])
        rig.person(.unlocked)
        #expect(rig.core.screen.lock == .unlocked)
        #expect(rig.core.screen.asksToUnlockFor == nil)
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "DR(pay)"])
        #expect(rig.list == [])
    }

    @Test(arguments: [PersonEvent.locked, .appOpened(PhoneRig.chat)])
    func `that needs authentication does not run when the person refuses, or unlocks for something else`(
        event: PersonEvent
    ) {
        var rig = Self.asking()
        rig.person(event)
        rig.person(.unlocked)
        #expect(!rig.calls.contains("DR(pay)"))
        #expect(rig.core.screen.asksToUnlockFor == nil)
        #expect(rig.list == ["m"])
    }

    @Test func `that needs authentication does not outlive its notification or a restart`() {
        var recalled = Self.asking(state: "SU")
        recalled.app(.deliveredRemoved(identifiers: ["m"]))
        recalled.person(.unlocked)
        #expect(recalled.calls == [] && recalled.faults == [])
        var restarted = Self.asking()
        restarted.send(.system(.restarted))
        restarted.clear()
        restarted.person(.unlocked)
        #expect(!restarted.calls.contains("DR(pay)"))
    }

    @Test func `runs on a locked phone if no authentication is required`() {
        var locked = Self.rig(17, .modern, state: "NK")
        locked.person(.locked)
        #expect(Self.press(locked, "read").core.screen.lock == .locked)
        #expect(Self.press(locked, "read").calls == ["WF", "DF(remoteNotification)", "DR(read)"])
    }

    @Test func `only looks different if it is destructive`() {
        let rig = Self.rig(17, .modern, state: "SU")
        #expect(Self.press(rig, "delete").calls == ["DR(delete)"])
        #expect(
            Self.press(rig, "delete").core.screen.foregroundApp == Self.press(rig, "read").core.screen.foregroundApp)
    }

    @Test func `carries typed text in DR`() {
        let rig = Self.press(Self.rig(17, .modern, state: "NQ"), "reply", text: "on my way")
        let texts = rig.effects.compactMap { effect -> String? in
            if case .call(_, _, .receiveResponse(let response), _) = effect { response.userText } else { nil }
        }
        #expect(texts == ["on my way"])
    }

    // MARK: Dismissals (§6.3)

    static let custom = NotificationCategory(identifier: "message", options: .customDismissAction)

    static func dismiss(_ rig: PhoneRig) -> PhoneRig {
        var rig = rig
        rig.person(.notificationDismissed(NotificationKey(app: PhoneRig.chat, identifier: "m")))
        return rig
    }

    @Test(arguments: ["FA", "BR", "SU", "NK", "NQ"])
    func `before iOS 10 is not reported when it is a dismissal`(state: String) {
        let rig = Self.dismiss(Self.rig(9, Self.old9, state: state, category: Self.custom))
        #expect(rig.calls == [])
        #expect(rig.list == [])
    }

    @Test(arguments: ["FA", "BR", "SU", "NK", "NQ"])
    func `is reported as a dismissal only if the category asks`(state: String) {
        let report = "DR(UNNotificationDismissActionIdentifier)"
        let cold = ["NK", "NQ"].contains(state) ? ["WF", "DF(remoteNotification)"] : []
        let custom = Self.dismiss(Self.rig(17, .modern, state: state, category: Self.custom))
        #expect(custom.calls == cold + [report])
        #expect((custom.core.screen.foregroundApp == nil) == (state != "FA"))
        let plain = Self.dismiss(Self.rig(17, .modern, state: state))
        #expect(plain.calls == [])
        #expect(plain.list == [])
    }

    @Test func `is not reported when a banner is swiped away, and the list keeps it`() {
        var rig = Self.rig(17, .modern, state: "BR", category: Self.custom)
        #expect(rig.banners == ["m"])
        rig.person(.bannerSwipedAway(NotificationKey(app: PhoneRig.chat, identifier: "m")))
        #expect(rig.calls == [])
        #expect(rig.banners == [])
        #expect(rig.list == ["m"])
    }

    // MARK: The settings button (§6.5)

    static func settingsRig(_ version: OSVersion = 17, asks: Bool = true, has: Bool = true) -> PhoneRig {
        let methods: DelegateMethods = has ? DelegateMethods.modern.union(.openSettings) : .modern
        var rig = PhoneRig(
            version, InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: methods), allowed: false)
        rig.enter(.foregroundActive)
        rig.ask(.requestAuthorization(asks ? [.alert, .providesAppNotificationSettings] : [.alert]))
        rig.person(.permissionAnswered(allowed: true))
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.push(Payload.alert, collapse: "m")
        rig.clear()
        return rig
    }

    @Test func `opens the app's own settings from the notification and from Settings`() {
        var rig = Self.settingsRig()
        rig.person(.notificationSettingsOpened(NotificationKey(app: PhoneRig.chat, identifier: "m")))
        #expect(rig.calls == ["WF", "DF", "OPS(notification)", "DBA"])
        #expect(rig.state == .foregroundActive)
        rig.person(.wentHome)
        rig.clear()
        rig.person(.appSettingsOpened(PhoneRig.chat))
        #expect(rig.calls == ["WEF", "OPS", "DBA"])
    }

    @Test func `offers no settings button unless the app asked for it, has OPS and the system is iOS 12`() {
        for var rig in [Self.settingsRig(asks: false), Self.settingsRig(has: false), Self.settingsRig(11)] {
            rig.person(.appSettingsOpened(PhoneRig.chat))
            #expect(rig.calls == [])
            #expect(rig.faults == ["app chat.example must offer its own notification settings"])
        }
    }
}

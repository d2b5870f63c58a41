import PhoneCore
import Testing
import TidingsModel

@Suite struct `An action` {
    static func rig() -> PhoneRig {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(
            .categoriesSet([
                NotificationCategory(
                    identifier: "message",
                    actions: [
                        NotificationAction(identifier: "read", title: "Mark as read"),
                        NotificationAction(identifier: "reply", title: "Reply", options: .foreground, takesText: true),
                    ])
            ]))
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.push(["aps": ["alert": "hello", "category": "message"]], collapse: "m")
        rig.clear()
        return rig
    }

    @Test func `in the background launches a killed app for DR and no longer`() {
        var rig = Self.rig()
        rig.person(
            .actionPerformed(NotificationKey(app: PhoneRig.chat, identifier: "m"), action: "read", text: nil))
        #expect(rig.calls == ["WF", "DF", "DR(read)"])
        #expect(rig.state == .suspended)
        #expect(rig.core.screen.foregroundApp == nil)
    }

    @Test func `in the foreground is a tap with its own identifier`() {
        var rig = Self.rig()
        rig.person(
            .actionPerformed(NotificationKey(app: PhoneRig.chat, identifier: "m"), action: "reply", text: "yes"))
        #expect(
            rig.calls == ["WF", "DF", "configuration", "SC(response)", "sceneWEF", "DR(reply)", "sceneDBA"])
    }

    @Test func `that is not offered changes nothing`() {
        var rig = Self.rig()
        rig.person(
            .actionPerformed(NotificationKey(app: PhoneRig.chat, identifier: "m"), action: "like", text: nil))
        #expect(rig.faults == ["action like must be in the notification's category"])
        #expect(rig.list == ["m"])
    }

    @Test func `whose handler is silent keeps a background app for thirty seconds`() {
        var rig = Self.rig()
        rig.behaviour.answersResponse = false
        rig.person(
            .actionPerformed(NotificationKey(app: PhoneRig.chat, identifier: "m"), action: "read", text: nil))
        rig.pass(milliseconds: 29_999)
        #expect(rig.state == .backgroundRunning)
        rig.pass(milliseconds: 1)
        #expect(rig.state == .suspended)
    }
}

@Suite struct `A service extension` {
    static let filtering = InstalledApp(bundleID: PhoneRig.chat, hasFilteringEntitlement: true)
    static let emptied: @Sendable (NotificationContent) -> NotificationContent = { _ in
        NotificationContent(badge: 2)
    }

    @Test func `with the filtering entitlement hides a push and still sets the badge`() {
        var rig = PhoneRig(17, Self.filtering, behaviour: AppBehaviour(deliver: Self.emptied))
        rig.push(Payload.mutable, collapse: "m")
        #expect(rig.list == [])
        #expect(rig.rings == 0)
        #expect(rig.badge == 2)
        #expect(rig.presentations.map(\.reason) == [.filtered])
    }

    @Test func `without it leaves the original text`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(deliver: Self.emptied))
        rig.push(Payload.mutable, collapse: "m")
        #expect(rig.core.screen.list.first?.notification.request.content.body == "hello")
        #expect(rig.badge == 2)
    }

    @Test func `runs only for a mutable alert with text`() {
        var rig = PhoneRig(17)
        rig.push(["aps": ["badge": 1, "mutable-content": 1]])
        rig.push(["aps": ["alert": "hello"]])
        #expect(rig.calls == [])
        rig.person(.settingChanged(PhoneRig.chat, .alert, isOn: false))
        rig.push(Payload.mutable)
        #expect(rig.calls == [])
    }

    @Test func `that crashes leaves the push as it came`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(deliver: nil))
        rig.push(Payload.mutable, collapse: "m")
        let process = rig.effects.compactMap { effect -> ProcessID? in
            guard case .startProcess(let process) = effect else { return nil }
            return process
        }
        #expect(process.count == 1)
        for process in process { rig.send(.process(process, .exited(crashed: true))) }
        #expect(rig.list == ["m"])
        #expect(rig.ends == [.crashed])
    }

    @Test func `may go on for a moment after it delivered, and is then ended`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable, collapse: "m")
        #expect(rig.list == ["m"])
        #expect(rig.ends == [])
        rig.pass(seconds: 2)
        #expect(rig.ends == [.extensionDone])
    }
}

@Suite struct `The courier` {
    @Test func `hands a token to the app that asked`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.remoteRegistrationRequested)
        #expect(rig.effects.contains(.registerTopic(PhoneRig.chat)))
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "beef")))
        #expect(rig.calls == ["token(beef)"])
    }

    @Test func `has its token kept while the app is suspended`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.remoteRegistrationRequested)
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "beef")))
        #expect(rig.calls == [])
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.calls == ["token(beef)", "sceneWEF", "sceneDBA"])
    }

    @Test func `gets no acknowledgement from a phone in airplane mode`() {
        var rig = PhoneRig(17)
        rig.person(.airplaneModeChanged(isOn: true))
        rig.push(Payload.alert)
        #expect(rig.effects == [.disconnectCourier])
        rig.enter(.foregroundActive)
        rig.app(.remoteRegistrationRequested)
        #expect(rig.calls == ["noToken"])
        rig.person(.airplaneModeChanged(isOn: false))
        #expect(rig.effects.last == .connectCourier)
    }

    @Test func `gets an acknowledgement for an app that is not registered, which shows nothing`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.remoteRegistrationEnded)
        rig.push(Payload.alert)
        #expect(rig.acknowledged.count == 1)
        #expect(rig.calls == [])
        #expect(rig.faults == ["topic chat.example must belong to an app that is registered"])
    }
}

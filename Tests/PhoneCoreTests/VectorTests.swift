import PhoneCore
import Requirements
import Testing
import TidingsModel

/// The vectors of ios-delivery.md §15 that need no SDK.
@Suite struct `An acceptance vector` {
    static func old(_ methods: DelegateMethods) -> InstalledApp {
        InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: methods)
    }

    @Test func `1: on 9_3 a tap on AC calls RF a second time`() {
        var rig = PhoneRig(OSVersion(9, 3), Self.old(.receiveRemoteFetch), in: .suspended)
        rig.push(Payload.alertAndContent, collapse: "m")
        #expect(rig.list == ["m"])
        rig.tap("m")
        #expect(rig.calls == ["RF(background)", "WEF", "RF(inactive)", "DBA"])
    }

    @Test(.requirement("S4.4")) func `2: on 9_3 a force-quit app is launched by the tap only`() {
        var rig = PhoneRig(OSVersion(9, 3), Self.old(.receiveRemoteFetch), in: .forceQuit)
        rig.push(Payload.alertAndContent, collapse: "m")
        #expect(rig.calls == [])
        rig.tap("m")
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "RF(inactive)", "DBA"])
    }

    @Test(.requirement("S4.9")) func `3: on 9_3 R0 alone sees silent pushes in the foreground only`() {
        var rig = PhoneRig(OSVersion(9, 3), Self.old(.receiveRemote), in: .backgroundRunning)
        rig.push(Payload.content)
        #expect(rig.calls == [])
        rig.enter(.foregroundActive)
        rig.push(Payload.content)
        #expect(rig.calls == ["R0(active)"])
    }

    @Test(.requirement("S1.5", "S0.20")) func `4: on 6_1 a tap calls R0 unless it launched the app`() {
        var rig = PhoneRig(OSVersion(6, 1), Self.old(.receiveRemote))
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "DBA"])
        rig.enter(.backgroundRunning)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WEF", "R0(inactive)", "DBA"])
    }

    @Test(arguments: [(OSVersion(10, 0), "R0(inactive)"), (OSVersion(11), "RF(inactive)")])
    func `5: without a UN delegate 10 calls R0 where 11 calls RF`(version: OSVersion, expected: String) {
        var rig = PhoneRig(
            version, Self.old([.receiveRemote, .receiveRemoteFetch]), behaviour: AppBehaviour(delegate: .never))
        rig.enter(.backgroundRunning)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WEF", expected, "DBA"])
    }

    @Test func `6: on 12 DR follows DF if the delegate is set in time, else it is lost`() {
        var rig = PhoneRig(12, Self.old(.modern))
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "DR", "DBA"])

        var late = PhoneRig(12, Self.old([.willPresent, .receiveResponse]))
        late.behaviour.delegate = .inDidBecomeActive
        late.push(Payload.alert, collapse: "m")
        late.tap("m")
        #expect(late.calls == ["WF", "DF(remoteNotification)", "DBA"])
    }

    @Test func `7: on 12 WP decides in the foreground, and without it nothing is presented`() {
        var rig = PhoneRig(12, Self.old(.modern), behaviour: AppBehaviour(presentation: []), in: .foregroundActive)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.calls == ["WP"])
        #expect(rig.presentations.map(\.reason) == [.willPresent])
        #expect(rig.rings == 0)
        rig.tap("m")
        #expect(rig.calls == ["WP"])
        #expect(rig.faults.count == 1)

        var silent = PhoneRig(12, Self.old([.receiveRemoteFetch, .receiveResponse]))
        silent.enter(.foregroundActive)
        silent.push(Payload.alert)
        #expect(silent.calls == [])
        #expect(silent.presentations.map(\.reason) == [.willPresentMissing])
    }

    @Test(.requirement("S1.14")) func `8: on 12 AC in the foreground calls RF, then WP, each once`() {
        var rig = PhoneRig(12, Self.old(.modern), in: .foregroundActive)
        rig.push(Payload.alertAndContent)
        #expect(rig.calls == ["RF(active)", "WP"])
    }

    @Test func `9: on 17 with scenes a cold tap comes by SC and DR, and DF has no key`() {
        var rig = PhoneRig(17, in: .forceQuit)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WF", "DF", "configuration", "SC(response)", "sceneWEF", "DR", "sceneDBA"])
        #expect(rig.state == .foregroundActive)
        #expect(rig.list == [])
    }

    @Test func `10: the extension's badge is shown, of a force-quit app too`() {
        var rig = PhoneRig(17)
        rig.behaviour.deliver = { content in
            var content = content
            content.badge = 8
            content.title = "Ann"
            return content
        }
        rig.enter(.forceQuit)
        rig.push(Payload.mutable, collapse: "m")
        #expect(rig.calls == ["NSE"])
        #expect(rig.badge == 8)
        #expect(rig.core.screen.list.first?.notification.request.content.title == "Ann")
    }

    @Test func `11: an extension that leaves the badge alone leaves the payload's`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable, collapse: "m")
        #expect(rig.calls == ["NSE"])
        #expect(rig.badge == 1)
    }

    @Test(.requirement("S2.21")) func `12: an extension that never answers leaves the original content and badge`() {
        var rig = PhoneRig(17)
        rig.behaviour.deliver = nil
        rig.push(Payload.mutable, collapse: "m")
        rig.pass(milliseconds: 29_999)
        #expect(rig.calls == ["NSE"])
        rig.pass(milliseconds: 1)
        #expect(rig.calls == ["NSE", "EXP"])
        #expect(rig.list == [])
        rig.pass(milliseconds: 1_000)
        #expect(rig.list == ["m"])
        #expect(rig.badge == 1)
        #expect(rig.ends == [.extensionLate])
    }

    @Test func `13: with notifications denied no extension runs, but a silent push is delivered`() {
        var rig = PhoneRig(17, allowed: false, in: .backgroundRunning)
        rig.push(Payload.mutable)
        #expect(rig.calls == [])
        #expect(rig.presentations.map(\.reason) == [.notAuthorized])
        rig.push(Payload.content)
        #expect(rig.calls == ["RF(background)"])
    }

    @Test func `14: over the budget the newest silent push is held until the app is opened`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        for number in 1...3 { rig.push(["aps": ["content-available": 1], "n": .int(number)]) }
        #expect(rig.calls == ["RF(background)"])
        #expect(rig.wakes == [.delivered, .heldForBudget, .replaced, .heldForBudget])
        var opened = rig
        opened.clear()
        opened.person(.appOpened(PhoneRig.chat))
        #expect(opened.calls == ["sceneWEF", "sceneDBA", "RF(active)"])
        let payloads = opened.effects.compactMap { effect -> JSONObject? in
            guard case .call(_, _, .receiveRemoteFetch(let payload), _) = effect else { return nil }
            return payload
        }
        #expect(payloads.map { $0["n"]?.intValue } == [3])
        rig.person(.appForceQuit(PhoneRig.chat))
        #expect(rig.wakes.last == .discardedForceQuit)
        rig.pass(seconds: 7_200)
        #expect(rig.calls == ["RF(background)"])
    }

    @Test(arguments: [(OSVersion(17), Int64(30)), (OSVersion(12), Int64(180))])
    func `16 and 17: background tasks last as long as the version allows`(version: OSVersion, seconds: Int64) {
        let behaviour = AppBehaviour(taskInBackground: .some(nil))
        var rig = PhoneRig(version, Self.old(.modern), behaviour: behaviour, in: .backgroundRunning)
        #expect(rig.core.backgroundTimeRemaining(of: PhoneRig.chat, at: rig.now) == seconds * 1_000)
        rig.pass(milliseconds: seconds * 1_000 - 1)
        #expect(rig.state == .backgroundRunning)
        #expect(rig.calls == [])
        rig.pass(milliseconds: 1)
        #expect(rig.calls == ["expired(1)"])
        #expect(rig.state == .suspended)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.list == ["m"])
    }

    @Test func `18: a dismissal is reported only if the category asks for it`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.categoriesSet([NotificationCategory(identifier: "message", reportsDismissal: true)]))
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.clear()
        rig.push(Payload.alert, collapse: "plain")
        rig.push(["aps": ["alert": "hello", "category": "message"]], collapse: "m")
        rig.person(.notificationDismissed(NotificationKey(app: PhoneRig.chat, identifier: "plain")))
        #expect(rig.calls == [])
        rig.person(.notificationDismissed(NotificationKey(app: PhoneRig.chat, identifier: "m")))
        #expect(rig.calls == ["WF", "DF", "DR(UNNotificationDismissActionIdentifier)"])
        #expect(rig.state == .suspended)
        #expect(rig.list == [])
    }

    @Test func `20: a fetch handler that is not called costs the process and a wake`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 3
        var rig = PhoneRig(17, behaviour: AppBehaviour(fetch: nil), settings: settings)
        rig.push(Payload.content)
        rig.pass(milliseconds: 29_999)
        #expect(rig.state == .backgroundRunning)
        rig.pass(milliseconds: 1)
        #expect(rig.state == .notRunning)
        #expect(rig.ends == [.fetchHandlerNotCalled])
        rig.push(Payload.content)
        rig.push(Payload.content)
        #expect(rig.wakes == [.delivered, .delivered, .heldForBudget])
    }
}

import PhoneCore
import Requirements
import Testing
import TidingsModel

/// ios-delivery.md §12, PushKit.
@Suite struct `A VoIP push` {
    static let app = InstalledApp(
        bundleID: PhoneRig.chat, lifecycle: .application, backgroundModes: [.remoteNotification, .voip])
    static let payload: JSONValue = ["call": "ann"]

    static func rig(
        _ version: OSVersion = 17, reportsCall: Bool = true, settings: PhoneSettings = PhoneSettings()
    ) -> PhoneRig {
        var rig = PhoneRig(
            version, Self.app, behaviour: AppBehaviour(reportsCall: reportsCall), settings: settings,
            in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .voip, "f0")))
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.clear()
        return rig
    }

    @Test func `has a token of its own, told again at each registration`() {
        var rig = PhoneRig(17, Self.app, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        #expect(rig.effects.contains(.requestToken(PhoneRig.chat, .voip)))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .voip, "f0")))
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .voip, "f0")))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .voip, "f1")))
        #expect(rig.calls == ["voipToken(f0)", "voipToken(f0)", "voipToken(f1)"])
        rig.clear()
        rig.app(.voipRegistrationChanged(isOn: false))
        #expect(rig.effects.contains(.dropToken(PhoneRig.chat, .voip)))
        #expect(rig.calls == ["noVoipToken"])
    }

    @Test func `needs the background mode`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        #expect(rig.faults == ["PushKit needs iOS 8 and the background mode voip"])
    }

    @Test(arguments: [AppState.notRunning, .forceQuit, .suspended, .backgroundRunning, .foregroundActive])
    func `reaches the app in every state, one the person quit too, and shows nothing`(state: AppState) {
        var rig = Self.rig()
        rig.enter(state)
        rig.push(Self.payload, suffix: ".voip")
        let launch = state.hasProcess ? [] : ["WF", "DF"]
        #expect(rig.calls == launch + [state == .foregroundActive ? "VOIP(active)" : "VOIP(background)"])
        #expect(rig.state == (state == .foregroundActive ? .foregroundActive : .backgroundRunning))
        #expect(rig.presentations == [])
        #expect(rig.acknowledged.count == 1)
        #expect(rig.faults == [])
    }

    @Test func `keeps the app running until its call is over`() {
        var rig = Self.rig()
        rig.push(Self.payload, suffix: ".voip")
        rig.pass(seconds: 600)
        #expect(rig.state == .backgroundRunning)
        rig.app(.callEnded(identifier: "2"))
        #expect(rig.state == .backgroundRunning)
        rig.app(.callEnded(identifier: "1"))
        #expect(rig.state == .suspended)
    }

    @Test func `without a call kills the app from iOS 13, before that it does not`() {
        var rig = Self.rig(reportsCall: false)
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.ends == [.noCallReported])
        #expect(rig.state == .notRunning)
        var old = Self.rig(12, reportsCall: false)
        old.push(Self.payload, suffix: ".voip")
        #expect(old.ends == [])
        #expect(old.state == .suspended)
    }

    @Test func `needs no call while the app is in the foreground or has one`() {
        var rig = Self.rig(reportsCall: false)
        rig.enter(.foregroundActive)
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.ends == [])
        rig.enter(.backgroundRunning)
        rig.app(.incomingCallReported(IncomingCall(identifier: "1", caller: "Ann")))
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.ends == [])
        #expect(rig.state == .backgroundRunning)
    }

    @Test(arguments: [AppState.notRunning, .forceQuit, .suspended, .foregroundActive])
    func `puts the caller on the screen, also of a locked phone, and the person's answer reaches the app`(
        state: AppState
    ) {
        var rig = Self.rig()
        rig.enter(state)
        rig.person(.locked)
        rig.clear()
        rig.push(Self.payload, suffix: ".voip")
        let call = IncomingCall(identifier: "1", caller: "Ann")
        #expect(rig.core.screen.calls.map(\.call) == [call])
        #expect(rig.core.screen.calls.map(\.isAnswered) == [false])
        #expect(rig.core.screen.calls.map(\.app) == [PhoneRig.chat])
        rig.clear()
        rig.person(.callAnswered)
        #expect(rig.core.screen.calls.map(\.isAnswered) == [true])
        rig.person(.callDeclined)
        #expect(rig.calls == ["answered(1)", "declined(1)"])
        #expect(rig.core.screen.calls == [])
        #expect(rig.faults == [])
        rig.person(.callAnswered)
        rig.person(.callDeclined)
        #expect(
            rig.faults == ["an incoming call must be on the screen", "a call must be on the screen"])
    }

    @Test func `declined before it was answered leaves the screen, and the app may be suspended`() {
        var rig = Self.rig()
        rig.push(Self.payload, suffix: ".voip")
        rig.person(.callDeclined)
        rig.pass(seconds: 10)
        #expect(rig.core.screen.calls == [])
        #expect(rig.state == .suspended)
    }

    @Test func `ends on the screen when its app dies`() {
        var rig = Self.rig()
        rig.push(Self.payload, suffix: ".voip")
        rig.send(.system(.appKilled(PhoneRig.chat)))
        #expect(rig.core.screen.calls == [])
    }

    @Test func `has no CallKit to report to before iOS 10`() {
        var rig = Self.rig(9, reportsCall: false)
        rig.push(Self.payload, suffix: ".voip")
        rig.app(.incomingCallReported(IncomingCall(identifier: "1", caller: "Ann")))
        #expect(rig.faults == ["CallKit needs iOS 10"])
        #expect(rig.core.screen.calls == [])
    }

    @Test func `that brings no call three times is the last one until the app is installed anew`() {
        var rig = Self.rig(reportsCall: false)
        for _ in 1...4 { rig.push(Self.payload, suffix: ".voip") }
        #expect(rig.ends == [.noCallReported, .noCallReported, .noCallReported])
        #expect(rig.refusals == [.voipBlocked])
        rig.send(.system(.appUpdated(Self.app)))
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.refusals == [.voipBlocked, .voipBlocked])
        rig.send(.system(.appReinstalled(Self.app)))
        rig.behaviour.reportsCall = true
        rig.enter(.foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.enter(.suspended)
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.calls == ["VOIP(background)"])
    }

    @Test func `whose handler is never called kills the app too`() {
        var core = PhoneCore(version: 17, apps: [Self.app])
        let start = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        for event: PhoneEvent in [
            .person(.appOpened(PhoneRig.chat)), .process(process, .started),
            .process(process, .callbackCompleted(1, .returned)), .process(process, .callbackCompleted(2, .returned)),
            .process(process, .callbackCompleted(3, .returned)),
            .process(process, .voipRegistrationChanged(isOn: true)), .person(.wentHome),
            .process(process, .callbackCompleted(4, .returned)), .process(process, .callbackCompleted(5, .returned)),
            .courier(.pushArrived(Push(delivery: 1, topic: "chat.example.voip", payload: JSONObject()))),
        ] { _ = core.handle(event, at: start) }
        #expect(core.nextDeadline == 5_000)
        let effects = core.handle(.timerReached, at: Now(monotonic: 5_000, wall: 5_000))
        #expect(effects.first == .killProcess(process))
        #expect(core.state(of: PhoneRig.chat) == .notRunning)
    }

    @Test func `to an app that never registered is noted`() {
        var rig = PhoneRig(17, Self.app)
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.calls == [])
        #expect(rig.faults == ["topic chat.example.voip must belong to an app that registered for it"])
    }
}

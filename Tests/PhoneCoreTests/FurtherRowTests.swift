import PhoneCore
import Testing
import TidingsModel

/// Rules of ios-delivery.md §7 to §10 that stand between the rows of the tables.
extension `A deadline` {
    @Test func `of any other method is ten seconds, then the app ends`() {
        var core = PhoneCore(version: 17, apps: [Self.old])
        let now = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: now)
        _ = core.handle(.process(process, .started), at: now)
        for number: CallbackNumber in 1...2 {
            _ = core.handle(.process(process, .callbackCompleted(number, .returned)), at: now)
        }
        #expect(core.nextDeadline == 10_000, "DBA has not returned")
        let effects = core.handle(.timerReached, at: Now(monotonic: 10_000, wall: 10_000))
        #expect(effects.first == .killProcess(process))
        #expect(core.state(of: PhoneRig.chat) == .notRunning)
    }

    @Test func `stands still while the app is suspended, whatever else arrives`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(fetch: nil), in: .backgroundRunning)
        rig.push(Payload.content)
        let call = rig.open("RF")[0]
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        rig.pass(seconds: 300)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.faults == [])
        rig.person(.appOpened(PhoneRig.chat))
        rig.process(call.process, .callbackCompleted(call.number, .fetch(.newData)))
        #expect(rig.faults == [], "the answer is still awaited")
        #expect(rig.ends == [])
    }
}

extension `The budget of silent pushes` {
    @Test func `holds a push that the person's force-quit discards while the app runs`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(17, settings: settings, in: .backgroundRunning)
        rig.push(Self.numbered(1))
        rig.push(Self.numbered(2))
        #expect(rig.state == .backgroundRunning)
        rig.person(.appForceQuit(PhoneRig.chat))
        #expect(rig.wakes == [.delivered, .heldForBudget, .discardedForceQuit])
        rig.pass(seconds: 7_200)
        #expect(Self.numbers(rig) == [1])
    }

    @Test func `holds a push that survives a restart and comes after the hold`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        rig.push(Self.numbered(1))
        rig.push(Self.numbered(2))
        rig.send(.system(.restarted))
        rig.person(.unlocked)
        rig.pass(seconds: 3_600)
        #expect(Self.numbers(rig) == [1, 2])
    }
}

extension `An app in the background` {
    @Test func `that comes back after the warning is not killed`() {
        let behaviour = AppBehaviour(taskInBackground: .some(nil), endsExpiredTask: false)
        var rig = PhoneRig(17, behaviour: behaviour, in: .backgroundRunning)
        rig.pass(seconds: 32)
        #expect(rig.calls == ["expired(1)"])
        rig.person(.appOpened(PhoneRig.chat))
        rig.pass(seconds: 60)
        rig.person(.overlayAppeared)
        #expect(rig.ends == [])
        #expect(rig.state == .foregroundInactive)
    }
}

extension `The notification centre` {
    @Test func `replaces a scheduled request by one with its identifier`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.ask(.add(Self.request("m", "soon", after: 60_000)))
        rig.ask(.add(Self.request("m", "later", after: 120_000)))
        #expect(rig.ask(.pendingRequests) == .pending([Self.request("m", "later", after: 120_000)]))
        rig.enter(.suspended)
        rig.pass(seconds: 180)
        #expect(rig.rings == 1)
        #expect(rig.core.screen.list.map(\.notification.request.content.body) == ["later"])
    }

    @Test func `replaces the whole set of categories`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        let first = NotificationCategory(identifier: "message")
        let second = NotificationCategory(identifier: "call")
        rig.app(.categoriesSet([first]))
        rig.app(.categoriesSet([second]))
        #expect(rig.ask(.categories) == .categories([second]))
    }
}

extension `An extension` {
    @Test func `whose push was forbidden while it ran shows nothing`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "m")
        let run = rig.open("NSE")[0]
        rig.person(.settingChanged(PhoneRig.chat, .notifications, isOn: false))
        rig.process(run.process, .callbackCompleted(run.number, .content(NotificationContent(body: "hello"))))
        #expect(rig.list == [])
        #expect(rig.presentations.map(\.reason) == [.notAuthorized])
    }
}

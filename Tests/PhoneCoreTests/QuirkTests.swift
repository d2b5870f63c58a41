import PhoneCore
import Testing
import TidingsModel

/// The quirk flags of ios-delivery.md §14, each on and off, with its default.
@Suite struct `A quirk` {
    static func app(_ methods: DelegateMethods) -> InstalledApp {
        InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: methods)
    }

    static func rig(
        _ version: OSVersion, _ app: InstalledApp? = nil, delegate: AppBehaviour.DelegateMoment = .inDidFinish,
        _ change: (inout Quirks) -> Void
    ) -> PhoneRig {
        var settings = PhoneSettings()
        change(&settings.quirks)
        return PhoneRig(version, app, behaviour: AppBehaviour(delegate: delegate), settings: settings)
    }

    static func tap(_ rig: PhoneRig, _ state: String, payload: JSONValue = Payload.alert) -> [String] {
        var rig = rig
        rig.enter(row: state)
        rig.push(payload, collapse: "m")
        rig.clear()
        rig.tap("m")
        return rig.calls
    }

    @Test func `Q1: R0 before RF on a tap without a UN delegate, on 10 only`() {
        let both = Self.app([.receiveRemote, .receiveRemoteFetch])
        for (isOn, called) in [(true, "R0(inactive)"), (false, "RF(inactive)")] {
            let rig = Self.rig(10, both, delegate: .never) { $0.ios10BothCallbacksTap = isOn }
            #expect(Self.tap(rig, "SU") == ["WEF", called, "DBA"])
            #expect(Self.tap(rig, "NK") == ["WF", "DF(remoteNotification)", called, "DBA"])
        }
        #expect(Quirks().ios10BothCallbacksTap)
        let eleven = Self.rig(11, both, delegate: .never) { $0.ios10BothCallbacksTap = true }
        #expect(Self.tap(eleven, "SU") == ["WEF", "RF(inactive)", "DBA"])
    }

    @Test func `Q2: RF before WP in the foreground`() {
        for (isOn, calls) in [(true, ["RF(active)", "WP"]), (false, ["WP", "RF(active)"])] {
            var rig = Self.rig(12, Self.app(.modern)) { $0.foregroundFetchBeforeWillPresent = isOn }
            rig.enter(.foregroundActive)
            rig.push(Payload.alertAndContent)
            #expect(rig.calls == calls)
        }
        #expect(Quirks().foregroundFetchBeforeWillPresent)
    }

    @Test func `Q3: a delegate without DR leaves taps to the old callbacks`() {
        let app = Self.app([.receiveRemoteFetch, .willPresent])
        for (isOn, calls) in [(false, ["WEF", "DBA"]), (true, ["WEF", "RF(inactive)", "DBA"])] {
            #expect(Self.tap(Self.rig(12, app) { $0.missingDidReceiveFallsBack = isOn }, "SU") == calls)
        }
        #expect(!Quirks().missingDidReceiveFallsBack)
    }

    @Test func `a late delegate: leaves a cold tap to the old callbacks`() {
        for (isOn, called) in [(false, []), (true, ["RF(inactive)"])] {
            let rig = Self.rig(12, Self.app(.modern), delegate: .inDidBecomeActive) { $0.lateDelegateFallsBack = isOn }
            #expect(Self.tap(rig, "NK") == ["WF", "DF(remoteNotification)"] + called + ["DBA"])
        }
        #expect(!Quirks().lateDelegateFallsBack)
    }

    @Test func `Q4: without a delegate the notification's own options count in the foreground`() {
        for (isOn, story) in [
            (false, ["RF(active)", "none(inForegroundWithoutDelegate)"]),
            (true, ["RF(active)", "show(banner,list,sound,badge)"]),
        ] {
            var rig = Self.rig(12, Self.app(.receiveRemoteFetch), delegate: .never) {
                $0.noDelegatePresentsInForeground = isOn
            }
            rig.enter(.foregroundActive)
            rig.push(Payload.alert)
            #expect(rig.story == story)
        }
        #expect(!Quirks().noDelegatePresentsInForeground)
    }

    @Test func `Q5: the launch option with scenes, off for taps and on for wakes before 26`() {
        let scenes = InstalledApp(bundleID: PhoneRig.chat)
        for (isOn, key) in [(false, "DF"), (true, "DF(remoteNotification)")] {
            let rig = Self.rig(17, scenes) { $0.sceneLaunchOptionsOnTap = isOn }
            #expect(Self.tap(rig, "NK")[1] == key)
            var woken = Self.rig(17, scenes) { $0.sceneLaunchOptionsOnWake = isOn }
            woken.push(Payload.content)
            #expect(woken.calls == ["WF", key, "RF(background)"])
            var late = Self.rig(26, scenes) { $0.sceneLaunchOptionsOnWake = isOn }
            late.push(Payload.content)
            #expect(late.calls == ["WF", "DF", "RF(background)"])
        }
        #expect(!Quirks().sceneLaunchOptionsOnTap)
        #expect(Quirks().sceneLaunchOptionsOnWake)
    }

    @Test func `Q6: L0 after DF on a cold tap on a local notification`() {
        for (isOn, calls) in [
            (false, ["WF", "DF(localNotification)", "DBA"]),
            (true, ["WF", "DF(localNotification)", "L0(inactive)", "DBA"]),
        ] {
            var rig = Self.rig(9, Self.app(.receiveLocal)) { $0.localLaunchAlsoCallsL0 = isOn }
            rig.fireLocal()
            rig.tap("m")
            #expect(rig.calls == calls)
        }
        #expect(!Quirks().localLaunchAlsoCallsL0)
    }

    @Test func `Q7: a cold tap on a UN request fills the local key, from 10 to 25 without scenes`() {
        func launch(_ version: OSVersion, _ app: InstalledApp, isOn: Bool) -> String {
            var rig = Self.rig(version, app) { $0.unLocalLaunchKey = isOn }
            rig.fireLocal()
            rig.tap("m")
            return rig.calls[1]
        }
        let plain = Self.app(.modern)
        #expect(launch(10, plain, isOn: true) == "DF(localNotification)")
        #expect(launch(25, plain, isOn: true) == "DF(localNotification)")
        #expect(launch(26, plain, isOn: true) == "DF")
        #expect(launch(17, plain, isOn: false) == "DF")
        #expect(launch(17, InstalledApp(bundleID: PhoneRig.chat), isOn: true) == "DF")
        #expect(Quirks().unLocalLaunchKey)
    }

    @Test func `Q8: badge 0 by the old call clears the list`() {
        for (isOn, list) in [(true, []), (false, ["m"])] {
            var rig = Self.rig(17) { $0.badgeZeroClearsDelivered = isOn }
            rig.enter(.foregroundActive)
            rig.push(Payload.alert, collapse: "m")
            rig.app(.iconBadgeNumberSet(0))
            #expect(rig.list == list)
            #expect(rig.badge == 0)
        }
        #expect(Quirks().badgeZeroClearsDelivered)
    }

    @Test func `Q9: RF again on a tap on AC although DR exists`() {
        for (isOn, calls) in [(false, ["WEF", "DR", "DBA"]), (true, ["WEF", "RF(inactive)", "DR", "DBA"])] {
            let rig = Self.rig(12, Self.app(.modern)) { $0.fetchTwiceOnTap = isOn }
            #expect(Self.tap(rig, "SU", payload: Payload.alertAndContent) == calls)
            #expect(Self.tap(rig, "SU") == ["WEF", "DR", "DBA"])
        }
        #expect(!Quirks().fetchTwiceOnTap)
    }

    @Test func `Q12: what meets the app inactive reports so`() {
        for (isOn, state) in [(true, "inactive"), (false, "active")] {
            for version: OSVersion in [9, 17] {
                var rig = Self.rig(version, Self.app(.receiveRemoteFetch)) { $0.inactiveOnArrival = isOn }
                rig.enter(.foregroundInactive)
                rig.push(Payload.content)
                #expect(rig.calls == ["RF(\(state))"])
            }
        }
        #expect(Quirks().inactiveOnArrival)
    }

    @Test func `Q14: an extension that dies with the filtering entitlement discards the notification`() {
        let filtering = InstalledApp(bundleID: PhoneRig.chat, hasFilteringEntitlement: true)
        for (isOn, list) in [(false, ["m"]), (true, [])] {
            var rig = Self.rig(17, filtering) { $0.killedExtensionWithFilteringDiscards = isOn }
            rig.behaviour.deliver = nil
            rig.push(Payload.mutable, collapse: "m")
            rig.pass(seconds: 31)
            #expect(rig.list == list)
            #expect(rig.badge == (isOn ? 0 : 1))
        }
        var plain = Self.rig(17) { $0.killedExtensionWithFilteringDiscards = true }
        plain.behaviour.deliver = nil
        plain.push(Payload.mutable, collapse: "m")
        plain.pass(seconds: 31)
        #expect(plain.list == ["m"], "without the entitlement the original is shown")
        #expect(!Quirks().killedExtensionWithFilteringDiscards)
    }

    @Test func `Q15: a push type that does not fit the payload hides it`() {
        func story(_ payload: JSONValue, _ type: String, isOn: Bool) -> [String] {
            var rig = Self.rig(17) { $0.pushTypeMismatchHides = isOn }
            rig.enter(.backgroundRunning)
            rig.push(payload, type: type)
            return rig.story
        }
        let both = Payload.alertAndContent
        let shown = ["show(banner,list,sound)", "wake(delivered)", "RF(background)"]
        #expect(story(both, "background", isOn: false) == shown)
        #expect(story(both, "background", isOn: true) == ["wake(delivered)", "RF(background)"])
        #expect(story(both, "alert", isOn: true) == shown)
        #expect(story(Payload.content, "alert", isOn: false) == ["wake(delivered)", "RF(background)"])
        #expect(story(Payload.content, "alert", isOn: true) == [])
        #expect(!Quirks().pushTypeMismatchHides)
    }

    @Test func `of badge 0 alone: the request is never posted from iOS 10`() {
        for (isOn, badge) in [(true, 3), (false, 0)] {
            var rig = Self.rig(17) { $0.badgeZeroRequestIsLost = isOn }
            rig.push(Payload.alert)
            rig.enter(.backgroundRunning)
            #expect(
                rig.ask(.add(NotificationRequest(identifier: "b", content: NotificationContent(badge: 0)))) == .added)
            #expect(rig.badge == badge)
        }
        #expect(Quirks().badgeZeroRequestIsLost)
    }
}

import PhoneCore
import Requirements
import Testing
import TidingsModel

/// ios-delivery.md §13.
@Suite struct `The device token` {
    static let plain = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application)

    static func courier(_ rig: PhoneRig) -> [PhoneEffect] {
        rig.effects.filter { effect in
            switch effect {
            case .registerTopic, .unregisterTopic, .invalidateTokens: true
            default: false
            }
        }
    }

    @Test(.requirement("S2.5", "S2.7")) func `is asked for and told at every launch`() {
        var rig = PhoneRig(17)
        for _ in 1...2 {
            rig.enter(.foregroundActive)
            rig.app(.remoteRegistrationRequested)
            #expect(Self.courier(rig) == [.registerTopic(PhoneRig.chat)])
            rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
            #expect(rig.calls == ["token(c0)"])
            rig.send(.system(.appKilled(PhoneRig.chat)))
        }
    }

    @Test(.requirement("S2.8")) func `that cannot be had is reported, and may be asked for again`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.person(.airplaneModeChanged(isOn: true))
        rig.app(.remoteRegistrationRequested)
        #expect(rig.calls == ["noToken"])
        rig.person(.airplaneModeChanged(isOn: false))
        rig.clear()
        rig.app(.remoteRegistrationRequested)
        rig.send(.courier(.registrationFailed(PhoneRig.chat, reason: "no aps-environment entitlement")))
        rig.app(.remoteRegistrationRequested)
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
        #expect(rig.calls == ["noToken", "token(c0)"])
        #expect(Self.courier(rig) == [.registerTopic(PhoneRig.chat), .registerTopic(PhoneRig.chat)])
    }

    @Test func `is told once for one question`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.remoteRegistrationRequested)
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
        #expect(rig.calls == ["token(c0)"])
    }

    @Test func `is not told to an app that took its question back, and no push comes`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.remoteRegistrationRequested)
        rig.app(.remoteRegistrationEnded)
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
        #expect(rig.calls == [])
        #expect(Self.courier(rig) == [.registerTopic(PhoneRig.chat), .unregisterTopic(PhoneRig.chat)])
        rig.push(Payload.alert)
        #expect(rig.list == [])
    }

    @Test(arguments: [
        (OSVersion(7), true), (OSVersion(8), false), (OSVersion(10, 3), false), (OSVersion(11), true), (17, true),
    ]) func `needs permission or Background App Refresh on iOS 8 to 10`(version: OSVersion, isToldAnyway: Bool) {
        var rig = PhoneRig(version, Self.plain, allowed: false, in: .foregroundActive)
        rig.person(.backgroundRefreshChanged(isOn: false))
        rig.clear()
        rig.app(.remoteRegistrationRequested)
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
        #expect(rig.calls == (isToldAnyway ? ["token(c0)"] : []))
        guard !isToldAnyway else { return }
        var refreshing = rig
        refreshing.person(.backgroundRefreshChanged(isOn: true))
        #expect(refreshing.calls == ["refresh(available)", "token(c0)"])
        if version < 10 {
            rig.app(.userNotificationSettingsRegistered([.alert], []))
        } else {
            rig.ask(.requestAuthorization([.alert]))
        }
        rig.person(.permissionAnswered(allowed: true))
        #expect(rig.calls.last == "token(c0)")
        #expect(rig.calls.count { $0 == "token(c0)" } == 1)
    }

    @Test func `changes when the app is reinstalled, and with it goes everything the app had`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert, collapse: "m")
        rig.clear()
        rig.send(.system(.appReinstalled(InstalledApp(bundleID: PhoneRig.chat))))
        #expect(Self.courier(rig) == [.invalidateTokens(PhoneRig.chat)])
        #expect(rig.list == [])
        #expect(rig.badge == 0)
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == .notDetermined)
        rig.push(Payload.content)
        #expect(rig.calls == [])
        #expect(rig.faults == ["topic chat.example must belong to an app that is registered"])
    }

    @Test func `changes on a new device, where no push comes before the app has registered`() {
        var rig = PhoneRig(17)
        rig.send(.system(.appInstalled(InstalledApp(bundleID: "mail.example"))))
        rig.enter(.foregroundActive)
        rig.push(Payload.alert, collapse: "m")
        rig.send(.system(.restoredFromBackup))
        #expect(Self.courier(rig) == [.invalidateTokens(PhoneRig.chat), .invalidateTokens("mail.example")])
        #expect(rig.ends == [.restored])
        #expect(rig.list == [])
        #expect(rig.core.screen.lock == .beforeFirstUnlock)
        #expect(rig.core.notificationSettings(of: PhoneRig.chat)?.authorizationStatus == .authorized)
        rig.push(Payload.alert)
        #expect(rig.list == [])
        rig.person(.unlocked)
        rig.enter(.foregroundActive)
        rig.app(.remoteRegistrationRequested)
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "d1")))
        #expect(rig.calls == ["token(d1)"])
        rig.person(.wentHome)
        rig.push(Payload.alert, collapse: "n")
        #expect(rig.list == ["n"])
    }

    @Test func `stays with an update and a restart`() {
        var rig = PhoneRig(17)
        rig.send(.system(.appUpdated(InstalledApp(bundleID: PhoneRig.chat))))
        rig.push(Payload.alert, collapse: "1")
        rig.send(.system(.restarted))
        rig.push(Payload.alert, collapse: "2")
        #expect(rig.list == ["2", "1"])
        #expect(Self.courier(rig) == [])
    }

    @Test func `of another kind is asked for again when the phone is back online`() {
        let app = InstalledApp(bundleID: PhoneRig.chat, backgroundModes: .voip)
        var rig = PhoneRig(18, app, in: .foregroundActive)
        rig.person(.airplaneModeChanged(isOn: true))
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.app(.pushToStartRequested)
        rig.app(.activityStarted(activity: "a", pushType: .token, contentState: .null))
        let asked = { (rig: PhoneRig) -> [TokenKind] in
            rig.effects.compactMap { if case .requestToken(_, let kind) = $0 { kind } else { nil } }
        }
        #expect(asked(rig) == [])
        rig.person(.airplaneModeChanged(isOn: false))
        #expect(asked(rig) == [.voip, .pushToStart, .activity("a")])
    }
}

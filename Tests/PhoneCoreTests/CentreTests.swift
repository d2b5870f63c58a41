import Testing
import TidingsModel

@testable import PhoneCore

@Suite struct `The notification centre` {
    static func request(_ identifier: String, _ body: String, after: Int64? = nil) -> NotificationRequest {
        NotificationRequest(
            identifier: identifier, content: NotificationContent(body: body, sound: .standard),
            trigger: after.map { .timeInterval(milliseconds: $0, repeats: false) })
    }

    @Test func `keeps one entry per identifier, remote or local, and rings for each`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.ask(.add(Self.request("1", "one")))
        rig.ask(.add(Self.request("2", "two")))
        rig.push(["aps": ["alert": "one, edited", "sound": "default"]], collapse: "1")
        #expect(rig.list == ["1", "2"])
        #expect(rig.core.screen.list.first?.notification.request.content.body == "one, edited")
        #expect(rig.presentations.map(\.replaced) == [false, false, true])
        #expect(rig.rings == 3)
    }

    @Test func `names pushes without a collapse id differently`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert)
        rig.push(Payload.alert)
        #expect(Set(rig.list).count == 2)
    }

    @Test func `shows a banner for five seconds and the list until it is removed`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.banners == ["m"])
        rig.pass(seconds: 5)
        #expect(rig.banners == [])
        #expect(rig.list == ["m"])
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.list == ["m"])
        rig.app(.deliveredRemoved(identifiers: ["m"]))
        #expect(rig.list == [])
    }

    @Test func `answers what is delivered and pending`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert, collapse: "m")
        rig.enter(.foregroundActive)
        let later = Self.request("later", "see you", after: 60_000)
        #expect(rig.ask(.add(later)) == .added)
        #expect(rig.ask(.pendingRequests) == .pending([later]))
        guard case .delivered(let delivered)? = rig.ask(.deliveredNotifications) else {
            Issue.record("no answer")
            return
        }
        #expect(delivered.map(\.request.identifier) == ["m"])
        rig.app(.pendingRemoved(identifiers: nil))
        #expect(rig.ask(.pendingRequests) == .pending([]))
    }

    @Test func `fires a scheduled request of a force-quit app in its time`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.ask(.add(Self.request("later", "see you", after: 60_000)))
        rig.person(.appForceQuit(PhoneRig.chat))
        rig.pass(milliseconds: 59_999)
        #expect(rig.list == [])
        rig.pass(milliseconds: 1)
        #expect(rig.list == ["later"])
        #expect(rig.core.nextDeadline == rig.now.monotonic + 5_000)
    }

    @Test func `repeats a repeating request`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        var request = Self.request("tick", "tick")
        request.trigger = .timeInterval(milliseconds: 60_000, repeats: true)
        rig.ask(.add(request))
        rig.enter(.suspended)
        rig.pass(seconds: 180)
        #expect(rig.rings == 3)
        #expect(rig.list == ["tick"])
    }

    @Test func `keeps the soonest 64 scheduled requests`() {
        var rig = PhoneRig(17)
        rig.enter(.foregroundActive)
        for number in 1...70 { rig.ask(.add(Self.request("\(number)", "hi", after: Int64(100_000 - number)))) }
        guard case .pending(let pending)? = rig.ask(.pendingRequests) else {
            Issue.record("no answer")
            return
        }
        #expect(pending.map(\.identifier) == (7...70).reversed().map(String.init))
    }

    @Test func `refuses what cannot be shown`() {
        var rig = PhoneRig(17, allowed: false, in: .foregroundActive)
        #expect(rig.ask(.add(Self.request("1", "one"))) == .refused(.notificationsNotAllowed))
        rig.person(.settingChanged(PhoneRig.chat, .notifications, isOn: true))
        let empty = NotificationRequest(identifier: "1", content: NotificationContent())
        #expect(rig.ask(.add(empty)) == .refused(.noContent))
        #expect(rig.ask(.add(Self.request("1", "one", after: 0))) == .refused(.invalidTrigger))
        var often = Self.request("1", "one")
        often.trigger = .timeInterval(milliseconds: 59_999, repeats: true)
        #expect(rig.ask(.add(often)) == .refused(.invalidTrigger))
        #expect(rig.list == [])
    }

    @Test func `asks WP for a local request in the foreground and answers the request first`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        #expect(rig.ask(.add(Self.request("1", "one"))) == .added)
        #expect(rig.calls == ["WP"])
        #expect(rig.presentations.map(\.isRemote) == [false])
        rig.tap("1")
        #expect(rig.calls == ["WP", "DR"])
    }

    @Test func `presents nothing if WP is silent for five seconds`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(presentation: nil), in: .foregroundActive)
        rig.push(Payload.alert)
        rig.pass(seconds: 5)
        #expect(rig.presentations.map(\.reason) == [.willPresentLate])
        #expect(rig.state == .foregroundActive)
    }

    @Test func `presents only the kinds that are on`() {
        var rig = PhoneRig(17)
        rig.person(.settingChanged(PhoneRig.chat, .sound, isOn: false))
        rig.person(.settingChanged(PhoneRig.chat, .badge, isOn: false))
        rig.push(Payload.alert, collapse: "m")
        #expect(
            rig.presentations == [
                PresentationRecord(identifier: "m", isRemote: true, banner: true, list: true, reason: .system)
            ])
    }

    @Test func `lists a passive notification without a ring`() {
        var rig = PhoneRig(17)
        rig.push(
            ["aps": ["alert": "psst", "sound": "default", "interruption-level": "passive"]], collapse: "m")
        #expect(
            rig.presentations == [
                PresentationRecord(identifier: "m", isRemote: true, list: true, reason: .passive)
            ])
        #expect(rig.rings == 0)
    }

    @Test func `lists nothing for a push without text`() {
        var rig = PhoneRig(17)
        rig.push(["aps": ["badge": 5, "sound": "ping.caf"]], collapse: "m")
        #expect(rig.list == [])
        #expect(rig.banners == [])
        #expect(rig.badge == 5)
        #expect(rig.rings == 1)
    }
}

@Suite struct `The badge` {
    @Test func `is set by pushes, left alone without one and removed by 0`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert)
        #expect(rig.badge == 3)
        rig.push(["aps": ["alert": "no badge"]])
        #expect(rig.badge == 3)
        rig.push(["aps": ["badge": 0]])
        #expect(rig.badge == 0)
        #expect(rig.core.screen.badges == [])
    }

    @Test func `stays in the foreground unless WP asks for it`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(presentation: [.banner]), in: .foregroundActive)
        rig.push(Payload.alert)
        #expect(rig.badge == 0)
        rig.behaviour.presentation = [.badge]
        rig.push(Payload.alert)
        #expect(rig.badge == 3)
    }

    @Test func `of 0 by the old call clears the list, by the new one it does not`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert, collapse: "m")
        rig.enter(.foregroundActive)
        #expect(rig.ask(.setBadgeCount(0)) == .done)
        #expect(rig.list == ["m"])
        rig.app(.iconBadgeNumberSet(0))
        #expect(rig.list == [])
    }

    @Test func `needs permission`() {
        var rig = PhoneRig(17, allowed: false, in: .foregroundActive)
        #expect(rig.ask(.setBadgeCount(2)) == .refused(.notificationsNotAllowed))
        rig.app(.iconBadgeNumberSet(2))
        #expect(rig.badge == 0)
    }
}

@Suite struct `Permission` {
    @Test func `is asked for once and the answer stays`() {
        var rig = PhoneRig(17, allowed: false, in: .foregroundActive)
        #expect(rig.ask(.requestAuthorization([.alert, .badge])) == nil)
        #expect(rig.core.screen.permissionPrompt == PhoneRig.chat)
        rig.person(.permissionAnswered(allowed: true))
        #expect(rig.answers.last == .granted(true))
        #expect(rig.ask(.requestAuthorization([.sound])) == .granted(true))
        let settings = rig.core.notificationSettings(of: PhoneRig.chat)
        #expect(settings?.authorizationStatus == .authorized)
        #expect(settings?.alert == true)
        #expect(settings?.sound == false)
        rig.person(.wentHome)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.list == ["m"])
    }

    @Test func `denied shows nothing and is not asked for again`() {
        var rig = PhoneRig(17, allowed: false, in: .foregroundActive)
        rig.ask(.requestAuthorization([.alert]))
        rig.person(.permissionAnswered(allowed: false))
        #expect(rig.ask(.requestAuthorization([.alert])) == .granted(false))
        rig.push(Payload.alertAndContent)
        #expect(rig.calls == ["RF(active)"])
        rig.person(.wentHome)
        rig.push(Payload.alert)
        #expect(rig.list == [])
        #expect(rig.presentations.map(\.reason) == [.notAuthorized, .notAuthorized])
    }

    @Test func `is granted at once and quietly if provisional`() {
        var rig = PhoneRig(17, allowed: false, in: .foregroundActive)
        #expect(rig.ask(.requestAuthorization([.alert, .sound, .badge, .provisional])) == .granted(true))
        rig.person(.wentHome)
        rig.push(Payload.alert, collapse: "m")
        #expect(
            rig.presentations == [
                PresentationRecord(identifier: "m", isRemote: true, list: true, reason: .provisional)
            ])
        #expect(rig.badge == 0)
    }

    @Test func `forgets the question of an app that died`() {
        var rig = PhoneRig(17, allowed: false, in: .foregroundActive)
        rig.ask(.requestAuthorization([.alert]))
        rig.send(.system(.appKilled(PhoneRig.chat)))
        #expect(rig.core.screen.permissionPrompt == nil)
    }
}

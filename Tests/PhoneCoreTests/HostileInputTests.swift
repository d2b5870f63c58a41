import PhoneCore
import Testing
import TidingsModel

@Suite struct `What nobody should send` {
    static let tooLong = NotificationTrigger.millisecondsMax + 1

    static func request(_ trigger: NotificationTrigger) -> NotificationRequest {
        NotificationRequest(identifier: "m", content: NotificationContent(body: "hello"), trigger: trigger)
    }

    @Test(arguments: [tooLong, .max]) func `as an interval is refused, and nothing is scheduled`(interval: Int64) {
        var rig = PhoneRig(17)
        rig.enter(.foregroundActive)
        for repeats in [false, true] {
            let trigger = NotificationTrigger.timeInterval(milliseconds: interval, repeats: repeats)
            #expect(rig.ask(.add(Self.request(trigger))) == .refused(.invalidTrigger))
        }
        let longest = Self.request(
            .timeInterval(milliseconds: NotificationTrigger.millisecondsMax, repeats: true))
        #expect(rig.ask(.add(longest)) == .added)
        #expect(rig.ask(.pendingRequests) == .pending([longest]))
    }

    @Test(arguments: [Int64.min, -tooLong, tooLong, .max], [RepeatInterval.day, .month, nil])
    func `as a date is a fault, and nothing is shown or scheduled`(date: Int64, interval: RepeatInterval?) {
        var rig = PhoneRig(9, in: .backgroundRunning)
        rig.app(.localNotificationScheduled(Self.request(.fireDate(date, repeatInterval: interval))))
        #expect(rig.story == [])
        #expect(
            rig.faults == [
                "local notification m: date must be within 253402300799999 of 1970, got \(date)"
            ])
        #expect(rig.ask(.pendingRequests) == .pending([]))
    }

    @Test(arguments: RepeatInterval.allCases) func `may be the farthest date there is`(interval: RepeatInterval) {
        var rig = PhoneRig(9, in: .backgroundRunning)
        for date in [-NotificationTrigger.millisecondsMax, NotificationTrigger.millisecondsMax] {
            rig.app(.localNotificationScheduled(Self.request(.fireDate(date, repeatInterval: interval))))
            #expect(rig.faults == [])
            #expect(rig.story == [])
        }
    }

    @Test func `as the count of a summary counts as much as a number can`() {
        var rig = PhoneRig(12)
        for name in ["a", "b", "c"] {
            rig.push(
                ["aps": ["alert": ["body": "x", "summary-arg-count": .int(Int64.max)], "thread-id": "t"]],
                collapse: name)
        }
        #expect(rig.core.screen.groups.map(\.summary) == ["\(Int.max) more"])
    }

    @Test func `as a name the system gives is not taken for the system's`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.push(["aps": ["alert": "the sender's"]], collapse: "push-1")
        rig.ask(.add(CentreNames.request("push-2")))
        rig.push(["aps": ["alert": "the system's"]])
        #expect(rig.list.count == 3)
        #expect(Set(rig.list).count == 3)
        #expect(rig.presentations.map(\.replaced) == [false, false, false])
    }

    @Test func `as an extension, which only an app may do, ends no registration`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(deliver: nil))
        rig.push(Payload.mutable, collapse: "m")
        let process = rig.open("NSE")[0].process
        rig.process(process, .remoteRegistrationEnded)
        #expect(!rig.effects.contains(.unregisterTopic(PhoneRig.chat)))
        #expect(rig.faults == ["an extension must not do what only an app can: remoteRegistrationEnded"])
        rig.push(Payload.alert, collapse: "n")
        #expect(rig.list == ["n"])
    }

    @Test func `as activities that begin and end for ever keeps no extension`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable, collapse: "m")
        let process = rig.open("NSE")[0].process
        for _ in 1...40 {
            rig.process(process, .expiringActivityBegan(1))
            rig.pass(milliseconds: 900)
            rig.process(process, .expiringActivityEnded(1))
        }
        #expect(rig.ends == [.extensionDone])
        #expect(rig.core.nextDeadline == nil)
    }

    @Test func `as panels and persistent banners leaves the newest 64 of them`() {
        var old = PhoneRig(4, InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application))
        var new = PhoneRig(17)
        new.person(.alertStyleChanged(PhoneRig.chat, .alert))
        for _ in 1...70 {
            old.push(Payload.alert)
            new.push(Payload.alert)
        }
        #expect(old.core.screen.waitingPanels == 63)
        #expect(new.banners.count == 64)
        #expect(new.banners.first == new.list.first)
    }
}

enum CentreNames {
    static func request(_ identifier: String) -> NotificationRequest {
        NotificationRequest(identifier: identifier, content: NotificationContent(body: "the app's"))
    }
}

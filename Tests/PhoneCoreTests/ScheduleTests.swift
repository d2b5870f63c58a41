import Requirements
import Testing
import TidingsModel

@testable import PhoneCore

/// Triggers and `UILocalNotification` (ios-delivery.md §9). The rig's clock starts on Tuesday 2023-11-14, 22:13:20 UTC.
@Suite struct `A scheduled notification` {
    static let minute: Int64 = 60_000
    static let start: Int64 = 1_700_000_000_000

    static func next(_ components: CalendarComponents, after wall: Int64 = start, offset: Int = 0) -> Int? {
        CalendarMath.next(components, after: wall, utcOffset: offset).map { Int($0 - Self.start) / 1_000 }
    }

    @Test func `fires at the next moment that matches its components`() {
        #expect(Self.next(CalendarComponents(hour: 22, minute: 30)) == 1_000)
        #expect(Self.next(CalendarComponents(hour: 22, minute: 13, second: 21)) == 1)
        #expect(Self.next(CalendarComponents(hour: 22, minute: 13, second: 20)) == 86_400, "now is not after now")
        #expect(Self.next(CalendarComponents(hour: 9)) == 10 * 3_600 + 2_800)
        #expect(Self.next(CalendarComponents(minute: 14)) == 40)
        #expect(Self.next(CalendarComponents(minute: 13)) == 3_580)
        #expect(Self.next(CalendarComponents(second: 5)) == 45)
        #expect(Self.next(CalendarComponents(hour: 0, minute: 0, weekday: 1)) == 6_400 + 4 * 86_400)
        #expect(Self.next(CalendarComponents(hour: 22, weekday: 3)) == 7 * 86_400 - 800)
        #expect(Self.next(CalendarComponents(day: 1)) == 6_400 + 16 * 86_400)
        #expect(Self.next(CalendarComponents(month: 1)) == 6_400 + 47 * 86_400)
        #expect(Self.next(CalendarComponents(year: 2_025)) == 6_400 + (47 + 366) * 86_400)
        #expect(Self.next(CalendarComponents(month: 2, day: 29, hour: 12)) == 6_400 + (47 + 59) * 86_400 + 43_200)
    }

    @Test func `has no moment in a past year, on 30 February, or without components`() {
        #expect(Self.next(CalendarComponents(year: 2_022)) == nil)
        #expect(Self.next(CalendarComponents(month: 2, day: 30)) == nil)
        #expect(Self.next(CalendarComponents()) == nil)
    }

    @Test func `goes by the phone's time zone`() {
        #expect(Self.next(CalendarComponents(hour: 9), offset: 480) == 10 * 3_600 + 2_800 - 8 * 3_600)
        #expect(Self.next(CalendarComponents(day: 15, hour: 0), offset: -300) == 6_400 + 5 * 3_600)
    }

    @Test func `counts days through leap years, back and forth`() {
        for days in stride(from: Int64(-200_000), through: 200_000, by: 37) {
            let date = CalendarMath.date(ofDays: days)
            #expect(CalendarMath.days(of: date) == days)
        }
        #expect(CalendarMath.date(ofDays: 19_675) == CalendarMath.CivilDate(year: 2023, month: 11, day: 14))
    }

    static func request(_ identifier: String, _ trigger: NotificationTrigger) -> NotificationRequest {
        NotificationRequest(
            identifier: identifier, content: NotificationContent(body: "hello", sound: .standard), trigger: trigger)
    }

    @Test func `with a calendar trigger repeats, and once does not`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        let nine = CalendarComponents(hour: 9)
        #expect(rig.ask(.add(Self.request("daily", .calendar(nine, repeats: true)))) == .added)
        #expect(rig.ask(.add(Self.request("once", .calendar(nine, repeats: false)))) == .added)
        rig.clear()
        rig.pass(seconds: 3 * 86_400)
        #expect(rig.presentations.map(\.identifier) == ["daily", "once", "daily", "daily"])
    }

    @Test func `is refused without a moment to come`() {
        var rig = PhoneRig(17)
        rig.enter(.foregroundActive)
        let refused: [NotificationTrigger] = [
            .calendar(CalendarComponents(year: 2_020), repeats: false), .calendar(CalendarComponents(), repeats: true),
            .calendar(CalendarComponents(hour: 24), repeats: true), .timeInterval(milliseconds: 0, repeats: false),
            .timeInterval(milliseconds: 59_999, repeats: true), .push,
            .location(
                NotificationRegion(identifier: "x", notifiesOnEntry: false, notifiesOnExit: false), repeats: true),
        ]
        for trigger in refused {
            #expect(rig.ask(.add(Self.request("m", trigger))) == .refused(.invalidTrigger))
        }
    }

    @Test func `with a region fires when its border is crossed the right way`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        let entry = NotificationRegion(identifier: "home", notifiesOnExit: false)
        let both = NotificationRegion(identifier: "home")
        #expect(rig.ask(.add(Self.request("entry", .location(entry, repeats: false)))) == .added)
        #expect(rig.ask(.add(Self.request("both", .location(both, repeats: true)))) == .added)
        rig.clear()
        rig.send(.system(.regionCrossed("work", entered: true)))
        rig.send(.system(.regionCrossed("home", entered: false)))
        #expect(rig.presentations.map(\.identifier) == ["both"])
        rig.send(.system(.regionCrossed("home", entered: true)))
        rig.send(.system(.regionCrossed("home", entered: true)))
        #expect(rig.presentations.map(\.identifier) == ["both", "entry", "both", "both"])
    }

    @Test func `with an attachment needs a file of a kind the system knows`() {
        var rig = PhoneRig(17)
        rig.enter(.backgroundRunning)
        for (url, answer) in [
            ("file:///a/b.png", QueryAnswer.added), ("/tmp/sound.M4A", .added),
            ("https://example.com/a.png", .refused(.attachmentInvalidURL)),
            ("file:///a/b.exe", .refused(.attachmentUnrecognizedType)),
            ("file:///a/b", .refused(.attachmentUnrecognizedType)),
        ] {
            let content = NotificationContent(
                body: "x", attachments: [NotificationAttachment(identifier: "a", url: url)])
            #expect(rig.ask(.add(NotificationRequest(identifier: "m", content: content))) == answer)
        }
    }

    // MARK: UILocalNotification

    static func fireDate(_ date: Int64, _ interval: RepeatInterval? = nil) -> NotificationTrigger {
        .fireDate(Self.start + date, repeatInterval: interval)
    }

    @Test(.requirement("S3.9")) func `of iOS 4 fires at its date, and at once if that has passed`() {
        var rig = PhoneRig(6, allowed: false, in: .backgroundRunning)
        rig.app(.localNotificationScheduled(Self.request("later", Self.fireDate(10 * Self.minute))))
        rig.app(.localNotificationScheduled(Self.request("now", Self.fireDate(-1))))
        #expect(rig.story == ["show(banner,list,sound)"], "before iOS 8 nobody is asked about local notifications")
        rig.pass(milliseconds: 10 * Self.minute)
        #expect(rig.presentations.map(\.identifier) == ["now", "later"])
    }

    static let day: Int64 = 86_400_000
    static let steps: [(RepeatInterval, Int64)] = [
        (.minute, 60_000), (.hour, 3_600_000), (.day, day), (.week, 7 * day), (.month, 30 * day), (.quarter, 92 * day),
        (.year, 366 * day),
    ]

    static func repeated(_ first: Int64, _ interval: RepeatInterval?, after wall: Int64) -> Int64? {
        CalendarMath.next(first, every: interval, after: wall, utcOffset: 0).map { $0 - first }
    }

    @Test func `of iOS 4 repeats by its interval`() {
        let first = Self.start + 5_000
        for (interval, step) in Self.steps {
            #expect(Self.repeated(first, interval, after: Self.start) == 0)
            #expect(Self.repeated(first, interval, after: first) == step)
        }
        #expect(Self.repeated(first, nil, after: first) == nil)
        #expect(Self.repeated(first, .minute, after: first + 150_000) == 180_000)
    }

    @Test func `of iOS 4 that repeats by the month keeps to its day where the month has it`() {
        // From 31 January to 29 February to 31 March.
        let january = Self.start + 78 * Self.day
        #expect(Self.repeated(january, .month, after: january) == 29 * Self.day)
        #expect(Self.repeated(january, .month, after: january + 29 * Self.day) == 60 * Self.day)
    }

    @Test func `of iOS 4 is taken back with its entry`() {
        var rig = PhoneRig(9, in: .backgroundRunning)
        rig.app(.localNotificationScheduled(Self.request("a", Self.fireDate(0))))
        rig.app(.localNotificationScheduled(Self.request("b", Self.fireDate(Self.minute))))
        rig.app(.localNotificationScheduled(Self.request("c", Self.fireDate(Self.minute, .day))))
        #expect(rig.list == ["a"])
        rig.app(.localNotificationCancelled(identifier: "a"))
        rig.app(.localNotificationCancelled(identifier: "b"))
        #expect(rig.list == [])
        #expect(rig.ask(.pendingRequests) == .pending([Self.request("c", Self.fireDate(Self.minute, .day))]))
        rig.app(.localNotificationCancelled(identifier: nil))
        #expect(rig.ask(.pendingRequests) == .pending([]))
    }
}

/// Registration of iOS 3 to 9 (ios-delivery.md §4 gate 3, §9).
@Suite struct `Registration before iOS 10` {
    static let app = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: .receiveRemote)

    @Test func `asks for permission and token at once before iOS 8`() {
        var rig = PhoneRig(6, Self.app, allowed: false, in: .foregroundActive)
        rig.app(.remoteTypesRequested([.alert, .sound]))
        #expect(rig.core.screen.permissionPrompt == PhoneRig.chat)
        #expect(!rig.effects.contains(.registerTopic(PhoneRig.chat)))
        rig.person(.permissionAnswered(allowed: true))
        #expect(rig.effects.contains(.registerTopic(PhoneRig.chat)))
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "beef")))
        #expect(rig.calls == ["token(beef)"])
        rig.person(.wentHome)
        rig.clear()
        rig.push(Payload.alert)
        #expect(rig.story == ["show(banner,list,sound)"], "badges were not asked for")
        rig.person(.appOpened(PhoneRig.chat))
        rig.clear()
        rig.app(.remoteTypesRequested([.alert, .sound]))
        #expect(rig.core.screen.permissionPrompt == nil)
        #expect(rig.effects.contains(.registerTopic(PhoneRig.chat)))
    }

    @Test func `brings no token when the person denies`() {
        var rig = PhoneRig(6, Self.app, allowed: false, in: .foregroundActive)
        rig.app(.remoteTypesRequested([.alert]))
        rig.person(.permissionAnswered(allowed: false))
        #expect(!rig.effects.contains(.registerTopic(PhoneRig.chat)))
    }

    @Test func `reports on iOS 8 and 9 what was allowed, and sets the categories`() {
        let category = NotificationCategory(
            identifier: "message", actions: [NotificationAction(identifier: "read", title: "Read")])
        var rig = PhoneRig(9, Self.app, allowed: false, in: .foregroundActive)
        rig.app(.userNotificationSettingsRegistered([.alert, .badge], [category]))
        #expect(rig.calls == [])
        rig.person(.permissionAnswered(allowed: true))
        #expect(rig.calls == ["settings(5)"])
        #expect(rig.ask(.categories) == .categories([category]))
        rig.person(.settingChanged(PhoneRig.chat, .badge, isOn: false))
        rig.clear()
        rig.app(.userNotificationSettingsRegistered([.alert, .badge], []))
        #expect(rig.calls == ["settings(4)"], "what is allowed now, without a question")
        #expect(rig.ask(.categories) == .categories([]))
    }

    @Test func `reports nothing as allowed when the person denies`() {
        var rig = PhoneRig(8, Self.app, allowed: false, in: .foregroundActive)
        rig.app(.userNotificationSettingsRegistered([.alert], []))
        rig.person(.permissionAnswered(allowed: false))
        #expect(rig.calls == ["settings(0)"])
    }

    @Test func `must use the call of its era`() {
        var nine = PhoneRig(9, Self.app, allowed: false)
        nine.enter(.foregroundActive)
        nine.app(.remoteTypesRequested([.alert]))
        #expect(nine.faults == ["registerForRemoteNotificationTypes must not be used from iOS 8"])
        var six = PhoneRig(6, Self.app, allowed: false)
        six.enter(.foregroundActive)
        six.app(.userNotificationSettingsRegistered([.alert], []))
        #expect(six.faults == ["registerUserNotificationSettings must not be used before iOS 8"])
    }
}

import PhoneCore
import Testing
import TidingsModel

/// What waits for the scheduled summary while things change (ios-delivery.md §4 gates 3 to 5, §9).
@Suite struct `A notification that waits for the summary` {
    static let app = InstalledApp(
        bundleID: PhoneRig.chat, lifecycle: .application, hasServiceExtension: false, entitlements: .timeSensitive)
    static let untilEight: Int64 = 9 * 3_600 + 46 * 60 + 40

    /// A phone with "old" of the identifier "m" in the summary of 08:00, at 22:13:20 by its clock.
    static func rig() -> PhoneRig {
        var rig = PhoneRig(17, Self.app)
        rig.person(.settingChanged(PhoneRig.chat, .scheduledDelivery, isOn: true))
        rig.person(.summaryTimesChanged([480]))
        rig.push(["aps": ["alert": "old"]], collapse: "m")
        rig.clear()
        return rig
    }

    static func texts(_ rig: PhoneRig) -> [String] {
        rig.core.screen.list.map(\.notification.request.content.body)
    }

    @Test(arguments: [
        PhoneEvent.system(.appRemoved(PhoneRig.chat)), .system(.appReinstalled(app)), .system(.restoredFromBackup),
    ]) func `goes with its app, and with the old phone`(event: PhoneEvent) {
        var rig = Self.rig()
        rig.send(event)
        #expect(rig.core.screen.heldForSummary == [])
        rig.clear()
        rig.pass(seconds: Self.untilEight)
        #expect(rig.story == [])
        #expect(rig.list == [])
    }

    @Test func `goes when the app sets its icon's number to 0, as what is listed does`() {
        var rig = Self.rig()
        rig.enter(.foregroundActive)
        rig.app(.iconBadgeNumberSet(0))
        #expect(rig.ask(.deliveredNotifications) == .delivered([]))
    }

    @Test func `is replaced by a newer one of its name wherever that shows`() {
        var rig = Self.rig()
        rig.push(["aps": ["alert": "new", "interruption-level": "time-sensitive"]], collapse: "m")
        #expect(Self.texts(rig) == ["new"])
        #expect(rig.presentations.map(\.replaced) == [true])
        #expect(rig.core.screen.heldForSummary == [])
        rig.pass(seconds: Self.untilEight)
        #expect(Self.texts(rig) == ["new"])
    }

    @Test func `replaces what is listed of its name`() {
        var rig = Self.rig()
        rig.push(["aps": ["alert": "listed", "interruption-level": "time-sensitive"]], collapse: "n")
        rig.push(["aps": ["alert": "waits"]], collapse: "n")
        #expect(rig.list == [])
        rig.enter(.foregroundActive)
        guard case .delivered(let delivered)? = rig.ask(.deliveredNotifications) else {
            Issue.record("no answer")
            return
        }
        #expect(delivered.map(\.request.content.body) == ["waits", "old"], "each name once")
    }

    @Test func `is not shown if notifications were turned off meanwhile`() {
        var rig = Self.rig()
        rig.person(.settingChanged(PhoneRig.chat, .notifications, isOn: false))
        rig.pass(seconds: Self.untilEight)
        #expect(rig.story == ["none(notAuthorized)"])
        #expect(rig.list == [])
    }

    @Test func `is not listed if the list was turned off meanwhile`() {
        var rig = Self.rig()
        rig.person(.settingChanged(PhoneRig.chat, .notificationCenter, isOn: false))
        rig.pass(seconds: Self.untilEight)
        #expect(rig.presentations.map(\.reason) == [.summary])
        #expect(rig.list == [])
    }

    @Test func `is one of as many as the list holds, the newest ones`() {
        var rig = Self.rig()
        for number in 1...70 { rig.push(["aps": ["alert": "x"]], collapse: "\(number)") }
        #expect(rig.core.screen.heldForSummary.map(\.key.identifier) == (7...70).reversed().map(String.init))
    }
}

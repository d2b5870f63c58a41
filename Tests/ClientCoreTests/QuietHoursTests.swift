import Testing
import TidingsModel

@testable import ClientCore

/// It is 08:00 in UTC, of 15 January 2027, at second 0.
@Suite struct `Quiet hours in the background` {
    private static let utc = TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)
    private static let night = QuietHours(start: 22 * 60, end: 9 * 60, timeZone: "UTC")
    private static let noon = QuietHours(start: 12 * 60, end: 13 * 60, timeZone: "UTC")
    private let hangUp: [ClientEffect] = [
        .sendFrame(1, .runState(.suspending)), .close(1), .publishStatus(.suspended),
        .publishRunState(.backgroundSuspended), recipient(1),
    ]

    /// A core in the background whose person has set these hours.
    private func core(_ hours: QuietHours, zone: TimeZoneFacts?? = .some(utc)) -> ClientCore {
        var core = ClientCore.fresh(.init(preferences: AllSettings(person: PersonSettings(quietHours: hours))))
        core.goOnline(1, head: 0, heartbeat: 600_000, at: at(0))
        if let zone { _ = core.handle(.timeZoneRead("UTC", zone), at: at(0)) }
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(10))
        return core
    }

    @Test(arguments: QuietHours.Manner.allCases)
    func `leave a message to the server's push, which waits for their end or does not come`(
        manner: QuietHours.Manner
    ) {
        var hours = Self.night
        hours.manner = manner
        var core = self.core(hours)
        #expect(core.hear(entry(1), at: at(11)) == [.publishEntries([entry(1)]), .sendFrame(1, ack(1))] + self.hangUp)
        #expect(core.settledPosition == 0)
        // In the foreground it was seen.
        _ = core.handle(.connectionClosed(1, reason: "closed"), at: at(12))
        _ = core.handle(.appWillEnterForeground, at: at(20))
        core.goOnline(2, head: 1, at: at(20))
        #expect(core.settledPosition == 1)
    }

    @Test func `keep nothing from being shown when they are over`() {
        var core = self.core(Self.noon)
        #expect(
            core.hear(entry(1), at: at(11)) == [
                .publishEntries([entry(1)]), .resolveNames(id(101), .init(sender: bob, group: nil)),
                .sendFrame(1, ack(1)),
            ])
    }

    @Test func `hold as long as nobody has said what their zone is, and never in a zone that is none`() {
        var unknown = self.core(Self.noon, zone: nil)
        #expect(unknown.hear(entry(1), at: at(11)).suffix(5) == self.hangUp[...])
        var none = self.core(Self.night, zone: .some(nil))
        #expect(none.hear(entry(1), at: at(11)).contains(.resolveNames(id(101), .init(sender: bob, group: nil))))
    }

    @Test func `come after what settles a message without a ring`() {
        var core = self.core(Self.night)
        _ = core.handle(.settingRequested(level(withBob, .blocked)), at: at(10))
        #expect(
            core.hear(entry(1), at: at(11)) == [
                .publishEntries([entry(1)]), .sendFrame(1, ack(1, (1, .suppressed(.level)))), .storeSettled(upTo: 1),
            ])
        #expect(core.runState == .backgroundActive)
    }

    @Test func `have their zone looked up once, and again when it is another`() {
        var core = ClientCore.fresh(.init(preferences: AllSettings(person: PersonSettings(quietHours: Self.noon))))
        #expect(core.handle(.kitConfigured(KitSettings()), at: at(0)) == [.readTimeZone("UTC")])
        #expect(core.handle(.kitConfigured(KitSettings()), at: at(0)) == [])
        _ = core.handle(.timeZoneRead("UTC", Self.utc), at: at(0))
        var there = Self.noon
        there.timeZone = "Asia/Shanghai"
        #expect(core.handle(.settingRequested(.quietHours(there)), at: at(1)) == [.readTimeZone("Asia/Shanghai")])
        // An answer that is late changes nothing.
        #expect(core.handle(.timeZoneRead("UTC", Self.utc), at: at(1)) == [])
        #expect(core.handle(.settingRequested(.quietHours(nil)), at: at(2)) == [])
    }
}

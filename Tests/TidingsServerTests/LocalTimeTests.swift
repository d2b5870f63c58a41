import Foundation
import StoreModel
import Testing

@testable import TidingsServer

@Suite struct `A time on people's own clocks` {
    private static func at(_ zone: String, _ text: String) throws -> Int64? {
        try PushLocalTime(text: text, timeZone: "UTC").passes.first { $0.timeZones.contains(zone) }?.at
    }

    private static func wall(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970) * 1_000
    }

    @Test(arguments: [
        ("Asia/Shanghai", "2026-12-01T09:00", "2026-12-01T01:00:00Z"),
        ("Europe/Berlin", "2026-12-01T09:00", "2026-12-01T08:00:00Z"),
        ("Europe/Berlin", "2026-07-01T09:00", "2026-07-01T07:00:00Z"),
        ("America/New_York", "2026-12-01T09:00", "2026-12-01T14:00:00Z"),
        ("UTC", "2026-12-01T09:00", "2026-12-01T09:00:00Z"),
        // At two it is three there, and at three it is two.
        ("Europe/Berlin", "2027-03-28T02:30", "2027-03-28T01:00:00Z"),
        ("Europe/Berlin", "2027-03-28T03:30", "2027-03-28T01:30:00Z"),
        ("Europe/Berlin", "2027-10-31T02:30", "2027-10-31T00:30:00Z"),
        ("Europe/Berlin", "2027-10-31T03:30", "2027-10-31T02:30:00Z"),
    ])
    func `is at a moment of its own in each zone`(zone: String, text: String, moment: String) throws {
        #expect(try Self.at(zone, text) == Self.wall(moment))
    }

    @Test func `is a list of moments that ascend, each zone in one of them`() throws {
        let time = try PushLocalTime(text: "2026-12-01T09:00", timeZone: "Asia/Shanghai")
        try time.validate()
        #expect((30...60).contains(time.passes.count))
        let zones = time.passes.flatMap(\.timeZones)
        #expect(Set(zones).count == zones.count && zones.count > 300)
    }
}

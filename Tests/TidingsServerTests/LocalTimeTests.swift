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
        #expect(Set(zones).count == zones.count && zones.count > 590)
    }

    @Test(arguments: [
        ["Asia/Kolkata", "Asia/Calcutta"], ["Europe/Kyiv", "Europe/Kiev"], ["Asia/Ho_Chi_Minh", "Asia/Saigon"],
        ["America/Argentina/Buenos_Aires", "America/Buenos_Aires"], ["America/Los_Angeles", "US/Pacific", "PST8PDT"],
        ["Asia/Shanghai", "Asia/Chongqing", "Asia/Chungking", "PRC"], ["UTC", "GMT", "Etc/UTC"],
        ["Asia/Yangon", "Asia/Rangoon"], ["America/Nuuk", "America/Godthab"],
    ])
    func `is at the same moment in a zone by all its names`(names: [String]) throws {
        let passes = try PushLocalTime(text: "2026-12-01T09:00", timeZone: "UTC").passes
        #expect(passes.filter { !$0.timeZones.filter(names.contains).isEmpty }.count == 1)
        #expect(Set(passes.flatMap(\.timeZones)).isSuperset(of: names))
    }

    private static let database = "/usr/share/zoneinfo/tzdata.zi"

    @Test(.enabled(if: FileManager.default.fileExists(atPath: database)))
    func `is known in every zone of the machine's database`() throws {
        let text = try String(contentsOfFile: Self.database, encoding: .utf8)
        let names = text.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            switch words.first {
            case "Z": return String(words[1])
            case "L": return String(words[2])
            default: return nil
            }
        }
        #expect(names.count > 500)
        let zones = try PushLocalTime(text: "2026-12-01T09:00", timeZone: "UTC").passes.flatMap(\.timeZones)
        #expect(Set(names).subtracting(zones) == ["Factory"])
    }
}

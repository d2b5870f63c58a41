import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `What the time-zone database says` {
    static func wall(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970 * 1_000)
    }

    @Test func `of Berlin has the changes of two years`() throws {
        // The last Sundays of March and October at 01:00 UTC (Directive 2000/84/EC).
        let now = try Self.wall("2026-01-15T12:00:00Z")
        let facts = try #require(TimeZoneFacts(named: "Europe/Berlin", at: now))
        #expect(
            facts.offsets == [
                .init(from: try Self.wall("2026-01-08T12:00:00Z"), seconds: 3_600),
                .init(from: try Self.wall("2026-03-29T01:00:00Z"), seconds: 7_200),
                .init(from: try Self.wall("2026-10-25T01:00:00Z"), seconds: 3_600),
                .init(from: try Self.wall("2027-03-28T01:00:00Z"), seconds: 7_200),
                .init(from: try Self.wall("2027-10-31T01:00:00Z"), seconds: 3_600),
            ])
        #expect(facts.until == now + 732 * 86_400_000)
    }

    @Test func `of Shanghai has none`() throws {
        let now = try Self.wall("2026-01-15T12:00:00Z")
        let facts = try #require(TimeZoneFacts(named: "Asia/Shanghai", at: now))
        #expect(facts.offsets == [.init(from: now - 7 * 86_400_000, seconds: 28_800)])
    }

    @Test func `makes quiet hours end by the new clock`() throws {
        let night = QuietHours(start: 22 * 60, end: 7 * 60, timeZone: "Europe/Berlin")
        let evening = try Self.wall("2026-03-28T22:30:00Z")
        let facts = try #require(TimeZoneFacts(named: "Europe/Berlin", at: evening))
        #expect(night.end(at: evening, in: facts) == (try Self.wall("2026-03-29T05:00:00Z")))
    }

    private static let database = "/usr/share/zoneinfo/tzdata.zi"

    @Test(.enabled(if: FileManager.default.fileExists(atPath: database)))
    func `knows every name of the machine's database, with a slash or without`() throws {
        let now = try Self.wall("2026-01-15T12:00:00Z")
        let names = try String(contentsOfFile: Self.database, encoding: .utf8).split(separator: "\n").compactMap {
            line in
            let words = line.split(separator: " ")
            return words.first == "Z" ? String(words[1]) : words.first == "L" ? String(words[2]) : nil
        }.filter { $0 != "Factory" }
        #expect(names.count > 590 && Set(["GMT", "UTC", "EST", "CET", "Zulu", "Etc/GMT+5"]).isSubset(of: names))
        for name in names {
            #expect(TimeZoneFacts(named: name, at: now) != nil, "\(name)")
            #expect(TimeZoneNames.has(name, TimeZone.knownTimeZoneIdentifiers), "\(name)")
        }
        #expect(TimeZoneFacts(named: "Etc/GMT+5", at: now)?.offsets.map(\.seconds) == [-18_000])
        #expect(TimeZoneFacts(named: "EST", at: now)?.offsets.map(\.seconds) == [-18_000])
    }

    @Test(arguments: [
        "Mars/Base", "", "CEST", "GMT+2", "Europe", "Europe/../Europe/Berlin", "posixrules", "Factory", "localtime",
        "../etc/passwd", "/etc/localtime", "posix/Europe/Berlin", "right/UTC", "PST", "IST", "UTC+3", "GMT+0300", "Z",
        "+02:00", "utc", "europe/berlin", "Europe/Berlin ", " GMT", "SystemV/EST5", "Etc/Unknown", "GMT\u{0}",
    ])
    func `knows no place of another name`(name: String) throws {
        #expect(TimeZoneFacts(named: name, at: try Self.wall("2026-01-15T12:00:00Z")) == nil)
    }
}

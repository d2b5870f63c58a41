import Foundation
import Testing

@testable import World

/// The table of trace hashes in docs/inside/simulation.md: what one machine has recorded, every other has to come to as well.
///
/// `TIDINGS_WRITE_DOCS=1` writes it; otherwise it is compared.
@Suite struct `A recorded trace` {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/inside/simulation.md")
    private static let begin = "<!-- recorded traces -->\n"
    private static let end = "<!-- end of recorded traces -->\n"

    private static var table: String {
        let runs: [WorldOptions] = [
            WorldOptions(seed: 7, faults: .none), WorldOptions(seed: 7), WorldOptions(seed: 8, faults: .harsh),
            WorldOptions(seed: 9, phones: 10, faults: .swarm),
        ]
        let rows = runs.map { options in
            let report = World.run(options)
            let hash = String(report.traceHash, radix: 16)
            let hours = options.duration / 3_600_000
            return "| `--seed \(options.seed) --phones \(options.phones) --hours \(hours) "
                + "--faults \(options.faults.name ?? "?")` | \(report.events) | `\(hash)` |\n"
        }
        return "| run | events | trace hash |\n|---|---|---|\n" + rows.joined()
    }

    @Test func `is the same on every machine`() throws {
        var page = try String(contentsOf: Self.page, encoding: .utf8)
        let begin = try #require(page.range(of: Self.begin))
        let end = try #require(page.range(of: Self.end))
        let table = Self.table
        if ProcessInfo.processInfo.environment["TIDINGS_WRITE_DOCS"] == "1" {
            page.replaceSubrange(begin.upperBound..<end.lowerBound, with: table)
            try page.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(
                page[begin.upperBound..<end.lowerBound] == table,
                """
                This is not what was recorded in docs/inside/simulation.md. After a change of what the World does: run this test with \
                TIDINGS_WRITE_DOCS=1. Without one, something read a clock or let the order of a hash out of a core.
                """)
        }
    }
}

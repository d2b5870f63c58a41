import Foundation
import Requirements
import Testing

@testable import APNsClientCore

@Suite struct `Whatever happens` {
    /// 300 events each; `TIDINGS_SEQUENCES` asks for more sequences than the short form has.
    @Test func `each request ends once, nothing is doubled, and every limit holds`() {
        let asked = ProcessInfo.processInfo.environment["TIDINGS_SEQUENCES"].flatMap { UInt64($0) }
        let count = asked ?? UInt64(Fuzz.cases(200))
        var sent: UInt64 = 0
        for seed in 1...max(count, 1) {
            var storm = Storm(seed: seed)
            for _ in 0..<300 { storm.step() }
            storm.end()
            #expect(storm.faults.isEmpty, "seed \(seed): \(storm.faults.prefix(3))")
            guard storm.faults.isEmpty else { return }
            sent += UInt64(storm.streamsOpened)
        }
        // A storm that opens no streams proves nothing.
        #expect(sent > 20 * count)
    }
}

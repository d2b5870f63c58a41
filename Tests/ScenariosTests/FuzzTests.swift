import Foundation
import Requirements
import ScenarioCore
import Scenarios
import Testing

/// What an app developer wrote, or an editor broke.
@Suite struct `A scenario file of any bytes` {
    private static let seeds: [[UInt8]] = Scenarios.files.compactMap {
        FileManager.default.contents(atPath: "\(Scenarios.folder)/\($0)").map { Array($0) }
    }

    @Test func `is a scenario that can be run, or is refused with line and column`() {
        let kept = Corpus.inputs(of: "yaml")
        #expect(Self.seeds.count > 20)
        Fuzz.run("scenario files", short: 500, long: 30_000) { number in
            var chance = Chance(seed: UInt64(number))
            var bytes = number < kept.count ? kept[number] : chance.pick(Self.seeds)
            if number >= kept.count { for _ in 0...chance.below(4) { chance.mutate(&bytes) } }
            do throws(ScenarioFileError) {
                let file = try ScenarioFile(path: "f.yaml", text: String(decoding: bytes, as: UTF8.self))
                for one in file.scenario.cases { _ = one.run() }
            } catch {
                #expect(error.problems.allSatisfy { $0.hasPrefix("f.yaml:") }, "seed \(number): \(error.problems)")
                #expect(!error.problems.isEmpty, "seed \(number)")
            }
        }
    }
}

import OrderedCollections
import TidingsModel

// Faults that are drawn while another stream's draw is under way: each has a number of its own, so that it can be left out of a run.
extension World {
    /// Returns the fault's own generator if a source's fault is injected now. Every question is a draw of the source, whether the fault is
    /// injected or not. The draw under way goes on with what it would have drawn.
    mutating func injectFault(_ stream: RandomStream, perMille: Int64) -> SplitMix64? {
        let draw = self.draws[stream] ?? 0
        self.draws[stream] = draw + 1
        guard !self.hasHealed, perMille > 0 else { return nil }
        var chance = SplitMix64(seed: self.options.seed, stream: stream, draw: draw)
        guard chance.chance(perMille: perMille), self.happens(OutsideEvent(stream, draw: draw)) else { return nil }
        return chance
    }

    mutating func httpOutcome(of index: Int) -> HTTPOutcome {
        let stream = RandomStream.http(index)
        let draw = self.draws[stream] ?? 0
        self.draws[stream] = draw + 1
        guard !self.hasHealed, self.options.faults.http > 0 else { return HTTPOutcome() }
        var chance = SplitMix64(seed: self.options.seed, stream: stream, draw: draw)
        let rate = self.options.faults.http
        let outcome = HTTPOutcome(
            isLost: chance.chance(perMille: rate), losesAnswer: chance.chance(perMille: rate),
            comesTwice: chance.chance(perMille: rate))
        guard outcome != HTTPOutcome(), self.happens(OutsideEvent(stream, draw: draw)) else { return HTTPOutcome() }
        return outcome
    }
}

struct HTTPOutcome: Hashable {
    var isLost = false
    var losesAnswer = false
    var comesTwice = false
}

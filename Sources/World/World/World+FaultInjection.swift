import OrderedCollections
import TidingsModel

// Faults that come while somebody else has the turn: each has a number of its own, so that it can be left out of a run.
extension World {
    /// Whether a party's fault is injected now; what it draws beside.
    ///
    /// Every question is a turn of the party, whether one is injected or not. The turn under way goes on drawing what it would have drawn.
    ///
    /// - Parameter perMille: in so many of a thousand cases.
    mutating func injectFault(_ party: Party, perMille: Int64) -> SplitMix64? {
        let turn = self.turns[party] ?? 0
        self.turns[party] = turn + 1
        guard !self.hasHealed, perMille > 0 else { return nil }
        var chance = SplitMix64(seed: self.options.seed, party: party, turn: turn)
        guard chance.chance(perMille: perMille), self.happens(OutsideEvent(party, turn: turn)) else { return nil }
        return chance
    }

    /// What happens to an HTTP request of a phone's extension; one event for all of it.
    mutating func httpOutcome(of index: Int) -> HTTPOutcome {
        let party = Party.http(index)
        let turn = self.turns[party] ?? 0
        self.turns[party] = turn + 1
        guard !self.hasHealed, self.options.faults.http > 0 else { return HTTPOutcome() }
        var chance = SplitMix64(seed: self.options.seed, party: party, turn: turn)
        let rate = self.options.faults.http
        let outcome = HTTPOutcome(
            isLost: chance.chance(perMille: rate), losesAnswer: chance.chance(perMille: rate),
            comesTwice: chance.chance(perMille: rate))
        guard outcome != HTTPOutcome(), self.happens(OutsideEvent(party, turn: turn)) else { return HTTPOutcome() }
        return outcome
    }
}

/// What happens to an HTTP request on its way. One whose answer is lost may have come twice.
struct HTTPOutcome: Hashable {
    var isLost = false
    var losesAnswer = false
    var comesTwice = false
}

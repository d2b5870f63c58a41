import Testing

@testable import World

@Suite struct `Outages at Apple` {
    private func outage(_ fault: APNsFault, from start: Int64, for length: Int64) -> APNsOutage {
        var outage = APNsOutage()
        outage.goOn(with: fault, from: start, for: length)
        return outage
    }

    @Test func `holds up a ring for twice as long and 15 seconds, ten minutes at most`() {
        #expect(self.outage(.outage, from: 100_000, for: 5_000).heldUntil == 105_000 + 25_000)
        #expect(self.outage(.outage, from: 100_000, for: 90_000).heldUntil == 190_000 + 195_000)
        #expect(self.outage(.brokenHandshakes, from: 0, for: 400_000).heldUntil == 1_000_000)
        // What began in it fails later.
        #expect(self.outage(.silence, from: 0, for: 5_000).heldUntil == 45_000 + 105_000)
        #expect(self.outage(.noAnswer, from: 0, for: 5_000).heldUntil == 25_000 + 65_000)
        // A device that was throttled waits by itself.
        #expect(self.outage(.throttle, from: 0, for: 5_000).heldUntil == 5_000 + 180_000)
    }

    @Test func `goes on until something has worked`() {
        var outage = self.outage(.cut, from: 0, for: 60_000)
        #expect(outage.heldUntil == 60_000 + 135_000)
        outage.goOn(with: .noName, from: 120_000, for: 60_000)
        #expect(outage.heldUntil == 180_000 + 375_000)
        // Too early to say.
        outage.worked(at: 179_999)
        outage.goOn(with: .cut, from: 200_000, for: 60_000)
        #expect(outage.heldUntil == 260_000 + 535_000)
        outage.worked(at: 260_000)
        outage.goOn(with: .cut, from: 700_000, for: 60_000)
        #expect(outage.heldUntil == 760_000 + 135_000)
        // All has been tried again.
        outage.goOn(with: .cut, from: 2_000_000, for: 5_000)
        #expect(outage.heldUntil == 2_005_000 + 25_000)
    }
}

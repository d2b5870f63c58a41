import Testing

@testable import World

@Suite struct `What ails Apple` {
    private func outage(_ fault: APNsFault, from start: Int64, for length: Int64) -> APNsOutage {
        var outage = APNsOutage()
        outage.goOn(with: fault, from: start, for: length)
        return outage
    }

    @Test func `holds up a ring for as long as pauses may have grown`() {
        #expect(self.outage(.outage, from: 100_000, for: 5_000).heldUntil == 100_000 + 3 * 16_000)
        #expect(self.outage(.outage, from: 100_000, for: 90_000).heldUntil == 100_000 + 150_000 + 180_000)
        #expect(self.outage(.brokenHandshakes, from: 100_000, for: 90_000).heldUntil == 100_000 + 300_000 + 185_000)
        #expect(self.outage(.expiredTokens, from: 0, for: 5_000).heldUntil == 3 * 45_000)
        // What began in it fails later.
        #expect(self.outage(.silence, from: 0, for: 5_000).heldUntil == 105_000 + 180_000)
        #expect(self.outage(.noAnswer, from: 0, for: 5_000).heldUntil == 3 * 76_000)
    }

    @Test func `goes on until something has worked, and devices wait on even then`() {
        var outage = self.outage(.cut, from: 0, for: 60_000)
        #expect(outage.heldUntil == 120_000 + 180_000)
        outage.goOn(with: .noName, from: 120_000, for: 60_000)
        #expect(outage.heldUntil == 240_000 + 180_000)
        // Too early to say.
        outage.worked(at: 179_999)
        outage.goOn(with: .noName, from: 180_000, for: 60_000)
        #expect(outage.heldUntil == 300_000 + 185_000)
        outage.worked(at: 240_000)
        outage.goOn(with: .cut, from: 400_000, for: 5_000)
        #expect(outage.heldUntil == 400_000 + 16_000 + 180_000)
        // All has been tried again.
        outage.goOn(with: .cut, from: 716_001, for: 5_000)
        #expect(outage.heldUntil == 716_001 + 48_000)
    }
}

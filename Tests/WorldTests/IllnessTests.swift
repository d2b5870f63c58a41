import Testing

@testable import World

@Suite struct `What ails Apple` {
    private func illness(_ fault: APNsFault, from start: Int64, for length: Int64) -> APNsIllness {
        var illness = APNsIllness()
        illness.goOn(with: fault, from: start, for: length)
        return illness
    }

    @Test func `holds up a ring for as long as pauses may have grown`() {
        #expect(self.illness(.outage, from: 100_000, for: 5_000).heldUntil == 100_000 + 3 * 16_000)
        #expect(self.illness(.outage, from: 100_000, for: 90_000).heldUntil == 100_000 + 150_000 + 180_000)
        #expect(self.illness(.brokenHandshakes, from: 100_000, for: 90_000).heldUntil == 100_000 + 300_000 + 185_000)
        #expect(self.illness(.expiredTokens, from: 0, for: 5_000).heldUntil == 3 * 45_000)
        // What began in it fails later.
        #expect(self.illness(.silence, from: 0, for: 5_000).heldUntil == 105_000 + 180_000)
        #expect(self.illness(.noAnswer, from: 0, for: 5_000).heldUntil == 3 * 76_000)
    }

    @Test func `goes on until something has worked, and devices wait on even then`() {
        var illness = self.illness(.cut, from: 0, for: 60_000)
        #expect(illness.heldUntil == 120_000 + 180_000)
        illness.goOn(with: .noName, from: 120_000, for: 60_000)
        #expect(illness.heldUntil == 240_000 + 180_000)
        // Too early to say.
        illness.worked(at: 179_999)
        illness.goOn(with: .noName, from: 180_000, for: 60_000)
        #expect(illness.heldUntil == 300_000 + 185_000)
        illness.worked(at: 240_000)
        illness.goOn(with: .cut, from: 400_000, for: 5_000)
        #expect(illness.heldUntil == 400_000 + 16_000 + 180_000)
        // All has been tried again.
        illness.goOn(with: .cut, from: 716_001, for: 5_000)
        #expect(illness.heldUntil == 716_001 + 48_000)
    }
}

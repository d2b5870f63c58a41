import Testing

@testable import World

@Suite struct `What ails Apple` {
    @Test func `holds up a ring for as long as pauses may have grown`() {
        var illness = APNsIllness()
        illness.goOn(with: .outage, from: 100_000, for: 5_000)
        #expect(illness.heldUntil == 100_000 + 3 * (5_000 + 11_000))
        illness = APNsIllness()
        illness.goOn(with: .outage, from: 100_000, for: 90_000)
        #expect(illness.heldUntil == 100_000 + 90_000 + 60_000 + 180_000)
        illness = APNsIllness()
        illness.goOn(with: .brokenHandshakes, from: 100_000, for: 90_000)
        #expect(illness.heldUntil == 100_000 + 2 * (90_000 + 210_000))
    }

    @Test func `goes on while its consequences do, and begins anew after them`() {
        var illness = APNsIllness()
        illness.goOn(with: .expiredTokens, from: 0, for: 5_000)
        #expect(illness.heldUntil == 3 * 45_000)
        // Pauses have grown already.
        illness.goOn(with: .cut, from: 60_000, for: 5_000)
        #expect(illness.heldUntil == 2 * (65_000 + 160_000))
        illness.goOn(with: .cut, from: 450_001, for: 5_000)
        #expect(illness.heldUntil == 450_001 + 3 * 16_000)
    }
}

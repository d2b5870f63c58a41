import Testing
import TidingsModel

@testable import APNsClientCore

private let minute: Int64 = 60_000

private func at(_ minutes: Int64, wall: Int64? = nil) -> Now {
    Now(monotonic: minutes * minute, wall: 1_700_000_000_000 + (wall ?? minutes) * minute)
}

@Suite struct `A provider token` {
    private func minted() -> ProviderTokenRule {
        var rule = ProviderTokenRule()
        #expect(rule.handle(.needed, at: at(0)) == [.mint])
        #expect(rule.usable(at: at(0)) == nil)
        #expect(rule.handle(.minted, at: at(0)) == [])
        return rule
    }

    @Test func `is minted once, however many requests need it`() {
        var rule = ProviderTokenRule()
        #expect(rule.handle(.needed, at: at(0)) == [.mint])
        #expect(rule.handle(.needed, at: at(0)) == [])
        #expect(rule.handle(.minted, at: at(0)) == [])
        #expect(rule.usable(at: at(0)) == 1)
        #expect(rule.handle(.needed, at: at(44)) == [])
    }

    @Test func `is renewed at 45 minutes by one flight, and used meanwhile`() {
        var rule = self.minted()
        #expect(rule.handle(.needed, at: at(45)) == [.mint])
        #expect(rule.handle(.needed, at: at(46)) == [])
        #expect(rule.usable(at: at(46)) == 1)
        #expect(rule.handle(.minted, at: at(46)) == [])
        #expect(rule.usable(at: at(46)) == 2)
        #expect(rule.handle(.needed, at: at(90)) == [])
        #expect(rule.handle(.needed, at: at(91)) == [.mint])
    }

    @Test func `that another client has signed before is as old as it says`() {
        var rule = ProviderTokenRule()
        #expect(rule.handle(.needed, at: at(30)) == [.mint])
        #expect(rule.handle(.shared(since: at(0)), at: at(30)) == [])
        #expect(rule.usable(at: at(30)) == 1)
        #expect(rule.canReplace(generation: 1, at: at(30)))
        #expect(rule.handle(.needed, at: at(44)) == [])
        #expect(rule.handle(.needed, at: at(45)) == [.mint])
        #expect(rule.handle(.shared(since: at(45)), at: at(46)) == [])
        #expect(rule.usable(at: at(103)) == 2)
        #expect(rule.usable(at: at(104)) == nil)
    }

    @Test func `is never used when it is an hour old`() {
        var rule = self.minted()
        #expect(rule.usable(at: at(58)) == 1)
        #expect(rule.usable(at: at(59)) == nil)
        // Idle for two hours: the next request waits for a new one.
        #expect(rule.handle(.needed, at: at(120)) == [.mint])
        #expect(rule.usable(at: at(120)) == nil)
        #expect(rule.handle(.minted, at: at(120)) == [])
        #expect(rule.usable(at: at(120)) == 2)
    }

    @Test func `ages with the wall clock too, which APNs compares it with`() {
        var rule = self.minted()
        #expect(rule.handle(.needed, at: at(1, wall: 50)) == [.mint])
    }

    @Test func `that APNs calls expired is not replaced before 20 minutes`() {
        var rule = self.minted()
        #expect(!rule.canReplace(generation: 1, at: at(19)))
        #expect(rule.handle(.rejected(generation: 1), at: at(19)) == [])
        #expect(rule.usable(at: at(19)) == 1)
        #expect(rule.canReplace(generation: 1, at: at(20)))
        #expect(rule.handle(.rejected(generation: 1), at: at(20)) == [.mint])
        #expect(rule.handle(.rejected(generation: 1), at: at(20)) == [])
        #expect(rule.usable(at: at(20)) == nil)
        #expect(rule.handle(.minted, at: at(20)) == [])
        #expect(rule.usable(at: at(20)) == 2)
        // Late complaints about the first one cost nothing.
        #expect(rule.canReplace(generation: 1, at: at(21)))
        #expect(rule.handle(.rejected(generation: 1), at: at(21)) == [])
    }

    @Test func `that APNs calls expired while its successor is being minted is not used again`() {
        var rule = self.minted()
        #expect(rule.handle(.needed, at: at(45)) == [.mint])
        #expect(rule.handle(.rejected(generation: 1), at: at(45)) == [])
        #expect(rule.usable(at: at(45)) == nil)
        #expect(rule.handle(.minted, at: at(46)) == [])
        #expect(rule.usable(at: at(46)) == 2)
    }

    @Test func `that could not be renewed is used on, and renewed a minute later`() {
        var rule = self.minted()
        #expect(rule.handle(.needed, at: at(45)) == [.mint])
        #expect(rule.handle(.failed, at: at(45)) == [])
        #expect(rule.usable(at: at(45)) == 1)
        #expect(rule.handle(.needed, at: at(45)) == [])
        #expect(rule.handle(.needed, at: at(46)) == [.mint])
        #expect(rule.handle(.failed, at: at(59)) == [])
        // It can be used no more: there is nothing to wait for.
        #expect(rule.usable(at: at(59)) == nil)
        #expect(rule.handle(.needed, at: at(59)) == [.mint])
    }

    @Test func `of another credential starts afresh, and no complaint about an old one meets it`() {
        var rule = self.minted()
        #expect(rule.handle(.credentialReplaced, at: at(5)) == [])
        #expect(rule.usable(at: at(5)) == nil)
        #expect(rule.handle(.needed, at: at(5)) == [.mint])
        #expect(rule.handle(.credentialReplaced, at: at(6)) == [])
        #expect(rule.handle(.needed, at: at(6)) == [.mint])
        #expect(rule.handle(.minted, at: at(6)) == [])
        #expect(rule.usable(at: at(6)) == 3)
        #expect(rule.handle(.rejected(generation: 1), at: at(30)) == [])
        #expect(rule.usable(at: at(30)) == 3)
    }

    @Test func `that could not be signed is tried again by the next request`() {
        var rule = ProviderTokenRule()
        #expect(rule.handle(.needed, at: at(0)) == [.mint])
        #expect(rule.handle(.failed, at: at(0)) == [])
        #expect(rule.handle(.needed, at: at(0)) == [.mint])
    }
}

@Suite struct `A pause` {
    @Test func `doubles up to the longest, half of it by chance`() {
        let pauses = BackOff(first: 1_000, longest: 60_000)
        #expect(
            (1...8).map { pauses.wait(afterFailures: $0, jitter: 999) } == [
                1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
            ])
        #expect((1...3).map { pauses.wait(afterFailures: $0, jitter: 0) } == [500, 1_000, 2_000])
        #expect(pauses.wait(afterFailures: .max, jitter: 999) == 60_000)
        #expect(pauses.wait(afterFailures: 1, jitter: .max) == 1_000)
    }
}

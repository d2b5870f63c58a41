import ServerCore
import Testing
import TidingsModel

/// The lease table of design.md §4, pair by pair. The clock stands at 100 s.
@Suite struct `A lease` {
    static let now = Now(monotonic: 100_000, wall: 0)

    func after(_ lease: Lease, _ event: LeaseEvent) -> (Lease, [LeaseEffect]) {
        var lease = lease
        var effects: [LeaseEffect] = []
        lease.handle(event, at: Self.now, settings: ServerSettings(), into: &effects)
        return (lease, effects)
    }

    static let all: [Lease] = [
        .foreground, .background(until: 150_000), .probing(until: 103_000), .grace(until: 104_000),
        .returning(until: 110_000), .gone,
    ]

    @Test(arguments: all) func `follows what a phone says when it connects`(lease: Lease) {
        #expect(self.after(lease, .connected(.foreground)) == (.foreground, []))
        #expect(
            self.after(lease, .connected(.background(remainingMilliseconds: 30_000)))
                == (.background(until: 130_000), []))
    }

    @Test func `lasts in the background as long as the phone said, but never longer than two minutes`() {
        let said = LeaseEvent.reported(.background(remainingMilliseconds: 20_000))
        #expect(self.after(.foreground, said) == (.background(until: 120_000), []))
        let muchSaid = LeaseEvent.reported(.background(remainingMilliseconds: 900_000))
        #expect(self.after(.foreground, muchSaid) == (.background(until: 220_000), []))
    }

    @Test func `is gone at once when the phone says it hangs up`() {
        for lease in [Lease.foreground, .background(until: 150_000), .probing(until: 103_000), .gone] {
            #expect(self.after(lease, .reported(.suspending)) == (.gone, []))
        }
    }

    @Test func `has five seconds of grace when the socket is lost in the foreground`() {
        #expect(self.after(.foreground, .socketLost) == (.grace(until: 105_000), []))
        #expect(self.after(.grace(until: 100_001), .timeReached) == (.grace(until: 100_001), []))
        #expect(self.after(.grace(until: 100_000), .timeReached) == (.gone, []))
    }

    @Test func `is gone at once when the socket is lost in the background or under a probe`() {
        #expect(self.after(.background(until: 150_000), .socketLost) == (.gone, []))
        #expect(self.after(.probing(until: 103_000), .socketLost) == (.gone, []))
    }

    @Test func `probes a phone in the foreground that missed its deadline, and hangs up on one in the background`() {
        #expect(self.after(.foreground, .deadlineMissed) == (.probing(until: 105_000), [.probe]))
        #expect(self.after(.background(until: 150_000), .deadlineMissed) == (.gone, [.hangUp]))
    }

    @Test func `returns to the foreground when the probe is answered, and ends when it is not`() {
        #expect(self.after(.probing(until: 103_000), .heard) == (.foreground, []))
        #expect(self.after(.probing(until: 103_000), .timeReached) == (.probing(until: 103_000), []))
        #expect(self.after(.probing(until: 100_000), .timeReached) == (.gone, [.hangUp]))
    }

    @Test func `ends when the stated time in the background has passed`() {
        #expect(self.after(.background(until: 100_001), .timeReached) == (.background(until: 100_001), []))
        #expect(self.after(.background(until: 100_000), .timeReached) == (.gone, [.hangUp]))
    }

    @Test func `ends when the heartbeat is missed`() {
        for lease in [Lease.foreground, .background(until: 150_000), .probing(until: 103_000), .gone] {
            #expect(self.after(lease, .heartbeatMissed) == (.gone, [.hangUp]))
        }
    }

    @Test func `waits for a return after a start, and no longer`() {
        #expect(self.after(.returning(until: 110_000), .timeReached) == (.returning(until: 110_000), []))
        #expect(self.after(.returning(until: 100_000), .timeReached) == (.gone, []))
    }

    @Test func `lets late deadlines pass`() {
        for lease in [Lease.probing(until: 103_000), .grace(until: 104_000), .returning(until: 110_000), .gone] {
            #expect(self.after(lease, .deadlineMissed) == (lease, []))
        }
        for lease in [Lease.foreground, .background(until: 150_000), .gone] {
            #expect(self.after(lease, .heard) == (lease, []))
            #expect(self.after(lease, .timeReached) == (lease, []))
        }
        #expect(self.after(.gone, .socketLost) == (.gone, []))
    }

    @Test func `calls it a bug when something is heard on a connection that is not there`() {
        for lease in [Lease.grace(until: 104_000), .returning(until: 110_000)] {
            for event in [LeaseEvent.heard, .socketLost, .heartbeatMissed, .reported(.foreground)] {
                let (next, effects) = self.after(lease, event)
                #expect(next == lease)
                #expect(effects.count == 1)
            }
        }
    }
}

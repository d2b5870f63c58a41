import APNsClientCore
import ServerCore
import StoreModel
import Testing

@testable import World

@Suite struct `The promise that each request of the APNs client ends once and as it was` {
    private func broken(_ facts: PoolFact...) -> Int {
        var story = Story(PoolChecker())
        for fact in facts { story.emit(.pool(fact)) }
        return story.broken.count { $0 == "push client" }
    }

    @Test func `finds ends that are not those of the request`() {
        #expect(self.broken(.asked(1), .taken(1), .ended(1, .accepted)) == 0)
        #expect(self.broken(.asked(1), .ended(1, .accepted)) == 1)
        for end in [PoolEnd.refused, .notSent] {
            #expect(self.broken(.asked(1), .ended(1, end)) == 0)
            #expect(self.broken(.asked(1), .taken(1), .ended(1, end)) == 1)
        }
        // Nobody knows: both may be.
        #expect(self.broken(.asked(1), .ended(1, .unknown)) == 0)
        #expect(self.broken(.asked(1), .taken(1), .ended(1, .unknown)) == 0)
        // What Apple takes of a request that was given up is no news.
        #expect(self.broken(.asked(1), .ended(1, .unknown), .taken(1)) == 0)
    }

    @Test func `finds a second end, a second asking, and what is sent again after Apple has taken it`() {
        #expect(self.broken(.asked(1), .ended(1, .unknown), .ended(1, .unknown)) == 1)
        #expect(self.broken(.ended(1, .unknown)) == 1)
        #expect(self.broken(.asked(1), .asked(1)) == 1)
        #expect(self.broken(.asked(1), .taken(1), .taken(1)) == 1)
        #expect(self.broken(.asked(1), .lost, .ended(1, .unknown)) == 1)
        #expect(self.broken(.asked(1), .lost, .taken(1), .asked(2), .taken(2), .ended(2, .accepted)) == 0)
    }

    @Test func `finds a request that ends after its 30 seconds, or not at all`() {
        for (wait, broken) in [(30_000, 0), (30_001, 1)] as [(Int64, Int)] {
            var story = Story(PoolChecker())
            story.emit(.pool(.asked(1)))
            story.wait(wait)
            story.emit(.pool(.ended(1, .notSent)))
            #expect(story.broken.count == broken)
        }
        for (wait, requests, broken) in [(30_000, 1, 0), (30_001, 1, 1), (10_000, 0, 1), (10_000, 2, 1)]
            as [(Int64, Int, Int)]
        {
            var story = Story(PoolChecker())
            story.emit(.pool(.asked(1)))
            story.wait(wait)
            var load = WorldLoad()
            var pool = APNsDispatcher.Load()
            pool.requests = requests
            load.pools = [pool]
            story.emit(.measured(load))
            #expect(story.broken.count == broken)
        }
    }
}

@Suite struct `The promise that a push goes out with an active credential` {
    @Test func `finds one that is given to a client whose credential is not active, or has expired`() {
        var story = Story(PoolChecker())
        func record(_ id: String, expiresAt: Int64? = nil) -> PushCredentialRecord {
            PushCredentialRecord(
                id: id, kind: .tokenKey, sealed: SealedBytes(keyID: "k", bytes: [1]), fingerprint: "f", createdAt: 0,
                expiresAt: expiresAt, state: .active)
        }
        story.emit(.pool(.active([record("a"), record("b", expiresAt: .min)])))
        story.emit(.pool(.asked(1, by: "a")))
        #expect(story.broken == [])
        story.emit(.pool(.asked(2, by: "b")))
        #expect(story.broken == ["push client"])
        story.emit(.pool(.asked(3, by: "c")))
        #expect(story.broken == ["push client", "push client"])
        story.emit(.pool(.active([record("c")])))
        story.emit(.pool(.asked(4, by: "c")))
        #expect(story.broken.count == 2)
    }
}

@Suite struct `The promise that the memory of the APNs client is bounded` {
    private func broken(
        pushes: Int = 2, isQuiet: Bool = false, _ change: (inout APNsDispatcher.Load) -> Void
    ) -> Int {
        var story = Story(BoundsChecker())
        var load = WorldLoad(connections: 2, people: 3, isQuiet: isQuiet)
        load.server = ServerLoad()
        if !isQuiet { load.server?.pushes = pushes }
        load.phones = [.init(key: bob1)]
        var pool = APNsDispatcher.Load()
        change(&pool)
        load.pools = [pool]
        load.activeCredentials = 1
        story.emit(.measured(load))
        return story.broken.count { $0 == "bounds" }
    }

    @Test func `finds more than there is cause for`() {
        #expect(self.broken { $0.requests = 2 } == 0)
        #expect(self.broken { $0.requests = 3 } == 1)
        #expect(self.broken { ($0.requests, $0.connections, $0.listed) = (1, 1, 3_084) } == 0)
        #expect(self.broken { ($0.requests, $0.connections, $0.listed) = (1, 1, 3_085) } == 1)
        #expect(self.broken { $0.connections = 8 } == 0)
        #expect(self.broken { $0.connections = 9 } == 1)
        #expect(self.broken { $0.heldTokens = 1 } == 0)
        #expect(self.broken { $0.heldTokens = 2 } == 1)
    }

    @Test func `finds what is left when all is quiet`() {
        #expect(self.broken(isQuiet: true) { $0.connections = 1 } == 0)
        #expect(self.broken(isQuiet: true) { $0.connections = 2 } == 1)
        #expect(self.broken(pushes: 1, isQuiet: true) { $0.requests = 1 } > 0)
    }

    @Test func `finds more clients than there are credentials, and a retired one when all is quiet`() {
        func broken(_ pools: Int, retired: Int, isQuiet: Bool = false) -> Int {
            var story = Story(BoundsChecker())
            var load = WorldLoad(people: 3, isQuiet: isQuiet)
            load.server = ServerLoad()
            load.pools = Array(repeating: APNsDispatcher.Load(), count: pools)
            (load.retiredPools, load.activeCredentials) = (retired, 1)
            story.emit(.measured(load))
            return story.broken.count { $0 == "bounds" }
        }
        #expect(broken(1, retired: 0) == 0)
        #expect(broken(2, retired: 0) == 1)
        #expect(broken(2, retired: 1) == 0)
        #expect(broken(1, retired: 0, isQuiet: true) == 0)
        #expect(broken(1, retired: 1, isQuiet: true) == 1)
    }
}

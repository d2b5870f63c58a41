import ClientCore
import ServerCore
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that memory is bounded` {
    /// What the checker says of a server.
    private func broken(
        isQuiet: Bool = false, apiRequests: Int = 0, keptLegs: Int = 0, hasHostileClients: Bool = false,
        _ change: (inout ServerLoad) -> Void
    ) -> Int {
        var story = Story(BoundsChecker())
        var server = ServerLoad()
        change(&server)
        story.emit(
            .measured(
                WorldLoad(
                    server: server, connections: 2, apiRequests: apiRequests, hasHostileClients: hasHostileClients,
                    people: 3, keptLegs: keptLegs, isQuiet: isQuiet)))
        return story.broken.count { $0 == "bounds" }
    }

    @Test func `finds more of a server than there is cause for`() {
        #expect(self.broken { $0.sessions = 2 } == 0)
        #expect(self.broken { $0.sessions = 3 } == 1)
        #expect(self.broken { $0.people = 3 } == 0)
        #expect(self.broken { $0.people = 4 } == 1)
        // Three devices are signed in.
        #expect(self.broken { $0.pushes = 3 } == 0)
        #expect(self.broken { $0.pushes = 4 } == 1)
        #expect(self.broken { ($0.devices, $0.queued) = (2, 2) } == 0)
        #expect(self.broken { ($0.devices, $0.queued) = (2, 3) } == 1)
        #expect(self.broken { ($0.sessions, $0.devices, $0.storeBacklog) = (1, 1, 132) } == 0)
        #expect(self.broken { ($0.sessions, $0.devices, $0.storeBacklog) = (1, 1, 133) } == 1)
        // People who are being loaded have no devices yet.
        #expect(self.broken { ($0.people, $0.storeBacklog) = (3, 19) } == 0)
        #expect(self.broken { ($0.people, $0.storeBacklog) = (3, 20) } == 1)
        // Many requests of a backend may come in one instant.
        #expect(self.broken(apiRequests: 62) { $0.storeBacklog = 78 } == 0)
        #expect(self.broken(apiRequests: 62) { $0.storeBacklog = 79 } == 1)
        #expect(self.broken { $0.timers = 256 } == 0)
        #expect(self.broken { $0.timers = 257 } == 1)
    }

    @Test func `finds what a server keeps when all is quiet`() {
        #expect(self.broken(isQuiet: true) { $0.timers = 9 } == 0)
        #expect(self.broken(isQuiet: true) { $0.sessions = 1 } == 1)
        #expect(self.broken(isQuiet: true) { $0.pushes = 1 } == 1)
        #expect(self.broken(isQuiet: true) { ($0.devices, $0.queued) = (1, 1) } == 1)
        // Tokens that were made up wait for another one that works.
        #expect(self.broken(isQuiet: true) { ($0.devices, $0.doubted) = (1, 1) } == 1)
        #expect(
            self.broken(isQuiet: true, hasHostileClients: true) {
                ($0.devices, $0.doubted) = (40, 40)
            } == 0)
        #expect(
            self.broken(isQuiet: true, hasHostileClients: true) {
                ($0.devices, $0.doubted) = (41, 41)
            } == 1)
        #expect(self.broken(isQuiet: true) { $0.storeBacklog = 1 } == 1)
        #expect(self.broken(isQuiet: true) { $0.listeners = 1 } == 1)
        #expect(self.broken(isQuiet: true, keptLegs: 2) { $0.legs = 2 } == 0)
        #expect(self.broken(isQuiet: true, keptLegs: 1) { $0.legs = 2 } == 1)
        #expect(self.broken(isQuiet: true) { ($0.people, $0.busyPeople) = (2, 2) } == 0)
        #expect(self.broken(isQuiet: true) { ($0.people, $0.busyPeople) = (2, 1) } == 1)
    }

    @Test func `lets a phone be at work that a silent push has just woken, and no other`() {
        for (woken, sessions, wakes, broken) in [(1, 1, 1, 0), (1, 2, 1, 1), (0, 1, 0, 1), (0, 0, 1, 1)] {
            var story = Story(BoundsChecker())
            var load = WorldLoad(connections: 2, people: 3, isQuiet: true)
            load.server = ServerLoad()
            load.server?.sessions = sessions
            var client = ClientLoad()
            client.wakes = wakes
            load.phones = [.init(key: bob1, isWoken: woken == 1, client: client)]
            story.emit(.measured(load))
            #expect(story.broken.count { $0 == "bounds" } == broken, "\(woken) \(sessions) \(wakes)")
        }
    }

    /// What the checker says of a phone.
    private func broken(
        isQuiet: Bool = false, before facts: [Fact] = [], _ change: (inout WorldLoad.Phone, inout ClientLoad) -> Void
    ) -> Int {
        var story = Story(BoundsChecker())
        for fact in facts { story.emit(fact) }
        var phone = WorldLoad.Phone(key: bob1)
        var client = ClientLoad()
        change(&phone, &client)
        phone.client = client
        story.emit(.measured(WorldLoad(isQuiet: isQuiet, phones: [phone])))
        return story.broken.count { $0 == "bounds" }
    }

    @Test func `finds more of a phone than may be`() {
        let changes: [(most: Int, isKept: Bool, change: (inout WorldLoad.Phone, inout ClientLoad, Int) -> Void)] = [
            (32, false, { $0.pushesAtWork = $2 }), (22, true, { $0.waits = $2 }), (20, true, { $0.posts = $2 }),
            (1_250, true, { $0.ledger = $2 }), (128, false, { $1.requests = $2 }), (456, false, { $1.unsettled = $2 }),
            (456, false, { $1.decisions = $2 }), (16, false, { $1.wakes = $2 }),
        ]
        for (most, isKept, change) in changes {
            #expect(self.broken { change(&$0, &$1, most) } == 0)
            #expect(self.broken { change(&$0, &$1, most + 1) } == 1)
            #expect(self.broken(isQuiet: true) { change(&$0, &$1, 1) } == (isKept ? 0 : 1))
        }
    }

    @Test func `finds a message to send that the server has answered already`() {
        let draft = MessageDraft(clientMessageID: "c", conversation: toAnn, objectName: .text, content: "{}")
        let refusal = Fact.refused(draft, .init(code: .blocked, rule: "x"), to: bob1)
        #expect(self.broken(before: [.written(draft, by: bob1)]) { $1.outbox = 1 } == 0)
        #expect(self.broken(before: [.written(draft, by: bob1), refusal]) { $1.outbox = 1 } == 1)
        #expect(self.broken(isQuiet: true, before: [.written(draft, by: bob1)]) { $1.outbox = 1 } == 1)
        #expect(self.broken(isQuiet: true, before: [.refusedWrite(on: bob1)]) { $1.outbox = 1 } == 0)
    }
}

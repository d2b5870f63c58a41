import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A PushJob that is stopped` {
    @Test func `by cancel sends nothing more, and leaves what was sent`() {
        var bench = ServerBench()
        bench.goneDevices(3_000)
        bench.push(ServerBench.pushDraft())
        #expect(bench.change(1, .cancel) == ["store cancel j1", "reply j1 cancelled, 2000 people"])
        while !bench.pushes.isEmpty { bench.acceptPush() }
        #expect(bench.pass(5_000).filter { $0.contains("step") } == [])
        #expect(bench.job(1)?.counts.ends == ["accepted": 2_000])
        #expect(bench.change(1, .cancel) == ["store cancel j1", "reply j1 cancelled, 2000 people"])
        #expect(bench.jobReports.map(\.state) == [.running, .cancelled])
    }

    @Test func `before it was due never sends anything`() {
        var bench = ServerBench.gone()
        var draft = ServerBench.pushDraft()
        draft.sendAt = bench.now.wall + 1_000
        bench.push(draft)
        bench.change(1, .recall)
        #expect(bench.pass(60_000).filter { $0.contains("j1") } == [])
        #expect(bench.job(1)?.state == .cancelled)
    }

    @Test func `by recall takes back what was shown, and ends what was not`() {
        var bench = ServerBench()
        bench.goneDevice("alice")
        bench.goneDevice("bob")
        bench.push(ServerBench.pushDraft())
        bench.acceptPush()
        let lines = bench.change(1, .recall)
        #expect(lines.prefix(3) == ["store recall j1", "reply j1 recalling, 2 people", "store step j1 by 1000"])
        // Alice's phone has it: her notification is replaced. Bob's may have.
        #expect(lines.filter { $0.hasPrefix("push") } == ["push m1 to alice/phone badge 0@2"])
        bench.acceptPush()
        bench.acceptPush()
        bench.acceptPush()
        #expect(bench.job(1)?.state == .recalled)
        #expect(bench.job(1)?.counts.recalled == 2)
        #expect(bench.job(1)?.counts.recipients == 2)
        #expect(bench.jobReports.map(\.state) == [.running, .done, .recalling, .recalled])
    }

    @Test func `that the app does not have is none`() {
        var bench = ServerBench()
        bench.jobs = [MessageID(rawValue: 77)]
        #expect(bench.change(1, .cancel) == ["store cancel j1", "reply no push"])
    }
}

@Suite struct `A PushJob whose server is killed` {
    @Test func `goes on where its last step has ended, and reaches each phone once`() {
        var bench = ServerBench()
        bench.goneDevices(2_500)
        bench.push(ServerBench.pushDraft())
        var sent: [UserID: Int] = [:]
        func answer(_ count: Int) {
            for _ in 0..<count {
                if let push = bench.pushes.first { sent[push.device.user.user, default: 0] += 1 }
                bench.acceptPush()
            }
        }
        answer(500)
        bench.crash()
        // Phones that were not gone before may come back first.
        for _ in 0..<60 {
            answer(bench.pushes.count)
            bench.pass(1_000)
        }
        // What was answered before the kill is not sent again.
        #expect(sent.count == 2_500)
        #expect(sent.values.allSatisfy { $0 == 1 })
        let counts = bench.job(1)?.counts
        #expect(counts?.ends == ["accepted": 2_500])
        // All that was under way at the kill may have been in flight.
        #expect(counts?.repeated == 1_500)
    }

    @Test func `repeats what was in flight under the same ids`() {
        var bench = ServerBench.gone()
        bench.push(ServerBench.pushDraft())
        let before = bench.pushes[0].request
        bench.crash()
        bench.pass(20_000)
        #expect(bench.pushes.map(\.request) == [before])
        bench.acceptPush()
        #expect(bench.job(1)?.counts.repeated == 1)
        #expect(bench.job(1)?.counts.ends == ["accepted": 1])
    }

    @Test func `starts at its time, and recalls what is left`() {
        var bench = ServerBench()
        bench.goneDevices(1_200)
        var draft = ServerBench.pushDraft()
        draft.sendAt = bench.now.wall + 60_000
        bench.push(draft)
        bench.crash()
        #expect(bench.pass(59_999).filter { $0.contains("j1") } == [])
        #expect(bench.pass(1).prefix(2) == ["store start j1", "store step j1 by 1000"])
        bench.isStoreHeld = true
        bench.change(1, .recall)
        bench.carryOutUnheard()
        bench.isStoreHeld = false
        bench.crash()
        bench.pass(60_000)
        #expect(bench.job(1)?.state == .recalled)
        #expect(bench.job(1)?.counts.recalled == bench.job(1)?.counts.recipients)
    }
}

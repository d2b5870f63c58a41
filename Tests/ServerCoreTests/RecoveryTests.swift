import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A server that was killed` {
    @Test func `pushes to nobody who comes back within twenty seconds, of a thousand in the foreground`() {
        var bench = ServerBench()
        let people = (0..<1_000).map { UserID("user\($0)") }
        for person in people {
            let session = bench.connect(person).session
            bench.run(.frame(session, .registerPush(ServerBench.registration(person))))
        }
        for person in people { bench.say(to: .direct(person.rawValue)) }
        var lines = bench.crash()
        lines += bench.pass(1_000)
        // While they come back, more is said.
        for (index, person) in people.enumerated() {
            lines += bench.pass(18)
            lines += bench.connect(person, after: 0).lines
            let session = SessionID(bench.sessions)
            lines += bench.run(.frame(session, .sync(after: 0, limit: 100)))
            lines += bench.run(.frame(session, .ack(.init(stored: 1, settled: []))))
            if index.isMultiple(of: 10) { lines += bench.say(to: .direct("user\(999 - index)")) }
        }
        #expect(lines.filter { $0.hasPrefix("push") || $0.hasPrefix("BUG") } == [])
        #expect(lines.ends.filter { $0.hasSuffix("settled shown") }.count >= 1_000)
    }

    @Test func `pushes what was live to those who do not come back, after twenty seconds`() {
        var bench = ServerBench()
        _ = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.crash() == ["store load bob", "store log bob after 0, 200"])
        #expect(bench.pass(19_999) == [])
        #expect(bench.pass(1) == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `gives twenty seconds also to those who had nothing unfinished`() {
        var bench = ServerBench()
        _ = bench.connectWithToken("bob")
        #expect(bench.crash() == [])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1"])
        #expect(bench.pass(20_000).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `sends what was in flight again with the same ids`() {
        var bench = ServerBench.pushing()
        let before = bench.pushes[0].request
        bench.crash()
        bench.pass(20_000)
        #expect(bench.pushes.map(\.request) == [before])
    }

    @Test func `takes up a kept leg with its count of tries, at once, for its device was gone`() {
        var bench = ServerBench.pushing()
        bench.answerPush(.refused(APNsRefusal(.internalServerError, status: 500)))
        bench.crash()
        bench.pass(1_000)
        let leg = LegID(message: bench.messages[0], user: ServerBench.key("bob"), device: "phone")
        #expect(bench.pushes.map(\.request.apnsID) == [apnsID(of: leg, attempt: 1)])
        #expect(bench.acceptPush() == ["store end m1 bob/phone accepted", "store token of bob/phone is accepted"])
    }

    @Test func `takes up all that came in while it looked up what was unfinished, and pushes then`() {
        var bench = ServerBench.pushing()
        bench.answerPush(.refused(APNsRefusal(.tooManyRequests, status: 429)))
        bench.isStoreHeld = true
        #expect(bench.crash() == ["store load bob"])
        #expect(bench.pass(30_000) == [])
        // Both come in behind the record, which knows of neither: the push has the number after the recall.
        #expect(bench.say("more", to: .direct("bob")) == ["store accept m2"])
        #expect(`A recall`.recall(&bench, at: 3, unread: 1, wasUnread: true) == ["store recall m1"])
        #expect(
            bench.releaseStore().filter { $0.hasPrefix("push") || $0.hasPrefix("BUG") }
                == ["push m2 to bob/phone badge 1@3"])
    }

    @Test func `does not push what was pushed before`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        bench.crash()
        #expect(bench.pass(60_000) == [])
    }

    @Test func `does not push what was read while it waited`() {
        var bench = ServerBench.gone()
        let tablet = bench.connect("bob", "tablet").session
        bench.say(to: .direct("bob"))
        bench.run(.credentialMissing(bench.pushes.removeFirst().id))
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 1)))
        bench.crash()
        #expect(bench.pass(60_000).outside == [])
    }

    @Test func `does not push what is of a group the person was taken out of while it waited`() {
        var bench = ServerBench()
        let team = ConversationRecord(
            app: ServerBench.app, conversation: .group("team"), name: "T", members: ["alice", "bob"])
        bench.run(.api(APIRequestID(0), .putConversation(team)))
        bench.goneDevice("bob")
        bench.say(to: .group("team"))
        bench.run(.credentialMissing(bench.pushes.removeFirst().id))
        bench.isStoreHeld = true
        let remove = APICommand.request(ServerBench.app, actor: nil, .change(.group("team"), .remove(["bob"])))
        bench.run(.api(APIRequestID(0), remove))
        bench.carryOutUnheard()
        bench.isStoreHeld = false
        #expect(bench.crash().ends == ["store end m1 bob/phone read_elsewhere"])
        #expect(bench.pass(60_000).outside == [])
    }

    @Test func `loads a limited number of people at a time`() {
        var bench = ServerBench()
        for number in 0..<10 {
            bench.connect(UserID("user\(number)"))
            bench.say(to: .direct("user\(number)"))
        }
        var settings = ServerBench.plain
        settings.recoveryLoadsMax = 3
        bench.isStoreHeld = true
        #expect(bench.crash(settings: settings).count == 3)
        let lines = bench.releaseStore()
        #expect(lines.filter { $0.hasPrefix("store load") }.count == 7)
    }

    @Test func `gives messages ids above the last stored one, also when its clock was set back`() {
        var bench = ServerBench()
        bench.say(to: .direct("bob"))
        bench.now.wall -= 3_600_000
        bench.crash()
        bench.say(to: .direct("bob"))
        #expect(bench.messages[1] > bench.messages[0])
    }
}

@Suite struct `A server that is told to stop` {
    @Test func `asks everybody to come back, spread over five seconds, and ends no lease`() {
        var bench = ServerBench()
        let one = bench.connect("bob").session
        let two = bench.connect("carol", "phone", .background(remainingMilliseconds: 90_000)).session
        bench.run(.frame(two, .registerPush(ServerBench.registration("carol"))))
        bench.say(to: .direct("carol"))
        #expect(bench.run(.drainRequested) == ["s1 ← reconnect after 0", "s2 ← reconnect after 2500"])
        #expect(bench.run(.disconnected(two)) == [])
        #expect(bench.connect("dave").lines == ["s3 ← fatal unavailable", "close s3"])
        #expect(bench.run(.disconnected(one)) == ["drained"])
        #expect(bench.pass(60_000) == [])
        // The next process waits for them.
        bench.crash()
        #expect(bench.pass(19_999).outside == [])
        #expect(bench.pass(1) == ["push m1 to carol/phone badge 1@1"])
    }

    @Test func `still takes acks, and closes who stays after ten seconds`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.run(.drainRequested)
        #expect(
            bench.run(.frame(bob, .ack(.init(stored: 1, settled: [])))).ends == ["store end m1 bob/phone settled shown"]
        )
        #expect(bench.pass(9_999) == [])
        #expect(bench.pass(1) == ["close s1", "drained"])
    }

    @Test func `waits for the store`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        bench.say(to: .direct("bob"))
        #expect(bench.run(.drainRequested) == [])
        #expect(bench.releaseStore().last == "drained")
    }
}

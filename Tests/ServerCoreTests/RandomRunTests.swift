import APNsModel
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

/// People who send, read, freeze, return and lose their sockets by chance, an APNs that fails by chance, and a server that is
/// killed by chance. Then everything heals, and every accepted message's legs must have ended, each once.
struct RandomRun {
    static let people: [UserID] = ["alice", "bob", "carol", "dave"]
    static let devices: [DeviceID] = ["phone", "tablet"]

    /// What a simulated device knows.
    struct Phone {
        var session: SessionID?
        var stored: LogPosition = 0
        /// It does not read its socket.
        var isFrozen = false
    }

    var bench: ServerBench
    var chance: SplitMix64
    var phones: [DeviceKey: Phone] = [:]
    var lines: [String] = []
    /// How often each leg was ended.
    var ends: [String: Int] = [:]
    /// Sends in this process whose ack must not be lost.
    var acked: Set<String> = []

    init(seed: UInt64) {
        var settings = ServerSettings()
        settings.liveWindowMax = 3
        settings.pushesInFlightMax = 3
        settings.quarantineBurst = 3
        settings.idleTime = 9_000
        self.bench = ServerBench(settings: settings, seed: seed)
        self.settings = settings
        self.chance = SplitMix64(seed: seed)
        for person in Self.people {
            for device in Self.devices { self.phones[ServerBench.device(person, device)] = Phone() }
        }
    }

    let settings: ServerSettings

    mutating func pick(_ count: Int) -> Int { Int(self.chance.next(upperBound: UInt64(count))) }

    mutating func take(_ lines: [String]) {
        for line in lines {
            if line.hasPrefix("store end ") {
                let words = line.split(separator: " ")
                self.ends["\(words[2]) \(words[3])", default: 0] += 1
            }
            if line.hasPrefix("reply accepted ") { self.acked.insert(String(line.dropFirst(15))) }
            // A session that the server closes is known to its phone.
            if line.hasPrefix("close s"), let number = UInt64(line.dropFirst(7)) {
                for (key, phone) in self.phones where phone.session == SessionID(number) {
                    self.phones[key]?.session = nil
                }
            }
        }
        self.lines += lines
    }

    // tidy: long because each line of the switch is one thing that can happen.
    mutating func step() {
        let person = Self.people[self.pick(Self.people.count)]
        let key = ServerBench.device(person, Self.devices[self.pick(Self.devices.count)])
        let phone = self.phones[key] ?? Phone()
        switch self.pick(23) {
        case 0...4:
            let peer = Self.people[self.pick(Self.people.count)]
            let flags: MessageFlags = self.pick(6) == 0 ? [.stored] : .normal
            self.take(self.bench.say(from: person, to: .direct(peer.rawValue), flags: flags))
        case 5: self.take(self.bench.say(from: person, to: .group("team")))
        case 6, 7:
            let run: ReportedRunState =
                self.pick(2) == 0 ? .foreground : .background(remainingMilliseconds: Int64(self.pick(60_000)))
            let (session, lines) = self.bench.connect(key.user.user, key.device, run, after: phone.stored)
            self.phones[key]?.session = session
            self.phones[key]?.isFrozen = false
            self.take(lines)
            self.tell(key, .registerPush(ServerBench.registration(key.user.user, key.device)))
        case 8:
            let isFrozen = self.pick(2) == 0
            self.phones[key]?.isFrozen = isFrozen
        case 9:
            guard let session = phone.session else { return }
            self.phones[key]?.session = nil
            self.take(self.bench.run(.disconnected(session)))
        case 10: self.tell(key, .runState(.suspending))
        case 11: self.tell(key, .runState(self.pick(2) == 0 ? .foreground : .background(remainingMilliseconds: 30_000)))
        case 12...14: self.catchUp(key)
        case 15:
            let conversation = ConversationID.direct(Self.people[self.pick(Self.people.count)].rawValue)
            self.tell(key, .markRead(conversation, upTo: phone.stored))
        case 16...18: self.answerPush()
        case 19: self.take(self.bench.pass(Int64(self.pick(20_000))))
        case 20:
            self.bench.isStoreHeld.toggle()
            if !self.bench.isStoreHeld { self.take(self.bench.releaseStore()) }
        case 21:
            let outage = LaneOutage(self.pick(2) == 0 ? .credential : .provider, reason: "x")
            let state = [LaneState.usable, .paused(outage), .probeDue(outage)][self.pick(3)]
            self.take(self.bench.report(state, topic: self.pick(2) == 0 ? ServerBench.topic : nil))
        default:
            guard self.pick(8) == 0 else { return }
            self.crash()
        }
    }

    mutating func crash() {
        for key in Array(self.phones.keys) { self.phones[key]?.session = nil }
        self.bench.isStoreHeld = false
        self.take(self.bench.crash(settings: self.settings))
    }

    @discardableResult
    mutating func tell(_ key: DeviceKey, _ frame: ClientFrame) -> [String] {
        guard let phone = self.phones[key], let session = phone.session, !phone.isFrozen else { return [] }
        let lines = self.bench.run(.frame(session, frame))
        self.take(lines)
        return lines
    }

    /// The device syncs, as far as one page goes, and settles what it has.
    mutating func catchUp(_ key: DeviceKey) {
        guard let phone = self.phones[key] else { return }
        let answer = self.tell(key, .sync(after: phone.stored, limit: 100)).first { $0.contains("← page") }
        guard let page = answer?.split(separator: "[").last?.split(separator: "]").first,
            let last = page.split(separator: ",").last?.split(separator: " ").first, let stored = LogPosition(last)
        else { return }
        self.phones[key]?.stored = stored
        self.tell(key, .ack(.init(stored: stored, settled: [.init(upTo: stored, disposition: .shown)])))
    }

    mutating func answerPush() {
        guard !self.bench.pushes.isEmpty else { return }
        let wall = self.bench.now.wall
        switch self.pick(12) {
        case 0: self.take(self.bench.answerPush(.refused(APNsRefusal(.badDeviceToken, status: 400))))
        case 1:
            self.take(
                self.bench.answerPush(
                    .refused(APNsRefusal(.unregistered, status: 410, invalidSince: .init(milliseconds: wall)))))
        case 2:
            self.take(
                self.bench.answerPush(
                    .refused(APNsRefusal(.unregistered, status: 410, invalidSince: .init(milliseconds: 5)))))
        case 3: self.take(self.bench.answerPush(.refused(APNsRefusal(.invalidProviderToken, status: 403))))
        case 4: self.take(self.bench.answerPush(.refused(APNsRefusal(.serviceUnavailable, status: 503))))
        case 5: self.take(self.bench.answerPush(.refused(APNsRefusal(.tooManyRequests, status: 429))))
        case 6: self.take(self.bench.answerPush(.unknownOutcome("lost")))
        case 7: self.take(self.bench.answerPush(.refused(APNsRefusal(.payloadEmpty, status: 400))))
        default: self.take(self.bench.acceptPush())
        }
    }

    /// Nothing fails any more: the store answers, APNs takes everything, time passes.
    mutating func heal() {
        self.take(self.bench.releaseStore())
        for topic in [nil, ServerBench.topic] { self.take(self.bench.report(.usable, topic: topic)) }
        for _ in 0..<300 {
            while !self.bench.pushes.isEmpty { self.take(self.bench.acceptPush()) }
            self.take(self.bench.pass(10_000))
        }
    }
}

@Suite struct `A server among people who do anything at any time` {
    @Test(arguments: 0..<30)
    func `ends every leg of every accepted message once`(seed: Int) throws {
        var run = RandomRun(seed: UInt64(seed))
        run.take(
            run.bench.run(
                .api(
                    APIRequestID(9),
                    .putConversation(
                        ConversationRecord(
                            app: ServerBench.app, conversation: .group("team"), name: "Team",
                            members: RandomRun.people)))))
        for _ in 0..<400 { run.step() }
        run.heal()
        #expect(run.lines.filter { $0.hasPrefix("BUG") || $0.hasPrefix("stale") } == [])
        let dump = run.bench.store.dump()
        let stored = Set(dump.messages.map(\.id))
        for name in run.acked {
            let message = run.bench.messages[(Int(name.dropFirst()) ?? 0) - 1]
            #expect(stored.contains(message), "acked \(name) is not in the store")
        }
        var legs = 0
        for trace in dump.messages where trace.message != nil {
            #expect(trace.open == [])
            let ended = Set(trace.ended.map(\.leg))
            #expect(ended.count == trace.ended.count)
            for delivery in trace.deliveries {
                let user = ServerBench.key(delivery.user)
                let person = try #require(dump.people.first { $0.record.key == user })
                for device in person.record.devices where device.since < delivery.position {
                    let leg = LegID(message: trace.id, user: user, device: device.key.device)
                    #expect(ended.contains(leg), "\(leg) has no end")
                    legs += 1
                }
            }
        }
        #expect(legs > 100)
        #expect(dump.people.flatMap(\.record.openLegs) == [])
    }

    @Test func `does the same again with the same seed`() {
        func lines(_ seed: UInt64) -> [String] {
            var run = RandomRun(seed: seed)
            for _ in 0..<300 { run.step() }
            run.heal()
            return run.lines
        }
        #expect(lines(4) == lines(4))
        #expect(lines(4) != lines(5))
    }
}

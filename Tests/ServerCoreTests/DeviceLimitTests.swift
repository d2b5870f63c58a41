import APNsModel
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `How many devices a person may have` {
    private static func bench(_ max: Int) -> ServerBench {
        var settings = ServerBench.plain
        settings.devicesMax = max
        settings.limits = .none
        return ServerBench(settings: settings)
    }

    private static func devices(_ bench: inout ServerBench, of user: UserID = "bob") -> [DeviceID] {
        guard
            case .user(let record) = try? bench.store.apply(
                .loadUser(ServerBench.key(user)), epoch: bench.opening.epoch)
        else { return [] }
        return record.devices.filter { !$0.isSignedOut }.map(\.key.device)
    }

    @Test func `the one that is not connected and connected longest ago gives way to a new one`() {
        var bench = Self.bench(3)
        for device in ["a", "b", "c"] {
            bench.goneDevice("bob", DeviceID(device))
            bench.pass(1_000)
        }
        // The oldest one is back.
        bench.connect("bob", "a")
        let lines = bench.connect("bob", "d").lines
        #expect(lines.contains("store sign out bob/b"))
        #expect(Self.devices(&bench) == ["a", "c", "d"])
        // It has a push token no longer, and is not pushed to.
        bench.say(to: .direct("bob"))
        #expect(!bench.pushes.contains { $0.request.token == ServerBench.token("bob", "b") })
    }

    @Test func `where all are connected the one that connected first is told why it goes`() {
        var bench = Self.bench(2)
        bench.connect("bob", "a")
        bench.pass(1_000)
        bench.connect("bob", "b")
        bench.pass(1_000)
        let lines = bench.connect("bob", "c").lines
        #expect(lines.outside.contains("s1 ← fatal kicked"))
        #expect(lines.outside.contains("close s1"))
        #expect(Self.devices(&bench) == ["b", "c"])
    }

    @Test func `no more of them sign in at the same time than may stay, and the next one is told when to come`() {
        var bench = Self.bench(2)
        for device in ["a", "b"] as [DeviceID] {
            bench.goneDevice("bob", device)
            bench.pass(1_000)
        }
        bench.isStoreHeld = true
        bench.connect("bob", "c")
        // The same device again is none more.
        bench.connect("bob", "c")
        bench.connect("bob", "d")
        let lines = bench.connect("bob", "e").lines
        #expect(lines == ["refuse connects of person", "s6 ← fatal rate_limited", "close s6"])
        guard case .problem(let problem, _)? = bench.frames.last else {
            Issue.record("no problem")
            return
        }
        #expect(problem.retryAfterMilliseconds == 1_000)
        bench.releaseStore()
        #expect(Self.devices(&bench) == ["c", "d"])
    }

    @Test func `one whose client hangs up while the store signs it in counts like the others`() {
        var bench = Self.bench(2)
        for number in 0..<5 {
            bench.isStoreHeld = true
            let session = bench.connect("bob", DeviceID("made-up-\(number)")).session
            bench.run(.disconnected(session))
            bench.releaseStore()
            bench.pass(1_000)
        }
        #expect(Self.devices(&bench) == ["made-up-3", "made-up-4"])
    }

    @Test func `a person with thousands of made-up ones has twenty, and costs a message twenty legs`() {
        var bench = Self.bench(20)
        for number in 0..<2_000 {
            let session = bench.connect("bob", DeviceID("made-up-\(number)")).session
            bench.run(.frame(session, .runState(.suspending)))
            bench.run(.disconnected(session))
        }
        #expect(Self.devices(&bench).count == 20)
        #expect(bench.core.load(at: bench.now).devices == 20)
        bench.say(to: .direct("bob"))
        #expect(bench.core.load(at: bench.now).legs <= 20)
        guard
            case .user(let record) = try? bench.store.apply(
                .loadUser(ServerBench.key("bob")), epoch: bench.opening.epoch)
        else { return }
        // Those that are signed out are forgotten when the next one comes.
        #expect(record.devices.count <= 20 + DeviceRecord.signedOutMax + 1)
    }

    @Test func `those of a time without a limit go a hundred at a time`() {
        var bench = Self.bench(2)
        for number in 0..<250 {
            _ = try? bench.store.apply(
                .signIn(ServerBench.device("bob", DeviceID("old-\(number)")), platform: "ios", at: 1),
                epoch: bench.opening.epoch)
        }
        bench.core = ServerCore(settings: ServerBench.plain, seed: 1)
        var settings = ServerBench.plain
        settings.devicesMax = 2
        settings.deviceExpiry = 0
        bench.crash(settings: settings)
        bench.connect("bob", "new")
        #expect(Self.devices(&bench).count == 151)
        bench.connect("bob", "new")
        bench.connect("bob", "new")
        #expect(Self.devices(&bench).count == 2)
    }
}

@Suite struct `A device that has not connected for long` {
    private static let expiry: Int64 = 7_776_000_000

    private static func bench() -> ServerBench {
        var settings = ServerBench.plain
        settings.pushLifetime = 4 * Self.expiry
        return ServerBench(settings: settings)
    }

    @Test func `is signed out when its person is loaded, and its legs end so`() {
        var bench = Self.bench()
        bench.goneDevice("bob", "lost")
        bench.pass(Self.expiry - 1_000)
        bench.say(to: .direct("bob"))
        // A moment before it was still pushed to.
        #expect(bench.pushes.count == 1)
        bench.acceptPush()
        bench.pass(120_000)
        #expect(bench.core.load(at: bench.now).people == 0)
        let lines = bench.say(to: .direct("bob"))
        #expect(lines.contains("store sign out bob/lost"))
        #expect(bench.pushes.isEmpty)
        let trace = bench.stored(bench.messages[1]).flatMap { message -> MessageTrace? in
            guard
                case .trace(let trace) = try? bench.store.apply(
                    .trace(ServerBench.app, message.id), epoch: bench.opening.epoch)
            else { return nil }
            return trace
        }
        #expect(trace?.ended.filter { $0.leg.device == "lost" }.map(\.end) == [.signedOut])
    }

    @Test func `is signed out when another one of the person's connects, and a connected one is not`() {
        var bench = Self.bench()
        bench.goneDevice("bob", "lost")
        let phone = bench.connect("bob", "phone").session
        for _ in 0..<1_500 {
            bench.run(.frame(phone, .ping(1)))
            bench.now.monotonic += 50_000
            bench.now.wall += 50_000
        }
        bench.now.wall += Self.expiry
        let lines = bench.connect("bob", "tablet").lines
        #expect(lines.filter { $0.hasPrefix("store sign out") } == ["store sign out bob/lost"])
    }

    @Test func `comes back as a new one`() {
        var bench = Self.bench()
        bench.goneDevice("bob", "lost")
        bench.pass(Self.expiry + 1_000)
        bench.say(to: .direct("bob"))
        #expect(bench.connect("bob", "lost").lines.contains("s2 ← welcome head 1 unread 1"))
    }

    @Test func `stays for ever where nobody wants it otherwise`() {
        var settings = ServerBench.plain
        settings.deviceExpiry = 0
        var bench = ServerBench(settings: settings)
        bench.goneDevice("bob", "lost")
        bench.pass(10 * Self.expiry)
        #expect(!bench.say(to: .direct("bob")).contains { $0.hasPrefix("store sign out") })
        #expect(bench.pushes.count == 1)
    }
}

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(5))) struct `Key sets of apps` {
    private static let set = Array(
        #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\#(x)","y":"\#(y)"}]}"#.utf8)
    // The example of RFC 7517, appendix A.1.
    private static let x = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"
    private static let y = "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"

    private struct Unreachable: Error {}

    private static func bench(_ addresses: [AppID: String]) throws -> (bench: RegistryBench, keys: TokenKeys) {
        var bench = try RegistryBench()
        let keys = TokenKeys(bench.registry)
        for (app, address) in addresses.sorted(by: { $0.key < $1.key }) {
            var settings = AppSettings()
            settings.tokens.keySource = .address(address, trustRootsPath: nil)
            try bench.makeApp(app, settings: settings)
        }
        return (bench, keys)
    }

    private static func takeAll(_ keys: TokenKeys, at now: NIODeadline = .now()) -> [AppID] {
        var taken: [AppID] = []
        while let app = keys.takeDue(every: .minutes(1), at: now) { taken.append(app) }
        return taken
    }

    @Test func `are read side by side, one of a host and a number in all`() async throws {
        var addresses: [AppID: String] = [:]
        for number in 10..<60 { addresses[AppID("a\(number)")] = "https://DEAD.example.com/\(number)" }
        addresses["z"] = "https://honest.example.com/"
        let (_, keys) = try Self.bench(addresses)
        #expect(Self.takeAll(keys) == ["a10", "z"])
        // One has ended: the next of its host, and of that alone.
        await #expect(throws: TokenKey.Fault.self) {
            try await keys.refresh("a10") { _, _ throws(TokenKey.Fault) in throw TokenKey.Fault(rule: "is dead") }
        }
        #expect(Self.takeAll(keys) == ["a11"])

        let many = Dictionary(uniqueKeysWithValues: (10..<60).map { (AppID("m\($0)"), "https://h\($0).example.com/") })
        let (_, others) = try Self.bench(many)
        #expect(Self.takeAll(others).count == TokenKeys.readsMax)
    }

    @Test func `wait in turn: what was never read, or longest ago, comes first`() async throws {
        let addresses = Dictionary(
            uniqueKeysWithValues: (10..<42).map { (AppID("m\($0)"), "https://h\($0).example.com/") })
        let (_, keys) = try Self.bench(addresses)
        let first = Self.takeAll(keys)
        for app in first { _ = try await keys.refresh(app) { _, _ in Self.set } }
        let source = AppSettings.KeySource.address("https://h10.example.com/", trustRootsPath: nil)
        // Clients ask for the keys of one again and again.
        let later = NIODeadline.now() + .seconds(30)
        guard case .pending = keys.key(for: "m10", at: source, .es256, "other", now: later) else {
            Issue.record("it is not looked for")
            return
        }
        let second = Self.takeAll(keys, at: later)
        #expect(Set(first).isDisjoint(with: second) && second.count == TokenKeys.readsMax)
    }

    @Test func `are read though sixteen minus one addresses never answer, and end with the server`() async throws {
        var addresses: [AppID: String] = ["z": "https://honest.example.com/"]
        for number in 11..<26 { addresses[AppID("a\(number)")] = "https://dead\(number).example.com/" }
        let (_, keys) = try Self.bench(addresses)
        let (asked, continuation) = AsyncStream.makeStream(of: AppID.self)
        let watch = TokenKeyWatch(
            keys: keys, interval: .minutes(1),
            read: { _, app throws(TokenKey.Fault) in
                continuation.yield(app)
                guard app != "z" else { return Self.set }
                try? await Task.sleep(for: .seconds(86_400))
                throw TokenKey.Fault(rule: "never answers")
            }, metrics: ServerMetrics(factory: PrometheusRegistry()), logger: LineLog().logger)
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await withDiscardingTaskGroup { watch.begin(&$0) } }
            var seen: Set<AppID> = []
            for await app in asked {
                seen.insert(app)
                if seen.count == 16 { break }
            }
            #expect(seen == Set(addresses.keys))
            tasks.cancelAll()
        }
    }

    @Test func `of addresses keep no server from starting`() async throws {
        let (_, keys) = try Self.bench(["a": "https://dead.example.com/", "b": "https://dead2.example.com/"])
        let asked = NIOLockedValueBox(0)
        try await keys.loadFiles { _, _ throws(TokenKey.Fault) in
            asked.withLockedValue { $0 += 1 }
            throw TokenKey.Fault(rule: "is dead")
        }
        #expect(asked.withLockedValue { $0 } == 0)
    }

    @Test func `that nobody could read yet refuse no token, and such as were read do`() async throws {
        let (bench, keys) = try Self.bench(["shop": "https://keys.example.com/"])
        let source = try #require(bench.registry.keySources["shop"])
        func answer(_ id: String) -> String {
            switch keys.key(for: "shop", at: source, .es256, id) {
            case .found: "found"
            case .none: "none"
            case .pending: "pending"
            }
        }
        #expect(answer("k") == "pending")
        #expect(Self.takeAll(keys) == ["shop"])
        #expect(answer("k") == "pending")
        let dead: TokenKeys.Read = { _, _ throws(TokenKey.Fault) in throw TokenKey.Fault(rule: "is dead") }
        await #expect(throws: TokenKey.Fault.self) { try await keys.refresh("shop", by: dead) }
        #expect(answer("k") == "pending", "nothing was read")
        // A client does not decide how often it is read.
        #expect(Self.takeAll(keys) == [])
        #expect(try await keys.refresh("shop") { _, _ in Self.set })
        #expect(answer("k") == "found" && answer("other") == "none")
        // What was added meanwhile cannot be known.
        await #expect(throws: TokenKey.Fault.self) { try await keys.refresh("shop", by: dead) }
        #expect(answer("k") == "found" && answer("other") == "pending")
    }

    @Test(arguments: [
        "http://127.0.0.1:1/", "http://localhost:1/", "https://127.0.0.1:1/", "https://10.0.0.1/", "https://[::1]:1/",
        "https://169.254.169.254/latest", "https://192.168.1.1/", "https://2130706433:1/", "https://[fd00::1]/",
        "http://[::1]:1/",
    ])
    func `are not looked for in this machine or its networks, unless the configuration names them`(
        address: String
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        func fault(_ configuration: ServerConfiguration) async -> String {
            let download = TokenKeyDownload(configuration, group: group)
            defer { download.lookUp.stop() }
            do throws(TokenKey.Fault) {
                _ = try await download.bytes(of: .address(address, trustRootsPath: nil), for: "shop")
                return ""
            } catch {
                return error.rule
            }
        }
        #expect(await fault(ServerConfiguration()).contains("in a network that is not allowed"))
        // There nobody listens.
        guard address.contains(":1/") else { return }
        var naming = ServerConfiguration()
        var app = ServerConfiguration.App(id: "shop", tokenSecret: TestServer.secret)
        app.settings.tokens.keySource = .address(address, trustRootsPath: nil)
        naming.apps = [app]
        #expect(await !fault(naming).contains("not allowed"))
        var allowing = ServerConfiguration()
        allowing.webhooks.allowedNetworks = ["127.0.0.0/8", "::1/128"]
        #expect(await !fault(allowing).contains("not allowed"))
    }
}

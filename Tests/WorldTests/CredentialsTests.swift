import APNsClientCore
import APNsModel
import OrderedCollections
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `Push credentials of a world` {
    private static let request = APNsRequest(
        token: PushToken("00ff"), topic: "com.example.chat", payload: Array(#"{"aps":{"alert":"hello"}}"#.utf8),
        environment: .sandbox)

    private static func started() -> World {
        var world = World(options: WorldOptions(seed: 1, phones: 2))
        world.startServer()
        return world
    }

    /// The credentials of the server's APNs clients, in the order they were made.
    private static func clients(of world: World) -> [String] {
        world.senders.map { $0.pools.values.map(\.client.credential) } ?? []
    }

    @Test func `are changed in three of ten worlds whose faults are harsh or drawn, and in no others`() {
        func rotating(_ faults: WorldFaults) -> Int {
            (1...1_000 as ClosedRange<UInt64>).count {
                WorldOptions(seed: $0, faults: faults).population.hasRotations
            }
        }
        #expect((250...350).contains(rotating(.swarm)))
        #expect(rotating(.harsh) == rotating(.swarm))
        #expect(rotating(.default) == 0)
        #expect(rotating(.none) == 0)
    }

    @Test func `have a client from the first push on, which is closed with its last answer once another key is active`()
    {
        var world = Self.started()
        #expect(Self.clients(of: world) == [])
        world.send(Self.request, for: PushID(1), of: World.app)
        #expect(Self.clients(of: world) == ["key-1"])
        world.activateNextKey()
        #expect(Self.clients(of: world) == ["key-1"])
        world.send(Self.request, for: PushID(2), of: World.app)
        #expect(Self.clients(of: world) == ["key-1", "key-2"])
        #expect(world.memoryLoad(isQuiet: false).retiredPools == 1)
        world.handle(APNsDispatcher.Event.cancelled(.init(1)), of: 1)
        #expect(Self.clients(of: world) == ["key-2"])
        #expect(world.checkers.violations == [])
    }

    @Test func `outlive a crash, which the clients do not`() {
        var world = Self.started()
        world.activateNextKey()
        world.send(Self.request, for: PushID(1), of: World.app)
        world.effectsToCrash = 0
        world.crash()
        #expect(Self.clients(of: world) == [])
        world.startServer()
        world.send(Self.request, for: PushID(1), of: World.app)
        #expect(Self.clients(of: world) == ["key-2"])
        // Numbers are not used twice.
        #expect(world.senders?.pools.keys.elements == [2])
    }

    @Test func `lead nowhere while none is active`() {
        var world = Self.started()
        world.changeCredentials(.retire(id: "key-1"))
        world.send(Self.request, for: PushID(1), of: World.app)
        #expect(Self.clients(of: world) == [])
        #expect(world.checkers.marks[.missingCredentials] == 1)
        world.activateNextKey()
        world.send(Self.request, for: PushID(2), of: World.app)
        #expect(Self.clients(of: world) == ["key-2"])
    }

    @Test func `hold a good key from the moment on that everything heals`() {
        var options = WorldOptions(seed: 1, phones: 2)
        options.population.hasRotations = true
        var world = World(options: options)
        world.healCredentials()
        #expect(world.credentials.activeKey?.id == "key-1")
        world.credentials.revokedKeys = [WorldCredentials.firstKeyID]
        world.healCredentials()
        #expect(world.credentials.activeKey?.id == "key-2")
        #expect(world.credentials.isActiveKeyGood)
    }
}

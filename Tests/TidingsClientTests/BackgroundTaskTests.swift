import ClientCore
import SDKTestSupport
import Synchronization
import Testing
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"

/// The kit's background task, as often as it was begun and ended.
@Suite struct `A background task of a client` {
    private func begun(_ bench: ClientBench, _ kit: KitDouble) async throws -> ChatClient {
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        client.applicationDidEnterBackground(remaining: 30)
        await kit.until { $0.tasks == ["begin"] }
        return client
    }

    private func expectEnd(_ kit: KitDouble) async {
        await kit.until { $0.tasks.count > 1 }
        #expect(kit.state.withLock { $0.tasks.prefix(2) } == ["begin", "end"])
    }

    @Test func `is given back when somebody else signs in`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.begun(bench, kit)
        let connecting = Task { try await client.connect(userID: bob, token: "bob") }
        await self.expectEnd(kit)
        await client.signOut()
        _ = await connecting.result
    }

    @Test func `is given back when the server has heard of a sign-out`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.begun(bench, kit)
        await client.signOut()
        await self.expectEnd(kit)
    }

    @Test func `is given back at the end of its time by a sign-out that cannot be told`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.begun(bench, kit)
        bench.server.setNetwork(.refuses)
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        await client.signOut()
        #expect(client.userID == nil)
        #expect(client.taskHolders.count == 1)
        client.backgroundTimeWillExpire()
        await self.expectEnd(kit)
    }

    @Test func `is given back when somebody signs out who never had a token`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        await #expect(throws: ChatError.self) {
            try await client.connect(userID: alice) { throw ChatError.notSignedIn }
        }
        client.applicationDidEnterBackground(remaining: 30)
        await kit.until { $0.tasks == ["begin"] }
        await client.signOut()
        await self.expectEnd(kit)
    }

    @Test func `is given back when the app lets the client go`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        var client: ChatClient? = try await self.begun(bench, kit)
        #expect(client?.userID == alice)
        client = nil
        await self.expectEnd(kit)
    }

    @Test func `is held for a sign-out that an earlier process could not tell`() async throws {
        let bench = try ClientBench()
        do {
            let earlier = try bench.client()
            try await earlier.connect(userID: alice, token: "alice")
            bench.server.setNetwork(.refuses)
            for await status in earlier.connectionStatuses { if case .waiting = status { break } }
            await earlier.signOut()
        }
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        let connecting = Task { try await client.connect(userID: bob, token: "bob") }
        while client.taskHolders.count < 2 { await Task.yield() }
        client.applicationDidEnterBackground(remaining: 30)
        // Each for itself.
        await kit.until { $0.tasks == ["begin", "begin"] }
        bench.server.setNetwork(.works)
        bench.clock.advance(seconds: 2)
        await kit.until { $0.tasks.count > 2 }
        #expect(kit.state.withLock { $0.tasks.prefix(3) } == ["begin", "begin", "end"])
        await client.signOut()
        _ = await connecting.result
    }
}

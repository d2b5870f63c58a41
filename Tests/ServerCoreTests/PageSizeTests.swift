import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `What a client is handed in one frame` {
    @Test func `is of a size it is told, however large its own frames may be`() {
        var settings = ServerBench.plain
        settings.frameBytesMax = 16_777_216
        var bench = ServerBench(settings: settings)
        let bob = bench.connect("bob").session
        guard case .welcome(let welcome)? = bench.frames.last(where: { if case .welcome = $0 { true } else { false } })
        else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.serverFrameBytesMax == 2_097_152)
        for _ in 0..<10 { bench.say(String(repeating: "x", count: 30_000), to: .direct("bob")) }
        #expect(
            bench.run(.frame(bob, .sync(after: 0, limit: 100)))
                == ["store log bob after 0, 100", "s1 ← page [1 m1, 2 m2, 3 m3, 4 m4] head 10 unsent [1, 2, 3, 4]"])
        _ = bench.ask(bob, 1, .history(.direct("alice"), before: nil, limit: 100))
        guard case .answer(_, .history(let messages, let hasMore))? = bench.frames.last else { return }
        #expect(messages.count == 4 && hasMore)
    }
}

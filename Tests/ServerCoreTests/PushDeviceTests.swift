import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A push to some devices of a person` {
    private static func draft(_ devices: DeviceID...) -> PushDraft {
        ServerBench.pushDraft(to: .devices(devices.map { .init(user: "bob", device: $0) }))
    }

    /// Entries as their sessions got them: the position and what the device is to make of it.
    private static func entries(of frames: [ServerFrame]) -> [String] {
        frames.flatMap { frame -> [LogEntry] in
            switch frame {
            case .entry(let entry): [entry]
            case .page(let page): page.entries
            default: []
            }
        }.map { entry in
            switch entry.body {
            case .message(let message): "\(entry.position) \(message.flags.contains(.notified) ? "rings" : "is quiet")"
            case .custom: "\(entry.position) is for the app"
            case .unknown: "\(entry.position) says nothing"
            default: "\(entry.position) is something else"
            }
        }
    }

    @Test func `pushes to these alone, and ends at the others as one that asks for no push`() {
        var bench = ServerBench()
        for device: DeviceID in ["pad", "phone", "watch"] { bench.goneDevice("bob", device) }
        #expect(
            bench.push(Self.draft("pad", "watch")) == [
                "store push j1", "reply j1 running, 0 people", "store step j1 by 1000",
                "push m1 to bob/pad badge 0@1", "store end m1 bob/phone not_notifiable",
                "store cursor bob/phone decided 1", "push m1 to bob/watch badge 0@1",
            ])
        bench.acceptPush()
        bench.acceptPush()
        #expect(bench.job(1)?.counts.recipients == 1)
        #expect(bench.job(1)?.counts.ends == ["accepted": 2, "not_notifiable": 1])
    }

    @Test func `is an entry that does not ring where the others are connected`() {
        var bench = ServerBench()
        bench.connect("bob", "pad")
        bench.connect("bob", "phone")
        bench.frames = []
        bench.push(Self.draft("phone"))
        #expect(Self.entries(of: bench.frames) == ["1 is quiet", "1 rings"])
        bench.frames = []
        let again = bench.connect("bob", "pad").session
        bench.run(.frame(again, .sync(after: 0, limit: 10)))
        #expect(Self.entries(of: bench.frames) == ["1 is quiet"])
    }

    @Test func `to the app itself is handed over on these alone`() {
        var bench = ServerBench()
        bench.connect("bob", "pad")
        bench.connect("bob", "phone")
        var draft = Self.draft("phone")
        draft.body = .custom(CustomMessage(id: MessageID(rawValue: 0), content: "refresh", sentAt: 0))
        bench.frames = []
        bench.push(draft)
        #expect(Self.entries(of: bench.frames) == ["1 says nothing", "1 is for the app"])
        bench.frames = []
        for device: DeviceID in ["pad", "phone"] {
            let again = bench.connect("bob", device).session
            bench.run(.frame(again, .sync(after: 0, limit: 10)))
        }
        #expect(Self.entries(of: bench.frames) == ["1 says nothing", "1 is for the app"])
    }

    @Test func `is nothing that the extension of another has missed`() {
        var bench = ServerBench()
        for device: DeviceID in ["pad", "phone"] { bench.goneDevice("bob", device) }
        bench.push(Self.draft("phone"))
        func rings(on device: DeviceID) -> [JSONValue?] {
            bench.run(
                .api(
                    APIRequestID(2),
                    .fromExtension(
                        ServerBench.device("bob", device), tokenIssuedAt: bench.now.wall, .missed(after: 0, limit: 20)))
            )
            guard case .missed(let page, let words, let hidesContent)? = bench.replies.last else { return [] }
            let answer = page.missedAnswer(for: "bob", in: words, hidesContent: hidesContent)
            return answer["entries"]?.arrayValue?.map { $0["rings"] } ?? []
        }
        #expect(rings(on: "phone") == [true])
        #expect(rings(on: "pad") == [false])
    }

    @Test func `keeps to them after a crash`() {
        var bench = ServerBench()
        for device: DeviceID in ["pad", "phone"] { bench.goneDevice("bob", device) }
        bench.isStoreHeld = true
        bench.push(Self.draft("phone"))
        bench.carryOutUnheard()
        bench.isStoreHeld = false
        bench.crash()
        bench.pass(60_000)
        #expect(bench.pushes.map(\.device.device) == ["phone"])
        bench.acceptPush()
        #expect(bench.job(1)?.counts.ends == ["accepted": 1, "not_notifiable": 1])
    }
}

import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `A push that is only looked at` {
    private static func preview(_ asked: PushPreviewRequest, _ bench: inout ServerBench) throws -> PushPreview {
        let effects = bench.core.handle(.api(APIRequestID(900), .previewPush(ServerBench.app, asked)), at: bench.now)
        // Nothing else happens: nothing is stored, pushed or reported.
        guard effects.count == 1, case .reply(_, .pushPreview(let preview))? = effects.first else {
            throw Unexpected(effects: "\(effects)")
        }
        return preview
    }

    private struct Unexpected: Error { var effects: String }

    /// Without what names one message, one phone, and when.
    private static func common(_ payload: [UInt8]) throws -> JSONValue {
        let value = try JSONValue(parsing: payload)
        return .members(
            (value.objectValue?.members ?? []).map { key, value in
                guard ["rc", "tidings"].contains(key) else { return (key, value) }
                let own = ["mid", "to", "seq", "bseq", "mId", "id"]
                return (
                    key,
                    .members(
                        (value.objectValue?.members ?? []).filter { !own.contains($0.key) }.map { ($0.key, $0.value) })
                )
            })
    }

    @Test(arguments: PushTextMode.allCases)
    func `is what is pushed`(mode: PushTextMode) throws {
        var settings = ServerBench.plain
        settings.pushTextModes[ServerBench.app] = mode
        var bench = ServerBench(settings: settings)
        bench.goneDevice("bob")
        bench.run(.api(APIRequestID(1), .setProfiles(ServerBench.app, [UserProfile("alice", Profile(name: "Alice"))])))
        bench.say("hello", to: .direct("bob"))
        let pushed = try #require(bench.pushes.first?.request)
        let preview = try Self.preview(
            PushPreviewRequest(
                draft: bench.draft("hello", .direct("bob"), .normal), sender: "alice",
                names: MessageNames(sender: "Alice"), recipient: "bob"), &bench)
        #expect(try Self.common(preview.payload) == Self.common(pushed.payload))
        #expect(preview.bytesMax == 4_096)
        #expect(preview.textMode == mode)
        #expect(preview.shown == .init(title: .text("Alice"), body: .text("hello")))
        #expect(preview.shortened == [])
    }

    @Test func `of an account names it, and whoever reads it`() throws {
        var bench = ServerBench()
        var draft = bench.draft("Shoes", ConversationID(type: .publicService, target: "news"), [.stored, .notified])
        draft.push = PushOptions(title: .text("Sale"))
        let preview = try Self.preview(
            PushPreviewRequest(
                draft: draft, account: ConversationID(type: .publicService, target: "news"), recipient: "bob"), &bench)
        let payload = try JSONValue(parsing: preview.payload)
        #expect(payload["rc"]?["fId"] == "news")
        #expect(payload["tidings"]?["text"]?["title"] == "Sale")
        #expect(preview.shown == .init(title: .text("Sale"), isTitleChosen: true, body: .text("Shoes")))
    }

    @Test func `says what gave way so that the rest fits`() throws {
        var settings = ServerBench.plain
        settings.pushTextModes[ServerBench.app] = .alert
        var bench = ServerBench(settings: settings)
        var draft = bench.draft("hello", .direct("bob"), .normal)
        // In JSON twice as long, and there twice.
        draft.push = PushOptions(
            subtitle: .text("under it"), text: .text(String(repeating: "\"", count: 1_024)))
        let preview = try Self.preview(
            PushPreviewRequest(draft: draft, sender: "alice", recipient: "bob"), &bench)
        #expect(preview.shortened == ["subtitle", "text"])
        #expect(preview.payload.count <= preview.bytesMax)
        #expect(preview.payload.count > preview.bytesMax - 16)
    }

    @Test func `is refused as the push would be`() {
        var bench = ServerBench()
        var draft = bench.draft("hello", .direct("bob"), .normal)
        draft.push = PushOptions(interruptionLevel: .critical)
        let asked = PushPreviewRequest(draft: draft, sender: "alice", recipient: "bob")
        let effects = bench.core.handle(.api(APIRequestID(1), .previewPush(ServerBench.app, asked)), at: bench.now)
        guard case .reply(_, .refused(let problem))? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(problem.field.contains("interruption_level"))
    }
}

@Suite struct `The lanes of an app` {
    private static func lanes(_ bench: inout ServerBench, of app: AppID = ServerBench.app) -> [PushLaneReport] {
        guard
            case .reply(_, .pushLanes(let lanes))? = bench.core.handle(
                .api(APIRequestID(900), .pushLanes(app)), at: bench.now
            ).first
        else { return [] }
        return lanes
    }

    @Test func `tell what is under way, what waits, and why`() throws {
        var bench = ServerBench()
        #expect(Self.lanes(&bench) == [])
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        let lane = try #require(Self.lanes(&bench).first)
        #expect((lane.hold, lane.waiting, lane.inFlight) == (.none, 0, 1))
        #expect(bench.core.queueLengths() == [ServerBench.app: PushQueueLength(waiting: 0, inFlight: 1)])
        #expect(Self.lanes(&bench, of: "other") == [])
        let outage = LaneOutage(.credential, reason: "InvalidProviderToken")
        bench.run(.laneReported(ServerBench.app, lane.environment, topic: nil, .paused(outage)))
        let whole = PushLaneReport(
            environment: lane.environment, topic: nil, hold: .configFault, outage: outage, waiting: 0, inFlight: 0)
        #expect(Self.lanes(&bench).first == whole)
        #expect(Self.lanes(&bench).last?.hold == .configFault)
        bench.run(.laneReported(ServerBench.app, lane.environment, topic: nil, .usable))
        #expect(Self.lanes(&bench).map(\.hold) == [.none])
    }
}

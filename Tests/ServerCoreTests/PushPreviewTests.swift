import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `A push that is only looked at` {
    private static func preview(_ asked: PushPreviewRequest, _ bench: inout ServerBench) throws -> PushPreview {
        try Self.preview(.message(asked), &bench)
    }

    private static func preview(_ asked: PreviewedPush, _ bench: inout ServerBench) throws -> PushPreview {
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
        var bench = ServerBench.gone(settings)
        bench.run(.api(APIRequestID(1), .setProfiles(ServerBench.app, [UserProfile("alice", Profile(name: "Alice"))])))
        bench.say("hello", to: .direct("bob"))
        let pushed = try #require(bench.pushes.first?.request)
        let preview = try Self.preview(
            PushPreviewRequest(
                draft: bench.draft("hello", .direct("bob"), .normal), sender: "alice",
                names: MessageNames(sender: "Alice"), recipient: "bob"), &bench)
        #expect(try Self.common(preview.payload) == Self.common(pushed.payload))
        #expect(preview.bytesMax == 4_096)
        #expect((preview.pushType, preview.textMode) == (.alert, mode))
        let own = ["apns-topic", "apns-id", "apns-collapse-id", "apns-expiration"]
        let fields = pushed.headerFields.filter { !own.contains($0.name) }.map {
            PushPreview.Header(name: $0.name, value: $0.value)
        }
        #expect(preview.headers.filter { $0.name != "apns-expiration" } == fields)
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
        // What a push without chat says stands in the alert, and a title of its own there alone.
        #expect(payload["aps"]?["alert"] == ["title": "Sale", "body": "Shoes"])
        #expect(preview.textMode == .alert)
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
        let effects = bench.core.handle(
            .api(APIRequestID(1), .previewPush(ServerBench.app, .message(asked))), at: bench.now)
        guard case .reply(_, .refused(let problem))? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(problem.field.contains("interruption_level"))
    }
}

@Suite struct `A push without a message that is only looked at` {
    private static func preview(_ asked: PreviewedPush, _ bench: inout ServerBench) -> APIResult? {
        let effects = bench.core.handle(.api(APIRequestID(900), .previewPush(ServerBench.app, asked)), at: bench.now)
        guard effects.count == 1, case .reply(_, let result)? = effects.first else { return nil }
        return result
    }

    private static func text(_ result: APIResult?) -> String {
        guard case .pushPreview(let preview)? = result else { return "\(String(describing: result))" }
        let headers = preview.headers.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        return "\(preview.pushType.rawValue) \(preview.bytesMax) \(headers)"
    }

    private static func bench(topics: [String]? = ["com.example.chat"]) -> ServerBench {
        var settings = ServerBench.plain
        settings.pushTopics[ServerBench.app] = topics
        return ServerBench(settings: settings)
    }

    private static let call = Call(
        id: "4f0c2e6b-8a1d-4579-8a1d-4f0c2e6b8a1d", caller: "alice", callee: "bob", hasVideo: true)

    @Test func `says type, limit and headers of each`() {
        var bench = Self.bench()
        #expect(
            Self.text(Self.preview(.silent(SilentPush(id: "")), &bench))
                == "background 4096 apns-topic=com.example.chat apns-push-type=background apns-priority=5 "
                + "apns-expiration=0")
        let end = (bench.now.wall + 30_000 + 999) / 1_000
        #expect(
            Self.text(Self.preview(.call(Self.call, callerName: "Alice"), &bench))
                == "voip 5120 apns-topic=com.example.chat.voip apns-push-type=voip apns-priority=10 "
                + "apns-expiration=\(end)")
        var activity = Self.activity(.token("00"))
        #expect(
            Self.text(Self.preview(.activity(activity), &bench))
                == "liveactivity 4096 apns-topic=com.example.chat.push-type.liveactivity apns-push-type=liveactivity "
                + "apns-priority=10")
        activity.target = .channel("dGVzdA==")
        #expect(
            Self.text(Self.preview(.activity(activity), &bench))
                == "liveactivity 5120 apns-channel-id=dGVzdA== apns-push-type=liveactivity apns-expiration=0 "
                + "apns-priority=10")
    }

    private static func activity(_ target: LiveActivityPush.Target) -> LiveActivityPush {
        var update = APNsPayload.LiveActivity(event: .update, timestamp: 1_795_728_300)
        update.contentState = JSONObject([("score", 1)])
        return LiveActivityPush(
            id: "4f0c2e6b-8a1d-4579-8a1d-4f0c2e6b8a1d", environment: .sandbox, topic: "com.example.chat",
            target: target, payload: APNsPayload(liveActivity: update))
    }

    @Test func `has no topic where the app has no list of them`() {
        var bench = Self.bench(topics: nil)
        #expect(
            Self.text(Self.preview(.silent(SilentPush(id: "")), &bench))
                == "background 4096 apns-push-type=background apns-priority=5 apns-expiration=0")
    }

    @Test func `is what is pushed`() throws {
        var bench = ServerBench.gone()
        let silent = SilentPush(id: "4f0c2e6b-8a1d-4579-8a1d-4f0c2e6b8a1d", data: JSONObject([("sync", true)]))
        bench.run(.api(APIRequestID(1), .silentPush(ServerBench.key("bob"), silent)))
        let pushed = try #require(bench.pushes.last?.request)
        guard case .pushPreview(let preview)? = Self.preview(.silent(silent), &bench) else {
            Issue.record("no preview")
            return
        }
        // But for whom it is for: the preview is for no phone.
        func text(_ payload: [UInt8]) throws -> String {
            let tag = try #require(PushInfo.recipientTag(in: JSONValue(parsing: payload)))
            return String(decoding: payload, as: UTF8.self).replacing(tag, with: "tag")
        }
        #expect(try text(preview.payload) == text(pushed.payload))
        #expect(preview.pushType == pushed.pushType)
        #expect(preview.shown == nil && preview.textMode == nil && preview.shortened == [])
    }

    @Test func `names its caller`() throws {
        var bench = Self.bench()
        guard case .pushPreview(let preview)? = Self.preview(.call(Self.call, callerName: "Alice"), &bench) else {
            Issue.record("no preview")
            return
        }
        let info = try #require(CallInfo(userInfo: JSONValue(parsing: preview.payload)))
        #expect((info.caller, info.callerName, info.hasVideo) == ("alice", "Alice", true))
    }

    @Test func `is refused as the push would be, by the member it stands in`() {
        var bench = Self.bench()
        let large = JSONObject([("x", .string(String(repeating: "x", count: 4_097)))])
        var call = Self.call
        call.data = large
        var activity = Self.activity(.token("00"))
        activity.topic = "com.example.other"
        let asked: [(PreviewedPush, String)] = [
            (.silent(SilentPush(id: "", data: large)), "silent.data"), (.call(call, callerName: nil), "call.data"),
            (.activity(activity), "live_activity.topic"),
        ]
        for (push, field) in asked {
            guard case .refused(let problem)? = Self.preview(push, &bench) else {
                Issue.record("\(push) was not refused")
                continue
            }
            #expect(problem.field == field)
        }
    }
}

@Suite struct `The lanes of an app` {
    private static func lanes(_ bench: inout ServerBench, of app: AppID = ServerBench.app) -> [PushLaneReport] {
        guard
            case .reply(_, .pushLanes(let lanes, _))? = bench.core.handle(
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

// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

private let bob = DeviceKey(user: UserKey(app: "demo", user: "bob"), device: "phone")
private let message = MessageID("01qdq6qdr0000")!
private let leg = LegID(message: message, user: bob.user, device: "phone")

/// What comes over the line, event by event.
private struct StreamedEvent: Equatable {
    var id = ""
    var type = ""
    var data = ""

    /// Blocks without a type too; comments are left out.
    static func all(in text: String) -> [StreamedEvent] {
        text.components(separatedBy: "\n\n").filter { !$0.isEmpty }.map { block in
            var event = StreamedEvent()
            for line in block.split(separator: "\n") {
                if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                if line.hasPrefix("event: ") { event.type = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
            }
            return event
        }
    }

    var summary: String { [self.id, self.type].filter { !$0.isEmpty }.joined(separator: " ") }
}

@Suite(.timeLimit(.minutes(5))) struct `A stream of events` {
    private static let now = Now(monotonic: 1_000, wall: 1_800_000_000_000)

    private struct Collector: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>

        mutating func write(_ buffer: ByteBuffer) { self.text.withLockedValue { $0 += String(buffer: buffer) } }
        consuming func finish(_ trailingHeaders: HTTPFields?) { self.text.withLockedValue { $0 += "END\n\n" } }
    }

    private struct Rig {
        let feed: EventFeed
        let text = NIOLockedValueBox("")

        init(_ eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()) {
            self.feed = EventFeed(eventLoop: eventLoop) { now }
            self.feed.begin(epoch: 7)
        }

        /// Connections of a device, by its name.
        func append(_ devices: DeviceID..., of app: AppID = "demo") {
            self.feed.append(
                devices.map { .device(DeviceKey(user: UserKey(app: app, user: "bob"), device: $0), .connected) },
                at: now)
        }

        func stream(
            after id: ReportID? = nil, _ kinds: Set<ServerReport.Kind> = Set(ServerReport.Kind.allCases),
            mostPerLook: Int? = nil
        ) throws -> EventStream {
            let place = try #require(self.feed.enter("demo"))
            let (cursor, isReset) = try #require(self.feed.start("demo", after: id))
            return EventStream(
                feed: self.feed, place: place, kinds: kinds, start: cursor, isReset: isReset, mostPerLook: mostPerLook)
        }

        /// Until the server stops.
        func read(_ stream: EventStream) async throws -> [String] {
            try await stream.response.body.write(Collector(text: self.text))
            return StreamedEvent.all(in: self.text.withLockedValue { $0 }).map(\.summary)
        }
    }

    @Test func `begins with an id, goes on in order, and ends with the server`() async throws {
        let rig = Rig()
        rig.append("a")
        let stream = try rig.stream()
        rig.append("b", "c")
        rig.append("x", of: "other")
        rig.feed.end()
        #expect(try await rig.read(stream) == ["7-1", "7-2 device_connected", "7-3 device_connected", ""])
        let text = rig.text.withLockedValue { $0 }
        #expect(
            text == """
                retry: 1000
                id: 7-1

                id: 7-2
                event: device_connected
                data: {"at":1800000000000,"user":"bob","device":"b"}

                id: 7-3
                event: device_connected
                data: {"at":1800000000000,"user":"bob","device":"c"}

                END


                """)
        let headers = stream.response.headers
        #expect(headers[.contentType] == "text/event-stream")
        #expect(headers[.cacheControl] == "no-store")
    }

    @Test func `ends when who reads may not go on`() async throws {
        let rig = Rig()
        let mayGoOn = NIOLockedValueBox(true)
        var stream = try rig.stream()
        stream.isOpen = { mayGoOn.withLockedValue { $0 } }
        rig.append("a")
        mayGoOn.withLockedValue { $0 = false }
        rig.feed.wakeReaders()
        #expect(try await rig.read(stream) == ["7-0", ""])
    }

    @Test func `goes on after the last id`() async throws {
        let rig = Rig()
        rig.append("a", "b", "c")
        let stream = try rig.stream(after: ReportID(epoch: 7, number: 2))
        rig.feed.end()
        #expect(try await rig.read(stream) == ["7-2", "7-3 device_connected", ""])
    }

    @Test func `says that what came after the last id is not known`() async throws {
        let rig = Rig()
        rig.append("a")
        let stream = try rig.stream(after: ReportID(epoch: 6, number: 1))
        rig.append("b")
        rig.feed.end()
        #expect(try await rig.read(stream) == ["7-1 reset", "7-2 device_connected", ""])
    }

    @Test func `says that what came meanwhile is lost`() async throws {
        let rig = Rig()
        let stream = try rig.stream()
        for _ in 0...ReportBuffer.countMax / 1_000 {
            rig.feed.append(Array(repeating: .device(bob, .connected), count: 1_000), at: Self.now)
        }
        rig.feed.end()
        #expect(try await rig.read(stream) == ["7-0", "7-101000 reset", ""])
    }

    @Test func `has the kinds that are asked for`() async throws {
        let rig = Rig()
        let stream = try rig.stream([.storage, .deviceLease])
        rig.append("a")
        rig.feed.append([.storage(isFull: true, free: 5), .device(bob, .lease(.gone))], at: Self.now)
        rig.feed.end()
        #expect(try await rig.read(stream) == ["7-0", "7-2 storage", "7-3 device_lease", ""])
    }

    @Test func `tells some of each kind, and counts the others, where so many are asked for`() async throws {
        let rig = Rig()
        let stream = try rig.stream(mostPerLook: 2)
        rig.append("a", "b", "c")
        rig.feed.append([.storage(isFull: true, free: 5)], at: Self.now)
        rig.append("d")
        rig.feed.end()
        #expect(
            try await rig.read(stream) == [
                "7-0", "7-1 device_connected", "7-2 device_connected", "7-4 storage", "7-5 passed_over", "",
            ])
        #expect(rig.text.withLockedValue { $0.contains(#"data: {"device_connected":2}"#) })
    }

    @Test func `tells some once a second, and says that it is alive`() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let rig = Rig(loop)
        let stream = try rig.stream([.deviceConnected, .storage], mostPerLook: 1)
        rig.append("a")
        async let reading = rig.read(stream)
        while !rig.text.withLockedValue({ $0.contains("id: 7-1") }) { await Task.yield() }
        rig.append("b", "c")
        #expect(!rig.text.withLockedValue { $0.contains("id: 7-2") })
        while !rig.text.withLockedValue({ $0.contains(":\n") }) {
            await loop.advanceTime(by: .seconds(1))
            await Task.yield()
        }
        rig.feed.end()
        let told = try await reading
        #expect(Array(told.prefix(4)) == ["7-0", "7-1 device_connected", "7-2 device_connected", "7-3 passed_over"])
        #expect(rig.text.withLockedValue { $0.contains(":\nid: 7-3\n\n") })
        await loop.shutdownGracefully()
    }

    @Test func `says that what came meanwhile is lost, also to who wants some`() async throws {
        let rig = Rig()
        let stream = try rig.stream(mostPerLook: 1)
        for _ in 0...ReportBuffer.countMax / 1_000 {
            rig.feed.append(Array(repeating: .device(bob, .connected), count: 1_000), at: Self.now)
        }
        rig.feed.end()
        #expect(try await rig.read(stream) == ["7-0", "7-101000 reset", ""])
    }

    @Test func `says every 15 seconds that it is alive, and where it is`() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let rig = Rig(loop)
        let stream = try rig.stream([.storage])
        rig.append("a")
        async let reading = rig.read(stream)
        while !rig.text.withLockedValue({ $0.contains(":\n") }) {
            await loop.advanceTime(by: .seconds(1))
            await Task.yield()
        }
        rig.feed.end()
        _ = try await reading
        let text = rig.text.withLockedValue { $0 }
        #expect(text.hasPrefix("retry: 1000\nid: 7-0\n\n:\nid: 7-1\n\n"))
        await loop.shutdownGracefully()
    }

    @Test func `waits for what comes, and is woken by it`() async throws {
        let rig = Rig()
        let (cursor, _) = try #require(rig.feed.start("demo", after: nil))
        async let news = rig.feed.waitForNews(after: cursor, for: .hours(1))
        // Before it waits or after: it is told in both cases.
        rig.append("a")
        #expect(await news == .some)
        var read = cursor
        _ = rig.feed.read(after: &read, of: [])
        #expect(await rig.feed.waitForNews(after: read, for: .milliseconds(1)) == .none)
        async let end = rig.feed.waitForNews(after: read, for: .hours(1))
        rig.feed.end()
        #expect(await end == .ended)
    }

    @Test func `is one of at most ten of an app`() throws {
        let rig = Rig()
        var places = (0..<EventFeed.readersMax).compactMap { _ in rig.feed.enter("demo") }
        #expect(places.count == EventFeed.readersMax)
        #expect(rig.feed.enter("demo") == nil)
        #expect(rig.feed.enter("other") != nil)
        places.removeLast()
        #expect(rig.feed.enter("demo") != nil)
    }

    @Test func `of an operator is one of ten beside the app's own`() async throws {
        let rig = Rig()
        let own = (0..<EventFeed.readersMax).map { _ in rig.feed.enter("demo") }
        #expect(own.allSatisfy { $0 != nil } && rig.feed.enter("demo") == nil)
        var operators = (0..<EventFeed.readersMax).compactMap { _ in rig.feed.enter("demo", isOperator: true) }
        #expect(operators.count == EventFeed.readersMax && rig.feed.enter("demo", isOperator: true) == nil)
        operators.removeLast()
        #expect(rig.feed.enter("demo", isOperator: true) != nil && rig.feed.enter("demo") == nil)
    }

    @Test func `gives its place back when its reader hangs up, and ends`() async throws {
        let rig = Rig()
        let stream = try rig.stream()
        let places = (1..<EventFeed.readersMax).compactMap { _ in rig.feed.enter("demo") }
        #expect(rig.feed.enter("demo") == nil)
        async let read = rig.read(stream)
        while !rig.text.withLockedValue({ $0.contains("id: 7-0") }) { await Task.yield() }
        stream.place.leave()
        let last = try #require(rig.feed.enter("demo"))
        // Twice gives nobody another place.
        stream.place.leave()
        #expect(rig.feed.enter("demo") == nil)
        #expect(try await read == ["7-0", ""])
        #expect(places.count + 1 == EventFeed.readersMax && !last.isLeft)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The events of the HTTP API` {
    @Test func `are refused with types that there are not, and nothing is held up`() async throws {
        let api = try await APIDouble()
        api.feed.begin(epoch: 7)
        for types in ["", "leg", "leg_sent,", "leg_sent,%20receipt"] {
            let answer = try await api.request(.get, "events?types=\(types)")
            #expect(answer.status == 400)
            #expect(answer.json["field"] == "types")
        }
        #expect(try await api.request(.get, "events?type=receipt").status == 400)
        for number in ["", "0", "501", "x"] {
            let answer = try await api.request(.get, "events?at_most=\(number)")
            #expect(answer.status == 400)
            #expect(answer.json["field"] == "at_most")
        }
        let blind = try await APIDouble(scopes: [.settings])
        blind.feed.begin(epoch: 7)
        #expect(try await blind.request(.get, "events").status == 403)
    }

    @Test func `are refused to more readers of an app than there may be`() async throws {
        let api = try await APIDouble()
        api.feed.begin(epoch: 7)
        let places = (0..<EventFeed.readersMax).map { _ in api.feed.enter("demo") }
        let answer = try await api.request(.get, "events")
        #expect(answer.status == 503)
        #expect(answer.problem == "events must be read by at most 10 of the app at a time")
        #expect(places.count == EventFeed.readersMax)
        let headers = try await api.signIn(.view)
        let operators = (0..<EventFeed.readersMax).map { _ in api.feed.enter("demo", isOperator: true) }
        let refused = try await api.request(.get, "events", headers: headers, key: nil)
        #expect(refused.problem == "events must be read by at most 10 operators at a time")
        #expect(operators.count == EventFeed.readersMax)
    }

    @Test func `are not there before the store is open, and when the server stops`() async throws {
        let api = try await APIDouble()
        #expect(try await api.request(.get, "events").status == 503)
        api.feed.begin(epoch: 7)
        api.feed.end()
        #expect(try await api.request(.get, "events").status == 503)
    }

    /// One of each kind, in each form it has.
    private static let reports: [ServerReport] = [
        .accepted(message, by: bob.user, in: .init(type: .group, target: "team"), .text, recipients: 3),
        .acceptedCustom(message, "demo", recipients: 2),
        .recalled(message, by: message, bob.user, in: .init(type: .direct, target: "alice")),
        .edited(message, "demo", in: .init(type: .direct, target: "alice")), .sentLeg(leg, apnsID: "id"),
        .sentLeg(leg, apnsID: nil), .waitingLeg(OpenLeg(leg: leg, position: 1, wait: .throttled, notBefore: 5)),
        .waitingLeg(OpenLeg(leg: leg, position: 1, wait: .configFault)),
        .endedLeg(EndedLeg(leg: leg, end: .settled(.shown), at: 5)),
        .endedLeg(EndedLeg(leg: LegID(message: message, user: bob.user, device: nil), end: .noDevice, at: 5)),
        .receipt(leg, .shown), .receipt(leg, .opened), .device(bob, .signedIn(platform: "ios")),
        .device(bob, .signedOut), .device(bob, .connected), .device(bob, .disconnected),
        .device(bob, .lease(.background(until: 5))), .device(bob, .lease(.foreground)),
        .device(bob, .lease(.probing(until: 5))), .device(bob, .lease(.grace(until: 5))),
        .device(bob, .lease(.returning(until: 5))), .device(bob, .lease(.gone)),
        .answeredPush(bob, .message(message), .accepted(apnsID: "id")),
        .answeredPush(bob, .badge, .refused(apnsID: "id", status: 410, reason: "Unregistered")),
        .answeredPush(bob, .badge, .refused(apnsID: nil, status: 500, reason: "InternalServerError")),
        .answeredPush(bob, .call("c"), .unknown("closed")), .answeredPush(bob, .badge, .notSent("full")),
        .answeredPush(bob, .badge, .noCredential), .answeredPush(bob, .test, .accepted(apnsID: "id")),
        .answeredPush(bob, .silent, .accepted(apnsID: "id")),
        .raisedAlarm(.init(app: "demo", environment: .sandbox, topic: "t"), .configFault(reason: "NoCredential")),
        .raisedAlarm(.init(app: "demo", environment: .production, topic: "t"), .burst(reason: "BadDeviceToken")),
        .raisedAlarm(.init(app: "demo", environment: .production, topic: "t"), .providerDown(reason: "refused")),
        .clearedAlarm(.init(app: "demo", environment: .sandbox, topic: "t")),
        .expiringCredential("demo", credential: "p1", expiresAt: 5, isExpired: false),
        .expiringCredential("demo", credential: "p1", expiresAt: 5, isExpired: true), .storage(isFull: true, free: 5),
        .storage(isFull: false, free: 5), .pushJob(PushJobReport(push, isNews: true)),
    ]

    private static let push = PushJob(
        id: message, app: "demo", account: ConversationID(type: .pushService, target: "push"),
        body: .custom(CustomMessage(id: message, content: "x", sentAt: 5)), audience: .everybody, createdAt: 5)

    @Test func `are what the description says, of every kind`() throws {
        #expect(Set(Self.reports.map(\.kind)) == Set(ServerReport.Kind.allCases))
        let schemas = DescribedAnswers.document["components"].parts["schemas"].parts
        let event = try #require(schemas["Event"]?.parts)
        for report in Self.reports {
            let entry = ReportBuffer.Entry(id: ReportID(epoch: 7, number: 1), at: 5, report: report)
            #expect(DescribedAnswers.faults(in: entry.json, event, "data") == [], "\(entry.json.text)")
            #expect(entry.json.objectValue?.members.count ?? 0 > 1)
        }
        let types = try #require(schemas["EventType"]?.parts["enum"]?.arrayValue)
        #expect(types.compactMap(\.stringValue) == ServerReport.Kind.allCases.map(\.rawValue))
    }

    @Test func `tell the life of a message on a running server, and end when it stops`() async throws {
        let stopped = NIOLockedValueBox<RawClient?>(nil)
        try await TestServer.with { server in
            let reader = try await RawClient.connect(port: server.listening.apiPort)
            try await reader.send(
                text: "GET /v1/apps/demo/events?types=message_accepted,leg_ended,device_connected HTTP/1.1\r\n"
                    + "Host: localhost\r\nConnection: close\r\nAuthorization: Bearer reader-key\r\n\r\n")
            let head = try await reader.head()
            #expect(head.hasPrefix("HTTP/1.1 200 "))
            #expect(head.lowercased().contains("content-type: text/event-stream"))
            let bob = try await server.client("bob")
            let sent = try await server.request(
                "POST", "/v1/apps/demo/messages",
                body: #"{"sender":"alice","client_message_id":"c","conversation":{"type":"PR","target":"bob"},"#
                    + #""content":"{\"content\":\"hi\"}"}"#)
            #expect(sent.status == 201)
            guard case .entry(let entry) = try await bob.nextFrame() else {
                Issue.record("bob was not told")
                return
            }
            try await bob.send(
                .ack(.init(stored: entry.position, settled: [.init(upTo: entry.position, disposition: .shown)])))
            await bob.close()
            stopped.withLockedValue { $0 = reader }
        }
        let reader = try #require(stopped.withLockedValue { $0 })
        let text = await reader.rest()
        // Chunked: a last chunk of no bytes says that the answer is whole.
        #expect(text.hasSuffix("\r\n0\r\n\r\n"))
        let events = StreamedEvent.all(in: text).map(\.type).filter { !$0.isEmpty }
        #expect(events == ["device_connected", "message_accepted", "leg_ended"])
        #expect(!text.contains("hi\\\""))
    }
}

import HTTPTypes
import Hummingbird
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

extension APIProblem {
    static let notReady = APIProblem(
        .told(.unavailable), rule: "the server takes no work at the moment; try again later",
        headers: [.retryAfter: "1"])
}

extension API {
    static let eventRoutes: [Route] = [
        .app(.get, "events", .trace, query: ["types", "at_most", "last_event_id"], API.events)
    ]

    private func events(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let kinds = try self.kinds(request)
        let mostPerLook = try self.mostPerLook(request)
        let last = Self.lastEventID(request)
        let isOperator = if case .ofOperator? = context.note.caller { true } else { false }
        guard let place = self.feed.enter(app, isOperator: isOperator) else {
            throw APIProblem(
                .told(.unavailable), field: "events",
                rule:
                    "must be read by at most \(EventFeed.readersMax) \(isOperator ? "operators" : "of the app") at a time",
                headers: [.retryAfter: "1"])
        }
        guard let (cursor, isReset) = self.feed.start(app, after: last.flatMap { ReportID($0) }) else {
            throw APIProblem.notReady
        }
        // A writer finds out at its next write, which may be long in coming, and until then nobody else had the place.
        context.channel.closeFuture.whenComplete { [weak place] _ in place?.leave() }
        // What is no id at all is not known, either.
        let isUnknown = last.map { ReportID($0) == nil } ?? false
        var stream = EventStream(
            feed: self.feed, place: place, kinds: kinds, start: cursor, isReset: isReset || isUnknown,
            mostPerLook: mostPerLook)
        stream.isOpen = self.mayGoOn(request, context) { keys, key in
            if case .granted = keys.access(app: app, key: key, scope: .trace) { true } else { false }
        }
        return stream.response
    }

    /// All without `types`.
    private func kinds(_ request: Request) throws(InvalidField) -> Set<ServerReport.Kind> {
        guard let text = request.member("types") else { return Set(ServerReport.Kind.allCases) }
        var kinds: Set<ServerReport.Kind> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            kinds.insert(try self.word(String(word), "types"))
        }
        return kinds
    }

    /// Nil without `at_most`.
    private func mostPerLook(_ request: Request) throws(InvalidField) -> Int? {
        guard request.member("at_most") != nil else { return nil }
        return Int(try Self.number(request, "at_most", EventStream.mostPerLookRange, default: nil))
    }

    private static let lastEventIDHeader = HTTPField.Name("Last-Event-ID")

    /// The header goes before the query: a browser that comes back has the newest there, and the oldest still in its address.
    private static func lastEventID(_ request: Request) -> String? {
        if let name = self.lastEventIDHeader, let id = request.headers[name], !id.isEmpty { return id }
        return request.member("last_event_id")
    }
}

/// Reports as server-sent events (the HTML standard, §9.2): one answer that does not end.
struct EventStream: Sendable {
    let feed: EventFeed
    let place: EventFeed.Place
    let kinds: Set<ServerReport.Kind>
    let start: ReportBuffer.Cursor
    let isReset: Bool
    /// How many of each kind are told in a second; nil for all.
    var mostPerLook: Int?
    /// Asked at each look (`API.mayGoOn`).
    var isOpen: @Sendable () -> Bool = { true }

    static let contentType = "text/event-stream"
    /// The time between signs of life: many proxies and clients take a connection for dead after less than a minute.
    static let keepAlive = TimeAmount.seconds(15)
    /// The pause for a reader who wants all: a screen needs no more than this.
    private static let pause = TimeAmount.milliseconds(50)
    /// The pause for a reader who wants some of each kind.
    private static let look = TimeAmount.seconds(1)
    /// In looks, as long as `keepAlive`.
    private static let quietLooksMax = 15
    static let mostPerLookRange: ClosedRange<Int64> = 1...500
    /// How long a client waits before it comes back, in milliseconds.
    private static let retryMilliseconds = 1_000

    var response: Response { .events { try await self.write(to: &$0) } }

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        var cursor = self.start
        // An id without an event: a reader who is cut off before the first one comes back to here.
        try await writer.write(
            ByteBuffer(
                string: "retry: \(Self.retryMilliseconds)\n"
                    + (self.isReset ? self.reset(cursor) : "\(self.idLine(cursor))\n")))
        if let mostPerLook = self.mostPerLook {
            try await self.writeSamples(ReportSample(most: mostPerLook), after: &cursor, to: &writer)
        } else {
            try await self.writeAll(after: &cursor, to: &writer)
        }
    }

    private func writeAll(after cursor: inout ReportBuffer.Cursor, to writer: inout any ResponseBodyWriter) async throws
    {
        while self.isOpen(), !self.place.isLeft {
            switch self.feed.read(after: &cursor, of: self.kinds) {
            case .lost: try await writer.write(ByteBuffer(string: self.reset(cursor)))
            case .entries(let entries) where !entries.isEmpty:
                try await writer.write(Self.bytes(of: entries))
                await self.feed.pause(Self.pause)
            case .entries:
                switch await self.feed.waitForNews(after: cursor, for: Self.keepAlive, at: self.place) {
                case .some: break
                case .none: try await self.writeComment(cursor, to: &writer)
                case .ended: return
                }
            }
        }
    }

    /// Looks once a second, whatever comes meanwhile: a reader who is told less costs less.
    private func writeSamples(
        _ empty: ReportSample, after cursor: inout ReportBuffer.Cursor, to writer: inout any ResponseBodyWriter
    ) async throws {
        var sample = empty
        var quietLooks = 0
        while self.isOpen(), !self.place.isLeft {
            let before = cursor
            let isEnd = self.feed.isEnded
            reading: while true {
                switch self.feed.read(after: &cursor, of: self.kinds) {
                case .lost:
                    sample = empty
                    try await writer.write(ByteBuffer(string: self.reset(cursor)))
                    break reading
                case .entries(let entries):
                    sample.add(entries)
                    if !self.feed.hasMore(after: cursor) { break reading }
                }
            }
            let page = sample.look()
            quietLooks = page.entries.isEmpty ? quietLooks + 1 : 0
            if !page.entries.isEmpty {
                try await writer.write(self.bytes(of: page, cursor))
            } else if quietLooks >= Self.quietLooksMax {
                quietLooks = 0
                try await self.writeComment(cursor, to: &writer)
            }
            if isEnd { return }
            guard cursor == before else {
                await self.feed.pause(Self.look)
                continue
            }
            switch await self.feed.waitForNews(after: cursor, for: Self.keepAlive, at: self.place) {
            case .some: break
            case .none:
                quietLooks = 0
                try await self.writeComment(cursor, to: &writer)
            case .ended: return
            }
        }
    }

    /// With the id, so that who asks for few kinds does not come back to what is long gone.
    private func writeComment(_ cursor: ReportBuffer.Cursor, to writer: inout any ResponseBodyWriter) async throws {
        try await writer.write(ByteBuffer(string: ":\n\(self.idLine(cursor))\n"))
    }

    private func idLine(_ cursor: ReportBuffer.Cursor) -> String {
        self.feed.id(of: cursor).map { "id: \($0)\n" } ?? ""
    }

    /// Returns a reset: earlier events are not known, and a screen draws itself anew.
    private func reset(_ cursor: ReportBuffer.Cursor) -> String { "\(self.idLine(cursor))event: reset\ndata: {}\n\n" }

    /// Returns the bytes of a page. The events passed over come last, with the id of all that was looked at.
    private func bytes(of page: ReportSample.Page, _ cursor: ReportBuffer.Cursor) -> ByteBuffer {
        var bytes = Self.bytes(of: page.entries)
        if !page.passedOver.isEmpty {
            let counts = JSONValue.members(page.passedOver.map { ($0.kind.rawValue, .number(JSONNumber($0.count))) })
            bytes.writeString("\(self.idLine(cursor))event: passed_over\ndata: \(counts.text)\n\n")
        }
        return bytes
    }

    private static func bytes(of entries: [ReportBuffer.Entry]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for entry in entries {
            bytes.writeString("id: \(entry.id)\nevent: \(entry.report.kind.rawValue)\ndata: ")
            // JSON has its line breaks escaped.
            bytes.writeBytes(entry.json.serialized)
            bytes.writeString("\n\n")
        }
        return bytes
    }
}

extension Response {
    /// An answer that goes on while `write` does.
    static func events(
        _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        var headers: HTTPFields = [.contentType: EventStream.contentType, .cacheControl: "no-store"]
        // Otherwise nginx keeps events back until there are many.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await write(&writer)
                try await writer.finish(nil)
            })
    }
}

extension ReportBuffer.Entry {
    var json: JSONValue { (JSONMembers(["at": self.at]) + self.report.members).json }
}

extension ServerReport {
    fileprivate var members: JSONMembers {
        switch self {
        case .accepted(let message, let sender, let conversation, let objectName, let recipients):
            [
                "message_id": message, "kind": "message", "sender": sender.user, "conversation": conversation,
                "object_name": objectName, "object_type": objectName.word, "recipients": recipients,
            ]
        case .acceptedCustom(let message, _, let recipients):
            ["message_id": message, "kind": "custom", "recipients": recipients]
        case .recalled(let message, let recall, let sender, let conversation):
            ["message_id": message, "recall": recall, "sender": sender.user, "conversation": conversation]
        case .edited(let message, _, let conversation):
            ["message_id": message, "conversation": conversation]
        case .sentLeg(let leg, let apnsID): leg.told + ["apns_id": apnsID]
        case .waitingLeg(let open):
            open.leg.told + ["wait": open.wait, "attempts": open.attempts, "not_before": open.notBefore]
        case .endedLeg(let ended):
            ended.leg.told + ["end": ended.end.name, "detail": ended.end.detail]
        case .receipt(let leg, let receipt): leg.told + ["receipt": receipt]
        case .device(let device, let change): device.told + change.members
        case .answeredPush(let device, let subject, let result): device.told + subject.members + result.members
        case .raisedAlarm(let lane, let alarm): lane.reported + JSONMembers(of: alarm)
        case .clearedAlarm(let lane): lane.reported + ["state": "usable", "reason": nil]
        case .pushJob(let job):
            [
                "push": job.id, "push_state": job.state, "is_news": job.isNews, "looked_at": job.lookedAt,
                "recipients": job.recipients,
            ]
        case .expiringCredential(_, let credential, let end, let isExpired):
            ["credential": credential, "state": isExpired ? "expired" : "expiring", "expires_at": end]
        case .storage(let isFull, let free):
            ["state": isFull ? "full" : "ok", "free_bytes": free]
        }
    }
}

extension PushLane {
    fileprivate var reported: JSONMembers { ["environment": self.environment, "topic": self.topic] }
}

extension ServerReport.DeviceChange {
    fileprivate var members: JSONMembers {
        switch self {
        case .signedIn(let platform): ["platform": platform]
        case .lease(let lease): ["lease": lease.name]
        case .signedOut, .connected, .disconnected: [:]
        }
    }
}

extension ServerReport.PushSubject {
    fileprivate var members: JSONMembers {
        switch self {
        case .message(let message): ["kind": "message", "message_id": message]
        case .badge: ["kind": "badge"]
        case .call(let call): ["kind": "call", "call": call]
        case .test: ["kind": "test"]
        case .silent: ["kind": "silent"]
        }
    }
}

extension ServerReport.PushResult {
    /// Words of our own say what happened on the way; of APNs there are its reasons alone.
    fileprivate var members: JSONMembers {
        let (outcome, apnsID, status, reason): (String, String?, Int64?, String?) =
            switch self {
            case .accepted(let apnsID): ("accepted", apnsID, 200, nil)
            case .refused(let apnsID, let status, let reason): ("refused", apnsID, Int64(status), reason)
            case .unknown(let words): ("unknown", nil, nil, words)
            case .notSent(let words): ("not_sent", nil, nil, words)
            case .noCredential: ("no_credential", nil, nil, nil)
            }
        return ["outcome": outcome, "apns_id": apnsID, "status": status, "reason": reason]
    }
}

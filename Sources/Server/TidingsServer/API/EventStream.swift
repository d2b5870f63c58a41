import HTTPTypes
import Hummingbird
import NIOCore
import ServerCore
import TidingsModel

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
    /// What a proxy, or a client, takes for dead is closed after less than a minute in many of them.
    static let keepAlive = TimeAmount.seconds(15)
    /// Of a reader who wants all: a screen needs no more than this.
    private static let pause = TimeAmount.milliseconds(50)
    /// Of a reader who wants some of each kind.
    private static let look = TimeAmount.seconds(1)
    /// In looks, as long as `keepAlive`.
    private static let quietLooksMax = 15
    static let mostPerLookRange: ClosedRange<Int64> = 1...500
    /// How long a client waits before it comes back, in milliseconds.
    private static let retryMilliseconds = 1_000

    var response: Response {
        var headers: HTTPFields = [.contentType: Self.contentType, .cacheControl: "no-store"]
        // Otherwise nginx keeps events back until there are many.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await self.write(to: &writer)
                try await writer.finish(nil)
            })
    }

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        var cursor = self.start
        // An id without an event: whoever is cut off before the first one comes back to here.
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

    /// What came before is not known: a screen draws itself anew.
    private func reset(_ cursor: ReportBuffer.Cursor) -> String { "\(self.idLine(cursor))event: reset\ndata: {}\n\n" }

    /// What was passed over comes last, with the id of all that was looked at.
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

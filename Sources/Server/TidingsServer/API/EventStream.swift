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
    /// Whether who reads may go on: not when their session has ended.
    var isOpen: @Sendable () -> Bool = { true }

    static let contentType = "text/event-stream"
    /// What a proxy, or a client, takes for dead is closed after less than a minute in many of them.
    static let keepAlive = TimeAmount.seconds(15)
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
        while self.isOpen(), !self.place.isLeft {
            switch self.feed.read(after: &cursor, of: self.kinds) {
            case .lost: try await writer.write(ByteBuffer(string: self.reset(cursor)))
            case .entries(let entries) where !entries.isEmpty:
                try await writer.write(Self.bytes(of: entries))
                await self.feed.pause()
            case .entries:
                switch await self.feed.waitForNews(after: cursor, for: Self.keepAlive, at: self.place) {
                case .some: break
                // With the id, so that who asks for few kinds does not come back to what is long gone.
                case .none: try await writer.write(ByteBuffer(string: ":\n\(self.idLine(cursor))\n"))
                case .ended: return
                }
            }
        }
    }

    private func idLine(_ cursor: ReportBuffer.Cursor) -> String {
        self.feed.id(of: cursor).map { "id: \($0)\n" } ?? ""
    }

    /// What came before is not known: a screen draws itself anew.
    private func reset(_ cursor: ReportBuffer.Cursor) -> String { "\(self.idLine(cursor))event: reset\ndata: {}\n\n" }

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

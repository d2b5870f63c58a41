import Hummingbird
import NIOCore
import TidingsModel
import VirtualPhone

/// A phone's events as server-sent events (the HTML standard, §9.2): lines of the trace, which have ids, and views. As fast as the reader
/// takes them; a slow reader gets the views late, and never keeps more than a page.
struct HostedPhoneEvents: Sendable {
    let phone: PhonesHost.Hosted
    var place: PhoneHost.ReadingPlace

    private static let linesMax = 100
    /// The time between signs of life: many clients close a connection that they take for dead after a minute.
    private static let keepAlive = Duration.seconds(15)
    private static let retryMilliseconds = 1_000

    /// - Parameters:
    ///   - lastID: of the last event that was read. One of another start of the phone is not known: then as `start`.
    init(_ phone: PhonesHost.Hosted, start: PhoneHost.ReadingStart, lastID: String?) async throws(InvalidField) {
        self.phone = phone
        let prefix = "\(phone.start)/"
        var start = start
        if let lastID {
            start = .last(Self.usualLines)
            if lastID.hasPrefix(prefix), let number = Int(digits: lastID.dropFirst(prefix.count)) {
                start = .after(number)
            }
        }
        self.place = try await phone.host.readingPlace(start)
    }

    /// The number of lines for a reader who does not ask for one.
    static let usualLines = 400

    /// Ends with the phone, and when the reader has gone.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Before the first page: what comes behind it is told.
        let news = self.phone.host.news()
        let listening = Task {
            for await _ in news { waker.yield() }
            waker.finish()
        }
        let ticking = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.keepAlive)
                waker.yield()
            }
        }
        defer {
            listening.cancel()
            ticking.cancel()
        }
        try await writer.write(ByteBuffer(string: "retry: \(Self.retryMilliseconds)\n\n"))
        var place = self.place
        guard try await self.writeAll(after: &place, to: &writer) != nil else { return }
        for await _ in wakes {
            guard let isNews = try await self.writeAll(after: &place, to: &writer) else { return }
            if !isNews { try await writer.write(ByteBuffer(string: ":\n\n")) }
        }
    }

    /// - Returns: whether there was something; nil if the phone is off and has nothing more to tell.
    private func writeAll(
        after place: inout PhoneHost.ReadingPlace, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool? {
        var isNews = false
        while true {
            guard let (lines, views, next) = try? await self.phone.host.page(after: place, linesMax: Self.linesMax)
            else { return nil }
            let isMore = lines.count == Self.linesMax
            place = next
            guard !lines.isEmpty || !views.isEmpty else { return isNews }
            isNews = true
            try await writer.write(self.bytes(lines, views))
            guard isMore else { return true }
        }
    }

    private func bytes(_ lines: [(number: Int, line: JSONValue)], _ views: [JSONValue]) -> ByteBuffer {
        var bytes = ByteBuffer()
        func add(_ json: JSONValue) {
            bytes.writeString("data: ")
            // JSON has its line breaks escaped.
            bytes.writeBytes(json.serialized)
            bytes.writeString("\n\n")
        }
        for (number, line) in lines {
            bytes.writeString("id: \(self.phone.start)/\(number)\n")
            add(line)
        }
        for view in views { add(view) }
        return bytes
    }
}

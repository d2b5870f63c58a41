import NIOCore
import Synchronization
import TidingsModel

/// The trace of a hosted phone: numbered lines, the newest 20,000 of them, and who wants to hear the next ones.
final class HostTrace {
    /// The most lines kept.
    static let linesMax = 20_000

    private var kept: [(number: Int, line: JSONValue)] = []
    private var last = 0
    private var channels: [any Channel] = []
    private let readers: TraceReaders

    init(readers: TraceReaders) { self.readers = readers }

    /// Keeps a line and tells everybody.
    func append(_ line: JSONValue) {
        self.last += 1
        var object = line.objectValue ?? JSONObject()
        object["n"] = .int(self.last)
        let numbered = JSONValue.object(object)
        self.kept.append((self.last, numbered))
        if self.kept.count > 2 * Self.linesMax { self.kept.removeFirst(self.kept.count - Self.linesMax) }
        for channel in self.channels { self.write(numbered, to: channel) }
        self.readers.yield(numbered)
    }

    /// The kept lines with a higher number.
    func lines(after number: Int) -> [JSONValue] {
        self.kept.filter { $0.number > number }.map(\.line)
    }

    /// Sends every line from now on, after those with a higher number than `after`.
    func subscribe(_ channel: any Channel, after: Int?) {
        if let after { for line in self.lines(after: after) { self.write(line, to: channel) } }
        self.channels.append(channel)
    }

    /// Forgets a reader.
    func unsubscribe(_ channel: any Channel) { self.channels.removeAll { $0 === channel } }

    /// There will be no more lines.
    func finish() {
        self.readers.finish()
        for channel in self.channels { channel.close(promise: nil) }
        self.channels = []
    }

    /// A reader that lets 16 MiB pile up is cut off.
    private func write(_ line: JSONValue, to channel: any Channel) {
        guard channel.isWritable else { return channel.close(promise: nil) }
        channel.writeLine(line)
    }
}

/// Who reads the trace in the host's own process: joins at once, on any thread.
final class TraceReaders: Sendable {
    private let streams = Mutex<[AsyncStream<JSONValue>.Continuation]>([])

    /// The lines from now on.
    func stream() -> AsyncStream<JSONValue> {
        let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        self.streams.withLock { $0.append(continuation) }
        return stream
    }

    /// Tells everybody; who has left is forgotten.
    func yield(_ line: JSONValue) {
        self.streams.withLock { streams in
            streams.removeAll { continuation in
                if case .terminated = continuation.yield(line) { true } else { false }
            }
        }
    }

    /// There will be no more lines.
    func finish() {
        let streams = self.streams.withLock { streams in
            defer { streams = [] }
            return streams
        }
        for continuation in streams { continuation.finish() }
    }
}

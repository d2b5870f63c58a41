import NIOCore
import Synchronization
import TidingsModel

/// The trace of a hosted phone: numbered lines, the newest 20,000 of them, and who wants to hear the next ones.
final class HostTrace {
    /// The most lines kept.
    static let linesMax = 20_000

    private var kept: [(number: Int, line: JSONValue)] = []
    private var last = 0
    private var subscribers: [Subscriber] = []
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
        for subscriber in self.subscribers { self.send(to: subscriber) }
        self.readers.yield(numbered)
    }

    /// The kept lines with a higher number.
    func lines(after number: Int) -> [JSONValue] {
        self.kept.filter { $0.number > number }.map(\.line)
    }

    /// Who reads over a connection, and the number of the last line it was sent.
    private final class Subscriber {
        let channel: any Channel
        var sent: Int
        /// Whether lines wait for the connection to take more.
        var isWaiting = false

        init(channel: any Channel, sent: Int) {
            self.channel = channel
            self.sent = sent
        }
    }

    /// Sends every line from now on, after those with a higher number than `after`.
    func subscribe(_ channel: any Channel, after: Int?) {
        let oldest = self.kept.first?.number ?? self.last + 1
        let sent = after.map { min(self.last, max($0, oldest - 1)) } ?? self.last
        let subscriber = Subscriber(channel: channel, sent: sent)
        self.subscribers.append(subscriber)
        self.send(to: subscriber)
    }

    /// Forgets a reader.
    func unsubscribe(_ channel: any Channel) { self.subscribers.removeAll { $0.channel === channel } }

    /// Sends what a reader lacks, as fast as its connection takes it. One that is slower than what is kept is cut off.
    private func send(to subscriber: Subscriber) {
        guard !subscriber.isWaiting, subscriber.sent < self.last, let oldest = self.kept.first?.number else { return }
        guard subscriber.sent + 1 >= oldest else { return subscriber.channel.close(promise: nil) }
        while subscriber.sent < self.last, subscriber.channel.isWritable {
            subscriber.sent += 1
            subscriber.channel.writeLine(self.kept[subscriber.sent - oldest].line)
        }
        guard subscriber.sent < self.last else { return }
        subscriber.isWaiting = true
        let bound = NIOLoopBound((self, subscriber), eventLoop: subscriber.channel.eventLoop)
        // Nothing is written by this: it is done when everything before it is.
        subscriber.channel.writeAndFlush(ByteBuffer()).whenSuccess {
            let (trace, subscriber) = bound.value
            subscriber.isWaiting = false
            trace.send(to: subscriber)
        }
    }

    /// There will be no more lines.
    func finish() {
        self.readers.finish()
        for subscriber in self.subscribers { subscriber.channel.close(promise: nil) }
        self.subscribers = []
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

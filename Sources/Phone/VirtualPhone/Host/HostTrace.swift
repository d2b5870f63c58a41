import NIOCore
import Synchronization
import TidingsModel

/// Numbered lines, of which the newest 20,000 are kept.
final class HostTrace {
    static let linesMax = 20_000

    private var kept: [(number: Int, line: JSONValue)] = []
    private(set) var last = 0
    private var subscribers: [Subscriber] = []
    private let readers: TraceReaders

    init(readers: TraceReaders) { self.readers = readers }

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

    func lines(after number: Int) -> [JSONValue] { self.kept.filter { $0.number > number }.map(\.line) }

    /// At most `count` lines with a number above `number`; the oldest kept ones where those between are gone.
    func page(after number: Int, count: Int) -> [(number: Int, line: JSONValue)] {
        let index = self.kept.first.map { max(0, number + 1 - $0.number) } ?? 0
        return Array(self.kept.dropFirst(index).prefix(count))
    }

    private final class Subscriber {
        let channel: any Channel
        var sent: Int
        var isWaiting = false

        init(channel: any Channel, sent: Int) {
            self.channel = channel
            self.sent = sent
        }
    }

    /// First the kept lines with a number above `after`.
    func subscribe(_ channel: any Channel, after: Int?) {
        let oldest = self.kept.first?.number ?? self.last + 1
        let sent = after.map { min(self.last, max($0, oldest - 1)) } ?? self.last
        let subscriber = Subscriber(channel: channel, sent: sent)
        self.subscribers.append(subscriber)
        self.send(to: subscriber)
    }

    func unsubscribe(_ channel: any Channel) { self.subscribers.removeAll { $0.channel === channel } }

    /// Sends lines as fast as the connection takes them. A reader too slow for the kept lines is cut off.
    private func send(to subscriber: Subscriber) {
        guard !subscriber.isWaiting, subscriber.sent < self.last, let oldest = self.kept.first?.number else { return }
        guard subscriber.sent + 1 >= oldest else { return subscriber.channel.close(promise: nil) }
        while subscriber.sent < self.last, subscriber.channel.isWritable {
            subscriber.sent += 1
            subscriber.channel.writeLine(self.kept[subscriber.sent - oldest].line)
        }
        guard subscriber.sent < self.last else { return }
        subscriber.isWaiting = true
        subscriber.channel.whenWritten {
            subscriber.isWaiting = false
            self.send(to: subscriber)
        }
    }

    func finish() {
        self.readers.finish()
        for subscriber in self.subscribers { subscriber.channel.close(promise: nil) }
        self.subscribers = []
    }
}

/// Readers in the host's own process, on any thread.
final class TraceReaders: Sendable {
    private let streams = Mutex<[AsyncStream<JSONValue>.Continuation]>([])
    private let waiting = Mutex<[AsyncStream<Void>.Continuation]>([])

    func stream() -> AsyncStream<JSONValue> {
        let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        self.streams.withLock { $0.append(continuation) }
        return stream
    }

    func yield(_ line: JSONValue) {
        self.streams.withLock { streams in
            streams.removeAll { continuation in
                if case .terminated = continuation.yield(line) { true } else { false }
            }
        }
        self.tellOfNews()
    }

    /// For readers who look for themselves what there is: however much comes before they look, they are told once.
    func news() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.waiting.withLock { $0.append(continuation) }
        return stream
    }

    func tellOfNews() {
        self.waiting.withLock { waiting in
            waiting.removeAll { continuation in
                if case .terminated = continuation.yield() { true } else { false }
            }
        }
    }

    func finish() {
        let waiting = self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in waiting { continuation.finish() }
        let streams = self.streams.withLock { streams in
            defer { streams = [] }
            return streams
        }
        for continuation in streams { continuation.finish() }
    }
}

import Foundation
import Testing
import TidingsAppGroup

@testable import TidingsClient

@Suite(.timeLimit(.minutes(1))) struct `A source with a value of the moment` {
    @Test func `tells a new stream that value and every later one, in order, whatever changes meanwhile`() async {
        let source = Broadcast<Int>(capacity: 9)
        let value = Locked(1)
        let isChanged = DispatchSemaphore(value: 0)
        // The value changes, and is sent, while the stream is being made: just after the old one was read.
        func read() -> Int {
            let now = value.withLock { $0 }
            Thread.detachNewThread {
                value.withLock { $0 = 2 }
                isChanged.signal()
                source.send(2)
                source.send(3)
            }
            isChanged.wait()
            // Time for a send that nothing holds up.
            Thread.sleep(forTimeInterval: 0.05)
            return now
        }
        var values: [Int] = []
        for await next in source.stream(startingWith: read()) {
            values.append(next)
            if next == 3 { break }
        }
        #expect(values == [1, 2, 3])
    }

    @Test func `keeps what nobody has heard for the first stream alone, if it is to`() async {
        let source = Broadcast<Int>(capacity: 9, keepsForFirst: true)
        source.send(1)
        var first = source.stream().makeAsyncIterator()
        var second = source.stream().makeAsyncIterator()
        source.send(2)
        #expect(await [first.next(), first.next()] == [1, 2])
        #expect(await second.next() == 2)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A stream whose reader is slow` {
    private final class Log: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { self.lines.withLock { $0 } }
        func add(_ line: String) { self.lines.withLock { $0.append(line) } }
    }

    @Test func `holds the newest values, and tells the reader of the gap when it comes to it, once`() async {
        let source = Broadcast<Int>(capacity: 3)
        let log = Log()
        var values = source.stream(gap: { log.add("gap") }).makeAsyncIterator()
        func read() async { log.add(await values.next().map { "\($0)" } ?? "end") }
        for value in 1...3 { source.send(value) }
        await read()
        #expect(log.all == ["1"])
        for value in 4...7 { source.send(value) }
        #expect(log.all == ["1"])
        for _ in 1...3 { await read() }
        source.send(8)
        await read()
        #expect(log.all == ["1", "gap", "5", "6", "7", "8"])
    }

    @Test func `does not hold up another reader`() async {
        let source = Broadcast<Int>(capacity: 2)
        let slow = source.stream()
        var quick = source.stream().makeAsyncIterator()
        for value in 1...9 {
            source.send(value)
            #expect(await quick.next() == value)
        }
        var left = slow.makeAsyncIterator()
        #expect(await [left.next(), left.next()] == [8, 9])
    }

    @Test func `counts what it is to hold, and not what it leaves out`() async {
        let source = Broadcast<Int>(capacity: 2)
        let log = Log()
        let odd = source.stream(gap: { log.add("gap") }) { $0.isMultiple(of: 2) ? nil : "\($0)" }
        for value in 1...4 { source.send(value) }
        var values = odd.makeAsyncIterator()
        #expect(await [values.next(), values.next()] == ["1", "3"])
        #expect(log.all == [])
    }

    @Test func `holds no more of what came before the first stream`() async {
        let source = Broadcast<Int>(capacity: 2, keepsForFirst: true)
        let log = Log()
        for value in 1...5 { source.send(value) }
        var values = source.stream(gap: { log.add("gap") }).makeAsyncIterator()
        #expect(await [values.next(), values.next()] == [4, 5])
        #expect(log.all == ["gap"])
    }

    @Test func `ends with the task of its reader, and lets go of what it holds`() async {
        let source = Broadcast<Log>(capacity: 2)
        let stream = source.stream()
        weak var held: Log?
        do {
            let value = Log()
            held = value
            source.send(value)
        }
        #expect(held != nil)
        let reader = Task {
            while !Task.isCancelled { await Task.yield() }
            for await _ in stream {}
        }
        reader.cancel()
        await reader.value
        #expect(held == nil)
        source.send(Log())
    }
    /// Found by unit tests that never ended: freed under the source's lock, the stream waited for that lock.
    @Test func `may be let go of while it is handed a value`() async {
        let source = Broadcast<Int>(capacity: 2)
        let stream = Locked<AsyncStream<Int>?>(nil)
        let made = source.stream { value in
            let last = stream.withLock { $0.take() }
            return withExtendedLifetime(last) { value }
        }
        stream.withLock { $0 = made }
        _ = consume made
        source.send(1)
        #expect(stream.withLock { $0 == nil })
        let other = source.stream()
        source.send(2)
        var values = other.makeAsyncIterator()
        #expect(await values.next() == 2)
    }
}

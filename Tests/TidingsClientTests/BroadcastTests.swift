import Foundation
import Testing
import TidingsAppGroup

@testable import TidingsClient

@Suite(.timeLimit(.minutes(1))) struct `A source with a value of the moment` {
    @Test func `tells a new stream that value and every later one, in order, whatever changes meanwhile`() async {
        let source = Broadcast<Int>()
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
        let source = Broadcast<Int>(keepsForFirst: true)
        source.send(1)
        var first = source.stream().makeAsyncIterator()
        var second = source.stream().makeAsyncIterator()
        source.send(2)
        #expect(await [first.next(), first.next()] == [1, 2])
        #expect(await second.next() == 2)
    }
}

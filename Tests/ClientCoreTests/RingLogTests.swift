import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `The log of rings in the foreground` {
    @Test(.requirement("S2.9")) func `knows what has rung and nothing else`() {
        var log = RingLog()
        log.insert(MessageID(rawValue: 1))
        #expect(log.contains(MessageID(rawValue: 1)))
        #expect(!log.contains(MessageID(rawValue: 2)))
    }

    @Test func `forgets the oldest first, and a repeated ring takes no place`() {
        var log = RingLog()
        for id in 1...UInt64(RingLog.capacity) { log.insert(MessageID(rawValue: id)) }
        log.insert(MessageID(rawValue: 2))
        #expect(log.contains(MessageID(rawValue: 1)))
        log.insert(MessageID(rawValue: 9_999))
        #expect(!log.contains(MessageID(rawValue: 1)))
        #expect(log.contains(MessageID(rawValue: 2)))
    }
}

import Testing
import TidingsModel

@testable import PhoneTerminal

@Suite struct `Keys from a terminal` {
    @Test func `come one by one, also of several bytes`() {
        var reader = KeyReader()
        #expect(
            reader.append(Array("h好\r\u{7f}".utf8)) == [.character("h"), .character("好"), .enter, .backspace])
        #expect(reader.append([0x1b, 0x5b, 0x41, 0x1b, 0x4f, 0x42, 0x1b, 0x5b, 0x35, 0x7e]) == [.up, .down, .pageUp])
        #expect(reader.append([3, 12, 1]) == [.interrupt, .redraw])
    }

    @Test func `wait for the rest of a letter and of a sequence`() {
        var reader = KeyReader()
        #expect(reader.append([0xe5, 0xa5]) == [])
        #expect(reader.append([0xbd]) == [.character("好")])
        #expect(reader.append([0x1b]) == [])
        #expect(reader.append([0x5b]) == [])
        #expect(reader.append([0x42]) == [.down])
    }

    @Test func `tell escape from a sequence when nothing follows`() {
        var reader = KeyReader()
        #expect(reader.append([0x1b]) == [])
        #expect(reader.flush() == [.escape])
        #expect(!reader.isInside)
    }

    @Test func `pass over what they do not know`() {
        var reader = KeyReader()
        #expect(reader.append(Array("\u{1b}[1;5Ch\u{1b}[24~q".utf8)) == [.character("h"), .character("q")])
        #expect(reader.append([0xff, 0xc0, 0x41]) == [.character("A")])
        #expect(reader.append([0x1b, 0x5b] + Array(repeating: 0x30, count: 200)).count == 0 || !reader.isInside)
    }

    @Test func `are not found in pasted text`() {
        var reader = KeyReader()
        #expect(reader.append(Array("\u{1b}[200~qq\rk".utf8)) == [])
        #expect(reader.flush() == [])
        #expect(reader.append(Array("\u{1b}[201~h".utf8)) == [.pasted("qq\rk"), .character("h")])
    }

    @Test(arguments: 0..<200) func `never keep a key for ever, whatever comes`(seed: Int) {
        var state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1
        var reader = KeyReader()
        for _ in 0..<64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let bytes = [UInt8(truncatingIfNeeded: state >> 33), state >> 60 == 0 ? 0x1b : UInt8(state >> 57)]
            _ = reader.append(bytes)
            _ = reader.flush()
            #expect(!reader.isInside)
        }
    }
}

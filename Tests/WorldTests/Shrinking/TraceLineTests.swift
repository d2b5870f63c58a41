import Testing

@testable import World

@Suite struct `The last lines of a trace` {
    private static func line(_ at: Int64, _ stream: RandomStream, _ text: String, isRoutine: Bool = false) -> TraceLine
    {
        TraceLine(at: at, stream: stream, cause: nil, text: text, isRoutine: isRoutine)
    }

    @Test func `are those of every stream, in the order of time, up to a moment, without routine`() {
        let lines = [
            Self.line(1, .server, "a"), Self.line(2, .phone(1), "b"), Self.line(3, .server, "c"),
            Self.line(4, .server, "ping", isRoutine: true), Self.line(5, .server, "d"), Self.line(6, .person(1), "e"),
            Self.line(7, .server, "f"),
        ]
        #expect(TraceLine.last(2, of: lines, upTo: 6).map(\.text) == ["b", "c", "d", "e"])
        #expect(TraceLine.last(2, of: lines, upTo: nil).map(\.text) == ["b", "d", "e", "f"])
    }

    @Test func `begin with time and stream`() {
        #expect(
            Self.line(3_723_004, .person(12), "writes").description == "01:02:03.004  person-12   writes")
    }
}

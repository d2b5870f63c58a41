import Foundation
public import Testing
import TidingsModel

/// How random tests are run: `TIDINGS_FUZZ=long` asks for the long form (`make fuzz`), `TIDINGS_CASES_PERCENT` for a part of the short
/// one, where building took long (dev/test).
public enum Fuzz {
    /// Whether the long form was asked for.
    public static let isLong = ProcessInfo.processInfo.environment["TIDINGS_FUZZ"] == "long"

    /// 1 to 100.
    private static let percent: Int = {
        let said = ProcessInfo.processInfo.environment["TIDINGS_CASES_PERCENT"].flatMap { Int($0) } ?? 100
        return min(max(said, 1), 100)
    }()

    /// So many as a rule, and as many of them as the machine has time for: at least one.
    public static func cases(_ count: Int) -> Int { max(count * self.percent / 100, 1) }

    /// More than so many cases must have been of some sort, or the test was one of nothing: `short` of a whole short form; half their
    /// share of a part of it, in which chance may have drawn unevenly, and there none need be of what is rare.
    public static func enough(long: Int, short: Int) -> Int {
        if self.isLong { return long }
        return self.percent == 100 ? short : short * self.percent / 200 - 1
    }

    /// How far the process may grow in the last three quarters of the cases of one kind: what leaks a few bytes a case
    /// leaks more than this, and an allocator's own coming and going is less.
    private static let growthMax = 48 << 20

    /// Runs the cases of one kind and says how many they were.
    ///
    /// In the long form, which runs one test at a time, the process must not grow from the first quarter to the end.
    ///
    /// - Parameters:
    ///   - kind: what is fuzzed, as dev/fuzz prints it.
    ///   - short: how many cases run with each `swift test`.
    ///   - long: how many in the long form.
    ///   - body: one case, by its number, which is its seed.
    public static func run(
        _ kind: String, short: Int, long: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (Int) throws -> Void
    ) rethrows {
        let count = self.isLong ? long : self.cases(short)
        var early = 0
        for number in 0..<count {
            if self.isLong, number == count / 4 { early = self.residentBytes }
            try body(number)
        }
        self.report(kind, count: count, early: early, sourceLocation)
    }

    /// The same for cases that wait for something.
    public static func run(
        _ kind: String, short: Int, long: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (Int) async throws -> Void
    ) async rethrows {
        let count = self.isLong ? long : self.cases(short)
        var early = 0
        for number in 0..<count {
            if self.isLong, number == count / 4 { early = self.residentBytes }
            try await body(number)
        }
        self.report(kind, count: count, early: early, sourceLocation)
    }

    private static func report(_ kind: String, count: Int, early: Int, _ sourceLocation: SourceLocation) {
        guard self.isLong else { return }
        let grown = self.residentBytes - early
        print("fuzz \(count) \(kind)")
        #expect(grown < self.growthMax, "\(kind): grown by \(grown) bytes", sourceLocation: sourceLocation)
    }

    /// proc(5), statm: the second number counts resident pages. 0 where there is no such file.
    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4_096
    }
}

/// Numbers that are the same in every run, and what fuzzing draws with them.
public struct Chance: RandomNumberGenerator {
    private var numbers: SplitMix64

    /// The same seed draws the same numbers.
    public init(seed: UInt64) { self.numbers = SplitMix64(seed: seed) }

    /// The next 64 bits.
    public mutating func next() -> UInt64 { self.numbers.next() }

    /// 0..<limit.
    public mutating func below(_ limit: Int) -> Int { Int(self.next() % UInt64(limit)) }

    /// One of these, which are not none.
    public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[self.below(elements.count)] }

    /// As many bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: self.next()) }
    }

    /// Changes, removes, repeats or inserts a few bytes.
    public mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let at = self.below(bytes.count)
        let length = min(1 + self.below(12), bytes.count - at)
        switch self.below(7) {
        case 0, 1: bytes[at] = UInt8(truncatingIfNeeded: self.next())
        case 2: bytes[at] ^= 1 << UInt8(self.below(8))
        case 3: bytes.removeSubrange(at..<(at + length))
        case 4: bytes.insert(contentsOf: bytes[at..<(at + length)], at: self.below(bytes.count))
        case 5: bytes.removeSubrange(at...)
        default: bytes.insert(UInt8(truncatingIfNeeded: self.next()), at: at)
        }
    }
}

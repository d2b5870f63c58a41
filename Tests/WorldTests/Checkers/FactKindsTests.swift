import Testing
import TidingsModel

@testable import World

/// A promise to which every fact is shown, and which must leave alone what it says it does not look at.
private struct Strict<Base: Checker>: Checker {
    static var kinds: FactKinds { .all }

    var base: Base

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard !Base.kinds.contains(fact.kind) else { return self.base.observe(fact, in: state, into: &findings) }
        var other = self.base
        var found = Findings()
        other.observe(fact, in: state, into: &found)
        guard !found.violations.isEmpty || !found.reached.isEmpty || !isSame(other, self.base) else { return }
        findings.add("kinds", "\(Base.self) looks at \(fact.kind), and does not say so")
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        self.base.checkEnding(ending, in: state, into: &findings)
    }
}

/// Whether a copy has been left as it was: then it lies in memory as what it was copied from, but for what lies between its fields.
private func isSame<Value>(_ copy: Value, _ value: Value) -> Bool {
    let isUntouched = withUnsafeBytes(of: copy) { copy in
        withUnsafeBytes(of: value) { value in copy.elementsEqual(value) }
    }
    return isUntouched || String(reflecting: copy) == String(reflecting: value)
}

private func strict(_ checker: some Checker) -> any Checker { Strict(base: checker) }

/// Looks at one kind of fact, and says so under another.
private struct Careless: Checker {
    static let kinds = FactKinds(.signedOut)

    private var ended: Set<DeviceID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        if case .tokenEnded(let device) = fact { self.ended.insert(device) }
    }
}

/// Writes down which kinds of facts there were.
private struct KindLog: Checker {
    final class Book { var kinds: Set<FactKind> = [] }

    static var kinds: FactKinds { .all }

    let book: Book

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        self.book.kinds.insert(fact.kind)
    }
}

@Suite struct `Each promise` {
    @Test func `says what kinds of facts it looks at`() {
        let book = KindLog.Book()
        for seed in [5, 8, 13, 15, 20] as [UInt64] {
            let options = WorldOptions(seed: seed, phones: 6, hours: 1, faults: .swarm)
            let report = World.run(
                options, checkers: Checkers(Checkers.every.map { strict($0) } + [KindLog(book: book)]))
            #expect(report.violations == [])
        }
        // Of the other app's commands no promise is told.
        #expect(Set(FactKind.allCases).subtracting(book.kinds) == [.otherTenantStored])
    }

    @Test func `is found out if it looks at more`() {
        var checkers = Checkers([strict(Careless())])
        checkers.observe(.tokenEnded("ann-1"), at: Now(monotonic: 0, wall: 0))
        #expect(checkers.violations.map(\.promise) == ["kinds"])
    }

    @Test func `is shown what it looks at, and nothing else`() {
        let book = KindLog.Book()
        struct Narrow: Checker {
            static let kinds = FactKinds(.signedOut, .keepLeg)
            var log: KindLog

            mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
                self.log.observe(fact, in: state, into: &findings)
            }
        }
        var checkers = Checkers([Narrow(log: KindLog(book: book))])
        for fact in [.signedOut(ann1), .signedIn(ann1), .heard, .wrongEnvironment] as [Fact] {
            checkers.observe(fact, at: Now(monotonic: 0, wall: 0))
        }
        #expect(book.kinds == [.signedOut])
    }
}

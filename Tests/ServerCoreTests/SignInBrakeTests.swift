import ServerCore
import Testing

private let second: Int64 = 1_000

extension SignInBrake {
    /// A try with what follows: the answer's delay, or `nil` if it was refused.
    fileprivate mutating func attempt(
        _ name: String = "anna", from address: String = "192.0.2.1", isGood: Bool = false, at now: Int64 = 0
    ) -> Int64? {
        guard self.begin(from: address, at: now) == nil else { return nil }
        return self.end(name, from: address, isGood: isGood, at: now)
    }

    /// Each from another address.
    fileprivate mutating func fail(_ count: Int, _ name: String = "anna", at now: Int64 = 0) -> [Int64?] {
        (0..<count).map { self.attempt(name, from: "198.51.100.\($0)", at: now) }
    }
}

@Suite struct `Wrong passwords of an address` {
    @Test func `take its ten tries, of which one comes back every thirty seconds`() {
        var brake = SignInBrake()
        for count in 0..<10 { #expect(brake.attempt("nobody\(count)") == 0) }
        #expect(brake.begin(from: "192.0.2.1", at: 0) == 30 * second)
        #expect(brake.begin(from: "192.0.2.1", at: 29 * second) == 1 * second)
        #expect(brake.attempt(at: 30 * second) == 0)
        #expect(brake.begin(from: "192.0.2.1", at: 30 * second) == 30 * second)
        // After a while there are ten again, and no more.
        let later = 3_600 * second
        for count in 0..<10 { #expect(brake.attempt("nobody\(count)", at: later) == 0) }
        #expect(brake.begin(from: "192.0.2.1", at: later) == 30 * second)
    }

    @Test func `are counted when they begin, so that many at the same time are no more`() {
        var brake = SignInBrake()
        for _ in 0..<10 { #expect(brake.begin(from: "192.0.2.1", at: 0) == nil) }
        #expect(brake.begin(from: "192.0.2.1", at: 0) == 30 * second)
    }

    @Test func `are no other's, and a good one costs nothing`() {
        var brake = SignInBrake()
        for _ in 0..<50 { #expect(brake.attempt(isGood: true) == 0) }
        for count in 0..<10 { #expect(brake.attempt("nobody\(count)") == 0) }
        #expect(brake.begin(from: "192.0.2.1", at: 0) != nil)
        #expect(brake.attempt(from: "192.0.2.2") == 0)
    }

    @Test func `cost nothing if nobody has looked at them`() {
        var brake = SignInBrake()
        for _ in 0..<50 {
            #expect(brake.begin(from: "192.0.2.1", at: 0) == nil)
            brake.takeBack(from: "192.0.2.1", at: 0)
        }
        #expect(brake == SignInBrake())
    }

    @Test func `refuse nobody whose address is not known`() {
        var brake = SignInBrake()
        for count in 0..<100 { #expect(brake.attempt("nobody\(count)", from: "") == 0) }
    }

    @Test func `are forgotten of the address that has waited longest, when there are very many`() {
        var brake = SignInBrake()
        for _ in 0..<10 { _ = brake.begin(from: "first", at: 0) }
        for number in 0..<(SignInBrake.addressesMax - 1) { _ = brake.begin(from: "\(number)", at: 0) }
        #expect(brake.begin(from: "first", at: 0) == 30 * second)
        _ = brake.begin(from: "one more", at: 0)
        #expect(brake.begin(from: "first", at: 0) == nil)
    }
}

@Suite struct `Wrong passwords of an operator` {
    @Test func `are answered later and later after three, and never refused`() {
        var brake = SignInBrake()
        #expect(brake.fail(10) == [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
        #expect(brake.fail(1_000).allSatisfy { $0 == 8_000 || $0 == nil })
        #expect(brake.attempt(from: "203.0.113.1") == 8_000)
    }

    @Test func `let the operator in at once from where they have signed in, and a little later from elsewhere`() {
        var brake = SignInBrake()
        #expect(brake.attempt(from: "home", isGood: true) == 0)
        _ = brake.fail(100)
        #expect(brake.attempt(from: "home", isGood: true) == 0)
        #expect(brake.attempt(from: "office", isGood: true) == 8_000)
        #expect(brake.attempt(from: "office", isGood: true) == 0)
        // What is wrong waits wherever it comes from.
        #expect(brake.attempt(from: "home") == 8_000)
    }

    @Test func `are forgotten one a minute`() {
        var brake = SignInBrake()
        _ = brake.fail(5)
        #expect(brake.attempt(from: "home", isGood: true, at: 0) == 1_000)
        #expect(brake.attempt(from: "office", isGood: true, at: 60 * second) == 500)
        #expect(brake.attempt(from: "train", isGood: true, at: 120 * second) == 0)
        // However many there were, a few minutes are enough.
        _ = brake.fail(1_000, at: 120 * second)
        #expect(brake.attempt(from: "café", isGood: true, at: 420 * second) == 0)
    }

    @Test func `count for a name that nobody has as for any other`() {
        var brake = SignInBrake()
        #expect(brake.fail(6, "nobody") == brake.fail(6, "anna"))
    }

    @Test func `do not slow down another operator`() {
        var brake = SignInBrake()
        _ = brake.fail(100)
        #expect(brake.attempt("bert", from: "elsewhere", isGood: true) == 0)
    }

    @Test func `remember eight addresses of an operator`() {
        var brake = SignInBrake()
        for number in 0..<9 { _ = brake.attempt(from: "home \(number)", isGood: true) }
        _ = brake.fail(100)
        #expect(brake.attempt(from: "home 1", isGood: true) == 0)
        #expect(brake.attempt(from: "home 0", isGood: true) == 8_000)
    }
}

import OrderedCollections

/// Slows down attackers who guess operators' passwords, and locks nobody out.
///
/// - An address has ten tries, of which one comes back every 30 seconds. A try is taken before the password is looked at, so that many at the
///   same time are no more than one after the other, and given back if it was good. Without tries left an address is refused, and is told
///   how long to wait.
/// - An operator's name is never refused. After three wrong passwords in a few minutes the answer to a wrong one comes later, at most eight
///   seconds, and so does the answer to a good one from an address from which the operator has not signed in; one from which they have is
///   answered at once. One wrong password is forgotten each minute.
/// - A name that no operator has is counted like an operator's, so that nobody learns which names there are.
///
/// It has no clock: `now` is monotonic milliseconds.
package struct SignInBrake: Hashable, Sendable {
    package static let triesMax = 10
    package static let tryTime: Int64 = 30_000
    /// Wrong passwords after which answers come later.
    package static let failuresFree = 3
    package static let failureTime: Int64 = 60_000
    package static let delayFirst: Int64 = 500
    package static let delayMax: Int64 = 8_000
    package static let addressesMax = 16_384
    package static let namesMax = 4_096
    /// The most known addresses of one operator.
    package static let knownAddressesMax = 8

    private struct Account: Hashable {
        /// Monotonic milliseconds; the wrong passwords before then are forgotten one by one.
        var forgottenAt = Int64.min
        /// From which the operator has signed in, the newest last.
        var known: [String] = []
    }

    /// When each has all its tries again; what was used last is at the end, and what has waited longest makes room.
    private var addresses: OrderedDictionary<String, Int64> = [:]
    private var accounts: OrderedDictionary<String, Account> = [:]

    package init() {}

    /// Takes a try.
    /// - Parameter address: what is counted together; empty if it is not known, and then not counted.
    /// - Returns: nil if the password may be looked at; otherwise the milliseconds until there is a try.
    package mutating func begin(from address: String, at now: Int64) -> Int64? {
        guard !address.isEmpty else { return nil }
        let fullAt = max(self.addresses[address] ?? now, now) + Self.tryTime
        let missing = fullAt - now - Int64(Self.triesMax) * Self.tryTime
        guard missing <= 0 else { return missing }
        self.setFull(address, fullAt, at: now)
        return nil
    }

    /// Gives a try back: the password was good, or nobody has looked at it.
    package mutating func takeBack(from address: String, at now: Int64) {
        guard let fullAt = self.addresses[address] else { return }
        self.setFull(address, fullAt - Self.tryTime, at: now)
    }

    private mutating func setFull(_ address: String, _ fullAt: Int64, at now: Int64) {
        self.addresses.removeValue(forKey: address)
        if fullAt > now { self.addresses[address] = fullAt }
        if self.addresses.count > Self.addressesMax { self.addresses.removeFirst() }
    }

    /// Ends a try, with a name that an operator has or nobody.
    /// - Returns: the milliseconds that the answer waits.
    package mutating func end(_ name: String, from address: String, isGood: Bool, at now: Int64) -> Int64 {
        var account = self.accounts.removeValue(forKey: name) ?? Account()
        defer {
            self.accounts[name] = account
            if self.accounts.count > Self.namesMax { self.accounts.removeFirst() }
        }
        guard isGood else {
            let most = Int64(Self.failuresFree + Self.steps) * Self.failureTime
            account.forgottenAt = min(max(account.forgottenAt, now) + Self.failureTime, now + most)
            return Self.delay(of: account, at: now)
        }
        self.takeBack(from: address, at: now)
        let isKnown = account.known.contains(address)
        account.known.removeAll { $0 == address }
        if !address.isEmpty { account.known.append(address) }
        if account.known.count > Self.knownAddressesMax { account.known.removeFirst() }
        return isKnown ? 0 : Self.delay(of: account, at: now)
    }

    /// From the first delay to the longest.
    private static let steps = 5

    private static func delay(of account: Account, at now: Int64) -> Int64 {
        let time = max(0, account.forgottenAt - min(now, account.forgottenAt))
        let failures = Int((time + Self.failureTime - 1) / Self.failureTime)
        let over = failures - Self.failuresFree
        return over <= 0 ? 0 : min(Self.delayMax, Self.delayFirst << Int64(min(over, Self.steps) - 1))
    }
}

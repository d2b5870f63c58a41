/// FNV-1a over 64 bits (Fowler, Noll, Vo): a hash that is the same in every process and on every machine, unlike Swift's own.
/// Not for secrets.
package struct FNV1a: Hashable, Sendable {
    /// The hash of what was fed so far. Its low bits are worse than its high ones; `SplitMix64.mixed` evens them out.
    @inlinable package var value: UInt64 { self.state }
    @usableFromInline var state: UInt64

    /// A hash of nothing.
    ///
    /// - Parameter seed: hashes with different seeds differ.
    @inlinable package init(seed: UInt64 = 0) { self.state = 0xcbf2_9ce4_8422_2325 ^ seed }

    /// Feeds a byte.
    @inlinable package mutating func feed(_ byte: UInt8) { self.state = (self.state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// Feeds a number, lowest byte first.
    @inlinable package mutating func feed(_ number: UInt64) {
        var rest = number
        for _ in 0..<8 {
            self.feed(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Feeds a text's bytes, without a mark at its end: `("ab", "c")` and `("a", "bc")` are the same.
    @inlinable package mutating func feed(_ text: String) { for byte in text.utf8 { self.feed(byte) } }
}

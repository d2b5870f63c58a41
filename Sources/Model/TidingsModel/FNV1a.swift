/// FNV-1a over 64 bits (Fowler, Noll, Vo): the same in every process and on every machine, unlike Swift's own hash.
/// Not for secrets.
package struct FNV1a: Hashable, Sendable {
    /// Low bits are worse than high ones; `SplitMix64.mixed` evens them out.
    @inlinable package var value: UInt64 { self.state }
    @usableFromInline var state: UInt64

    @inlinable package init(seed: UInt64 = 0) { self.state = 0xcbf2_9ce4_8422_2325 ^ seed }

    @inlinable package mutating func feed(_ byte: UInt8) { self.state = (self.state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// Lowest byte first.
    @inlinable package mutating func feed(_ number: UInt64) {
        var rest = number
        for _ in 0..<8 {
            self.feed(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Without an end mark: `("ab", "c")` and `("a", "bc")` are the same.
    @inlinable package mutating func feed(_ text: String) {
        var text = text
        text.withUTF8 { for byte in $0 { self.feed(byte) } }
    }
}

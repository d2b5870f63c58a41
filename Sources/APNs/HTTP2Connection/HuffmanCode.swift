/// The code of strings in header blocks (RFC 7541 §5.2 and Appendix B).
///
/// It is canonical: codes rise with their length, and within a length with the symbol, so that the lengths say
/// everything.
enum HuffmanCode {
    private struct Tables {
        /// Maps nine bits to the symbol they begin with and its length, or 0 as length where the code is longer.
        var short = ContiguousArray(repeating: (symbol: UInt8(0), length: UInt8(0)), count: 512)
        /// By length: the first code, the one behind the last, and where their symbols begin.
        var long = ContiguousArray(repeating: (first: UInt32(0), end: UInt32(0), offset: 0), count: 31)
        var symbols: ContiguousArray<UInt16> = []
    }

    /// The lengths of the 256 bytes and of EOS, `a` for 5 up to `z` for 30.
    private static let lengths: StaticString =
        """
        isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhf\
        ibccccccccccccccccccccccdcdioijbkabababbbaccbbbabcbaabccccckgjix\
        prpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs\
        vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwv\
        z
        """

    private static let endOfString: UInt16 = 256

    private static let tables: Tables = {
        var tables = Tables()
        let lengths = Self.lengths.withUTF8Buffer { $0.map { Int($0) - 92 } }
        var code: UInt32 = 0
        for length in 5...30 {
            code <<= length == 5 ? 0 : 1
            tables.long[length] = (code, code, tables.symbols.count)
            for (symbol, _) in lengths.enumerated().filter({ $0.element == length }) {
                if length <= 9 {
                    let first = Int(code) << (9 - length)
                    for place in first..<(first + 1 << (9 - length)) {
                        tables.short[place] = (UInt8(symbol), UInt8(length))
                    }
                }
                tables.symbols.append(UInt16(symbol))
                code += 1
            }
            tables.long[length].end = code
        }
        return tables
    }()

    /// Appends what was encoded.
    ///
    /// - Returns: `false` for what no encoder writes: EOS, or an end that is not the beginning of EOS, shorter than a
    /// byte.
    static func decode(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) -> Bool {
        let tables = Self.tables
        var next = 0
        var bits: UInt64 = 0
        var count = 0
        while true {
            while count <= 48, next < bytes.count {
                bits = bits << 8 | UInt64(bytes[next])
                count += 8
                next += 1
            }
            if count == 0 { return true }
            // Behind the end come ones, as in EOS.
            let window =
                count >= 32
                ? UInt32(truncatingIfNeeded: bits >> UInt64(count - 32))
                : UInt32(truncatingIfNeeded: bits << UInt64(32 - count)) | (1 << UInt32(32 - count) - 1)
            var (symbol, length) = (UInt16(0), 0)
            let short = tables.short[Int(window >> 23)]
            if short.length > 0 {
                (symbol, length) = (UInt16(short.symbol), Int(short.length))
            } else {
                length = 10
                while length < 30, window >> UInt32(32 - length) >= tables.long[length].end { length += 1 }
                let row = tables.long[length]
                symbol = tables.symbols[row.offset + Int(window >> UInt32(32 - length) - row.first)]
            }
            if length > count { return count < 8 && window == .max }
            if symbol == Self.endOfString { return false }
            text.append(UInt8(truncatingIfNeeded: symbol))
            count -= length
        }
    }
}

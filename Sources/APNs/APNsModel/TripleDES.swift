/// Triple DES with three keys (NIST SP 800-67): for `.p12` files and old keys alone, whose readers of every age know it.
package struct TripleDES: SmallBlockCipher {
    private let schedules: [[UInt64]]

    /// - Parameter key: 24 bytes; the same eight three times are DES alone.
    package init(key: [UInt8]) {
        self.schedules = stride(from: 0, to: 24, by: 8).map { Self.schedule(Self.number(key[$0..<($0 + 8)])) }
    }

    /// Encrypts in CBC mode, as `decrypt` has it.
    ///
    /// - Parameter start: the initialization vector, 8 bytes.
    package func encrypt(_ bytes: [UInt8], from start: [UInt8]) -> [UInt8] {
        let padding = 8 - bytes.count % 8
        let padded = bytes + [UInt8](repeating: UInt8(padding), count: padding)
        var last = Self.number(start[...])
        return stride(from: 0, to: padded.count, by: 8).flatMap { place in
            last ^= Self.number(padded[place..<(place + 8)])
            last = Self.run(Self.run(last, self.schedules[0]), self.schedules[1].reversed())
            last = Self.run(last, self.schedules[2])
            return Self.bytes(last)
        }
    }

    package func decrypt(_ block: UInt64) -> UInt64 {
        Self.run(
            Self.run(Self.run(block, self.schedules[2].reversed()), self.schedules[1]), self.schedules[0].reversed())
    }

    // MARK: DES (FIPS 46-3)

    /// Bits of a value that has so many, counted from 1 at the highest, in another order.
    private static func permute(_ value: UInt64, of bits: Int, _ table: [Int]) -> UInt64 {
        table.reduce(0) { $0 << 1 | value >> (bits - $1) & 1 }
    }

    private static func schedule(_ key: UInt64) -> [UInt64] {
        let chosen = Self.permute(key, of: 64, Self.keyChoice)
        var (left, right) = (chosen >> 28, chosen & 0xfff_ffff)
        func rotate(_ half: UInt64, by count: Int) -> UInt64 { (half << count | half >> (28 - count)) & 0xfff_ffff }
        return (0..<16).map { round in
            let count = [0, 1, 8, 15].contains(round) ? 1 : 2
            left = rotate(left, by: count)
            right = rotate(right, by: count)
            return Self.permute(left << 28 | right, of: 56, Self.roundChoice)
        }
    }

    private static func run(_ block: UInt64, _ keys: some Sequence<UInt64>) -> UInt64 {
        let start = Self.permute(block, of: 64, Self.first)
        var (left, right) = (start >> 32, start & 0xffff_ffff)
        for key in keys { (left, right) = (right, left ^ Self.mix(right, key)) }
        return Self.permute(right << 32 | left, of: 64, Self.last)
    }

    private static func mix(_ half: UInt64, _ key: UInt64) -> UInt64 {
        let mixed = Self.permute(half, of: 32, Self.expansion) ^ key
        var chosen: UInt64 = 0
        for box in 0..<8 {
            let six = Int(mixed >> (42 - 6 * box) & 63)
            let row = six >> 4 & 2 | six & 1
            chosen = chosen << 4 | Self.boxes[box][row * 16 + (six >> 1 & 15)]
        }
        return Self.permute(chosen, of: 32, Self.spread)
    }

    private static let first = [58, 60, 62, 64, 57, 59, 61, 63].flatMap { Array(stride(from: $0, to: 0, by: -8)) }
    private static let last: [Int] = {
        var table = [Int](repeating: 0, count: 64)
        for (index, bit) in Self.first.enumerated() { table[bit - 1] = index + 1 }
        return table
    }()
    private static let expansion = (0..<48).map { (4 * ($0 / 6) + $0 % 6 + 31) % 32 + 1 }
    private static let spread = [
        16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11,
        4, 25,
    ]
    private static let keyChoice = [
        57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63,
        55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
    ]
    private static let roundChoice = [
        14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55,
        30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
    ]
    /// Each box: four rows of 16 numbers, one hexadecimal digit each.
    private static let boxes: [[UInt64]] = [
        "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
        "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
        "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
        "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
        "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
        "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
        "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
        "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
    ].map { $0.compactMap { $0.hexDigitValue.map { UInt64($0) } } }
}

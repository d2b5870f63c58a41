/// RC2 (RFC 2268): for `.p12` files of long ago alone.
package struct RC2: SmallBlockCipher {
    private let keys: [UInt16]

    /// - Parameter key: 1 to 128 bytes, all of whose bits count.
    package init(key: [UInt8]) {
        // RFC 2268, section 2.
        var bytes = key + [UInt8](repeating: 0, count: 128 - key.count)
        for index in key.count..<128 {
            bytes[index] = Self.table[Int(bytes[index - 1] &+ bytes[index - key.count])]
        }
        let first = 128 - key.count
        bytes[first] = Self.table[Int(bytes[first])]
        for index in (0..<first).reversed() {
            bytes[index] = Self.table[Int(bytes[index + 1] ^ bytes[index + key.count])]
        }
        self.keys = (0..<64).map { UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8 }
    }

    package func decrypt(_ block: UInt64) -> UInt64 {
        var words = Self.words(block)
        for round in (0..<16).reversed() {
            if round == 4 || round == 10 {
                for index in (0..<4).reversed() { words[index] &-= self.keys[Int(words[(index + 3) % 4] & 63)] }
            }
            for (index, turn) in Self.turns.enumerated().reversed() {
                let word = words[index] >> turn | words[index] << (16 - turn)
                words[index] = word &- self.keys[4 * round + index] &- Self.mix(words, index)
            }
        }
        return Self.block(words)
    }

    private static let turns: [UInt16] = [1, 2, 3, 5]

    private static func mix(_ words: [UInt16], _ index: Int) -> UInt16 {
        let last = words[(index + 3) % 4]
        return last & words[(index + 2) % 4] &+ ~last & words[(index + 1) % 4]
    }

    private static func words(_ block: UInt64) -> [UInt16] {
        [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: block >> $0).byteSwapped }
    }

    private static func block(_ words: [UInt16]) -> UInt64 { words.reduce(0) { $0 << 16 | UInt64($1.byteSwapped) } }

    private static let table: [UInt8] = {
        let digits = Array(
            """
            d978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2179a59f587b34f1361456d8d09817d32
            bd8f40eb86b77b0bf09521225c6b4e8254d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb626
            6fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed708e8eade8052eef784aa72ac354d6a2a
            961ad2715a1549744b9fd05e0418a4ecc2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731
            2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a90d38341bab33ffb0bb480c5fb9b1cd2e
            c5f3db47e5a59c770aa62068fe7fc1ad
            """.compactMap(\.hexDigitValue))
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }()
}

/// RC4: for `.p12` files of long ago alone. It encrypts as it decrypts.
package enum RC4 {
    /// Encrypts or decrypts.
    ///
    /// - Parameter key: not empty.
    package static func crypt(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var state = (0...255).map { UInt8($0) }
        var (first, second): (UInt8, UInt8) = (0, 0)
        for index in 0..<256 {
            second = second &+ state[index] &+ key[index % key.count]
            state.swapAt(index, Int(second))
        }
        second = 0
        return bytes.map { byte in
            first &+= 1
            second = second &+ state[Int(first)]
            state.swapAt(Int(first), Int(second))
            return byte ^ state[Int(state[Int(first)] &+ state[Int(second)])]
        }
    }
}

/// A cipher of blocks of 64 bits in CBC mode (NIST SP 800-38A), padded as PKCS #7 has it (RFC 5652, section 6.3).
package protocol SmallBlockCipher {
    func decrypt(_ block: UInt64) -> UInt64
}

extension SmallBlockCipher {
    /// Decrypts what anybody may have written.
    ///
    /// - Parameter start: the initialization vector.
    /// - Returns: nil if a length or the padding is not right, as with another key.
    package func decrypt(_ bytes: [UInt8], from start: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count % 8 == 0, start.count == 8 else { return nil }
        var last = Self.number(start[...])
        let padded = stride(from: 0, to: bytes.count, by: 8).flatMap { place in
            let block = Self.number(bytes[place..<(place + 8)])
            defer { last = block }
            return Self.bytes(self.decrypt(block) ^ last)
        }
        guard let padding = padded.last, 1...8 ~= padding, padded.suffix(Int(padding)).allSatisfy({ $0 == padding })
        else { return nil }
        return padded.dropLast(Int(padding))
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

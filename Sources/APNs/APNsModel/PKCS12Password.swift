/// A password as the files of credentials take it.
package struct PKCS12Password: Hashable, Sendable {
    /// The password in UTF-8, as PBES2 and OpenSSL's old form of a key take it.
    package let bytes: [UInt8]
    /// The password as PKCS #12 itself takes it: two bytes for each unit of UTF-16, the most significant first, and two zeros behind them
    /// (RFC 7292, appendix B.1).
    package let wide: [UInt8]

    package init(_ text: String) {
        self.init(Array(text.utf8), Array(text.utf16) + [0])
    }

    private init(_ bytes: [UInt8], _ units: [UInt16]) {
        self.bytes = bytes
        self.wide = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    }

    /// Returns what programs make of one password, the likeliest first: the standard's, for none also Apple's, without the two zeros, and
    /// beyond ASCII also that of LibreSSL and of OpenSSL before 1.1, which take each byte of UTF-8 for a letter.
    package static func readings(_ text: String) -> [PKCS12Password] {
        let own = PKCS12Password(text)
        if text.isEmpty { return [own, PKCS12Password([], [])] }
        guard own.bytes.contains(where: { $0 > 0x7f }) else { return [own] }
        return [own, PKCS12Password(own.bytes, own.bytes.map { UInt16($0) } + [0])]
    }

    /// Names what is made of a password.
    package enum Purpose: UInt8, Sendable {
        case encryption = 1
        case start = 2
        case mac = 3
    }

    /// Makes key, start or key of the MAC (RFC 7292, appendix B.2).
    ///
    /// - Parameters:
    ///   - count: how many bytes are made.
    ///   - rounds: how often it is hashed, 1 or more.
    ///   - block: the bytes of a block of the hash.
    package func derive(
        _ purpose: Purpose, count: Int, salt: [UInt8], rounds: Int, block: Int, hash: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        func filled(_ bytes: [UInt8]) -> [UInt8] {
            let count = (bytes.count + block - 1) / block * block
            return (0..<count).map { bytes[$0 % bytes.count] }
        }
        let diversifier = [UInt8](repeating: purpose.rawValue, count: block)
        var input = filled(salt) + filled(self.wide)
        var result: [UInt8] = []
        while true {
            var code = hash(diversifier + input)
            for _ in 1..<rounds { code = hash(code) }
            result += code
            if result.count >= count { return Array(result.prefix(count)) }
            // Each block of the input grows by the hash and one, as numbers.
            let step = filled(code)
            for start in stride(from: 0, to: input.count, by: block) {
                var carry = 1
                for place in (0..<block).reversed() {
                    carry += Int(input[start + place]) + Int(step[place])
                    input[start + place] = UInt8(truncatingIfNeeded: carry)
                    carry >>= 8
                }
            }
        }
    }
}

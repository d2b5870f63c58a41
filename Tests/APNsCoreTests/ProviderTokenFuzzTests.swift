import Requirements
import Testing
import TidingsModel

@testable import APNsCore

/// Provider tokens that are good, nearly good, and nonsense.
private struct Tokens {
    var chance: Chance

    private static let headers = [
        #"{"alg":"ES256","kid":"KEY0000001"}"#, #"{"alg":"ES256","kid":"KEY0000001","typ":"JWT"}"#,
        #"{"kid":"KEY0000001","alg":"none"}"#, #"{"alg":"ES256"}"#, #"{"alg":["ES256"],"kid":7}"#, "[]", "",
        #"{"alg":"ES256","kid":""}"#, #"{"alg":"ES256","kid":"KEY0000001","a":{"b":{"c":{"d":{}}}}}"#,
    ]
    private static let claims = [
        #"{"iss":"TEAM000001","iat":1700000000}"#, #"{"iss":"TEAM000001","iat":"1700000000"}"#,
        #"{"iss":"TEAM000001","iat":1.7e9}"#, #"{"iss":"TEAM000001","iat":1e400}"#, #"{"iss":"TEAM000001","iat":-1}"#,
        #"{"iss":"TEAM000001","iat":99999999999999999999}"#, #"{"iss":"TEAM000001"}"#, #"{"iat":1}"#,
        #"{"iss":"TEAM000001","iat":-9223372036854775808}"#, #"{"iss":"","iat":1,"iat":2}"#, "null",
    ]

    mutating func next() -> String {
        let signature = self.chance.bytes([64, 64, 64, 70, 7, 0][self.chance.below(6)])
        // The first of the list, which are good, come as often as all others.
        let header = self.chance.pick(self.chance.below(2) == 0 ? Array(Self.headers.prefix(2)) : Self.headers)
        let claims = self.chance.pick(self.chance.below(2) == 0 ? Array(Self.claims.prefix(2)) : Self.claims)
        let segments = [Array(header.utf8), Array(claims.utf8), signature].map { self.encode($0) }
        let scheme = ["bearer ", "Bearer ", "bearer  ", "bearer", "basic ", ""][max(0, self.chance.below(16) - 10)]
        var bytes = Array((scheme + segments.joined(separator: ".")).utf8)
        for _ in 0..<[0, 0, 1, 1, 2, 6][self.chance.below(6)] { self.chance.mutate(&bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Mostly as RFC 7515 has it, else in the other alphabet with padding.
    private mutating func encode(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes, .standard)
        guard self.chance.below(4) > 0 else { return text }
        return String(
            decoding: text.utf8.filter { $0 != UInt8(ascii: "=") }.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            }, as: UTF8.self)
    }
}

@Suite struct `A provider token of any bytes` {
    @Test func `is read without fail, and what the strict reader takes the lenient one takes for the same`() {
        var tokens = Tokens(chance: Chance(seed: 21))
        var (strict, lenient) = (0, 0)
        Fuzz.run("provider tokens", short: 8_000, long: 150_000) { number in
            let text = tokens.next()
            let read = try? ProviderToken(authorization: text, isStrict: false)
            let readStrictly = try? ProviderToken(authorization: text, isStrict: true)
            if let readStrictly {
                strict += 1
                if readStrictly != read { Issue.record("\(number): read in two ways: \(text)") }
                if readStrictly.signature.count != 64 { Issue.record("\(number): no signature: \(text)") }
            }
            guard let read else { return }
            lenient += 1
            if read.keyID.isEmpty || read.teamID.isEmpty || read.signature.count < 8 {
                Issue.record("\(number): something is empty: \(text)")
            }
            // What is verified is what stands there, byte for byte.
            let input = String(decoding: read.signingInput, as: UTF8.self)
            if !text.contains(input) || input.utf8.count(where: { $0 == UInt8(ascii: ".") }) != 1 {
                Issue.record("\(number): signed was \(input) of \(text)")
            }
        }
        #expect(strict > Fuzz.enough(long: 1_000, short: 50))
        #expect(lenient > strict)
    }

    @Test func `has segments whose bytes come back from base64`() {
        var chance = Chance(seed: 22)
        for count in 0..<300 {
            let bytes = chance.bytes(count)
            #expect(Base64.decode(Base64.encode(bytes, .standard).utf8, isStrict: false) == bytes)
        }
    }
}

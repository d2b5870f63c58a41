import Testing
import TidingsModel

@testable import APNsModel

@Suite struct `A cipher of old files` {
    private func bytes(_ text: String) -> [UInt8] { Hexadecimal.bytes(text.replacing(" ", with: "").utf8) ?? [] }

    /// RFC 2268, section 5, those whose keys count whole.
    @Test(arguments: [
        ("ffffffffffffffff", "278b27e42e2f0d49", "ffffffffffffffff"),
        ("3000000000000000", "30649edf9be7d2c2", "1000000000000001"),
        ("88bca90e90875a7f0f79c384627bafb2", "2269552ab0f85ca6", "0000000000000000"),
    ])
    func `is RC2 as its document has it`(key: String, encrypted: String, plain: String) throws {
        let cipher = RC2(key: self.bytes(key))
        let block = try #require(UInt64(encrypted, radix: 16))
        #expect(cipher.decrypt(block) == UInt64(plain, radix: 16))
    }

    /// RFC 6229, section 2.
    @Test(arguments: [
        ("0102030405", "b2396305f03dc027ccc3524a0a1118a8"),
        ("0102030405060708090a0b0c0d0e0f10", "9ac7cc9a609d1ef7b2932899cde41b97"),
    ])
    func `is RC4 as its document has it`(key: String, stream: String) {
        #expect(RC4.crypt([UInt8](repeating: 0, count: 16), key: self.bytes(key)) == self.bytes(stream))
    }

    @Test func `is triple DES, whose own text comes back, and no other length, start or padding`() {
        let des = TripleDES(key: self.bytes("0123456789abcdef 23456789abcdef01 456789abcdef0123"))
        let start = self.bytes("f69f2445df4f9b17")
        for count in 0..<20 {
            let text = (0..<count).map { UInt8($0) }
            let encrypted = des.encrypt(text, from: start)
            #expect(des.decrypt(encrypted, from: start) == text)
            #expect(des.decrypt(encrypted.dropLast(), from: start) == nil)
            #expect(des.decrypt(encrypted, from: []) == nil)
        }
        #expect(des.decrypt([], from: start) == nil)
        #expect(des.decrypt([UInt8](repeating: 0, count: 8), from: start) == nil)
    }

    /// RFC 7292, appendix B.1: what programs make of a password, the standard's form first.
    @Test func `takes a password as its programs write it`() {
        #expect(
            PKCS12Password.readings("Aé").map(\.wide) == [
                [0, 0x41, 0, 0xe9, 0, 0], [0, 0x41, 0, 0xc3, 0, 0xa9, 0, 0],
            ])
        #expect(PKCS12Password("🔑").wide == [0xd8, 0x3d, 0xdd, 0x11, 0, 0])
        #expect(PKCS12Password.readings("").map(\.wide) == [[0, 0], []])
        #expect(PKCS12Password.readings("sesame").count == 1)
    }
}

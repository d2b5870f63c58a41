import Testing
import TidingsModel

@Suite struct `Seeded numbers` {
    // The first numbers of the authors' C code for this seed.
    @Test func `are those of SplitMix64`() {
        var numbers = SplitMix64(seed: 1_234_567)
        #expect(
            (0..<5).map { _ in numbers.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }
}

@Suite struct `A stable hash` {
    // The vectors of the authors' FNV test suite, and the bytes of a number in the order they are fed.
    @Test func `is FNV-1a`() {
        func hash(_ text: String, seed: UInt64 = 0) -> UInt64 {
            var hash = FNV1a(seed: seed)
            hash.feed(text)
            return hash.value
        }
        #expect(hash("") == 0xcbf2_9ce4_8422_2325)
        #expect(hash("a") == 0xaf63_dc4c_8601_ec8c)
        #expect(hash("foobar") == 0x8594_4171_f739_67e8)
        #expect(hash("a", seed: 1) != hash("a"))
        var number = FNV1a()
        number.feed(UInt64(0x6f6f_66))
        #expect(number.value == hash("foo\0\0\0\0\0"))
    }
}

@Suite struct `Hexadecimal digits` {
    @Test func `of bytes are two each, lowercase, and read in either case`() {
        #expect(Hexadecimal.text([0x00, 0x7f, 0xff] as [UInt8]) == "007fff")
        #expect(Hexadecimal.text([] as [UInt8]) == "")
        #expect(Hexadecimal.bytes("007fFF".utf8) == [0x00, 0x7f, 0xff])
        #expect(Hexadecimal.bytes("".utf8) == [])
        for text in ["0", "0g", "g0", "0 ", "-1", "\u{ff10}0"] {
            #expect(Hexadecimal.bytes(text.utf8) == nil, "\(text)")
        }
    }

    @Test func `of a number are its lowest, with zeros in the foreground`() {
        #expect(Hexadecimal.text(0xabc) == "0000000000000abc")
        #expect(Hexadecimal.text(.max) == "ffffffffffffffff")
        #expect(Hexadecimal.text(0x12345, digits: 4) == "2345")
        #expect(Hexadecimal.text(0x1f, digits: 18) == "00000000000000001f")
    }

    @Test func `of a UUID stand in five groups`() {
        #expect(
            Hexadecimal.uuid(high: 0x0123_4567_89ab_4def, low: 0x8123_4567_89ab_cdef)
                == "01234567-89ab-4def-8123-456789abcdef")
    }
}

@Suite struct `Base64 texts` {
    // RFC 4648, section 10.
    private static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test func `are those of RFC 4648`() {
        for (plain, text) in Self.vectors {
            let short = String(text.prefix { $0 != "=" })
            #expect(Base64.encode(plain.utf8, .standard) == text)
            #expect(Base64.encode(plain.utf8, .url) == short)
            #expect(Base64.decode(text.utf8, isStrict: false) == Array(plain.utf8))
            #expect(Base64.decode(short.utf8, isStrict: true) == Array(plain.utf8))
        }
        #expect(Base64.encode([0xfb, 0xff] as [UInt8], .standard) == "+/8=")
        #expect(Base64.encode([0xfb, 0xff] as [UInt8], .url) == "-_8")
    }

    @Test func `are read strictly in one form only, otherwise in both`() {
        for text in ["+/8=", "-_8", "-/8"] { #expect(Base64.decode(text.utf8, isStrict: false) == [0xfb, 0xff]) }
        for text in ["+/8", "-_8=", "A", "AAAAA", "A A", "Zm9v\n"] {
            #expect(Base64.decode(text.utf8, isStrict: true) == nil, "\(text)")
        }
    }
}

@Suite struct `Waits after failures` {
    private let waits = BackOff(first: 1_000, longest: 60_000)

    @Test func `double from the first to the longest`() {
        let ceilings = [0, 1, 2, 3, 4, 5, 6, 7, 8, .max].map { self.waits.ceiling(afterFailures: $0) }
        #expect(ceilings == [1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
        #expect(BackOff(first: .max / 2, longest: .max).ceiling(afterFailures: 9) == .max)
    }

    @Test func `are between half and all of that by chance`() {
        var chance = SplitMix64(seed: 7)
        for failures in 1...9 {
            let ceiling = self.waits.ceiling(afterFailures: failures)
            let range = (ceiling / 2)...ceiling
            for _ in 0..<100 {
                #expect(range.contains(self.waits.wait(afterFailures: failures, using: &chance)))
                #expect(range.contains(self.waits.shortenedWait(afterFailures: failures, using: &chance)))
            }
            #expect(self.waits.wait(afterFailures: failures, jitter: 0) == range.lowerBound)
            #expect(self.waits.wait(afterFailures: failures, jitter: 999) == range.upperBound)
        }
    }
}

@Suite struct `A time that a caller names` {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-12-01T09:00:00+01:00", 1_796_112_000_000),
            ("2026-12-01t08:00:00.1239z", 1_796_112_000_123), ("2026-12-01 08:00:00.5-00:00", 1_796_112_000_500),
            ("2024-02-29T23:30:00-01:30", 1_709_254_800_000), ("2026-12-31T23:59:60Z", 1_798_761_600_000),
        ] as [(String, Int64)])
    func `is read as the standard writes it`(text: String, milliseconds: Int64) {
        #expect(GivenTime.read(text) == milliseconds)
    }

    @Test(arguments: [
        "", "1795728300123", "2026-12-01", "2026-12-01T09:00:00", "2026-12-01T09:00Z", "2026-02-29T09:00:00Z",
        "2026-13-01T09:00:00Z", "2026-00-01T09:00:00Z", "2026-12-00T09:00:00Z", "2026-12-32T09:00:00Z",
        "2026-12-01T24:00:00Z", "2026-12-01T09:60:00Z", "2026-12-01T09:00:61Z", "2026-12-01T09:00:00.Z",
        "2026-12-01T09:00:00+0100", "2026-12-01T09:00:00+24:00", "2026-12-01T09:00:00Z ", "26-12-01T09:00:00Z",
        "２026-12-01T09:00:00Z", "2026-12-01T09:00:00+01:00x",
    ])
    func `is no other text`(text: String) {
        #expect(GivenTime.read(text) == nil)
    }
}

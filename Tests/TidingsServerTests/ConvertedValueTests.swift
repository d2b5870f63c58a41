import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

/// Each of these is handed on to a library that makes a C string, a narrower number, an index, a date or a key of it, and may end the
/// process over what it does not expect. From outside comes any of them.
@Suite(.timeLimit(.minutes(5))) struct `Values that a dependency converts` {
    static let texts = [
        "", "\u{0}", "a\u{0}b", "é", "e\u{301}", "密码", "🔑", "\r\n", "a\r\nb: c", "\u{feff}", "\u{fffd}", "\u{10ffff}",
        "%", "%00", "..",
        String(repeating: "a", count: 70_000), String(repeating: "🔑", count: 300), "-1", "::1", "::1%eth0", "[",
        "1.2.3.4.5",
    ]
    static let numbers: [Int64] = [
        .min, .min + 1, -9_223_372_036_855, -4_294_967_297, -2_147_483_649, -1, 0, 1, 65_536, 2_147_483_648,
        4_294_967_296,
        9_007_199_254_740_993, 9_223_372_036_854, 9_223_372_036_855, .max - 1, .max,
    ]

    /// A port of more than 16 bits ended the process as soon as something was sent there.
    @Test(arguments: ["127.0.0.1", "[::1]", "hooks.example.com"])
    func `a port is one, or its address is refused`(host: String) async throws {
        let lookUp = HostLookUp()
        defer { lookUp.stop() }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        for port in [1, 443, 65_535] + Self.numbers.filter({ !(1...65_535 ~= $0) }).map({ Int($0) }) {
            let address = HTTPAddress("https://\(host):\(port)/", mayBePlain: { _ in false })
            #expect((address != nil) == (1...65_535 ~= port), "\(port)")
            if let address, address.isNumeric {
                let found = try await lookUp.addresses(
                    of: address.host, port: address.port, for: "chat", on: loop, until: .now() + .seconds(5))
                #expect(found.map(\.port) == [port])
            }
        }
    }

    /// It goes to the resolver, into TLS and into a header.
    @Test func `a host has letters of ASCII, as it is looked up`() {
        func host(_ text: String) -> String? { HTTPAddress("https://\(text)/", mayBePlain: { _ in false })?.host }
        #expect(host("xn--4ca.example") == "xn--4ca.example")
        #expect(host("ä.example") == "xn--4ca.example")
        #expect(host("[::1]") == "::1")
        for text in ["a%00b", "a%0d%0ab", "%C3%A4.example", "[::1%25eth0]", "a b", ""] {
            #expect(host(text) == nil, "\(text)")
        }
        for text in Self.texts {
            #expect(host(text)?.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } != false, "\(text.debugDescription)")
        }
    }

    @Test func `a name of a host is found, or not`() async throws {
        let lookUp = HostLookUp()
        defer { lookUp.stop() }
        let tls = try NIOSSLContext(configuration: .makeClientConfiguration())
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        for text in Self.texts {
            _ = try? NIOSSLClientHandler(context: tls, serverHostname: text)
            // A name without a dot at its end would be looked for in the domains of this machine.
            _ = try? await lookUp.addresses(
                of: "\(text).invalid.", port: 443, for: "chat", on: loop, until: .now() + .seconds(1))
        }
    }

    @Test(arguments: ["", "a\u{0}b", "🔑", String(repeating: "é", count: 70_000)]) func `a password is hashed`(
        text: String
    ) async throws {
        let passwords = PasswordHashing()
        #expect(try await passwords.matches(text, try await passwords.hash(text)))
    }

    @Test func `a part of a key is one, or its set is refused`() async {
        let good = Base64.encode([UInt8](repeating: 1, count: 32), .url)
        let modulus = Base64.encode([UInt8](repeating: 0xff, count: 256), .url)
        let odd = [
            "", "AA", "AAAA", "é", "\u{0}", "====", good, modulus,
            Base64.encode([UInt8](repeating: 0, count: 32), .url),
            Base64.encode([0], .url), Base64.encode([1], .url), Base64.encode([2], .url),
            Base64.encode([UInt8](repeating: 0xff, count: 8), .url),
            Base64.encode([UInt8](repeating: 0xff, count: 9), .url),
        ]
        for one in odd {
            for two in odd {
                let keys = [
                    #"{"kty":"EC","crv":"P-256","x":"\#(one)","y":"\#(two)"}"#,
                    #"{"kty":"RSA","n":"\#(one)","e":"\#(two)","kid":"\#(two)"}"#,
                ]
                for key in keys { _ = try? TokenKey.set(Array("{\"keys\":[\(key)]}".utf8)) }
            }
        }
    }

    @Test func `a time of a token is one, or the token is malformed`() throws {
        let numbers =
            Self.numbers.map { "\($0)" } + ["1e308", "-1e308", "1e-320", "9.3e18", "-0.0", "1.7976931348623157e308"]
        for number in numbers {
            let parts = [#"{"alg":"HS256"}"#, #"{"exp":\#(number),"iat":\#(number)}"#].map {
                Base64.encode(Array($0.utf8), .url)
            }
            let token = try #require(JSONWebToken("\(parts[0]).\(parts[1]).AAAA"), "\(number)")
            switch token.time("exp") {
            case .at(let time): #expect(abs(time) <= 9_007_199_254_740_992, "\(number)")
            case .malformed: break
            case .missing: Issue.record("\(number) is missing")
            }
        }
    }

    @Test func `a zone and a local time are known, or refused`() {
        let zones =
            Self.texts + [
                "/", "//", "Europe/", "/Berlin", "Etc/GMT+99", "../../etc/passwd", "Europe/Berlin\u{0}", "GMT+26:99",
            ]
        for zone in zones + zones.map({ "Europe/\($0)" }) {
            for wall in [0, 1_764_547_200_000] as [Int64] { _ = TimeZoneFacts(named: zone, at: wall) }
        }
        let times = [
            "0000-01-01T00:00", "0001-01-01T00:00", "9999-12-31T23:59", "2026-02-30T00:00", "2026-12-01T24:00",
        ]
        for text in Self.texts + times {
            for zone in ["UTC", "Europe/Berlin", "é"] { _ = try? PushLocalTime(text: text, timeZone: zone) }
        }
    }

    @Test func `a value of the configuration is one, or refused with its name`() {
        let words = ["1e400", "nan", "0x10", "+5", "1/0", "0/0", "9223372036854775807/9223372036854775807"]
        for key in ConfigurationKey.all {
            for value in Self.texts.filter({ $0.utf8.count < 2_000 }) + Self.numbers.map({ "\($0)" }) + words {
                var configuration = ServerConfiguration()
                let fault = key.set(value, in: &configuration)
                #expect(fault.map { $0.field == key.name } ?? true, "\(key.name) \(value.debugDescription)")
                _ = configuration.validate()
            }
        }
    }

    /// A path would be read up to it only: another file.
    @Test func `a value of the configuration has no zero byte`() async {
        for key in ["store.path", "apns.trust_roots_path", "api.host"] {
            await #expect(
                throws: ConfigurationFaults(field: key, rule: "must be without zero bytes", remedy: "write it again")
            ) {
                try await ServerConfiguration.load(file: nil, overrides: [key: "a\u{0}b"])
            }
        }
    }

    @Test func `a key in the environment may end with the end of its line`() async throws {
        for end in ["\n", "\r\n", "\n\n", ""] {
            let configuration = try await ServerConfiguration.load(
                file: nil,
                environment: [
                    "TIDINGS_APPS": "chat", "TIDINGS_APP_CHAT_TOKEN_SECRET": String(repeating: "s", count: 32) + end,
                    "TIDINGS_API_HOST": "127.0.0.1" + end,
                ])
            #expect(configuration.apps[0].tokenSecret.value == String(repeating: "s", count: 32))
            #expect(configuration.api.host == "127.0.0.1")
        }
    }
}

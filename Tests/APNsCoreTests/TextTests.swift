import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

private func base64(_ text: String, url: Bool = true) -> String {
    let digits = Array(
        (url
            ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").utf8)
    var out: [UInt8] = []
    var buffer: UInt32 = 0
    var bits = 0
    for byte in text.utf8 {
        buffer = buffer << 8 | UInt32(byte)
        bits += 8
        while bits >= 6 {
            bits -= 6
            out.append(digits[Int(buffer >> UInt32(bits) & 63)])
        }
    }
    if bits > 0 { out.append(digits[Int(buffer << UInt32(6 - bits) & 63)]) }
    if !url { while out.count % 4 != 0 { out.append(UInt8(ascii: "=")) } }
    return String(decoding: out, as: UTF8.self)
}

private func token(
    header: String = #"{"alg":"ES256","kid":"KEY"}"#, claims: String = #"{"iss":"TEAM","iat":1700000000}"#,
    signature: String = String(repeating: "s", count: 64), scheme: String = "bearer", url: Bool = true
) -> String {
    "\(scheme) \(base64(header, url: url)).\(base64(claims, url: url)).\(base64(signature, url: url))"
}

@Suite struct `A provider token` {
    @Test func `is taken apart into what it claims and what was signed`() throws {
        let text = token()
        let read = try ProviderToken(authorization: text, isStrict: true)
        #expect(read.keyID == "KEY")
        #expect(read.teamID == "TEAM")
        #expect(read.issuedAt == 1_700_000_000)
        #expect(read.signature == Array(repeating: UInt8(ascii: "s"), count: 64))
        let signed = text.dropFirst("bearer ".count).split(separator: ".").prefix(2).joined(separator: ".")
        #expect(read.signingInput == Array(signed.utf8))
    }

    /// APNs reference, section 4, "What real APNs tolerates in a JWT".
    @Test(arguments: [
        token(signature: String(repeating: "s", count: 71)), token(url: false),
        token(claims: #"{"iss":"TEAM","iat":"1700000000"}"#), token(claims: #"{"iss":"TEAM","iat":1700000000.25}"#),
    ])
    func `in a form working clients use is accepted, and refused by the strict reading`(text: String) throws {
        #expect(try ProviderToken(authorization: text, isStrict: false).issuedAt == 1_700_000_000)
        #expect(throws: ProviderToken.Fault.self) { try ProviderToken(authorization: text, isStrict: true) }
    }

    @Test func `may say Bearer and repeat the key id in the claims`() throws {
        let text = token(
            header: #"{"typ":"JWT","alg":"ES256","kid":"KEY"}"#,
            claims: #"{"iss":"TEAM","iat":1700000000,"kid":"KEY"}"#, scheme: "Bearer")
        #expect(try ProviderToken(authorization: text, isStrict: true).keyID == "KEY")
    }

    @Test(arguments: [
        "", "bearer", "bearer a.b", "basic a.b.c", "bearer !.!.!", token(header: #"{"alg":"none","kid":"KEY"}"#),
        token(header: #"{"alg":"ES256"}"#), token(claims: #"{"iat":1}"#), token(claims: #"{"iss":"TEAM"}"#),
        token(claims: #"{"iss":"TEAM","iat":true}"#), token(claims: #"{"iss":"TEAM","iat":1e300}"#),
        token(claims: "[]"),
        token(signature: ""),
    ])
    func `that is none is refused`(text: String) {
        #expect(throws: ProviderToken.Fault.self) { try ProviderToken(authorization: text, isStrict: false) }
    }
}

@Suite struct `A line to the courier` {
    @Test func `is understood`() throws {
        func read(_ text: String) throws -> CourierRequest { try CourierRequest(line: Array(text.utf8)) }
        #expect(try read(#"{"type":"hello","phone":"alice"}"#) == .hello("alice"))
        #expect(
            try read(#"{"type":"register","id":3,"topic":"com.example.chat","environment":"sandbox"}"#)
                == .register(id: 3, topic: "com.example.chat", .sandbox))
        #expect(
            try read(#"{"type":"unregister","topic":"com.example.chat","environment":"production"}"#)
                == .unregister(topic: "com.example.chat", .production))
        #expect(try read(#"{"type":"ack","delivery":9}"#) == .acknowledge(delivery: 9))
        #expect(try read(#"{"type":"power","state":"low_power"}"#) == .power(.lowPower))
        #expect(
            try read(#"{"type":"app","topic":"t","environment":"sandbox","state":"force_quit","notifications":false}"#)
                == .app(topic: "t", .sandbox, AppCondition(life: .forceQuit, notificationsEnabled: false)))
        #expect(
            try read(#"{"type":"subscribe","topic":"t","environment":"sandbox","channel":"AAAA"}"#)
                == .subscribe(topic: "t", .sandbox, channel: "AAAA"))
        #expect(
            try read(#"{"type":"unsubscribe","topic":"t","environment":"sandbox","channel":"AAAA"}"#)
                == .unsubscribe(topic: "t", .sandbox, channel: "AAAA"))
    }

    @Test(arguments: [
        ("hello", "line"), ("[]", "line"), ("{}", "type"), (#"{"type":"dance"}"#, "type"),
        (#"{"type":"hello"}"#, "phone"),
        (#"{"type":"hello","phone":"a b"}"#, "phone"), (#"{"type":"ack"}"#, "delivery"),
        (#"{"type":"register","id":1,"topic":"","environment":"sandbox"}"#, "topic"),
        (#"{"type":"register","topic":"t","environment":"sandbox"}"#, "id"),
        (#"{"type":"register","id":1,"topic":"t","environment":"test"}"#, "environment"),
        (#"{"type":"power","state":"half"}"#, "state"),
        (#"{"type":"app","topic":"t","environment":"sandbox","state":"gone"}"#, "state"),
        (
            #"{"type":"app","topic":"t","environment":"sandbox","state":"foreground","notifications":1}"#,
            "notifications"
        ),
        (#"{"type":"subscribe","topic":"t","environment":"sandbox","channel":"A"}"#, "channel"),
    ])
    func `that is wrong names the member`(text: String, field: String) {
        let error = #expect(throws: InvalidField.self) { try CourierRequest(line: Array(text.utf8)) }
        #expect(error?.field == field)
    }

    @Test func `to the phone is one line of JSON, whatever white space the payload has`() {
        let push = AcceptedPush(
            apnsID: "i", uniqueID: "u", token: "ab",
            target: DeviceTopic(phone: "p", topic: "t", environment: .sandbox), pushType: .alert, priority: .immediate,
            expiration: nil, collapseID: "c", payload: Array("{\n \"aps\": {\"badge\": 1.50}}".utf8), acceptedAt: 0)
        #expect(
            String(decoding: CourierReply.push(delivery: 4, push).line, as: UTF8.self)
                == #"{"type":"push","delivery":4,"topic":"t","token":"ab","apns_id":"i","unique_id":"u","#
                + #""collapse_id":"c","push_type":"alert","priority":10,"expiration":null,"payload":{"aps":{"badge":1.50}}}"#
                + "\n")
        #expect(
            String(decoding: CourierReply.registered(id: 3, topic: "t", .sandbox, token: "ab").line, as: UTF8.self)
                == #"{"type":"registered","id":3,"topic":"t","environment":"sandbox","token":"ab"}"# + "\n")
        #expect(String(decoding: CourierReply.welcome.line, as: UTF8.self) == #"{"type":"welcome"}"# + "\n")
    }
}

import NIOCore
import Testing
import TidingsWire

@testable import TidingsServer

@Suite struct `A client's WebSocket frames` {
    private func parse(_ bytes: [UInt8], bytesMax: Int = 1_000) throws(WebSocketFault) -> [WebSocketMessage] {
        var parser = WebSocketParser()
        var buffer = ByteBuffer(bytes: bytes)
        var messages: [WebSocketMessage] = []
        while let message = try parser.next(from: &buffer, bytesMax: bytesMax) { messages.append(message) }
        return messages
    }

    private func fault(_ bytes: [UInt8], bytesMax: Int = 1_000) -> WebSocketCloseCode? {
        do throws(WebSocketFault) {
            _ = try self.parse(bytes, bytesMax: bytesMax)
            return nil
        } catch {
            return error.code
        }
    }

    private func frame(_ opcode: UInt8, _ text: String, isFinal: Bool = true) -> [UInt8] {
        RawClient.frame(opcode: opcode, Array(text.utf8), isFinal: isFinal)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 127, 65_535, 65_536])
    func `of every length come out unmasked`(length: Int) throws {
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = RawClient.frame(opcode: 0x2, payload)
        #expect(try self.parse(bytes, bytesMax: 100_000) == [.binary(payload)])
    }

    @Test func `may come byte by byte`() throws {
        var parser = WebSocketParser()
        var buffer = ByteBuffer()
        var messages: [WebSocketMessage] = []
        for byte in self.frame(0x1, "hello") + self.frame(0x9, "?") {
            buffer.writeInteger(byte)
            if let message = try parser.next(from: &buffer, bytesMax: 1_000) { messages.append(message) }
        }
        #expect(messages == [.text(Array("hello".utf8)), .ping(Array("?".utf8))])
        #expect(buffer.readableBytes == 0)
    }

    @Test func `are put together from fragments, with control frames in between`() throws {
        let bytes =
            self.frame(0x1, "one ", isFinal: false) + self.frame(0x9, "!") + self.frame(0x0, "two ", isFinal: false)
            + self.frame(0x0, "three") + self.frame(0x2, "next")
        #expect(
            try self.parse(bytes) == [
                .ping(Array("!".utf8)), .text(Array("one two three".utf8)), .binary(Array("next".utf8)),
            ])
    }

    @Test func `are refused as soon as the header tells their size`() {
        let header = Array(RawClient.frame(opcode: 0x2, Array(repeating: 0, count: 1_001)).prefix(8))
        #expect(self.fault(header) == .messageTooBig)
        #expect(self.fault(Array(RawClient.frame(opcode: 0x2, Array(repeating: 0, count: 1_000)).prefix(8))) == nil)
    }

    @Test func `are refused when the fragments together are too long`() {
        let half = String(repeating: "x", count: 600)
        #expect(self.fault(self.frame(0x1, half, isFinal: false) + self.frame(0x0, half)) == .messageTooBig)
    }

    @Test func `that break a rule of RFC 6455 are refused`() {
        let bad: [String: [UInt8]] = [
            "not masked": RawClient.frame(opcode: 0x1, [1], isMasked: false),
            "a reserved bit": [0xc1, 0x80, 0, 0, 0, 0], "an unknown opcode": [0x83, 0x80, 0, 0, 0, 0],
            "a long control frame": RawClient.frame(opcode: 0x9, Array(repeating: 0, count: 126)),
            "a control frame in fragments": self.frame(0x9, "x", isFinal: false),
            "a continuation of nothing": self.frame(0x0, "x"),
            "a message within a message": self.frame(0x1, "x", isFinal: false) + self.frame(0x1, "y"),
            "a length not in its shortest form": [0x82, 0xfe, 0, 5, 0, 0, 0, 0],
            "a length beyond 63 bits": [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "half a close code": RawClient.frame(opcode: 0x8, [3]),
            "a close code that must not be sent": RawClient.frame(opcode: 0x8, [0x03, 0xed]),
        ]
        for (what, bytes) in bad { #expect(self.fault(bytes) == .protocolError, "\(what)") }
        #expect(self.fault(RawClient.frame(opcode: 0x8, [0x03, 0xe8, 0xff])) == .invalidPayload)
    }

    @Test func `to close carry a code or nothing`() throws {
        #expect(try self.parse(RawClient.frame(opcode: 0x8, [])) == [.close(code: nil)])
        #expect(try self.parse(RawClient.frame(opcode: 0x8, [0x03, 0xe8, 0x62])) == [.close(code: 1000)])
    }
}

@Suite struct `An opening handshake` {
    private func answer(_ request: String) -> WebSocketHandshake.Outcome {
        var buffer = ByteBuffer(string: request)
        return WebSocketHandshake.read(&buffer)
    }

    private func status(_ request: String) -> String? {
        guard case .refused(let answer) = self.answer(request) else { return nil }
        return answer.split(separator: " ").dropFirst().first.map(String.init)
    }

    @Test func `is accepted with the proof of RFC 6455 and the first subprotocol both speak`() {
        let request = RawClient.handshake(protocols: "chat, tidings.v1.json, tidings.v1.protobuf")
        guard case .accepted(let format, let answer, proxy: _) = self.answer(request) else {
            Issue.record("refused")
            return
        }
        #expect(format == .json)
        #expect(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(answer.contains("Sec-WebSocket-Protocol: tidings.v1.json\r\n"))
    }

    @Test func `leaves what follows it in the buffer`() {
        var buffer = ByteBuffer(string: RawClient.handshake() + "rest")
        guard case .accepted = WebSocketHandshake.read(&buffer) else {
            Issue.record("refused")
            return
        }
        #expect(String(buffer: buffer) == "rest")
    }

    @Test func `waits for the empty line`() {
        #expect(self.answer(String(RawClient.handshake().dropLast())) == .incomplete)
        #expect(self.answer("") == .incomplete)
    }

    @Test func `is refused with the status that fits`() {
        let good = RawClient.handshake()
        #expect(self.status(RawClient.handshake(path: "/")) == "404")
        #expect(self.status(RawClient.handshake(protocols: nil)) == "400")
        #expect(self.status(RawClient.handshake(protocols: "chat")) == "400")
        #expect(self.status(RawClient.handshake(version: "8")) == "426")
        #expect(self.status(RawClient.handshake(key: "short")) == "400")
        #expect(self.status(good.replacing("GET", with: "POST")) == "405")
        #expect(self.status(good.replacing("HTTP/1.1", with: "HTTP/1.0")) == "505")
        #expect(self.status(good.replacing("Upgrade: websocket", with: "X: y")) == "426")
        for host in ["X: y", "Host: a\r\nHost: a", "Host: [::1]x", "Host: a b", "Host: a/b"] {
            #expect(self.status(good.replacing("Host: localhost", with: host)) == "400", "\(host)")
        }
        for path in ["/v1/connect/", "//v1/connect", "/v1//connect", "/v1/%63onnect", "/v1/./connect"] {
            #expect(self.status(RawClient.handshake(path: path)) == "404", "\(path)")
        }
        #expect(self.status("\u{16}\u{3}\u{1}\r\n\r\n") == "400")
        #expect(self.status(String(repeating: "x", count: 9_000)) == "431")
    }
}

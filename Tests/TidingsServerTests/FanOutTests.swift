import NIOCore
import ServerCore
import Testing
import TidingsModel
import TidingsWire

@testable import TidingsServer

@Suite struct `What goes to many connections` {
    private func message(_ id: UInt64, _ text: String = "hi") -> Message {
        Message(
            id: MessageID(rawValue: id), app: "demo", sender: "alice",
            conversation: .init(type: .chatRoom, target: "lobby"),
            clientMessageID: ClientMessageID("c\(id)"), objectName: .text, content: "{\"content\":\"\(text)\"}",
            flags: .normal,
            pushText: nil, sentAt: 1_800_000_000_000)
    }

    private func bytes(_ encoded: FanOutCache.Encoded) -> [UInt8] {
        encoded.head + (encoded.shared.map { Array($0.readableBytesView) } ?? [])
    }

    @Test(arguments: WireFormat.allCases)
    func `is encoded once, and every one of them gets the whole frame`(format: WireFormat) {
        var cache = FanOutCache()
        let text = String(repeating: "x", count: 30_000)
        for number in 0..<3_000 {
            let entry = ServerFrame.entry(LogEntry(position: UInt64(number + 1), body: .message(self.message(1, text))))
            let encoded = cache.encode(entry, as: format)
            #expect(encoded.count == encoded.head.count + (encoded.shared?.readableBytes ?? 0))
            // Each of them would take a while.
            if number % 500 == 0 { #expect(self.bytes(encoded) == FrameCodec.encode(entry, as: format)) }
        }
        #expect(cache.encodings == 1)
        let room = ServerFrame.signal(.room(self.message(2, text)))
        for _ in 0..<3_000 { #expect(cache.encode(room, as: format).head.isEmpty) }
        #expect(self.bytes(cache.encode(room, as: format)) == FrameCodec.encode(room, as: format))
        #expect(cache.encodings == 2)
    }

    @Test func `in two formats is encoded once for each, in whatever order`() {
        var cache = FanOutCache()
        for number in 0..<100 {
            let typing = ServerFrame.signal(.typing(.init(type: .direct, target: "bob"), "alice", isTyping: true))
            let format: WireFormat = number % 3 == 0 ? .json : .protobuf
            #expect(self.bytes(cache.encode(typing, as: format)) == FrameCodec.encode(typing, as: format))
        }
        #expect(cache.encodings == 2)
    }

    @Test func `is never taken for something else`() {
        var cache = FanOutCache()
        for id in [1, 2, 1, 1, 3] as [UInt64] {
            for text in ["a", "b"] {
                for format in WireFormat.allCases {
                    let frames: [ServerFrame] = [
                        .entry(LogEntry(position: id, body: .message(self.message(id, text)))),
                        .signal(.room(self.message(id, text))),
                        .entry(LogEntry(position: id + 9, body: .message(self.message(id, text)))),
                        .entry(LogEntry(position: id, body: .unknown)), .pong(id),
                    ]
                    for frame in frames {
                        #expect(self.bytes(cache.encode(frame, as: format)) == FrameCodec.encode(frame, as: format))
                    }
                }
            }
        }
    }
}

@Suite struct `Whose connections are counted together` {
    private func owner(_ address: String) throws -> String {
        let socket: SocketAddress? = try SocketAddress(ipAddress: address, port: 1)
        return try #require(socket.ip).network
    }

    @Test func `is the address of IPv4 and the network of IPv6, but not this machine's`() throws {
        #expect(try self.owner("203.0.113.7") == "203.0.113.7")
        #expect(try self.owner("::ffff:203.0.113.7") == "203.0.113.7")
        #expect(try self.owner("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64")
        #expect(try self.owner("2001:db8:1:2:ffff::1") == self.owner("2001:db8:1:2::1"))
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] { #expect(try self.owner(address) == "") }
        let unknown: SocketAddress? = nil
        #expect(unknown.ip == nil)
    }
}

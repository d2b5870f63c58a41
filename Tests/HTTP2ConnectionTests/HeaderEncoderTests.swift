import HTTP2Connection
import NIOCore
import NIOHPACK
import Requirements
import Testing

@Suite struct `Header blocks that are written (RFC 7541)` {
    private static let push = RequestHead(
        authority: "api.push.apple.com", path: "/3/device/00ff",
        fields: [
            HeaderField("apns-topic", "com.example.app"), HeaderField("apns-push-type", "alert"),
            HeaderField("apns-id", "123e4567-e89b-12d3-a456-4266554400a0"),
        ])

    private static func block(_ encoder: inout HeaderEncoder, _ head: RequestHead) throws -> [UInt8] {
        var block = ByteBuffer()
        try encoder.encode(head, into: &block)
        return Array(block.readableBytesView)
    }

    private static func decode(_ decoder: inout HPACKDecoder, _ block: [UInt8]) throws -> [String] {
        var block = ByteBuffer(bytes: block)
        return try decoder.decodeHeaders(from: &block).map { "\($0.name): \($0.value)" }
    }

    private static var decoder: HPACKDecoder { HPACKDecoder(allocator: ByteBufferAllocator()) }

    @Test func `say what was meant, pseudo-header fields first`() throws {
        var encoder = HeaderEncoder()
        var decoder = Self.decoder
        let expected = [
            ":method: POST", ":scheme: https", ":authority: api.push.apple.com", ":path: /3/device/00ff",
            "apns-topic: com.example.app", "apns-push-type: alert", "apns-id: 123e4567-e89b-12d3-a456-4266554400a0",
        ]
        for _ in 0..<3 { #expect(try Self.decode(&decoder, Self.block(&encoder, Self.push)) == expected) }
    }

    @Test func `cost one byte for each field that was there before`() throws {
        var encoder = HeaderEncoder()
        _ = try Self.block(&encoder, Self.push)
        let second = try Self.block(&encoder, Self.push)
        let path = [0x14, 14] + Array("/3/device/00ff".utf8)
        let id = [0x10, 7] + Array("apns-id".utf8) + [36] + Array("123e4567-e89b-12d3-a456-4266554400a0".utf8)
        #expect(second == [0x83, 0x87, 0xc0] + path + [0xbf, 0xbe] + id)
    }

    @Test(
        "never keep what differs with each push",
        arguments: [":path", "apns-id", "apns-collapse-id", "apns-expiration", "apns-unique-id", "content-length"])
    func neverIndexed(name: String) { #expect(HeaderField(name, "1").indexing == .never) }

    @Test(arguments: ["authorization", "apns-topic", "apns-push-type", "apns-priority", ":authority"])
    func `keep what stays`(name: String) { #expect(HeaderField(name, "1").indexing == .incremental) }

    @Test func `write out values that would drive out all others`() throws {
        var encoder = HeaderEncoder()
        var head = Self.push
        head.fields.append(HeaderField("authorization", String(repeating: "j", count: 3_000)))
        let first = try Self.block(&encoder, head)
        let second = try Self.block(&encoder, head)
        #expect(encoder.size < 500)
        #expect(second.count > 3_000 && second.count < first.count)
        var decoder = Self.decoder
        #expect(try Self.decode(&decoder, first) == Self.decode(&decoder, second))
    }

    @Test func `begin with the size of the table when the other side has changed it`() throws {
        var encoder = HeaderEncoder()
        _ = try Self.block(&encoder, Self.push)
        encoder.limitTable(to: 0)
        #expect(encoder.size == 0)
        #expect(try Self.block(&encoder, Self.push).first == 0x20)
        encoder.limitTable(to: 100)
        encoder.limitTable(to: 60)
        encoder.limitTable(to: 80)
        // The smallest of the sizes, then the last (§4.2).
        #expect(Array(try Self.block(&encoder, Self.push).prefix(4)) == [0x3f, 29, 0x3f, 49])
        encoder.limitTable(to: 1_000_000)
        let block = try Self.block(&encoder, Self.push)
        #expect(Array(block.prefix(3)) == [0x3f, 0xe1, 0x1f])
        var decoder = Self.decoder
        #expect(throws: Never.self) { try Self.decode(&decoder, block) }
    }

    @Test(
        "refuse fields that no one may send, and stay usable",
        arguments: [
            HeaderField("APNs-Topic", "a"), HeaderField("", "a"), HeaderField("a b", "a"), HeaderField("a:b", "a"),
            HeaderField(":status", "200"), HeaderField("a", "b\r\nc: d"), HeaderField("a", "b\0"),
            HeaderField("a", " b"), HeaderField("a", "b\t"), HeaderField("ä", "b"),
        ])
    func refused(field: HeaderField) throws {
        var encoder = HeaderEncoder()
        var decoder = Self.decoder
        _ = try Self.decode(&decoder, Self.block(&encoder, Self.push))
        var head = Self.push
        head.fields.insert(HeaderField("apns-priority", "10"), at: 0)
        head.fields.append(field)
        #expect(throws: FieldFault.self) { try Self.block(&encoder, head) }
        // What the refused block had put into the table is gone on both sides.
        head.fields.removeLast()
        let after = try Self.decode(&decoder, Self.block(&encoder, head))
        #expect(after.count == 8)
        #expect(try Self.decode(&decoder, Self.block(&encoder, head)) == after)
    }

    @Test(arguments: [99, 1_000, -1])
    func `have a status of three digits`(status: Int) {
        var encoder = HeaderEncoder()
        var block = ByteBuffer()
        #expect(throws: FieldFault.self) { try encoder.encode(status: status, [], into: &block) }
    }

    @Test(arguments: [100, 200, 204, 206, 304, 400, 404, 410, 429, 500, 503, 999])
    func `carry the status`(status: Int) throws {
        var encoder = HeaderEncoder()
        var decoder = Self.decoder
        for _ in 0..<2 {
            var block = ByteBuffer()
            try encoder.encode(status: status, [HeaderField("apns-id", "1")], into: &block)
            #expect(try Self.decode(&decoder, Array(block.readableBytesView)) == [":status: \(status)", "apns-id: 1"])
        }
    }

    @Test func `name every field of the static table by its index`() throws {
        // RFC 7541, Appendix A: the first, some in between and the last name.
        for (name, index) in [
            ("accept-charset", 15), ("authorization", 23), ("content-length", 28), ("host", 38), ("retry-after", 53),
            ("www-authenticate", 61),
        ] {
            var encoder = HeaderEncoder()
            var block = ByteBuffer()
            try encoder.encode(status: 200, [HeaderField(name, "v", .incremental)], into: &block)
            #expect(Array(block.readableBytesView) == [0x88, 0x40 | UInt8(index), 1, UInt8(ascii: "v")])
        }
    }

    @Test func `are understood by another decoder whatever is sent and however the table changes`() throws {
        var chance = Chance(seed: 4)
        for _ in 0..<50 {
            var encoder = HeaderEncoder()
            var decoder = Self.decoder
            for _ in 0..<40 {
                if chance.below(8) == 0 { encoder.limitTable(to: [0, 50, 100, 300, 4_096, 9_999][chance.below(6)]) }
                let fields = (0..<chance.below(12)).map { _ in
                    HeaderField(
                        ["a", "authorization", "x-\(chance.below(9))"][chance.below(3)],
                        String(repeating: "v", count: [0, 1, 30, 127, 128, 260][chance.below(6)])
                            + "\(chance.below(3))", chance.below(4) == 0 ? .never : .incremental)
                }
                let head = RequestHead(authority: "h\(chance.below(3))", path: "/\(chance.below(99))", fields: fields)
                let expected =
                    [":method: POST", ":scheme: https", ":authority: \(head.authority)", ":path: \(head.path)"]
                    + fields.map { "\($0.name): \($0.value)" }
                #expect(try Self.decode(&decoder, Self.block(&encoder, head)) == expected)
            }
        }
    }

    @Test func `of heads that are alike say the same as each written by itself, whatever happens to the table`() throws
    {
        var chance = Chance(seed: 11)
        for _ in 0..<50 {
            var encoder = HeaderEncoder()
            var decoder = Self.decoder
            let heads = (0..<10).map { number in
                FixedHead(
                    method: ["POST", "GET", "DELETE"][number % 3], authority: "h\(number % 2)",
                    pathPrefix: "/p\(number)/",
                    fields: [
                        HeaderField("apns-topic", "t\(number)"),
                        HeaderField("authorization", String(repeating: "j", count: [30, 900, 3_000][chance.below(3)])),
                    ])
            }
            for _ in 0..<80 {
                if chance.below(10) == 0 { encoder.limitTable(to: [0, 100, 2_000, 4_096][chance.below(4)]) }
                let head = heads[chance.below(2) == 0 ? 0 : chance.below(10)]
                let path = "\(chance.below(1_000))"
                var own = [HeaderField("apns-id", "\(chance.below(9))"), HeaderField("x", "\(chance.below(9))")]
                own.removeLast(chance.below(3))
                let whole = head.request(path: path, fields: own)
                var block = ByteBuffer()
                if chance.below(6) == 0 {
                    // A bad field takes back what the block had put into the table.
                    #expect(throws: FieldFault.self) {
                        try encoder.encode(head, path: path, own + [HeaderField("A", "")], into: &block)
                    }
                    #expect(throws: FieldFault.self) { try encoder.encode(head, path: "\r", own, into: &block) }
                    #expect(block.readableBytes == 0)
                }
                try encoder.encode(head, path: path, own, into: &block)
                let expected =
                    [
                        ":method: \(whole.method)", ":scheme: https", ":authority: \(whole.authority)",
                        ":path: \(whole.path)",
                    ] + whole.fields.map { "\($0.name): \($0.value)" }
                #expect(try Self.decode(&decoder, Array(block.readableBytesView)) == expected)
            }
        }
    }

    @Test func `of a head that was met before cost one byte for each of its fields`() throws {
        var encoder = HeaderEncoder()
        let head = FixedHead(authority: "a", pathPrefix: "/3/device/", fields: [HeaderField("apns-topic", "t")])
        var block = ByteBuffer()
        for _ in 0..<3 {
            block.clear()
            try encoder.encode(head, path: "00", [], into: &block)
        }
        #expect(Array(block.readableBytesView) == [0x83, 0x87, 0xbf, 0x14, 12] + Array("/3/device/00".utf8) + [0xbe])
    }
}

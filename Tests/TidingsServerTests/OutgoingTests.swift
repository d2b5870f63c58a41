import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TidingsModel

@testable import TidingsServer

/// Writes to whoever connects, and does not end.
private final class Endless: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let text: String

    init(_ text: String) { self.text = text }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: self.text)), promise: nil)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `An answer without end` {
    private static let body = String(repeating: "x", count: 4_000)

    @Test(
        arguments: [
            ("", String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 200), nil),
            ("", String(repeating: "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", count: 100), nil),
            ("HTTP/1.1 200 OK\r\n\r\n", Self.body, 200),
            ("HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n", 204),
            ("HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n", String(repeating: "1\r\nx\r\n", count: 600), 500),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", String(repeating: "a: b\r\n", count: 500),
                nil
            ),
            ("HTTP/1.1 200 OK\r\n", String(repeating: "a: b\r\n", count: 500), nil),
            ("HTTP/1.1 200 OK\r\nx: ", Self.body, nil),
            ("HTTP/1.1 ", Self.body, nil), ("", "\r\n", nil),
        ] as [(String, String, Int?)])
    func `is read for as many bytes as an answer may have, and no more`(
        beginning: String, part: String, status: Int?
    ) async throws {
        let text = beginning + String(repeating: part, count: 2_000_000 / part.utf8.count)
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Endless(text))
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        let socket = try #require(server.localAddress)
        let address = try #require(HTTPAddress("http://127.0.0.1/") { _ in true })
        let exchange = HTTPExchange(address: address, answerBytesMax: 65_536)
        let answered: Int?
        do {
            answered = try await exchange.run(
                on: group.next(), to: socket, connectTime: .minutes(1), until: .now() + .minutes(4)
            ).status
        } catch {
            if case HTTPExchange.Fault.noAnswerInTime = error { Issue.record("it was read for ever") }
            answered = nil
        }
        // Of a head that was whole the status counts.
        #expect(status == nil || answered == status)
        try await server.close()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The names of hosts` {
    @Test func `of one app keep no thread from those of another`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let under = NIOLockedValueBox((now: 0, most: 0))
        let address = try SocketAddress(ipAddress: "192.0.2.1", port: 443)
        let lookUp = HostLookUp { host, _ in
            guard host.hasPrefix("slow") else { return [address] }
            under.withLockedValue { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            gate.wait()
            under.withLockedValue { $0.now -= 1 }
            return [address]
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await withThrowingTaskGroup(of: [SocketAddress].self) { tasks in
            for number in 0..<40 {
                tasks.addTask {
                    try await lookUp.addresses(
                        of: "slow\(number).example.com", port: 443, for: "mallory", on: loop,
                        until: .now() + .minutes(4))
                }
            }
            // Those of the others come while all of these wait.
            for number in 0..<20 {
                let found = try await lookUp.addresses(
                    of: "h\(number).example.com", port: 443, for: "shop", on: loop, until: .now() + .minutes(4))
                #expect(found == [address])
            }
            for _ in 0..<40 { gate.signal() }
            var answered = 0
            for try await found in tasks where found == [address] { answered += 1 }
            #expect(answered == 40)
        }
        #expect(under.withLockedValue { $0.most } <= HostLookUp.ofAppMax)
        lookUp.stop()
    }
}

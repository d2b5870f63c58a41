import Foundation
import Logging
package import NIOCore
import NIOPosix

/// A socket of the file system beside the database, `<store.path>.control`, for the server's own user alone: what `tidings backup`
/// asks the running server over. A client writes one line, `backup` and the path of a new file; it is answered with one line, `done`,
/// or `failed` and why.
struct ControlSocket: Sendable {
    private let channel: any Channel
    private let path: String

    static func path(of database: String) -> String { database + ".control" }

    /// A failure, as with a path of more than 107 bytes, is logged: everything else works without the socket.
    static func bind(
        database: String, group: any EventLoopGroup, logger: Logger,
        backUp: @escaping @Sendable (String) async throws -> Void
    ) async -> ControlSocket? {
        let path = Self.path(of: database)
        let bootstrap = ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ControlHandler(backUp: backUp))
                }
            }
        do {
            let channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            chmod(path, 0o600)
            return ControlSocket(channel: channel, path: path)
        } catch {
            logger.log(
                .warning, "no backup can be asked for while the server runs", [.path: path, .error: "\(error)"])
            return nil
        }
    }

    func close() {
        self.channel.close(promise: nil)
        unlink(self.path)
    }
}

private final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let backUp: @Sendable (String) async throws -> Void
    private var line = ""

    /// No path is longer (Linux: PATH_MAX).
    private static let lineBytesMax = 4_200

    init(backUp: @escaping @Sendable (String) async throws -> Void) { self.backUp = backUp }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        self.line += bytes.readString(length: bytes.readableBytes) ?? ""
        guard let end = self.line.firstIndex(of: "\n") else {
            if self.line.utf8.count > Self.lineBytesMax { context.close(promise: nil) }
            return
        }
        let words = self.line[..<end].split(separator: " ", maxSplits: 1)
        self.line = ""
        let channel = context.channel
        guard words.count == 2, words[0] == "backup", words[1].hasPrefix("/") else {
            return Self.send("failed: must be backup and an absolute path", on: channel)
        }
        let path = String(words[1])
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.completeWithTask { [backUp] in try await backUp(path) }
        promise.futureResult.whenComplete { result in
            switch result {
            case .success: Self.send("done", on: channel)
            case .failure(let error): Self.send("failed: \(error)", on: channel)
            }
        }
    }

    private static func send(_ words: String, on channel: any Channel) {
        let line = words.replacing("\n", with: " ") + "\n"
        channel.writeAndFlush(ByteBuffer(string: line)).whenComplete { _ in channel.close(promise: nil) }
    }
}

package enum StoreControl {
    /// Asks the server that has a database open for a backup; waits until it is done.
    /// - Parameter path: of a new file, absolute; written by the server, with its rights.
    /// - Returns: nil, or why it failed.
    /// - Throws: an error of the system if no server listens there.
    package static func backUp(database: String, to path: String, group: any EventLoopGroup) async throws -> String? {
        let answer = group.next().makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(answer: answer))
                }
            }
            .connect(unixDomainSocketPath: ControlSocket.path(of: database)).get()
        channel.writeAndFlush(ByteBuffer(string: "backup \(path)\n"), promise: nil)
        let words = try await answer.futureResult.get().trimmingCharacters(in: .whitespacesAndNewlines)
        if words == "done" { return nil }
        return words.isEmpty ? "the server hung up" : words.replacing("failed: ", with: "", maxReplacements: 1)
    }
}

private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: EventLoopPromise<String>
    private var received = ""

    init(answer: EventLoopPromise<String>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        self.received += bytes.readString(length: bytes.readableBytes) ?? ""
    }

    func channelInactive(context: ChannelHandlerContext) { self.answer.succeed(self.received) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

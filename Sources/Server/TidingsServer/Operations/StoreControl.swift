import Foundation
import Logging
package import NIOCore
import NIOPosix

/// A socket of the file system beside the database, `<store.path>.control`, for the server's own user alone: what `tidings store backup` and
/// `tidings operator add` ask the running server over. A client writes one line: `backup` and the absolute path of a new file, `operator`, a
/// name and a role, or `console` and a name. It is answered with one line: `done`, for an operator with the key, for the console with a one-time
/// link, or `failed` and why.
struct ControlSocket: Sendable {
    /// The commands by a line's first word; each takes the rest of the line and returns the text after `done`.
    typealias Commands = [String: @Sendable (String) async throws -> String]

    private let channel: any Channel
    private let path: String

    static func path(of database: String) -> String { database + ".control" }

    /// A failure, as with a path of more than 107 bytes, is logged: everything else works without the socket.
    static func bind(
        database: String, group: any EventLoopGroup, logger: Logger, _ commands: Commands
    ) async -> ControlSocket? {
        let path = Self.path(of: database)
        let bootstrap = ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ControlHandler(commands))
                }
            }
        do {
            let channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            chmod(path, 0o600)
            return ControlSocket(channel: channel, path: path)
        } catch {
            logger.log(
                .warning, "neither backups nor operators can be asked for on this machine",
                [.path: path, .error: "\(error)"])
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

    private let commands: ControlSocket.Commands
    private var line = ""

    /// No path is longer (Linux: PATH_MAX).
    private static let lineBytesMax = 4_200

    init(_ commands: ControlSocket.Commands) { self.commands = commands }

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
        guard words.count == 2, let command = self.commands[String(words[0])] else {
            let names = self.commands.keys.sorted().joined(separator: " or ")
            return Self.send("failed: must be \(names), and what it is about", on: channel)
        }
        let rest = String(words[1])
        let promise = channel.eventLoop.makePromise(of: String.self)
        promise.completeWithTask { try await command(rest) }
        promise.futureResult.whenComplete { result in
            switch result {
            case .success(let answer): Self.send(answer.isEmpty ? "done" : "done \(answer)", on: channel)
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
    package struct Failure: Error, Hashable, Sendable {
        package var reason: String
    }

    /// Leaves word for the server's next start of a backup that was made while no server had the database open. A file that cannot be written
    /// leaves it without.
    /// - Parameters: path: of the copy, absolute. startedAt, endedAt: wall milliseconds.
    package static func noteBackup(of database: String, to path: String, startedAt: Int64, endedAt: Int64) {
        ServerStatus.noteBackup(of: database, to: path, startedAt: startedAt, endedAt: endedAt)
    }

    /// Asks the server that has a database open for a backup; waits until it is done.
    /// - Parameter path: of a new file, absolute; written by the server, with its rights.
    /// - Returns: nil, or why it failed.
    /// - Throws: an error of the system if no server listens there.
    package static func backUp(database: String, to path: String, group: any EventLoopGroup) async throws -> String? {
        switch try await self.askServer("backup \(path)", database: database, group: group) {
        case .success: nil
        case .failure(let failure): failure.reason
        }
    }

    /// Has the server that has a database open add an operator, or replace the key of one there is.
    /// - Parameter role: a raw value of `OperatorRole`.
    /// - Returns: the key, or why it failed.
    /// - Throws: an error of the system if no server listens there.
    package static func setOperator(
        database: String, name: String, role: String, group: any EventLoopGroup
    ) async throws -> Result<String, Failure> {
        try await self.askServer("operator \(name) \(role)", database: database, group: group)
    }

    /// Has the server that has a database open make a link by which an operator signs in to the console, once.
    /// - Returns: the link, or why it failed.
    /// - Throws: an error of the system if no server listens there.
    package static func makeConsoleLink(
        database: String, name: String, group: any EventLoopGroup
    ) async throws -> Result<String, Failure> {
        try await self.askServer("console \(name)", database: database, group: group)
    }

    /// - Returns: what follows `done`.
    private static func askServer(
        _ line: String, database: String, group: any EventLoopGroup
    ) async throws -> Result<String, Failure> {
        let answer = group.next().makePromise(of: String.self)
        let connecting = ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(answer: answer))
                }
            }
            .connect(unixDomainSocketPath: ControlSocket.path(of: database))
        // Where nobody listens there is no handler that would.
        connecting.whenFailure { answer.fail($0) }
        let channel = try await connecting.get()
        channel.writeAndFlush(ByteBuffer(string: "\(line)\n"), promise: nil)
        let words = try await answer.futureResult.get().trimmingCharacters(in: .whitespacesAndNewlines)
        if words == "done" || words.hasPrefix("done ") { return .success(String(words.dropFirst("done ".count))) }
        let reason = words.isEmpty ? "the server hung up" : words.replacing("failed: ", with: "", maxReplacements: 1)
        return .failure(Failure(reason: reason))
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

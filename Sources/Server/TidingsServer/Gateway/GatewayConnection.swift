import Metrics
import NIOCore
import ServerCore
import TidingsModel
import TidingsWire

/// One connection of a client: handshake, WebSocket frames and client frames in one handler, so that an idle connection costs one
/// object. Lives on the server's event loop and decides nothing about messages.
final class GatewayConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    //   handshake ──good request──▶ unauthenticated ──hello──▶ live
    //     │    │                            │                   │
    //     │    └─ refused ──────────────────┴─ fault, close ────┴─▶ closing
    //     │
    //     └─ too many from its address ─▶ turnedAway
    //
    // A connection for which there is no room begins as turnedAway; a lost one is closing, from wherever it was.
    private enum Phase {
        case handshake
        case unauthenticated
        case live
        case closing
        case turnedAway
    }

    let id: SessionID
    private let server: ServerLoop
    private var context: ChannelHandlerContext?
    private var phase: Phase
    private var format = WireFormat.protobuf
    private var parser = WebSocketParser()
    /// The beginning of a frame whose rest has not come.
    private var partial = HeldInput()
    /// Written at the end of the tick, behind `parts`.
    private var output = ByteBuffer()
    /// For the audit log; set by the handshake.
    var signIn: AuditLog.SignIn?
    private var isHelloAnswered = false
    /// The request for another token that is being answered.
    var renewal: RequestNumber?
    /// Written before `output`: long frames that other connections get, too, are not copied for each of them.
    private var parts: [ByteBuffer] = []
    private var partsBytes = 0
    /// The code of the last fatal problem, for the close frame.
    private var problem: WebSocketCloseCode?

    init(id: SessionID, server: ServerLoop, isTurnedAway: Bool) {
        self.id = id
        self.server = server
        self.phase = isTurnedAway ? .turnedAway : .handshake
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        guard self.phase != .turnedAway else { return self.sendAndClose(WebSocketHandshake.full) }
        self.server.connectionOpened(self.id, from: context.remoteAddress)
    }

    /// Too many connections came from its address: nothing more is read.
    func turnAway(afterMilliseconds wait: Int64) {
        guard self.phase == .handshake else { return }
        self.phase = .turnedAway
        self.sendAndClose(WebSocketHandshake.tooMany(afterMilliseconds: wait))
    }

    private func sendAndClose(_ answer: String) {
        guard let context = self.context else { return }
        let channel = context.channel
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: answer))).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.server.connectionEnded(self.id, wasLive: self.phase == .live)
        self.phase = .closing
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or broken connection; there is nobody to tell.
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var input = self.unwrapInboundIn(data)
        guard self.phase != .turnedAway else { return }
        guard self.phase != .closing else { return self.awaitClose(&input) }
        self.partial.prependHeld(to: &input)
        self.consume(&input)
        if self.phase != .closing { self.partial.hold(input) }
    }

    // MARK: - What comes in

    var awaitsHello: Bool { self.phase == .handshake || self.phase == .unauthenticated }

    /// Before it has said who it is, a connection may leave little waiting: a hello with the longest token fits.
    private var bytesMax: Int {
        self.phase == .live ? self.server.frameBytesMax : min(16_384, self.server.frameBytesMax)
    }

    private func consume(_ input: inout ByteBuffer) {
        if self.phase == .handshake {
            switch WebSocketHandshake.read(&input) {
            case .incomplete: return
            case .refused(let answer): return self.refuseHandshake(answer)
            case .accepted(let format, let answer, let proxy):
                self.format = format
                let signIn = self.server.acceptHandshake(on: self.id, from: self.context?.remoteAddress, proxy)
                guard self.phase == .handshake else { return }
                self.signIn = signIn
                self.phase = .unauthenticated
                self.append { $0.writeString(answer + "\(RequestID.header): \(signIn.requestID)\r\n\r\n") }
            }
        }
        do throws(WebSocketFault) {
            while self.phase != .closing,
                let message = try self.parser.next(from: &input, bytesMax: self.bytesMax)
            {
                self.handleMessage(message)
            }
        } catch {
            let code: ServerFrame.Problem.Code = error.code == .messageTooBig ? .frameTooLarge : .malformedFrame
            self.fail(code, error.rule, closing: error.code)
        }
    }

    private func handleMessage(_ message: WebSocketMessage) {
        switch message {
        case .text(let bytes):
            guard self.format == .json else { return self.failFormat("binary") }
            guard String(validating: bytes, as: UTF8.self) != nil else {
                return self.fail(.malformedFrame, "must be UTF-8", closing: .invalidPayload)
            }
            self.handleFrame(bytes)
        case .binary(let bytes):
            guard self.format == .protobuf else { return self.failFormat("text") }
            self.handleFrame(bytes)
        case .ping(let bytes):
            self.append { $0.writeWebSocketFrame(opcode: 0xa, bytes) }
            if self.phase == .live { self.server.receive(.heard(self.id)) }
        case .pong:
            if self.phase == .live { self.server.receive(.heard(self.id)) }
        case .close(let code):
            // RFC 6455 §5.5.1: answer with the code received, then hang up.
            self.beginClose(code ?? WebSocketCloseCode.normal.rawValue, hangUp: true)
        }
    }

    private func handleFrame(_ bytes: [UInt8]) {
        do throws(FrameError) {
            let frame = try FrameCodec.decodeClientFrame(bytes, as: self.format, bytesMax: self.server.frameBytesMax)
            self.server.metrics.framesReceived.increment()
            if self.phase == .live { return self.server.receive(.frame(self.id, frame, bytes: bytes.count)) }
            guard case .hello(let hello) = frame else {
                return self.fail(.unexpectedFrame, "must be hello, the first of every connection")
            }
            self.phase = .live
            self.server.handleHello(hello, on: self)
        } catch {
            self.handleFrameError(error)
        }
    }

    private func handleFrameError(_ error: FrameError) {
        switch error {
        case .tooLarge(_, let max):
            self.fail(.frameTooLarge, "must be at most \(max) bytes")
        case .malformed(let why):
            self.fail(.malformedFrame, "must be a ClientFrame in \(self.format.rawValue): \(why)")
        case .empty:
            self.sendProblem(
                ServerFrame.Problem(code: .malformedFrame, field: "frame", rule: "must hold a known frame"))
        case .invalid(let field, send: let send?) where self.phase == .live:
            self.write(.sendRefused(send, ServerFrame.Problem(field)))
        case .invalidRequest(let field, let number) where self.phase == .live:
            self.write(.answer(number, .refused(ServerFrame.Problem(field))))
        case .invalid(let field, _), .invalidRequest(let field, _):
            self.sendProblem(ServerFrame.Problem(field))
        }
    }

    /// The fault of one frame: the session goes on, unless there is none yet.
    private func sendProblem(_ problem: ServerFrame.Problem) {
        guard self.phase == .live else { return self.fail(problem) }
        self.write(.problem(problem, isFatal: false))
    }

    private func failFormat(_ kind: String) {
        self.fail(
            .malformedFrame, "must come in \(kind) messages under \(self.format.subprotocol)", closing: .unsupportedData
        )
    }

    // MARK: - What goes out

    /// Encodes a frame; it is sent at the end of the tick.
    func write(_ frame: ServerFrame) {
        guard self.phase == .live || self.phase == .unauthenticated else { return }
        if case .problem(let problem, isFatal: true) = frame {
            self.problem = WebSocketCloseCode(problem.code)
            self.server.metrics.countProblem(problem.code)
        }
        if self.phase == .live { self.logSignIn(frame) }
        if case .reconnect = frame { self.problem = .goingAway }
        let encoded = self.server.fanOut.encode(frame, as: self.format)
        if case .signal = frame, !self.hasRoom(forSignal: encoded.count) {
            return self.server.metrics.signalsDropped.increment()
        }
        guard encoded.count <= ServerSettings.serverFrameBytesMax else {
            switch Self.replacement(for: frame, bytes: encoded.count) {
            case .problem(let problem, _): return self.fail(problem)
            case let answer: return self.write(answer)
            }
        }
        let opcode: UInt8 = self.format == .json ? 0x1 : 0x2
        self.server.metrics.framesSent.increment()
        self.append {
            $0.writeWebSocketHead(opcode: opcode, length: encoded.count)
            $0.writeBytes(encoded.head)
        }
        guard var shared = encoded.shared else { return }
        guard shared.readableBytes >= Self.copiedBytesMax else { return _ = self.output.writeBuffer(&shared) }
        self.partsBytes += self.output.readableBytes + shared.readableBytes
        self.parts.append(self.drainOutput())
        self.parts.append(shared)
    }

    /// Shared bytes from this length on are written where they lie; fewer are copied behind the others.
    private static let copiedBytesMax = 4_096

    /// Signals take half of what may wait for a reader, so that the next answer or log entry, which cannot be left out, still fits.
    private func hasRoom(forSignal bytes: Int) -> Bool {
        let buffered = try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)
        let waiting = self.partsBytes + self.output.readableBytes + (buffered ?? 0)
        return waiting == 0 || waiting + bytes <= self.server.backlogBytesMax / 2
    }

    private func logSignIn(_ frame: ServerFrame) {
        guard let signIn = self.signIn else { return }
        switch frame {
        case .welcome:
            self.server.audit.logSignIn(signIn)
            self.isHelloAnswered = true
        case .problem(let problem, isFatal: true) where !self.isHelloAnswered:
            self.server.audit.logRefusal(signIn, problem.code)
            self.isHelloAnswered = true
        case .answer(let number, let answer) where number == self.renewal:
            self.server.audit.logRenewal(signIn, answer)
            self.renewal = nil
        default: return
        }
    }

    /// In place of a frame larger than what the client was promised: a person's settings may be, with a level for each of many
    /// thousand conversations. Everything else is cut before.
    static func replacement(for frame: ServerFrame, bytes: Int) -> ServerFrame {
        var problem = ServerFrame.Problem(
            code: .frameTooLarge, field: "frame",
            rule: "has \(bytes) bytes, the server sends at most \(ServerSettings.serverFrameBytesMax)")
        guard case .answer(let number, _) = frame else { return .problem(problem, isFatal: true) }
        problem.field = "answer"
        return .answer(number, .refused(problem))
    }

    func probe() {
        guard self.phase == .live else { return }
        self.append { $0.writeWebSocketFrame(opcode: 0x9, []) }
    }

    private func append(_ body: (inout ByteBuffer) -> Void) {
        if self.output.readableBytes == 0, self.parts.isEmpty { self.server.needsFlush(self) }
        body(&self.output)
    }

    /// Sends what was written in this tick. A reader who left more waiting than allowed, and is to get yet more, is cut off.
    func flush() {
        guard let context = self.context, self.output.readableBytes > 0 || !self.parts.isEmpty else { return }
        guard context.channel.isWritable else { return self.cutOff() }
        self.writeParts(context)
        context.writeAndFlush(self.wrapOutboundOut(self.drainOutput()), promise: nil)
    }

    private func writeParts(_ context: ChannelHandlerContext) {
        guard !self.parts.isEmpty else { return }
        for part in self.parts { context.write(self.wrapOutboundOut(part), promise: nil) }
        self.parts = []
        self.partsBytes = 0
    }

    private func drainOutput() -> ByteBuffer {
        let output = self.output
        self.output = ByteBuffer()
        return output
    }

    private func cutOff() {
        switch self.phase {
        case .live: self.server.receive(.backlogExceeded(self.id))
        case .handshake, .unauthenticated, .closing, .turnedAway: self.server.metrics.countProblem(.slowReader)
        }
        // What waits is dropped: the reader would have to take all of it before it could be told why.
        self.context?.close(promise: nil)
    }

    // MARK: - The end

    private func fail(
        _ code: ServerFrame.Problem.Code, _ rule: String, closing closeCode: WebSocketCloseCode? = nil
    ) {
        self.fail(ServerFrame.Problem(code: code, field: "frame", rule: rule), closing: closeCode)
    }

    private func fail(_ problem: ServerFrame.Problem, closing code: WebSocketCloseCode? = nil) {
        self.write(.problem(problem, isFatal: true))
        self.beginClose((code ?? WebSocketCloseCode(problem.code)).rawValue, hangUp: false)
    }

    /// Answers a request that is not a handshake.
    private func refuseHandshake(_ answer: String) {
        self.append { $0.writeString(answer) }
        self.flush()
        self.phase = .closing
        self.context?.close(mode: .output, promise: nil)
        self.server.scheduleHangUp(self.id)
    }

    /// The core has ended the session: writes a close frame behind what waits. The client hangs up, or is hung up on soon.
    func close() {
        self.beginClose((self.problem ?? .normal).rawValue, hangUp: false)
    }

    func expire(milliseconds: Int) {
        switch self.phase {
        case .handshake: self.context?.close(promise: nil)
        case .unauthenticated:
            self.fail(
                ServerFrame.Problem(
                    code: .timedOut, field: "hello", rule: "must come within \(milliseconds) ms of connecting"))
        case .live, .closing, .turnedAway: break
        }
    }

    func hangUp() { self.context?.close(promise: nil) }

    private func beginClose(_ code: UInt16, hangUp: Bool) {
        guard self.phase != .closing else { return }
        self.append { $0.writeWebSocketFrame(opcode: 0x8, [UInt8(code >> 8), UInt8(code & 0xff)]) }
        let wasLive = self.phase == .live
        self.phase = .closing
        if wasLive { self.server.receive(.disconnected(self.id)) }
        guard let context = self.context else { return }
        self.partial = HeldInput()
        self.writeParts(context)
        let output = self.wrapOutboundOut(self.drainOutput())
        if hangUp {
            let channel = context.channel
            context.writeAndFlush(output).whenComplete { _ in channel.close(promise: nil) }
        } else {
            context.writeAndFlush(output, promise: nil)
            // RFC 6455 §7.1.1: wait for the client's close frame, so that a reset does not overtake what was written.
            self.server.scheduleHangUp(self.id)
        }
    }

    /// After our close frame only the client's own is of interest (RFC 6455 §7.1.1).
    private func awaitClose(_ input: inout ByteBuffer) {
        while let message = try? self.parser.next(from: &input, bytesMax: self.server.frameBytesMax) {
            if case .close = message { self.context?.close(promise: nil) }
        }
    }
}

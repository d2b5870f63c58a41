import ClientCore
import TidingsAppGroup
import TidingsModel
import TidingsWire

/// Counts frames that were received and not handled yet. With too many, connections stop reading until the engine has
/// caught up; the rest waits at the server, which limits slow readers itself.
final class Intake: Sendable {
    /// Stops reading. A server writes less to one device at once: 256 messages of the largest size.
    static let bytesMax = 16_777_216
    /// Resumes reading.
    static let bytesLow = 1_048_576

    fileprivate struct State {
        /// Oldest first; those before `first` are handled.
        var sizes: [Int] = []
        var first = 0
        var bytes = 0
        var paused: [ConnectionNumber: any TransportConnection] = [:]
    }

    private let state = Locked(State())

    func received(_ bytes: Int, on number: ConnectionNumber, _ connection: (any TransportConnection)?) {
        self.state.withLock { state in
            state.sizes.append(bytes)
            state.bytes += bytes
            state.pause(number, connection)
        }
    }

    /// Counts what the connection received before it was attached.
    func began(_ number: ConnectionNumber, _ connection: any TransportConnection) {
        self.state.withLock { $0.pause(number, connection) }
    }

    func handled() {
        let woken = self.state.withLock { state -> [any TransportConnection] in
            guard state.first < state.sizes.count else { return [] }
            state.bytes -= state.sizes[state.first]
            state.first += 1
            if state.first == state.sizes.count || state.first == 1_024 {
                state.sizes.removeFirst(state.first)
                state.first = 0
            }
            guard state.bytes <= Self.bytesLow else { return [] }
            defer { state.paused = [:] }
            return Array(state.paused.values)
        }
        for connection in woken { connection.setReading(true) }
    }
}

extension Intake.State {
    /// Under the lock, so that a resume comes later.
    fileprivate mutating func pause(_ number: ConnectionNumber, _ connection: (any TransportConnection)?) {
        guard let connection, self.bytes > Intake.bytesMax, self.paused[number] == nil else { return }
        self.paused[number] = connection
        connection.setReading(false)
    }
}

final class FrameReader: Sendable {
    private struct State {
        var connection: (any TransportConnection)?
        var bytesMax = FrameCodec.serverFrameBytesMax
        var isEnded = false
    }

    private let number: ConnectionNumber
    private let intake: Intake
    private let post: @Sendable (ClientEvent) -> Void
    private let state = Locked(State())

    init(number: ConnectionNumber, intake: Intake, post: @escaping @Sendable (ClientEvent) -> Void) {
        self.number = number
        self.intake = intake
        self.post = post
    }

    /// The transport has returned its connection, perhaps after its first events.
    func attach(_ connection: any TransportConnection) {
        let bytesMax = self.state.withLock { state -> Int? in
            guard !state.isEnded else { return nil }
            state.connection = connection
            return state.bytesMax
        }
        guard let bytesMax else { return }
        connection.limitReceived(to: bytesMax)
        self.intake.began(self.number, connection)
    }

    func handle(_ event: TransportEvent) {
        switch event {
        case .opened: self.post(.connectionOpened(self.number))
        case .received(let bytes): self.decode(bytes)
        case .closed(let reason):
            self.state.withLock { state in
                state.isEnded = true
                state.connection = nil
            }
            self.post(.connectionClosed(self.number, reason: reason))
        }
    }

    private func decode(_ bytes: [UInt8]) {
        let (connection, bytesMax) = self.state.withLock { ($0.connection, $0.bytesMax) }
        let frame: ServerFrame
        do {
            frame = try FrameCodec.decodeServerFrame(bytes, as: .protobuf, bytesMax: bytesMax)
        } catch FrameError.empty {
            // From a newer server: nothing this client has requested.
            return
        } catch {
            let problem = ServerFrame.Problem(code: .malformedFrame, rule: "\(error)")
            frame = .problem(problem, isFatal: true)
        }
        // Here and not by the core: what follows the welcome may be read before the core has handled it.
        if case .welcome(let welcome) = frame {
            let bytesMax = FrameCodec.serverFrameBytesMax(after: welcome)
            self.state.withLock { $0.bytesMax = bytesMax }
            connection?.limitReceived(to: bytesMax)
        }
        self.intake.received(bytes.count, on: self.number, connection)
        self.post(.frameReceived(self.number, frame))
    }
}

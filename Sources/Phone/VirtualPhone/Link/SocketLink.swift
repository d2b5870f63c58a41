import Dispatch
import Foundation
import Glibc
import Synchronization
import TidingsModel

package enum PhoneEnvironment {
    package static let socket = "TIDINGS_PHONE_SOCKET"
    package static let token = "TIDINGS_PHONE_TOKEN"
    package static let facts = "TIDINGS_PHONE_FACTS"
}

/// One JSON object a line over a Unix-domain socket. When the phone's side closes, the process leaves at once.
final class SocketLink: PhoneLink {
    private let descriptor: Int32
    private let writing = Mutex(())
    private let questions = Mutex<[QueryNumber: Question]>([:])

    /// The main thread waits for it.
    private final class Question: Sendable {
        let arrived = DispatchSemaphore(value: 0)
        let answer = Mutex<QueryAnswer?>(nil)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to the phone that the environment names.
    @MainActor static func connect(role: PhoneProcessFacts.Role, hello: (String) -> ProcessHello) -> PhoneProcess {
        let environment = ProcessInfo.processInfo.environment
        guard let path = environment[PhoneEnvironment.socket], let token = environment[PhoneEnvironment.token],
            let text = environment[PhoneEnvironment.facts], let facts = try? PhoneProcessFacts(line: text.utf8)
        else { leave("this executable is started by a virtual phone: run it with `tidings phone`") }
        guard facts.role == role else { leave("this executable is started as \(facts.role), but is \(role)") }
        guard let descriptor = UnixSocket.connect(path: path) else {
            leave("the phone's socket \(path) cannot be reached: \(String(cString: strerror(errno)))")
        }
        let link = SocketLink(descriptor: descriptor)
        let process = PhoneProcess(facts: facts, link: link)
        PhoneContext.processWide.withLock { $0 = process }
        link.send(.hello(hello(token)))
        let reader = Thread { link.read(for: process) }
        reader.name = "phone link"
        reader.start()
        return process
    }

    func send(_ message: ProcessMessage) {
        let line = message.line
        // The lock keeps two threads' lines apart.
        self.writing.withLock { _ in UnixSocket.write(line, to: self.descriptor) }
    }

    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? {
        let question = Question()
        self.questions.withLock { $0[number] = question }
        self.send(.event(.query(number, query)))
        question.arrived.wait()
        return question.answer.withLock { $0 }
    }

    private func read(for process: PhoneProcess) {
        var lines = LineBuffer()
        while let bytes = UnixSocket.read(from: self.descriptor) {
            for line in lines.append(bytes) {
                guard let message = try? HostMessage(line: line) else {
                    Self.leave("the phone sent a line that cannot be read")
                }
                self.handleMessage(message, for: process)
            }
        }
        _exit(0)
    }

    private func handleMessage(_ message: HostMessage, for process: PhoneProcess) {
        switch message {
        case .answer(let number, let answer):
            guard let question = self.questions.withLock({ $0.removeValue(forKey: number) }) else {
                return process.resolve(answer, for: number)
            }
            question.answer.withLock { $0 = answer }
            question.arrived.signal()
        case .exit: _exit(0)
        case .call, .state, .input, .show, .respond, .touch:
            DispatchQueue.main.async { MainActor.assumeIsolated { process.receive(message) } }
        }
    }

    private static func leave(_ reason: String) -> Never {
        FileHandle.standardError.write(Data((reason + "\n").utf8))
        exit(64)
    }
}

/// Serves the main run loop, and with it the main queue and the main actor: as under UIKit, timers fire and every
/// callback is on the main thread.
@MainActor package func runUntilKilled() -> Never { while true { RunLoop.main.run(until: .distantFuture) } }

package struct LineBuffer {
    private var rest: [UInt8] = []

    package init() {}

    package var pendingBytes: Int { self.rest.count }

    /// Returns the lines that are complete now, without their ends.
    package mutating func append(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(self.rest)
                self.rest.removeAll(keepingCapacity: true)
            } else {
                self.rest.append(byte)
            }
        }
        return lines
    }
}

enum UnixSocket {
    /// nil with `errno` set.
    static func connect(path: String) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else {
            errno = ENAMETOOLONG
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// A peer that is gone is noticed by reading.
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                buffer.baseAddress.map { send(descriptor, $0 + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) } ?? -1
            }
            if count > 0 {
                sent += count
            } else if count < 0, errno == EINTR {
                continue
            } else {
                return
            }
        }
    }

    /// Waits for at least a byte; nil at the end.
    static func read(from descriptor: Int32) -> [UInt8]? {
        while true {
            var result = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                count = max(0, result)
            }
            if result > 0 { return bytes }
            if result < 0, errno == EINTR { continue }
            return nil
        }
    }
}

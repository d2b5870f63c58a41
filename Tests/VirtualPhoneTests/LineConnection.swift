import Foundation
import Glibc
import Synchronization
import TidingsModel

@testable import VirtualPhone

final class LineConnection: Sendable {
    private let descriptor: Int32
    private let lines: AsyncStream<JSONValue>
    private let iterator: Mutex<AsyncStream<JSONValue>.Iterator>

    init(descriptor: Int32) {
        self.descriptor = descriptor
        let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        self.lines = stream
        self.iterator = Mutex(stream.makeAsyncIterator())
        Thread {
            var buffer = LineBuffer()
            while let bytes = UnixSocket.read(from: descriptor) {
                for line in buffer.append(bytes) {
                    if let json = try? JSONValue(parsing: line) { continuation.yield(json) }
                }
            }
            continuation.finish()
        }.start()
    }

    convenience init(port: Int) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw CocoaError(.fileReadUnknown) }
        self.init(descriptor: descriptor)
    }

    func send(_ json: JSONValue) { UnixSocket.write(Array((json.text + "\n").utf8), to: self.descriptor) }
    func send(text: String) { UnixSocket.write(Array(text.utf8), to: self.descriptor) }

    /// The next line; nil at the end of the connection.
    func next() async -> JSONValue? {
        var iterator = self.iterator.withLock { $0 }
        return await iterator.next()
    }

    func next(where fits: (JSONValue) -> Bool) async -> JSONValue? {
        while let line = await self.next() { if fits(line) { return line } }
        return nil
    }

    func close() { shutdown(self.descriptor, Int32(SHUT_RDWR)) }
}

func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
}

/// A listener on a free port of the loopback interface: the courier's end.
final class FakeCourier: Sendable {
    let port: Int
    private let descriptor: Int32
    private let iterator: Mutex<AsyncStream<LineConnection>.Iterator>

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard result else { throw CocoaError(.fileReadUnknown) }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        self.descriptor = descriptor
        let (stream, continuation) = AsyncStream.makeStream(of: LineConnection.self)
        self.iterator = Mutex(stream.makeAsyncIterator())
        Thread {
            while true {
                let accepted = accept(descriptor, nil, nil)
                guard accepted >= 0 else { return continuation.finish() }
                continuation.yield(LineConnection(descriptor: accepted))
            }
        }.start()
    }

    func accepted() async throws -> LineConnection {
        var iterator = self.iterator.withLock { $0 }
        guard let connection = await iterator.next() else { throw CocoaError(.fileReadUnknown) }
        return connection
    }

    func close() { shutdown(self.descriptor, Int32(SHUT_RDWR)) }
}

final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        self.path =
            URL(fileURLWithPath: NSTemporaryDirectory() + "/vphone-" + UUID().uuidString)
            .standardizedFileURL.path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}

/// The letter `ps` shows: S sleeping, T stopped; nil if there is no such process or it is a zombie.
func processState(_ processIdentifier: Int) -> Character? {
    guard let text = try? String(contentsOfFile: "/proc/\(processIdentifier)/stat", encoding: .utf8),
        let end = text.lastIndex(of: ")"), let state = text[end...].dropFirst(2).first
    else { return nil }
    return state == "Z" ? nil : state
}

func eventually(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<12_000 {
        if condition() { return true }
        try? await Task.sleep(nanoseconds: 10_000_000)
    }
    return false
}

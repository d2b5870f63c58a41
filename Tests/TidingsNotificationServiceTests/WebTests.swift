import Foundation
import Testing

@testable import TidingsNotificationService

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite struct `The extension's own web client` {
    @Test func `sends method, path, token and body, and brings back status and body`() async throws {
        let server = try OneAnswerServer("HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/v1/extension/receipts"))
        let answer = try await URLSessionHTTP().send(
            .init(method: "POST", url: url, token: "secret", body: Array("{\"a\":1}".utf8), seconds: 120))
        #expect(answer.status == 201)
        #expect(String(decoding: answer.body, as: UTF8.self) == "ok")
        let request = await server.request.value
        #expect(request.hasPrefix("POST /v1/extension/receipts HTTP/1.1\r\n"))
        #expect(request.contains("\r\nAuthorization: Bearer secret\r\n"))
        #expect(request.contains("\r\nContent-Type: application/json\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"a\":1}"))
    }

    @Test func `keeps the query of a fetch`() async throws {
        let server = try OneAnswerServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        let api = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        let url = try #require(URL(string: "/v1/extension/missed?after=1&limit=2", relativeTo: api))
        _ = try await URLSessionHTTP().send(.init(method: "GET", url: url.absoluteURL, token: "t", seconds: 120))
        #expect(await server.request.value.hasPrefix("GET /v1/extension/missed?after=1&limit=2 HTTP/1.1\r\n"))
    }

    @Test func `fetches a file over an encrypted connection alone`() async throws {
        let server = try OneAnswerServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/cat.jpg"))
        await #expect(throws: FileFetch.Fault.insecure) {
            try await URLSessionHTTP().file(at: url, hosts: ["127.0.0.1"], bytesMax: 10, seconds: 120)
        }
        let secure = try #require(URL(string: "https://127.0.0.1:\(server.port)/cat.jpg"))
        await #expect(throws: FileFetch.Fault.foreign) {
            try await URLSessionHTTP().file(at: secure, hosts: ["files.example.com"], bytesMax: 10, seconds: 120)
        }
        server.close()
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", "okok", nil),
        ("HTTP/1.1 200 OK\r\n", "okok", nil),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "okoko", FileFetch.Fault.tooLarge),
        ("HTTP/1.1 200 OK\r\n", "okoko", .tooLarge),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n", "no", .refused),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n", "", .insecure),
        ("HTTP/1.1 302 Found\r\nLocation: https://localhost:1/\r\nContent-Length: 0\r\n", "", .foreign),
    ])
    func `takes a whole file of the size allowed, and stops at everything else`(
        head: String, body: String, fault: FileFetch.Fault?
    ) async throws {
        let server = try OneAnswerServer(head + "Connection: close\r\n\r\n" + body)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/cat.jpg"))
        let answer = await Result {
            try await URLSessionHTTP.fetch(URLRequest(url: url), hosts: ["127.0.0.1"], bytesMax: 4, seconds: 120)
        }
        switch fault {
        case nil: #expect(try answer.get() == Data(body.utf8))
        case let fault?: #expect(throws: fault) { try answer.get() }
        }
        #expect(await server.request.value.contains("Authorization") == false)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "ok", nil),
        ("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n", "no", FileFetch.Fault.refused),
        ("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n", "", .foreign),
    ])
    func `asks the server for media with the token, which no redirection gets`(
        head: String, body: String, fault: FileFetch.Fault?
    ) async throws {
        let server = try OneAnswerServer(head + "Connection: close\r\n\r\n" + body)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/v1/media/x?message=y"))
        let answer = await Result {
            try await URLSessionHTTP().media(at: url, token: "secret", bytesMax: 4, seconds: 120)
        }
        switch fault {
        case nil: #expect(try answer.get() == Data(body.utf8))
        case let fault?: #expect(throws: fault) { try answer.get() }
        }
        #expect(await server.request.value.hasPrefix("GET /v1/media/x?message=y HTTP/1.1\r\n"))
        #expect(await server.request.value.contains("\r\nAuthorization: Bearer secret\r\n"))
    }

    @Test func `gives up on a server that does not answer`() async throws {
        let server = try OneAnswerServer(nil)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        await #expect(throws: (any Error).self) {
            try await URLSessionHTTP().send(.init(method: "GET", url: url, token: "t", seconds: 1))
        }
        server.close()
    }
}

extension Result where Failure == any Error {
    /// What some work came to.
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// Takes one request on a loopback port and gives one answer, or none.
private final class OneAnswerServer: Sendable {
    let port: UInt16
    /// What came, head and body.
    let request: Task<String, Never>
    private let listener: Int32

    init(_ answer: String?) throws {
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        try #require(listener >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, generic, &size) == 0
            }
        }
        try #require(isBound)
        self.listener = listener
        self.port = UInt16(bigEndian: address.sin_port)
        let (requests, continuation) = AsyncStream<String>.makeStream()
        // A thread of its own: it waits in system calls, and the threads of tasks are few.
        Thread.detachNewThread {
            if let answer { continuation.yield(Self.serve(answer, on: listener)) }
            continuation.finish()
        }
        self.request = Task {
            for await request in requests { return request }
            return ""
        }
    }

    private static func serve(_ answer: String, on listener: Int32) -> String {
        let connection = accept(listener, nil, nil)
        defer {
            if connection >= 0 { Self.end(connection) }
            Self.end(listener)
        }
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !Self.isWhole(text) {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { break }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        _ = Array(answer.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
        return text
    }

    /// Ends the wait for a connection; the thread that waits closes the descriptor, once.
    func close() { shutdown(self.listener, Int32(2)) }

    private static func end(_ descriptor: Int32) {
        shutdown(descriptor, Int32(2))
        _ = systemClose(descriptor)
    }

    /// Whether the body is as long as the head says.
    private static func isWhole(_ text: String) -> Bool {
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let lengths = text[..<end.lowerBound].split(separator: "\r\n").compactMap { line -> Int? in
            let parts = line.split(separator: ":")
            return parts.first?.lowercased() == "content-length" ? parts.last.flatMap { Int($0.dropFirst()) } : nil
        }
        return text[end.upperBound...].utf8.count >= lengths.first ?? 0
    }
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

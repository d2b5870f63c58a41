import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

/// What a server decides by the head of a request, on both ports, over a socket.
@Suite struct `A server that has read the head of a request` {
    private static let key = "Authorization: Bearer \(TestServer.key)"
    private static let go = "HTTP/1.1 100 Continue"

    private static func head(_ line: String, _ headers: String...) -> String {
        (["\(line) HTTP/1.1", "Host: localhost"] + headers).joined(separator: "\r\n") + "\r\n\r\n"
    }

    @Test func `refuses without the body what the head decides`() async throws {
        try await TestServer.with { server in
            let (api, phone) = (server.listening.apiPort, server.listening.phonePort)
            let send = "POST /v1/apps/demo/messages"
            let (waits, small) = ("Expect: 100-continue", "Content-Length: 20")
            let upload = "PATCH /v1/media/uploads/\(String(repeating: "0", count: 32))"
            for (port, head, status) in [
                (api, Self.head(send, waits, small, "Authorization: Bearer wrong"), 401),
                (api, Self.head(send, waits, small, "Authorization: Bearer reader-key"), 403),
                (api, Self.head(send, waits, "Content-Length: 99000000", Self.key), 413),
                (api, Self.head(send, "Content-Length: 99000000", Self.key), 413),
                (api, Self.head(send, "Content-Encoding: gzip", small, Self.key), 415),
                (api, Self.head(send, waits, "Content-Encoding: gzip", small, Self.key), 415),
                (api, Self.head("POST /v1/nothing", waits, small, Self.key), 404),
                (api, Self.head("POST /healthz", waits, small, Self.key), 405),
                (api, Self.head(send + "?x=1", waits, small, Self.key), 400),
                (api, Self.head(send, "Expect: 200-ok", small, Self.key), 417),
                (api, Self.head(send, "Transfer-Encoding: gzip, chunked", Self.key), 501),
                (phone, Self.head(upload, waits, small, "Tus-Resumable: 1.0.0"), 401),
                (phone, Self.head(upload, "Content-Encoding: gzip", small, "Tus-Resumable: 1.0.0"), 415),
            ] {
                let client = try await RawClient.connect(port: port)
                try await client.send(text: head)
                let answer = try await client.head()
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
                let id = answer.lowercased().contains("x-request-id: ")
                #expect(id, "\(answer)")
                if status == 415 { #expect(answer.lowercased().contains("accept-encoding: identity")) }
                await client.close()
            }
        }
    }

    @Test func `lets a client that waits send its body, and the connection goes on`() async throws {
        try await TestServer.with { server in
            let client = try await RawClient.connect(port: server.listening.apiPort)
            let body = #"{"profiles":[{"user":"alice","name":"Alice"}]}"#
            for _ in 0..<2 {
                try await client.send(
                    text: Self.head(
                        "PUT /v1/apps/demo/profiles", "Expect: 100-continue", "Content-Length: \(body.utf8.count)",
                        Self.key))
                #expect(try await client.head() == Self.go)
                try await client.send(text: body)
                #expect(try await client.head().hasPrefix("HTTP/1.1 204 "))
            }
            await client.close()
        }
    }

    @Test func `lets a phone send the part of a file that fits, and refuses one that does not`() async throws {
        try await TestServer.withFolder { folder in
            try await TestServer.with(folder: folder, { $0.media.path = folder + "/media" }) { server in
                let alice = try await server.client("alice")
                let token = "Authorization: Bearer \(server.token("alice"))"
                let client = try await RawClient.connect(port: server.listening.phonePort)
                let tus = "Tus-Resumable: 1.0.0"
                for length in ["+5", "-5", "0x10", " ", "5.0", "\u{665}"] {
                    try await client.send(
                        text: Self.head(
                            "POST /v1/media/uploads", tus, token, "Content-Length: 0", "Upload-Length: \(length)",
                            "Upload-Metadata: filetype aW1hZ2UvanBlZw=="))
                    let head = try await client.head()
                    #expect(head.hasPrefix("HTTP/1.1 400 "), "\(length)")
                    #expect(try await client.body(of: head).contains("Upload-Length must be"), "\(length)")
                }
                try await client.send(
                    text: Self.head(
                        "POST /v1/media/uploads", tus, token, "Content-Length: 0", "Upload-Length: 5",
                        "Upload-Metadata: filetype aW1hZ2UvanBlZw=="))
                let made = APIResponse(status: 201, head: try await client.head(), text: "")
                let place = try #require(made.header("Location"))
                _ = try await client.body(of: made.head)
                let type = "Content-Type: application/offset+octet-stream"
                func part(_ length: Int, _ offset: String = "0") -> String {
                    Self.head(
                        "PATCH \(place)", tus, token, type, "Upload-Offset: \(offset)", "Expect: 100-continue",
                        "Content-Length: \(length)")
                }
                try await client.send(text: part(3))
                #expect(try await client.head() == Self.go)
                try await client.send([0xff, 0xd8, 0xff])
                #expect(try await client.head().hasPrefix("HTTP/1.1 204 "))
                try await client.send(text: part(3, "3"))
                #expect(try await client.head().hasPrefix("HTTP/1.1 413 "))
                await client.close()
                await alice.close()
            }
        }
    }

    @Test func `ends the connection of HTTP/1.0, and sends it no chunks`() async throws {
        try await TestServer.with { server in
            for path in ["/healthz", "/metrics", "/v1/apps/demo/users"] {
                let client = try await RawClient.connect(port: server.listening.apiPort)
                try await client.send(text: "GET \(path) HTTP/1.0\r\n\(Self.key)\r\n\r\n")
                let answer = await client.rest().lowercased()
                #expect(answer.contains(" 200 ") && answer.contains("\r\nconnection: close\r\n"), "\(path)")
                #expect(!answer.contains("transfer-encoding"), "\(path)")
                await client.close()
            }
            let client = try await RawClient.connect(port: server.listening.apiPort)
            try await client.send(text: "GET /v1/apps/demo/events HTTP/1.0\r\n\(Self.key)\r\n\r\n")
            let head = try await client.head()
            #expect(head.hasPrefix("HTTP/1.0 200 ") && !head.lowercased().contains("transfer-encoding"))
            #expect(try await client.text(until: "\n\n").hasPrefix("retry: "))
            await client.close()
        }
    }

    @Test func `knows the console by its whole name alone`() async throws {
        try await TestServer.with { server in
            for (host, status) in [
                ("localhost", 200), ("127.0.0.1:7480", 200), ("[::1]:1", 200), ("LOCALHOST", 200),
                ("evil.example", 421),
                ("[::1].evil.example", 400), ("[::1]x", 400), ("localhost\r\nHost: evil.example", 400), ("", 421),
                ("localhost.evil.example", 421), ("localhost:x", 400), ("x@localhost", 400),
            ] {
                let client = try await RawClient.connect(port: server.listening.apiPort)
                try await client.send(text: "GET /console/ HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect(try await client.head().hasPrefix("HTTP/1.1 \(status) "), "\(host)")
                await client.close()
            }
        }
    }

    @Test func `takes a whole address for its path`() async throws {
        try await TestServer.with { server in
            _ = try await server.request(
                "PUT", "/v1/apps/demo/users/a%2Fb%C3%A9/profile", body: #"{"name":"Alice"}"#)
            let path = "/v1/apps/demo/users/a%2Fb%C3%A9/profile"
            for (target, host, status) in [
                ("http://localhost\(path)", "localhost", 200), ("http://localhost:1\(path)?", "localhost:1", 200),
                ("http://evil.example\(path)", "localhost", 400), ("http://localhost//healthz", "localhost", 404),
            ] {
                let client = try await RawClient.connect(port: server.listening.apiPort)
                try await client.send(
                    text: "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(Self.key)\r\n\r\n")
                let answer = await client.rest()
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(target)")
                #expect(answer.contains("Alice") == (status == 200), "\(target)")
                await client.close()
            }
        }
    }
}

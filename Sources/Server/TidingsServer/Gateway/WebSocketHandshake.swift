import Crypto
import Foundation
import HTTPUpgrades
import NIOCore
import TidingsModel
import TidingsWire

/// The opening handshake of RFC 6455 §4.2: one HTTP request, and the answer to it.
enum WebSocketHandshake {
    enum Outcome: Equatable {
        case incomplete
        /// Send this, more headers and an empty line, and speak the format from here on.
        case accepted(WireFormat, answer: String, proxy: ProxyHeaders)
        /// Send this and close.
        case refused(answer: String)
    }

    /// Only a trusted proxy's are believed.
    struct ProxyHeaders: Equatable {
        var forwardedFor: String?
        var requestID: String?
    }

    static let headBytesMax = 8_192
    /// design.md §9.
    static let path = "/v1/connect"

    private struct Refusal: Error {
        var status = "400 Bad Request"
        var field: String
        var rule: String
        var headers: [String] = []
    }

    /// Removes a complete request from the front of `buffer`.
    static func read(_ buffer: inout ByteBuffer) -> Outcome {
        guard let length = Self.headLength(buffer) else {
            guard buffer.readableBytes > Self.headBytesMax else { return .incomplete }
            return .refused(answer: Self.tooLarge)
        }
        guard length <= Self.headBytesMax, let head = buffer.readString(length: length) else {
            return .refused(answer: Self.tooLarge)
        }
        do throws(Refusal) {
            let (format, accept, proxy) = try Self.check(head)
            let lines = [
                "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Accept: \(accept)", "Sec-WebSocket-Protocol: \(format.subprotocol)",
            ]
            return .accepted(format, answer: lines.joined(separator: "\r\n") + "\r\n", proxy: proxy)
        } catch {
            return .refused(answer: Self.answer(error))
        }
    }

    static let full = Self.answer(
        Refusal(
            status: "503 Service Unavailable", field: "gateway.connections_max",
            rule: "is reached; try again later", headers: ["Retry-After: 5"]))

    static func tooMany(afterMilliseconds wait: Int64) -> String {
        Self.answer(
            Refusal(
                status: "429 Too Many Requests", field: "address", rule: "must wait before it connects again",
                headers: ["Retry-After: \((wait + 999) / 1_000)"]))
    }

    private static let tooLarge = Self.answer(
        Refusal(
            status: "431 Request Header Fields Too Large", field: "headers",
            rule: "must be at most \(Self.headBytesMax) bytes"))

    /// The bytes up to and including the empty line; nil if it has not come.
    private static func headLength(_ buffer: ByteBuffer) -> Int? {
        buffer.withUnsafeReadableBytes { bytes in
            guard bytes.count >= 4 else { return nil }
            for end in 4...bytes.count
            where bytes[end - 1] == 0x0a && bytes[end - 2] == 0x0d && bytes[end - 3] == 0x0a && bytes[end - 4] == 0x0d {
                return end
            }
            return nil
        }
    }

    private static func check(_ head: String) throws(Refusal) -> (WireFormat, accept: String, ProxyHeaders) {
        // Swift sees CR LF as one character.
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        let request = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard request.count == 3, request[2].hasPrefix("HTTP/") else {
            throw Refusal(field: "request", rule: "must be HTTP/1.1")
        }
        guard request[2] == "HTTP/1.1" else {
            throw Refusal(status: "505 HTTP Version Not Supported", field: "request", rule: "must be HTTP/1.1")
        }
        guard request[0] == "GET" else {
            throw Refusal(
                status: "405 Method Not Allowed", field: "method", rule: "must be GET", headers: ["Allow: GET"])
        }
        guard request[1].prefix(while: { $0 != "?" }) == Self.path else {
            throw Refusal(status: "404 Not Found", field: "path", rule: "must be \(Self.path); this is the gateway")
        }
        let headers = try Self.headers(lines.dropFirst())
        let (format, accept) = try Self.check(headers: headers)
        return (
            format, accept, ProxyHeaders(forwardedFor: headers["x-forwarded-for"], requestID: headers["x-request-id"])
        )
    }

    private static func headers(_ lines: ArraySlice<Substring>) throws(Refusal) -> [String: String] {
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw Refusal(field: "headers", rule: "must be lines of \"name: value\"")
            }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            // RFC 9110 §5.3: a repeated field is one list.
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        return headers
    }

    private static func check(headers: [String: String]) throws(Refusal) -> (WireFormat, accept: String) {
        // Two are one list here, which is no host.
        guard let host = headers["host"], RequestTarget.host(in: host) != nil else {
            throw Refusal(field: "Host", rule: RequestFault.host.row.rule)
        }
        guard Self.tokens(headers["upgrade"]).contains("websocket"),
            Self.tokens(headers["connection"]).contains("upgrade")
        else {
            throw Refusal(
                status: "426 Upgrade Required", field: "Upgrade",
                rule: "must be websocket, and Connection must be Upgrade", headers: ["Upgrade: websocket"])
        }
        guard headers["sec-websocket-version"] == "13" else {
            throw Refusal(
                status: "426 Upgrade Required", field: "Sec-WebSocket-Version", rule: "must be 13",
                headers: ["Upgrade: websocket", "Sec-WebSocket-Version: 13"])
        }
        guard let key = headers["sec-websocket-key"], Data(base64Encoded: key)?.count == 16 else {
            throw Refusal(field: "Sec-WebSocket-Key", rule: "must be 16 bytes in base 64")
        }
        let offered = (headers["sec-websocket-protocol"] ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard let format = offered.lazy.compactMap({ WireFormat(subprotocol: $0) }).first else {
            let known = WireFormat.allCases.map(\.subprotocol).joined(separator: " or ")
            throw Refusal(field: "Sec-WebSocket-Protocol", rule: "must offer \(known)")
        }
        return (format, Self.accept(key: key))
    }

    private static func tokens(_ list: String?) -> [String] {
        (list ?? "").lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Proves that the server read the key (RFC 6455 §4.2.2, step 5.4).
    static func accept(key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Data(Insecure.SHA1.hash(data: Data(text.utf8))).base64EncodedString()
    }

    private static func answer(_ refusal: Refusal) -> String {
        let code = Int64(refusal.status.prefix(3)) ?? 400
        let body =
            JSONMembers([
                "type": "about:blank", "title": String(refusal.status.dropFirst(4)), "status": code,
                "detail": "\(refusal.field) \(refusal.rule)", "field": refusal.field,
            ]).json.text + "\n"
        let lines =
            [
                "HTTP/1.1 \(refusal.status)", "Content-Type: application/problem+json",
                "Content-Length: \(body.utf8.count)", "Connection: close",
            ] + refusal.headers
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

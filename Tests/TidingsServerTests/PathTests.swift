import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import ServerCore
import Testing
import TidingsModel

@testable import TidingsServer

/// The routes of both ports, asked by raw targets.
private struct Routes {
    let double: APIDouble
    private let api: RouterResponder<APIContext>
    private let phone: RouterResponder<APIContext>

    init() async throws {
        self.double = try await APIDouble()
        self.api = self.double.api.router().buildResponder()
        self.phone = self.double.api.phoneRouter().buildResponder()
    }

    /// Without the headers that are another one's with each answer.
    func answer(_ method: String, _ target: String, _ body: String = "", onPhones: Bool = false) async throws
        -> APIResponse
    {
        var fields: HTTPFields = [.authorization: "Bearer \(TestServer.key)"]
        fields[try #require(HTTPField.Name("X-Request-Id"))] = "r"
        fields[try #require(HTTPField.Name("Tus-Resumable"))] = "1.0.0"
        let head = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)), scheme: "http", authority: "localhost", path: target,
            headerFields: fields)
        let context = API.Context(
            source: ApplicationRequestContextSource(
                channel: EmbeddedChannel(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let response = try await (onPhones ? self.phone : self.api)
            .respond(to: Request(head: head, body: .init(buffer: ByteBuffer(string: body))), context: context)
        let lines = response.headers.map { "\($0.name.canonicalName): \($0.value)" }
        let text = NIOLockedValueBox("")
        // A stream has no length, and does not end.
        if response.body.contentLength != nil { try await response.body.write(Collector(text: text)) }
        return APIResponse(
            status: response.status.code, head: lines.joined(separator: "\n"), text: text.withLockedValue { $0 })
    }

    private struct Collector: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>

        mutating func write(_ buffer: ByteBuffer) { self.text.withLockedValue { $0 += String(buffer: buffer) } }
        consuming func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

@Suite struct `A path with an empty segment` {
    /// Of every operation that is described: each parameter left empty, a slash at the end, and each slash doubled.
    private static let targets: [(method: String, target: String)] = DescribedAnswers.operations.flatMap { operation in
        let path = operation.path.replacing("{app}", with: "demo")
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var paths = [path == "/" ? "//" : path + "/"]
        for index in parts.indices.dropFirst() where path != "/" {
            let isParameter =
                operation.segments[index - 1].hasPrefix("{")
            if isParameter { paths.append((parts[..<index] + [""] + parts[(index + 1)...]).joined(separator: "/")) }
            paths.append((parts[..<index] + [""] + parts[index...]).joined(separator: "/"))
        }
        // The one path that has a slash at its end.
        return Set(paths).subtracting(["/console/"]).map { target in
            (operation.method, target.replacing("{", with: "").replacing("}", with: ""))
        }
    }

    @Test func `is no other request on either port, whatever the operation`() async throws {
        let routes = try await Routes()
        var fallen: [String] = []
        for (method, target) in Self.targets {
            for onPhones in [false, true] {
                let answer = try await routes.answer(method, target, "{}", onPhones: onPhones)
                let isUnknown = method == "HEAD" || answer.json["code"] == "unknown_route"
                if answer.status != 404 || !isUnknown { fallen.append("\(method) \(target) \(answer.status)") }
            }
        }
        #expect(fallen == [])
        #expect(routes.double.commands == [])
        #expect(Self.targets.count > 1_000)
    }

    @Test(arguments: [
        ("DELETE", "/v1/apps/demo/users/dora/devices/"), ("DELETE", "/v1/apps/demo/users//devices"),
        ("DELETE", "/v1/apps/demo//users/dora/devices"), ("DELETE", "//v1/apps/demo/users/dora/devices"),
        ("PUT", "/v1/apps/demo/conversations/GRP/team//name"), ("GET", "/healthz/"), ("GET", "//healthz"),
        ("GET", "/console//"), ("GET", "//console/"), ("GET", "/console/x/"), ("GET", "/v1/phones/"),
    ])
    func `changes nothing`(method: String, target: String) async throws {
        let routes = try await Routes()
        let answer = try await routes.answer(method, target, #"{"name":"x"}"#)
        #expect(answer.status == 404)
        #expect(answer.header("Allow") == nil)
        #expect(routes.double.commands == [])
    }

    /// A client may do so before it asks, a server never: it is an id, as long as ids may be called that.
    @Test(arguments: ["..", ".", "%2e%2E", "..%2Fdevices", "a;b", "%2F", "a%2Fb", "..;"])
    func `is not made of dots, and an encoded slash parts nothing`(segment: String) async throws {
        let routes = try await Routes()
        let answer = try await routes.answer("DELETE", "/v1/apps/demo/users/dora/devices/\(segment)")
        guard answer.status != 400 else { return #expect(routes.double.commands == []) }
        let device = DeviceID(try #require(PercentEncoding.decode(segment)))
        let expected = APICommand.signOut(DeviceKey(user: UserKey(app: "demo", user: "dora"), device: device))
        #expect(routes.double.commands == [expected])
    }
}

@Suite struct `HEAD` {
    @Test func `is answered wherever GET is, with its status and headers, and no content`() async throws {
        let routes = try await Routes()
        var count = 0
        for onPhones in [false, true] {
            let router = onPhones ? routes.double.api.phoneRouter() : routes.double.api.router()
            for route in router.routes where route.method == .get {
                let target = "/\(route.path.description.trimmingPrefix("/"))"
                    .replacing("{app}", with: "demo").replacing("{type}", with: "GRP").replacing("{", with: "")
                    .replacing("}", with: "")
                let get = try await routes.answer("GET", target, onPhones: onPhones)
                let head = try await routes.answer("HEAD", target, onPhones: onPhones)
                #expect(head.status == get.status, "\(target)")
                let isMoment = target == "/metrics"
                if !isMoment { #expect(head.head == get.head, "\(target)") }
                #expect(head.text.isEmpty, "\(target)")
                count += 1
            }
        }
        #expect(count > 60)
    }

    @Test func `is among the methods that a path says it has`() async throws {
        let routes = try await Routes()
        for (target, methods) in [
            ("/healthz", "GET, HEAD"), ("/v1/apps/demo/users", "GET, HEAD"), ("/console/", "GET, HEAD"),
            ("/v1/apps/demo/profiles", "PUT"), ("/v1/apps/demo/media/x", "DELETE, GET, HEAD"),
        ] {
            let answer = try await routes.answer("TRACE", target)
            #expect(answer.status == 405, "\(target)")
            #expect(answer.header("Allow") == methods, "\(target)")
        }
    }

    @Test func `takes no place among the readers of a stream`() async throws {
        let routes = try await Routes()
        for _ in 0..<20 {
            #expect(try await routes.answer("HEAD", "/v1/apps/demo/events").status == 503)
        }
        #expect(routes.double.feed.enter("demo") != nil)
    }
}

@Suite struct `An id` {
    private static let ids: [String] = [
        "a", "\u{feff}a", "\u{feff}\u{feff}a", "a\u{feff}b", "a\u{feff}", "\u{feff}", "\0", "a\0b", "\u{80}",
        "a\u{9b}2J", "\u{85}",
        "a\u{2028}", "\u{2029}a", "\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}", "\u{1e9b}\u{323}", "\u{301}a", "a+b", "+",
        "a%b", "%25",
        "%2541", "a/b", "/", "//", "a//b", ".", "..", "../a", "a;b", ";", "a&b=c", "a=b", "?", "#", "a#b", "\u{1f600}",
        "\u{1f468}\u{200d}\u{1f469}", "\u{202e}a", "a\u{200f}", "\u{200b}", "\u{ad}", "\u{fffd}", "\u{fffe}",
        "\u{10ffff}",
        "\u{e000}", "\u{d7ff}", "\u{ff21}", "\u{130}", "\u{df}", " ", "a b", "\t", "\r\n", "\u{a0}", "\u{3000}",
        "\u{7f}", "\"", "\\",
        "'", "<a>", "{user}", ":id", "*", "**", "null", String(repeating: "a", count: 64),
        String(repeating: "a", count: 65),
        String(repeating: "\u{e9}", count: 32), String(repeating: "\u{1f600}", count: 16),
        String(repeating: "x", count: 255), "A",
    ]

    /// What the core is asked with it, by each way; nil where it is refused.
    private static func people(_ id: String, _ routes: Routes) async throws -> [String: [UInt8]?] {
        let all = id.utf8.map { "%\(Hexadecimal.text([$0]))" }.joined()
        let few = id.utf8.map { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                ? String(UnicodeScalar(byte)) : "%\(Hexadecimal.text([byte]).uppercased())"
        }.joined()
        let text = JSONValue.string(id).text
        var found: [String: [UInt8]?] = [:]
        for (way, method, target, body) in [
            ("path", "PUT", "users/\(all)/profile", #"{"name":"x"}"#),
            ("path, few", "PUT", "users/\(few)/profile", #"{"name":"x"}"#),
            ("body", "PUT", "profiles", #"{"profiles":[{"user":\#(text),"name":"x"}]}"#),
            ("query", "PUT", "conversations/GRP/team/name?actor=\(all)", #"{"name":"x"}"#),
            ("query, few", "PUT", "conversations/GRP/team/name?actor=\(few)", #"{"name":"x"}"#),
        ] {
            routes.double.forget()
            let answer = try await routes.answer(method, "/v1/apps/demo/\(target)", body)
            let command = routes.double.commands.first
            if command == nil { #expect(answer.status == 400, "\(way) \(text)") }
            switch command {
            case .setProfiles(_, let profiles)?: found[way] = profiles.map { Array($0.id.rawValue.utf8) }.first
            case .request(_, let actor?, _)?: found[way] = Array(actor.rawValue.utf8)
            default: found[way] = .some(nil)
            }
        }
        let tokens = routes.double.api.tokens
        let token = tokens.token(for: UserKey(app: "demo", user: UserID(id)), expiresAtSeconds: 4_102_444_800) ?? ""
        switch tokens.verdict(on: token, device: nil, wallMilliseconds: 1_700_000_000_000) {
        case .valid(let checked, _): found["token"] = Array(checked.user.user.rawValue.utf8)
        default: found["token"] = .some(nil)
        }
        return found
    }

    @Test func `names the same person in a path, a query, a body and a token, or is refused in all`() async throws {
        let routes = try await Routes()
        var taken = 0
        for id in Self.ids {
            let found = try await Self.people(id, routes)
            #expect(found.count == 6)
            let isTaken = found["body"] != .some(nil)
            taken += isTaken ? 1 : 0
            let expected: [UInt8]? = isTaken ? Array(id.utf8) : nil
            for (way, person) in found { #expect(person == expected, "\(way): \(id.unicodeScalars.map(\.value))") }
        }
        #expect(taken > 30)
    }

    @Test(arguments: ["%FF", "%C0%80", "%ED%A0%80", "%", "%4", "%GG", "a%80", "%EF%BB", "%+41"])
    func `that is no text is refused in a path and in a query`(coded: String) async throws {
        let routes = try await Routes()
        for target in ["users/\(coded)/profile", "conversations/GRP/team/name?actor=\(coded)"] {
            let answer = try await routes.answer("PUT", "/v1/apps/demo/\(target)", #"{"name":"x"}"#)
            #expect(answer.status == 400)
            #expect(answer.problem?.contains("must be UTF-8, with percent signs") == true)
        }
        #expect(routes.double.commands == [])
    }
}

import Foundation
import HTTPTypes
import NIOCore
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A WebSocket of any bytes` {
    private enum Outcome: Equatable {
        case messages([WebSocketMessage], left: Int)
        case fault([WebSocketMessage], WebSocketFault)
    }

    private static let bytesMax = 2_000

    /// What is taken from the front must not depend on how the pieces were cut.
    private func parse(_ pieces: [[UInt8]]) -> Outcome {
        var parser = WebSocketParser()
        var buffer = ByteBuffer()
        var messages: [WebSocketMessage] = []
        for piece in pieces {
            buffer.writeBytes(piece)
            do throws(WebSocketFault) {
                while let message = try parser.next(from: &buffer, bytesMax: Self.bytesMax) { messages.append(message) }
            } catch {
                return .fault(messages, error)
            }
        }
        return .messages(messages, left: buffer.readableBytes)
    }

    private static func cut(_ bytes: [UInt8], _ chance: inout Chance) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let count = min(rest.count, 1 + chance.below(chance.below(3) == 0 ? 3 : 400))
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    private static func frames(_ chance: inout Chance) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0...chance.below(5) {
            let length = chance.pick([0, 1, 2, 7, 125, 126, 127, 600, 2_001])
            bytes += RawClient.frame(
                opcode: chance.pick([0, 0, 1, 1, 2, 2, 8, 9, 10, 3, 15]), chance.bytes(length),
                isFinal: chance.below(3) > 0, isMasked: chance.below(30) > 0)
        }
        return bytes
    }

    @Test func `is cut into the same messages, however it arrives, and never into one that is too long`() {
        let kept = Corpus.inputs(of: "websocket")
        Fuzz.run("WebSocket frames", short: 4_000, long: 300_000) { number in
            var chance = Chance(seed: UInt64(number))
            var bytes = number < kept.count ? kept[number] : Self.frames(&chance)
            if number >= kept.count { for _ in 0..<chance.below(4) { chance.mutate(&bytes) } }
            let whole = self.parse([bytes])
            #expect(self.parse(Self.cut(bytes, &chance)) == whole, "seed \(number)")
            let messages =
                switch whole {
                case .messages(let messages, left: _), .fault(let messages, _): messages
                }
            for message in messages {
                guard case .text(let payload) = message else { continue }
                #expect(payload.count <= Self.bytesMax, "seed \(number)")
            }
        }
    }

    @Test func `is a handshake or is refused with a whole answer, however it arrives`() {
        let kept = Corpus.inputs(of: "websocket")
        Fuzz.run("WebSocket handshakes", short: 3_000, long: 150_000) { number in
            var chance = Chance(seed: UInt64(number))
            var bytes =
                number < kept.count
                ? kept[number] : Array(RawClient.handshake(protocols: "tidings.v1.json, chat").utf8) + [0x81, 0x80]
            if number >= kept.count { for _ in 0...chance.below(4) { chance.mutate(&bytes) } }
            var all = ByteBuffer(bytes: bytes)
            let whole = WebSocketHandshake.read(&all)
            var buffer = ByteBuffer()
            var outcome = WebSocketHandshake.Outcome.incomplete
            for piece in Self.cut(bytes, &chance) where outcome == .incomplete {
                buffer.writeBytes(piece)
                outcome = WebSocketHandshake.read(&buffer)
            }
            #expect(outcome == whole, "seed \(number)")
            if case .refused(let answer) = whole {
                #expect(
                    answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 505 "), "seed \(number): \(answer)")
            }
        }
    }
}

@Suite struct `A request to the API with any body` {
    private static let requests: [(HTTPRequest.Method, String, String)] = [
        (
            .post, "messages",
            #"{"sender":"alice","client_message_id":"c","conversation":{"type":"GRP","target":"team"},"text":"x","#
                + #""mentions":{"users":["carol"]},"recipients":["carol"],"lifetime_ms":60000,"push":{"title":{"loc_key":"K"}},"#
                + #""object_name":"RC:TxtMsg","not_counted":true}"#
        ),
        (.post, "tokens", #"{"user":"alice","expires_in_seconds":60}"#),
        (.patch, "messages/01qdq6qdr0000?actor=alice", #"{"content":"x"}"#),
        (
            .post, "custom-messages",
            #"{"recipients":["bob"],"client_message_id":"c","title":"T","content":"x","extras":{"number":7}}"#
        ),
        (
            .put, "users/bob/settings",
            #"{"levels":{"GRP":"mentions"},"quiet_hours":{"start":1320,"end":420,"weekdays":[1,5],"#
                + #""time_zone":"Europe/Berlin","manner":"drop"},"hides_content":true,"language":"zh-Hans"}"#
        ),
        (.put, "users/bob/settings/GRP/team", #"{"level":"blocked","level_until":1763683260000}"#),
        (
            .post, "conversations/GRP/team?actor=alice",
            #"{"name":"Team","members":["alice","bob"],"portrait":"https://x/y"}"#
        ),
        (.post, "conversations/GRP/team/members", #"{"users":["alice"]}"#),
        (.put, "conversations/GRP/team/members/bob/role", #"{"role":"admin"}"#),
        (.put, "object-names", #"{"names":["my:Card"]}"#),
    ]

    @Test func `is carried out or refused by field and rule, and never a fault of the server`() async throws {
        let accepted = ServerFrame.SendAccepted(
            clientMessageID: "c", messageID: MessageID(rawValue: 7), sentAt: 5, position: 7)
        let changing = try await APIDouble()
        let others = [
            "messages": try await APIDouble(answering: .accepted(accepted)),
            "custom-messages": try await APIDouble(answering: .accepted(accepted)),
            "object-names": try await APIDouble(answering: .done),
            "tokens": try await APIDouble(answering: .mayIssueToken(at: 5)),
        ]
        let kept = Corpus.inputs(of: "json").map { String(decoding: $0, as: UTF8.self) }
        try await Fuzz.run("requests to the API", short: 1_500, long: 60_000) { number in
            var chance = Chance(seed: UInt64(number))
            let (method, path, good) = chance.pick(Self.requests)
            var body = Array((chance.below(15) == 0 ? chance.pick(kept) : good).utf8)
            for _ in 0..<chance.below(4) { chance.mutate(&body) }
            let text = String(decoding: body, as: UTF8.self)
            let api = others[path] ?? changing
            // How far the process grows is watched: the double's own record is not meant.
            defer { api.forget() }
            let answer = try await api.request(method, path, text)
            #expect((200..<500).contains(answer.status), "seed \(number): \(method) \(path) \(text): \(answer.status)")
            guard answer.status >= 400 else { return }
            let problem = try? JSONValue(parsing: answer.text).objectValue
            #expect(problem?["field"] != nil && problem?["detail"] != nil, "seed \(number): \(answer.text)")
        }
    }
}

@Suite struct `A user token of any bytes` {
    private static let now: Int64 = 1_800_000_000_000
    private static let alice = UserKey(app: "demo", user: "alice")

    @Test func `names nobody but the person it was made for`() async throws {
        let tokens = try UserTokens(apps: [
            .init(id: "demo", tokenSecret: TestServer.secret),
            .init(id: "shop", tokenSecret: Secret("another secret of at least thirty-two bytes")),
        ])
        let good = try #require(tokens.token(for: Self.alice, expiresAtSeconds: Self.now / 1_000 + 60))
        guard
            case .valid(_, let ofExtension) = tokens.verdict(on: good, device: "phone", wallMilliseconds: Self.now)
        else { Issue.record("the token was refused"); return }
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
        Fuzz.run("user and extension tokens", short: 2_000, long: 80_000) { number in
            var chance = Chance(seed: UInt64(number))
            var bytes = Array((chance.below(2) == 0 ? good : ofExtension).utf8)
            for _ in 0...chance.below(3) {
                if chance.below(2) == 0 {
                    bytes[chance.below(bytes.count)] = chance.pick(letters)
                } else {
                    chance.mutate(&bytes)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            let token = String(decoding: bytes, as: UTF8.self)
            if case .valid(let checked, _) = tokens.verdict(on: token, device: "phone", wallMilliseconds: Self.now) {
                // The last character of a signature has bits that mean nothing (RFC 4648 §3.5).
                #expect(checked.user == Self.alice && token.dropLast() == good.dropLast(), "seed \(number)")
            }
            if let checked = tokens.checked(extensionToken: token, wallMilliseconds: Self.now) {
                #expect(checked.device == DeviceKey(user: Self.alice, device: "phone"), "seed \(number)")
                #expect(token.dropLast() == ofExtension.dropLast(), "seed \(number)")
            }
        }
    }
}

@Suite struct `A configuration file of any bytes` {
    private static let good = """
        gateway: {port: 7500, host: 127.0.0.1, backlog_bytes_max: 100000}
        store: {path: /tmp/somewhere.sqlite, synchronous: full}
        node: 5
        log: {level: debug, format: json}
        apps: [demo, shop]
        app:
          demo:
            token_secret: 0123456789abcdef0123456789abcdef
            api_keys: [ops]
            api_key: {ops: {sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, scopes: [trace]}}
            apns: {environment: sandbox, team_id: TEAM123456, key_id: KEY1234567, key_path: key.p8, topic: com.example}
            languages: [de]
            words: {de: {neutral: a, hidden: b, recalled: c, several: "{count}", other: d, kinds: ["RC:ImgMsg=Bild"]}}
          shop: {token_secret: fedcba9876543210fedcba9876543210}
        """

    @Test func `is good, or refused with every fault by key, rule and remedy`() async throws {
        let kept = Corpus.inputs(of: "yaml")
        try await TestServer.withFolder { folder in
            let path = folder + "/tidings.yaml"
            try await Fuzz.run("configuration files", short: 400, long: 20_000) { number in
                var chance = Chance(seed: UInt64(number))
                var bytes = number < kept.count ? kept[number] : Array(Self.good.utf8)
                if number >= kept.count { for _ in 0..<chance.below(6) { chance.mutate(&bytes) } }
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                do throws(ConfigurationFaults) {
                    let configuration = try await ServerConfiguration.load(file: path)
                    #expect(configuration.validate().isEmpty, "seed \(number)")
                } catch {
                    #expect(!error.faults.isEmpty, "seed \(number)")
                    for fault in error.faults {
                        #expect(!fault.field.isEmpty && !fault.rule.isEmpty && !fault.remedy.isEmpty, "seed \(number)")
                    }
                }
            }
        }
    }
}

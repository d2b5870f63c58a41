// swift-format-ignore-file: NeverForceUnwrap
import Foundation
import Testing
import TidingsModel

@testable import TidingsWire

/// One frame in both forms. The protobuf bytes were made by protoc from text, the JSON by hand: neither by this code.
struct Vector: Decodable, CustomTestStringConvertible {
    var name: String
    var frame: String
    var protobuf: String
    var json: String
    var testDescription: String { self.name }

    var bytes: [UInt8] {
        stride(from: 0, to: self.protobuf.utf8.count, by: 2).map { offset in
            let start = self.protobuf.index(self.protobuf.startIndex, offsetBy: offset)
            return UInt8(self.protobuf[start..<self.protobuf.index(start, offsetBy: 2)], radix: 16)!
        }
    }

    static let all: [Vector] = {
        let url = Bundle.module.url(forResource: "frames", withExtension: "json", subdirectory: "Vectors")!
        return (try? JSONDecoder().decode([Vector].self, from: Data(contentsOf: url))) ?? []
    }()
}

private let options = PushOptions(
    title: .localized(key: "FROM", arguments: ["Ada"]), sound: "horn.caf", interruptionLevel: .timeSensitive,
    custom: JSONObject([("order", 7)]))

private let message = Message(
    id: MessageID("01qdq6qdr0000")!, app: "demo", sender: "alice",
    conversation: ConversationID(type: .direct, target: "bob"), clientMessageID: "c-1", objectName: .text,
    content: #"{"content":"hi"}"#, flags: .normal, pushText: nil, sentAt: 1_763_683_200_001)

/// What each client vector means.
private let clientFrames = sessionFrames.merging(requestFrames) { first, _ in first }

/// What each server vector means.
private let serverFrames = logFrames.merging(answerFrames) { first, _ in first }

private let sessionFrames: [String: ClientFrame] = [
    "hello": .hello(
        ClientFrame.Hello(
            versions: 1...1, token: "eyJ.a.b", device: "d-1", platform: "ios", runState: .foreground, after: 41)),
    "hello-of-a-store": .hello(
        ClientFrame.Hello(
            versions: 1...1, token: "eyJ.a.b", device: "d-1", platform: "ios", runState: .foreground, after: 41,
            opening: 3)),
    "hello-background": .hello(
        ClientFrame.Hello(
            versions: 1...3, token: "t", device: "d-1", platform: "linux",
            runState: .background(remainingMilliseconds: 25_000), after: 0)),
    "send": .send(
        MessageDraft(
            clientMessageID: "c-1", conversation: ConversationID(type: .direct, target: "bob"), objectName: .text,
            content: #"{"content":"hé"}"#)),
    "send-with-options": .send(
        MessageDraft(
            clientMessageID: "c-1", conversation: ConversationID(type: .direct, target: "bob"), objectName: .text,
            content: #"{"content":"hé"}"#, push: options)),
    "send-as-account": .send(
        MessageDraft(
            clientMessageID: "c-5", conversation: ConversationID(type: .customerService, target: "bob"),
            objectName: .text, content: "{}", account: "help")),
    "send-quiet-command": .send(
        MessageDraft(
            clientMessageID: "c-2", conversation: ConversationID(type: .group, target: "team"),
            objectName: "RC:CmdMsg", content: "{}", flags: [], pushText: "")),
    "ack": .ack(
        ClientFrame.Ack(
            stored: 8,
            settled: [
                ClientFrame.Settlement(upTo: 5, disposition: .shown),
                ClientFrame.Settlement(upTo: 6, disposition: .suppressed(.providerMissing)),
                ClientFrame.Settlement(upTo: 7, disposition: .appHandled),
                ClientFrame.Settlement(upTo: 8, disposition: .notified),
            ])),
    "device-status": .deviceStatus(
        DeviceStatus(
            authorization: .provisional, alert: true, sound: true, badge: false, lockScreen: true,
            notificationCenter: false, backgroundRefresh: .denied)),
    "device-status-whole": .deviceStatus(
        DeviceStatus(
            authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .available, iconNumber: .serviceExtension,
            isLowPowerModeOn: true, timeZone: "Europe/Berlin", languages: ["de", "en-GB"], appVersion: "3.1",
            systemVersion: "26.1", model: "iPhone16,1")),
    "run-state-suspending": .runState(.suspending),
    "register-push": .registerPush(
        PushRegistration(token: "00ff10", environment: .sandbox, topic: "com.example.chat")),
    "unregister-push": .registerPush(nil),
    "register-push-numbered": .registerPush(
        PushRegistration(token: "00ff10", environment: .sandbox, topic: "com.example.chat"), number: 9),
    "unregister-push-numbered": .registerPush(nil, number: 10),
    "sync": .sync(after: .max, limit: 100),
    "mark-read": .markRead(ConversationID(type: .discussion, target: "d"), upTo: 9),
    "ping": .ping(3),
    "sign-out": .signOut,
    "opened": .opened(message.id),
]

private let logFrames: [String: ServerFrame] = [
    "welcome": .welcome(
        ServerFrame.Welcome(
            version: 1, serverTime: 1_763_683_200_000, head: 41, unread: 2, heartbeatMilliseconds: 30_000,
            frameBytesMax: 65_536, recipientTag: "0123456789abcdef", extensionToken: "x")),
    "welcome-of-a-store": .welcome(
        ServerFrame.Welcome(
            version: 1, serverTime: 1_763_683_200_000, head: 41, unread: 2, heartbeatMilliseconds: 30_000,
            frameBytesMax: 65_536, recipientTag: "0123456789abcdef", extensionToken: "x",
            storeID: "fedcba9876543210", generation: 3, serverFrameBytesMax: 262_144)),
    "welcome-to-another-log": .welcome(
        ServerFrame.Welcome(
            version: 1, serverTime: 1_763_683_200_000, head: 41, unread: 2, heartbeatMilliseconds: 30_000,
            frameBytesMax: 65_536, recipientTag: "0123456789abcdef", extensionToken: "x",
            storeID: "fedcba9876543210", generation: 3, serverFrameBytesMax: 262_144, opening: 5, isOtherLog: true)),
    "token-expiring": .tokenExpiring(at: 1_763_683_260_000),
    "send-refused-for-a-while": .sendRefused(
        "c-1",
        ServerFrame.Problem(
            code: .rateLimited, field: "send", rule: "too many messages", retryAfterMilliseconds: 1_500)),
    "send-accepted": .sendAccepted(
        ServerFrame.SendAccepted(
            clientMessageID: "c-1", messageID: message.id, sentAt: 1_763_683_200_001, position: 42)),
    "send-refused": .sendRefused(
        "c-1", ServerFrame.Problem(InvalidField(field: "conversation.target", rule: "names no conversation"))),
    "entry-custom": .entry(
        LogEntry(
            position: 43,
            body: .custom(
                CustomMessage(
                    id: MessageID("01qdq6qdr0000")!, title: "update", content: "module 7", contentType: "text",
                    extras: JSONObject([("number", 7)]), sentAt: 1_763_683_200_001)))),
    "entry-custom-expiring": .entry(
        LogEntry(
            position: 44,
            body: .custom(
                CustomMessage(
                    id: MessageID("01qdq6qdr0000")!, title: "update", content: "module 7", contentType: "text",
                    extras: JSONObject([("number", 7)]), sentAt: 1_763_683_200_001,
                    expiresAt: 1_763_683_260_001)))),
    "entry-recall": .entry(
        LogEntry(
            position: 44,
            body: .recall(
                Recall(
                    id: MessageID(rawValue: 9_999), message: MessageID("01qdq6qdr0000")!,
                    conversation: ConversationID(type: .direct, target: "alice"), sender: "alice",
                    at: 1_763_683_200_002)))),
    "entry-message": .entry(LogEntry(position: 42, body: .message(message))),
    "entry-push": .entry(
        LogEntry(
            position: 42,
            body: {
                var push = message
                push.flags = [.stored, .notified, .unlisted]
                return .message(push)
            }())),
    "entry-message-with-options": .entry(
        LogEntry(
            position: 42,
            body: {
                var asked = message
                asked.push = options
                return .message(asked)
            }())),
    "page": .page(
        ServerFrame.Page(
            after: 40,
            entries: [
                LogEntry(
                    position: 41, body: .read(conversation: ConversationID(type: .direct, target: "bob"), upTo: 39))
            ], head: 41, unread: 0)),
    "page-pushes": .page(
        ServerFrame.Page(
            after: 40, entries: [], head: 300, unread: 1,
            pushes: ServerFrame.Pushes(unsent: [42, 300], underWay: [41]))),
    "page-all-pushed": .page(
        ServerFrame.Page(after: 40, entries: [], head: 40, unread: 0, pushes: ServerFrame.Pushes())),
    "pong": .pong(3),
    "problem-fatal": .problem(
        ServerFrame.Problem(code: .expiredToken, field: "token", rule: "has expired; ask for a new one"),
        isFatal: true),
    "reconnect": .reconnect(afterMilliseconds: 1_500),
]

@Suite struct `A frame on the wire` {
    @Test(arguments: Vector.all) func `is the golden vector in both forms and both directions`(vector: Vector) throws {
        let json = Array(vector.json.utf8)
        switch vector.frame {
        case "ClientFrame":
            let frame = try #require(clientFrames[vector.name])
            #expect(FrameCodec.encode(frame, as: .protobuf) == vector.bytes)
            #expect(String(decoding: FrameCodec.encode(frame, as: .json), as: UTF8.self) == vector.json)
            #expect(try FrameCodec.decodeClientFrame(vector.bytes, as: .protobuf) == frame)
            #expect(try FrameCodec.decodeClientFrame(json, as: .json) == frame)
        case "ServerFrame":
            let frame = try #require(serverFrames[vector.name])
            #expect(FrameCodec.encode(frame, as: .protobuf) == vector.bytes)
            #expect(String(decoding: FrameCodec.encode(frame, as: .json), as: UTF8.self) == vector.json)
            #expect(try FrameCodec.decodeServerFrame(vector.bytes, as: .protobuf) == frame)
            #expect(try FrameCodec.decodeServerFrame(json, as: .json) == frame)
        default: Issue.record("a vector of unknown kind \(vector.frame)")
        }
    }

    @Test func `has a golden vector for every kind`() {
        #expect(Set(Vector.all.map(\.name)) == Set(clientFrames.keys).union(serverFrames.keys))
        #expect(Vector.all.count == clientFrames.count + serverFrames.count)
    }

    @Test(arguments: WireFormat.allCases) func `is refused unparsed when it is too large`(format: WireFormat) {
        #expect(throws: FrameError.tooLarge(bytes: 11, max: 10)) {
            try FrameCodec.decodeClientFrame(Array(repeating: 0, count: 11), as: format, bytesMax: 10)
        }
    }

    @Test func `is refused when it is not a frame`() {
        #expect(throws: FrameError.empty) { try FrameCodec.decodeClientFrame([], as: .protobuf) }
        #expect(throws: FrameError.empty) { try FrameCodec.decodeClientFrame(Array("{}".utf8), as: .json) }
        #expect(throws: FrameError.self) { try FrameCodec.decodeClientFrame([0xff, 0xff], as: .protobuf) }
        #expect(throws: FrameError.self) { try FrameCodec.decodeClientFrame(Array("[1]".utf8), as: .json) }
    }

    @Test func `may hold fields that this build does not know`() throws {
        let json = #"{"ping":{"nonce":"3","later":true},"alsoLater":1}"#
        #expect(try FrameCodec.decodeClientFrame(Array(json.utf8), as: .json) == .ping(3))
        // Field 100 of a ping, a varint.
        let protobuf: [UInt8] = [0x42, 0x05, 0x08, 0x03, 0xa0, 0x06, 0x01]
        #expect(try FrameCodec.decodeClientFrame(protobuf, as: .protobuf) == .ping(3))
    }
}

@Suite struct `A field that breaks its rule` {
    private func fault(_ json: String) -> FrameError? {
        do throws(FrameError) {
            _ = try FrameCodec.decodeClientFrame(Array(json.utf8), as: .json)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (
            #"{"send":{"clientMessageId":"c","conversation":{"type":"XX","target":"b"},"objectName":"o","content":"x"}}"#,
            "conversation.type", "c"
        ),
        (
            #"{"send":{"clientMessageId":"c","conversation":{"type":"PR","target":""},"objectName":"o","content":"x"}}"#,
            "conversation.target", "c"
        ),
        (
            #"{"send":{"clientMessageId":"c","conversation":{"type":"PR","target":"b"},"objectName":"o"}}"#, "content",
            "c"
        ),
        (
            #"{"send":{"clientMessageId":"c","conversation":{"type":"PR","target":"b"},"content":"x"}}"#,
            "object_name", "c"
        ),
    ]) func `refuses that one send`(json: String, field: String, send: String) {
        guard case .invalid(let invalid, let id) = self.fault(json) else {
            Issue.record("accepted")
            return
        }
        #expect(invalid.field == field)
        #expect(id?.rawValue == send)
    }

    @Test(arguments: [
        (#"{"hello":{"versionMin":2,"versionMax":1,"device":"d","runState":{"state":"foreground"}}}"#, "version_min"),
        (#"{"hello":{"versionMin":1,"versionMax":1,"device":"","runState":{"state":"foreground"}}}"#, "device"),
        (#"{"hello":{"versionMin":1,"versionMax":1,"device":"d"}}"#, "run_state.state"),
        (
            #"{"hello":{"versionMin":1,"versionMax":1,"device":"d","runState":{"state":"suspending"}}}"#,
            "run_state.state"
        ),
        (#"{"runState":{"state":"background","remainingMs":"-1"}}"#, "run_state.remaining_ms"),
        (
            #"{"ack":{"stored":"3","settled":[{"upTo":"2","disposition":"shown"},{"upTo":"2","disposition":"shown"}]}}"#,
            "ack.settled.up_to"
        ),
        (#"{"ack":{"stored":"3","settled":[{"upTo":"2","disposition":"seen"}]}}"#, "ack.settled.disposition"),
        (#"{"ack":{"stored":"3","settled":[{"upTo":"2","disposition":"suppressed"}]}}"#, "ack.settled.reason"),
        (
            #"{"deviceStatus":{"authorization":"denied","backgroundRefresh":"denied","model":"iPhone16,1-of-thirty-three-bytes."}}"#,
            "device_status.model"
        ),
        (#"{"registerPush":{"token":"XYZ","environment":"sandbox","topic":"t"}}"#, "token"),
        (#"{"registerPush":{"token":"abc","environment":"sandbox","topic":"t"}}"#, "token"),
        (#"{"registerPush":{"token":"ab","environment":"test","topic":"t"}}"#, "environment"),
        (#"{"registerPush":{"token":"ab","environment":"sandbox","topic":""}}"#, "topic"),
    ]) func `is named`(json: String, field: String) {
        guard case .invalid(let invalid, nil) = self.fault(json) else {
            Issue.record("accepted, or laid at the door of a send")
            return
        }
        #expect(invalid.field == field)
    }
}

@Suite struct `Random bytes` {
    /// Changes, drops, doubles or cuts off some bytes of a vector.
    private func mutated(_ bytes: [UInt8], using generator: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(bytes[index], at: index)
            case 2: bytes.removeSubrange(index...)
            default: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
        }
        return bytes
    }

    @Test(arguments: WireFormat.allCases)
    func `never crash the decoder, and what it accepts it can write again`(format: WireFormat) {
        let seed: UInt64 = 7
        var generator = SplitMix64(seed: seed)
        var accepted = (client: 0, server: 0)
        for number in 0..<8_000 {
            let vector = Vector.all.randomElement(using: &generator)!
            let whole = format == .protobuf ? vector.bytes : Array(vector.json.utf8)
            let bytes = self.mutated(whole, using: &generator)
            if let frame = try? FrameCodec.decodeClientFrame(bytes, as: format) {
                accepted.client += 1
                for other in WireFormat.allCases {
                    let again = FrameCodec.encode(frame, as: other)
                    #expect(
                        (try? FrameCodec.decodeClientFrame(again, as: other)) == frame,
                        "seed \(seed), case \(number): \(bytes)")
                }
            }
            if let frame = try? FrameCodec.decodeServerFrame(bytes, as: format) {
                accepted.server += 1
                for other in WireFormat.allCases {
                    let again = FrameCodec.encode(frame, as: other)
                    #expect(
                        (try? FrameCodec.decodeServerFrame(again, as: other)) == frame,
                        "seed \(seed), case \(number): \(bytes)")
                }
            }
        }
        #expect(accepted.client > 800)
        #expect(accepted.server > 800)
    }
}

@Suite struct `Version negotiation` {
    @Test func `takes the highest version both speak`() {
        #expect(ProtocolVersion.negotiate(1...9) == 1)
        #expect(ProtocolVersion.negotiate(1...1) == 1)
        #expect(ProtocolVersion.negotiate(2...9) == nil)
    }

    @Test func `knows its two subprotocols and no other`() {
        #expect(WireFormat(subprotocol: "tidings.v1.protobuf") == .protobuf)
        #expect(WireFormat(subprotocol: "tidings.v1.json") == .json)
        #expect(WireFormat(subprotocol: "tidings.v2.json") == nil)
        #expect(WireFormat.json.subprotocol == "tidings.v1.json")
    }
}

@Suite struct `The limit of a server's frames` {
    @Test(
        arguments: [
            // What a welcome says of frames of the server and of clients, and what is taken after it.
            (2_097_152, 262_144, 2_097_152), (0, 262_144, 1_048_576), (0, 8_388_608, 8_388_608),
            (1_000, 65_536, 1_048_576),
            (UInt32.max, 65_536, 16_777_216), (0, .max, 16_777_216),
        ] as [(UInt32, UInt32, Int)])
    func `is what its welcome says, within bounds`(server: UInt32, client: UInt32, bytesMax: Int) {
        let welcome = ServerFrame.Welcome(
            version: 1, serverTime: 0, head: 0, unread: 0, heartbeatMilliseconds: 1, frameBytesMax: client,
            recipientTag: "", extensionToken: "", serverFrameBytesMax: server)
        #expect(FrameCodec.serverFrameBytesMax(after: welcome) == bytesMax)
    }
}

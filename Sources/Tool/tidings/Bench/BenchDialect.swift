import TidingsModel
import TidingsWire

/// Names what a load and its server say to each other, on binary WebSocket frames.
enum BenchDialect: Sendable {
    /// docs/server/protocol.md, in protobuf.
    case tidings
    /// MQTT 3.1.1 with quality of service 1: a person hears the topic of their name, and everybody writes to it.
    case mqtt

    var subprotocol: String {
        switch self {
        case .tidings: "tidings.v1.protobuf"
        case .mqtt: "mqtt"
        }
    }

    /// The first message of a connection.
    func hello(user: String, token: String, device: String, after: LogPosition = 0) -> [UInt8] {
        switch self {
        case .tidings:
            return FrameCodec.encode(
                .hello(
                    ClientFrame.Hello(
                        versions: ProtocolVersion.supported, token: token, device: DeviceID(device), platform: "bench",
                        runState: .foreground, after: after)), as: .protobuf)
        // CONNECT (MQTT 3.1.1 §3.1): clean session, no keep-alive.
        case .mqtt:
            return MQTT.packet(0x10, MQTT.text("MQTT") + [4, 2, 0, 0] + MQTT.text(user))
        }
    }

    /// A send to a person or a group, as a WebSocket frame whose number is to be filled in.
    func send(to target: String, in type: ConversationType = .direct, text: String) -> BenchSend {
        let number = BenchSend.numberOfNone
        switch self {
        case .tidings:
            let draft = MessageDraft(
                clientMessageID: ClientMessageID(number),
                conversation: ConversationID(type: type, target: target), objectName: .text,
                content: #"{"content":"\#(text)"}"#)
            return BenchSend(FrameCodec.encode(.send(draft), as: .protobuf), packetID: nil)
        case .mqtt:
            let head = MQTT.text("u/\(target)")
            let packet = MQTT.packet(0x32, head + [0, 0] + Array("\(number)\(text)".utf8))
            return BenchSend(packet, packetID: packet.count - number.count - text.utf8.count - 2)
        }
    }
}

/// A frame that sends a message. All are alike but for a number of eight digits, by which the recipient sees gaps and repeats.
struct BenchSend {
    static let numberOfNone = "########"

    private var frame: [UInt8]
    private let numberOffset: Int
    private let packetIDOffset: Int?

    fileprivate init(_ message: [UInt8], packetID: Int?) {
        self.frame = WebSocketFrame.masked(message)
        let head = self.frame.count - message.count
        let marks = Array(Self.numberOfNone.utf8)
        let place = message.indices.first { message[$0...].starts(with: marks) } ?? 0
        self.numberOffset = head + place
        self.packetIDOffset = packetID.map { head + $0 }
    }

    /// - Parameter number: from 0 to 99,999,999.
    mutating func frame(number: Int) -> [UInt8] {
        var rest = number
        for index in (0..<Self.numberOfNone.utf8.count).reversed() {
            self.frame[self.numberOffset + index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        if let packetIDOffset {
            let id = number % 65_535 + 1
            self.frame[packetIDOffset] = UInt8(id >> 8)
            self.frame[packetIDOffset + 1] = UInt8(id & 0xff)
        }
        return self.frame
    }
}

/// The packets of MQTT 3.1.1 that a load needs.
enum MQTT {
    static func text(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xff)] + Array(text.utf8)
    }

    /// A packet with its fixed header (§2.2), whose length has seven bits a byte.
    static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = body.count
        repeat {
            length.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return [first] + length + body
    }

    /// SUBSCRIBE (§3.8) to a person's topic, quality of service 1.
    static func subscribe(to user: String) -> [UInt8] { Self.packet(0x82, [0, 1] + Self.text("u/\(user)") + [1]) }
}

enum WebSocketFrame {
    /// The mask is zero: it protects proxies, not servers (RFC 6455 §10.3).
    static func masked(_ bytes: [UInt8], opcode: UInt8 = 0x2) -> [UInt8] {
        var head: [UInt8] = [0x80 | opcode]
        if bytes.count < 126 {
            head.append(0x80 | UInt8(bytes.count))
        } else {
            head += [0x80 | 126, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)]
        }
        return head + [0, 0, 0, 0] + bytes
    }
}

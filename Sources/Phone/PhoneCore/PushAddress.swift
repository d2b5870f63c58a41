import TidingsModel

/// ios-delivery.md §12.
struct PushAddress: Equatable {
    enum Kind: Equatable { case notification, voip, liveActivity }

    var app: BundleID
    var kind: Kind

    init(topic: String) {
        for (suffix, kind) in [(".voip", Kind.voip), (".push-type.liveactivity", .liveActivity)]
        where topic.utf8.count > suffix.utf8.count && topic.hasSuffix(suffix) {
            self.app = BundleID(String(topic.dropLast(suffix.count)))
            self.kind = kind
            return
        }
        self.app = BundleID(topic)
        self.kind = .notification
    }
}

extension OSVersion {
    /// ios-delivery.md §3.1; VoIP and broadcasts have 5,120 bytes (APNs reference, section 17).
    func payloadLimit(_ kind: PushAddress.Kind, isBroadcast: Bool) -> Int {
        if kind == .voip || isBroadcast { return 5_120 }
        if self < 8 { return 256 }
        return self < 9 ? 2_048 : 4_096
    }
}

extension JSONValue {
    var byteCount: Int {
        switch self {
        case .null: 4
        case .bool(let flag): flag ? 4 : 5
        case .number(let number): number.literal.utf8.count
        case .string(let text): Self.byteCount(of: text)
        case .array(let elements): elements.reduce(1 + max(1, elements.count)) { $0 + $1.byteCount }
        case .object(let object): object.byteCount
        }
    }

    fileprivate static func byteCount(of text: String) -> Int {
        var count = 2 + text.utf8.count
        for byte in text.utf8 where byte < 0x20 || byte == 0x22 || byte == 0x5C {
            switch byte {
            case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: count += 1
            default: count += 5
            }
        }
        return count
    }
}

extension JSONObject {
    var byteCount: Int {
        self.members.reduce(1 + max(1, self.members.count)) {
            $0 + JSONValue.byteCount(of: $1.key) + 1 + $1.value.byteCount
        }
    }
}

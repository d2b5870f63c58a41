import ServerCore
import TidingsModel

extension MediaRecord {
    /// As it stands beside its file.
    var json: JSONValue {
        .members([
            ("version", .int(1)), ("id", .string(self.id.rawValue)), ("app", .string(self.app.rawValue)),
            ("owner", .optional(self.owner?.rawValue)), ("type", .string(self.kind.rawValue)),
            ("name", .optional(self.name)), ("bytes", .int(self.bytes)), ("created_at", .int(self.createdAt)),
            ("offset", .int(self.offset)), ("touched_at", .int(self.touchedAt)),
            ("completed_at", .optional(self.completedAt)), ("verdict", .optional(self.verdict?.rawValue)),
            ("judged_at", .optional(self.judgedAt)), ("api_key", .optional(self.request?.apiKey)),
            ("idempotency_key", .optional(self.request?.key)),
        ])
    }

    /// Nil for anything but a whole record of this version.
    init?(stored bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), json["version"]?.intValue == 1,
            let id = json["id"]?.stringValue.flatMap({ try? MediaID.validated($0, field: "id") }),
            let app = json["app"]?.stringValue, let kind = json["type"]?.stringValue.flatMap(MediaKind.init(rawValue:)),
            let size = json["bytes"]?.intValue, size > 0, let createdAt = json["created_at"]?.intValue,
            let offset = json["offset"]?.intValue, 0...size ~= offset, let touchedAt = json["touched_at"]?.intValue
        else { return nil }
        self.init(
            id: id, app: AppID(app), owner: json["owner"]?.stringValue.map { UserID($0) }, kind: kind,
            name: json["name"]?.stringValue, bytes: size, createdAt: createdAt)
        self.offset = offset
        self.touchedAt = touchedAt
        self.completedAt = json["completed_at"]?.intValue
        self.verdict = json["verdict"]?.stringValue.flatMap(MediaVerdict.init(rawValue:))
        self.judgedAt = json["judged_at"]?.intValue
        if let key = json["idempotency_key"]?.stringValue {
            self.request = Request(apiKey: json["api_key"]?.stringValue, key: key)
        }
    }
}

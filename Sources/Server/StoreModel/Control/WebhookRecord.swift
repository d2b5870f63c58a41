import TidingsModel

/// A kind of event that a webhook may be told of; its words are those of the event stream.
package enum WebhookEventKind: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
    case messageAccepted = "message_accepted"
    case messageEdited = "message_edited"
    case messageRecalled = "message_recalled"
    case legEnded = "leg_ended"
    case receipt
    case deviceSignedIn = "device_signed_in"
    case deviceSignedOut = "device_signed_out"
    /// A push has come to another state; not that it goes on.
    case pushJob = "push_job"
}

/// Where an app's backend is told by HTTPS what happens in the app.
package struct WebhookRecord: Hashable, Sendable, JSONCodable {
    /// Unique in its app; from the server.
    package var id: String
    /// Unique in its app; as the name of a person, 1 to 64 letters as they are seen.
    package var name: String
    /// Absolute, `https:` or `http:`; 2,048 bytes at most.
    package var url: String
    /// At least one, sorted by their words, each once.
    package var kinds: [WebhookEventKind]
    /// Derives and sends nothing if not; what is pending waits.
    package var isEnabled: Bool
    /// Wall milliseconds of its making, or of when it was last enabled: nothing that happened before is told.
    package var enabledAt: Int64
    /// `whsec_` and 32 bytes in Base64: requests are signed with it.
    package var secret: SealedBytes
    /// The one before: signed with, too, until `previousEndsAt`.
    package var previousSecret: SealedBytes?
    /// 0 without a secret before.
    package var previousEndsAt: Int64
    package var createdAt: Int64

    private enum CodingKeys: String, CodingKey {
        case id, name, url, kinds, isEnabled = "enabled", enabledAt, secret, previousSecret, previousEndsAt, createdAt
    }
    package static let leftOutMembers = ["previous_secret", "previous_ends_at"]

    package static let nameLettersMax = 64
    package static let urlBytesMax = 2_048

    package init(
        id: String, name: String, url: String, kinds: [WebhookEventKind], isEnabled: Bool = true,
        enabledAt: Int64? = nil,
        secret: SealedBytes, previousSecret: SealedBytes? = nil, previousEndsAt: Int64 = 0, createdAt: Int64
    ) {
        self.id = id
        self.name = name
        self.url = url
        self.kinds = Self.sorted(kinds)
        self.isEnabled = isEnabled
        self.enabledAt = enabledAt ?? createdAt
        self.secret = secret
        self.previousSecret = previousSecret
        self.previousEndsAt = previousEndsAt
        self.createdAt = createdAt
    }

    /// Each once.
    static func sorted(_ kinds: [WebhookEventKind]) -> [WebhookEventKind] {
        Set(kinds).sorted { $0.rawValue < $1.rawValue }
    }
}

/// A change of a webhook; nil for parts that stay.
package struct WebhookEdit: Hashable, Sendable {
    package var name: String?
    package var url: String?
    package var kinds: [WebhookEventKind]?
    package var isEnabled: Bool?

    package init(
        name: String? = nil, url: String? = nil, kinds: [WebhookEventKind]? = nil, isEnabled: Bool? = nil
    ) {
        self.name = name
        self.url = url
        self.kinds = kinds
        self.isEnabled = isEnabled
    }
}

/// A change of one app's webhooks; each answers the app.
package enum WebhookChange: Hashable, Sendable {
    /// Refused with `exists` for an id or a name that the app has.
    indirect case add(WebhookRecord)
    case set(id: String, WebhookEdit)
    /// Requests are signed with the one before, too, until `previousEndsAt`; the one before that ends at once.
    case rotateSecret(id: String, SealedBytes, previousEndsAt: Int64)
    case remove(id: String)
}

extension WebhookChange {
    /// The action and subject in the audit record.
    var told: (action: String, subject: String) {
        switch self {
        case .add(let record): ("add_webhook", record.id)
        case .set(let id, _): ("set_webhook", id)
        case .rotateSecret(let id, _, _): ("rotate_webhook_secret", id)
        case .remove(let id): ("remove_webhook", id)
        }
    }
}

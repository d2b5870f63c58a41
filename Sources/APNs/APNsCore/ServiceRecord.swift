package import TidingsModel

/// One thing the service wants to find again after a restart. A shell keeps the newest one of each kind and key, in any
/// store, and hands all of them to `APNsService.init(configuration:restoring:)`.
package struct ServiceRecord: Hashable, Sendable {
    /// What a record is about; the names are for the store.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A device token; the key is the token.
        case device
        /// A push stored for a phone that is away; the key is its unique id.
        case push
        /// A key that was added; the key is the key's id.
        case key
        /// A key that was revoked; the key is the key's id.
        case revokedKey = "revoked_key"
        /// A certificate that was revoked; the key is its fingerprint.
        case revokedCertificate = "revoked_certificate"
        /// A bundle identifier that was registered later; the key is team and identifier.
        case bundleID = "bundle_id"
        /// An app whose broadcast capability is off; the key is its bundle identifier.
        case broadcastOff = "broadcast_off"
        /// A channel with its stored message; the key is environment, bundle identifier and id.
        case channel
        /// A channel that was deleted: its id never returns.
        case deletedChannel = "deleted_channel"
        /// A phone that listens to a channel; the key is the channel's key and the phone.
        case subscription
    }

    package var kind: Kind
    package var key: String
    /// What is to be kept, an object.
    package var json: JSONValue

    package init(kind: Kind, key: String, json: JSONValue) {
        self.kind = kind
        self.key = key
        self.json = json
    }
}

package import TidingsModel

/// A record that the service needs after a restart. A shell keeps the newest one of each kind and key, in any store, for
/// `APNsService.init(configuration:restoring:)`.
package struct ServiceRecord: Hashable, Sendable {
    /// The names are for the store.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// By token.
        case device
        /// For a phone that is away; by unique id.
        case push
        /// By key id.
        case key
        /// By key id.
        case revokedKey = "revoked_key"
        /// By fingerprint.
        case revokedCertificate = "revoked_certificate"
        /// By team and identifier.
        case bundleID = "bundle_id"
        /// By bundle identifier.
        case broadcastOff = "broadcast_off"
        /// With its stored message; by environment, bundle identifier and id.
        case channel
        /// Its id never returns.
        case deletedChannel = "deleted_channel"
        /// By the channel's key and the phone.
        case subscription
    }

    package var kind: Kind
    package var key: String
    package var json: JSONValue

    package init(kind: Kind, key: String, json: JSONValue) {
        self.kind = kind
        self.key = key
        self.json = json
    }
}

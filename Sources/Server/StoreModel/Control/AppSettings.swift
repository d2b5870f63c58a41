package import TidingsModel

/// The settings of an app that may change while the server runs, but for its keys and secrets. Their JSON form (`AppSettings+JSON.swift`)
/// is that of the HTTP API, of `tidings app export`, and of the store.
package struct AppSettings: Hashable, Sendable {
    /// For operators; at most `nameBytesMax` bytes.
    package var name = ""
    /// Topics its phones may register for; sorted; any if there are none and no push credential names one.
    package var pushTopics: [String] = []
    /// 1 to 3,000; nil for `policy.members_max`.
    package var membersMax: Int?
    /// 1 to 100; nil for `policy.devices_max`.
    package var devicesMax: Int?
    /// In the place of the server's.
    package var limits = AppLimits()
    package var words = AppWords()
    /// True if people choose their own profile and nicknames; otherwise the backend alone does.
    package var hasOwnProfiles = false
    /// Ids of its `MP` accounts whose card people of the server's other apps may see.
    package var offeredAccounts: [String] = []
    /// Names that its phones may put on their people, for audiences of pushes; sorted.
    package var tags: [String] = []
    package var pushText = PushTextMode.serviceExtension
    /// True if nobody else pushes to the app, so that the system may set its icon's number.
    package var isOnlyPushSender = false
    /// Nobody but the backend reads media before that has approved them.
    package var needsMediaApproval = false
    /// The app's rules for the options of notifications.
    package var push = PushRules()
    package var tokens = TokenRules()

    package static let nameBytesMax = 128
    /// Each topic makes lanes.
    package static let pushTopicsMax = 16
    package static let tagsMax = 1_000

    package init() {}

    /// How user tokens are checked that are not, or not only, signed with the app's secrets.
    package struct TokenRules: Hashable, Sendable {
        /// The names of this server in the claim `aud`; the app's id if there is none.
        package var audiences: [String] = []
        /// Tokens without `aud` are refused.
        package var demandsAudience = false
        /// Where the public keys for ES256 and RS256 are.
        package var keySource: KeySource?

        package init() {}
    }

    package enum KeySource: Hashable, Sendable {
        /// On the server's disk: only what a configuration file names.
        case file(path: String)
        /// Begins with `https://`, or `http://` on this machine; a PEM file with the authorities to trust instead of the system's, which
        /// only a configuration file names.
        case address(String, trustRootsPath: String?)
    }
}

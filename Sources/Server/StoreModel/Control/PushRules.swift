package import TidingsModel

/// An app's rules for the options of notifications (`app.ID.push.…`): its own, and those that others may ask for (docs/inside/decisions/0035).
package struct PushRules: Hashable, Sendable {
    /// Where neither message nor conversation says anything; nil for nothing.
    package var options: PushOptions?
    /// The entitlements Apple has given the app.
    package var entitlements: Set<Entitlement> = []
    /// By the name of the member in JSON, what clients may choose besides sounds and categories.
    package var clientOptions: Set<String> = []
    package var clientSounds: [String] = []
    package var clientCategories: [String] = []
    /// The hosts of images by URL; `*.example.com` means every host below `example.com`.
    package var imageHosts: [String] = []

    package enum Entitlement: String, Hashable, Sendable, CaseIterable {
        case timeSensitive = "time_sensitive"
        case critical
    }

    /// The names that `clientOptions` may have. One phone may not send another a critical alert.
    package static let clientOptionNames = [
        "title", "subtitle", "text", "interruption_level", "relevance_score", "thread_id", "image", "custom",
    ]

    package init() {}

    /// Returns true if a push may name an image or portrait: media of the server and those of hosts that the app lists, by an encrypted
    /// connection, and nothing else, because the phone asks that host.
    package static func mayPush(image url: String, from hosts: [String]) -> Bool {
        guard url.utf8.count <= PushInfo.imageURLBytesMax else { return false }
        if MediaID(reference: url) != nil { return true }
        guard WebAddress.isSecure(url), let host = WebAddress.host(of: url) else { return false }
        return WebAddress.isHost(host, among: hosts)
    }

    /// Throws `InvalidField` naming the option the app does not allow, behind `path`. `isClient`: a phone asks, not the
    /// backend. `isOfMessage`: they are one message's, not those of a conversation or of the app.
    package func check(
        _ options: PushOptions, isClient: Bool, isOfMessage: Bool = false, path: String = "push"
    ) throws(InvalidField) {
        if isClient { try self.checkClient(options, path) }
        switch options.interruptionLevel {
        case .timeSensitive: try self.check(.timeSensitive, path)
        case .critical: try self.check(.critical, path)
        case .passive, .active, nil: break
        }
        // A file of the server opens with the message that names it: options of many messages cannot name one.
        if let url = options.imageURL, !isOfMessage || MediaID(reference: url) == nil {
            try InvalidField.check(
                WebAddress.host(of: url).map { WebAddress.isHost($0, among: self.imageHosts) } ?? false,
                "\(path).image", "must be of a host that the app lists for images")
        }
    }

    private func check(_ entitlement: Entitlement, _ path: String) throws(InvalidField) {
        try InvalidField.check(
            self.entitlements.contains(entitlement), "\(path).interruption_level",
            "must be passive or active: the app does not declare the entitlement \(entitlement.rawValue)")
    }

    private func checkClient(_ options: PushOptions, _ path: String) throws(InvalidField) {
        for name in options.memberNames {
            let isAllowed =
                switch name {
                case "sound": options.sound.map { self.clientSounds.contains($0) } ?? false
                case "category": options.category.map { self.clientCategories.contains($0) } ?? false
                case "interruption_level": self.clientOptions.contains(name) && options.interruptionLevel != .critical
                default: self.clientOptions.contains(name)
                }
            try InvalidField.check(isAllowed, "\(path).\(name)", "must be among what the app lets its clients choose")
        }
    }
}

extension ConfigurationKey {
    static let webhooks: [ConfigurationKey] = [
        .init(
            "webhooks.path",
            "file of what webhooks are still to be told; without one it is the database's path with .webhooks",
            .optional(\.webhooks.path)),
        .init(
            "webhooks.allowed_networks",
            "private addresses or networks to which webhooks may go, by http: too, and where key sets may be that the API names, with commas between",
            .networks(\.webhooks.allowedNetworks)),
        .init(
            "webhooks.trust_roots_path",
            "PEM file of the authorities webhooks are trusted by; without one the system's",
            .optional(\.webhooks.trustRootsPath)),
        .init(
            "webhooks.attempts_max", "how often a delivery is tried before it is a dead letter",
            .integer(\.webhooks.attemptsMax, 1...8)),
    ]
}

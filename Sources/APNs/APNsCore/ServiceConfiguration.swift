package import TidingsModel

extension APNsService {
    /// The rules; the defaults are those of APNs reference, section 20. Nil switches a rule off.
    package struct Configuration: Hashable, Sendable {
        // Who may send.

        package var keys: [ProviderKey]
        /// The bundle identifiers of each team, by team id; a team that is not named may use every topic.
        package var bundleIDsOfTeams: [String: [String]] = [:]

        // Connections (APNs reference, section 3).

        /// Before the first good token, 0 or more.
        package var streamsBeforeToken = 1
        /// After it, and of connections with a certificate, 1 or more.
        package var streamsAfterToken = 1_000
        /// Until the next accepted push, 1 or more; nil leaves the limit alone.
        package var streamsAfterRejection: Int?
        /// How many errors in a row end a connection: an answer of 400 to 499 counts one, `BadDeviceToken` two, 410 and
        /// 429 none; nil for never. Apple has not said how many (APNs reference, section 3.1).
        package var errorsMax: Int? = 100
        /// Without a request, before a GOAWAY with `IdleTimeout`; nil for never.
        package var idleSeconds: Int64?
        /// The most bytes of a request's headers, counted by RFC 9113, section 6.5.2.
        package var headerListBytesMax = 8_000

        // Provider tokens (APNs reference, section 4).

        /// In either direction.
        package var tokenAgeMaxSeconds: Int64 = 3_600
        /// On one connection, before a new token.
        package var tokenUpdateMinSeconds: Int64 = 1_200
        /// True if a connection on which `ExpiredProviderToken` was answered answers it for good; one client's authors saw that and close
        /// the connection. Apple documents neither.
        package var expiredTokenSticks = false

        // Delivery (APNs reference, sections 14 and 15).

        package var storageMaxSeconds: Int64 = 30 * 86_400
        /// For a connected phone's acknowledgement, 1 or more.
        package var waitingPerAppMax = 64
        /// Before `TooManyRequests`; nil for any number.
        package var deviceRate: Rate?
        /// For an app that is not on the screen; nil for any number.
        package var backgroundRate: Rate? = Rate(perHour: 3, burst: 1)
        /// How many pushes are still answered with 200, and discarded, after an app was removed.
        package var acceptedAfterRemoval = 0
        package var faults = Faults()

        // Channels (APNs reference, section 17).

        /// In one environment.
        package var channelsMax = 10_000
        /// The longest storage of the newest message of a channel.
        package var channelStorageMaxSeconds: Int64 = 8 * 3_600

        package init(keys: [ProviderKey]) { self.keys = keys }
    }

    /// So many in an hour, and so many at once after a pause.
    package struct Rate: Hashable, Sendable {
        /// 1 to 3,600,000.
        package var perHour: Int64
        /// 1 to 1,000,000.
        package var burst: Int64

        package init(perHour: Int64, burst: Int64) {
            self.perHour = perHour
            self.burst = burst
        }
    }

    /// Faults of pushes on their way that Apple mentions (APNs reference, section 15), drawn from a seed. The defaults do nothing.
    package struct Faults: Hashable, Sendable {
        package var seed: UInt64 = 0
        /// In so many of 1,000 cases a push that waits is brought before an older one.
        package var reorderPerMille = 0
        /// In so many of 1,000 cases a push is brought once more after it was acknowledged.
        package var duplicatePerMille = 0
        /// In so many of 1,000 cases the older of two pushes survives in the store.
        package var olderSurvivesPerMille = 0
        /// How many milliseconds a push of priority 5 waits at most before it is brought to a phone that could have it.
        package var powerAwareDelayMilliseconds: Int64 = 0

        package init() {}
    }
}

extension APNsService.Configuration {
    /// Checks the rules against each other.
    ///
    /// - Throws: `InvalidField` naming the rule as `keys[2].topics` and what it must be.
    package func validate() throws(InvalidField) {
        for (index, key) in self.keys.enumerated() { try key.validate(prefix: "keys[\(index)].", among: self.keys) }
        try InvalidField.check(self.streamsBeforeToken >= 0, "streams_before_token", "must be 0 or more")
        try InvalidField.check(self.streamsAfterToken >= 1, "streams_after_token", "must be 1 or more")
        try InvalidField.check(self.streamsAfterRejection ?? 1 >= 1, "streams_after_rejection", "must be 1 or more")
        try InvalidField.check(self.errorsMax ?? 1 >= 1, "errors_max", "must be 1 or more")
        try InvalidField.check(1...31_536_000 ~= self.idleSeconds ?? 1, "idle_seconds", "must be 1 to 31536000")
        try InvalidField.check(self.headerListBytesMax >= 1, "header_list_bytes_max", "must be 1 or more")
        try InvalidField.check(
            1...31_536_000 ~= self.tokenAgeMaxSeconds, "token_age_max_seconds", "must be 1 to 31536000")
        try InvalidField.check(
            0...31_536_000 ~= self.tokenUpdateMinSeconds, "token_update_min_seconds", "must be 0 to 31536000")
        try InvalidField.check(
            1...3_153_600_000 ~= self.storageMaxSeconds, "storage_max_seconds", "must be 1 to 3153600000")
        try InvalidField.check(self.waitingPerAppMax >= 1, "waiting_per_app_max", "must be 1 or more")
        for (name, rate) in [("device_rate", self.deviceRate), ("background_rate", self.backgroundRate)] {
            guard let rate else { continue }
            try InvalidField.check(1...3_600_000 ~= rate.perHour, "\(name).per_hour", "must be 1 to 3600000")
            try InvalidField.check(1...1_000_000 ~= rate.burst, "\(name).burst", "must be 1 to 1000000")
        }
        try InvalidField.check(self.acceptedAfterRemoval >= 0, "accepted_after_removal", "must be 0 or more")
        let chances = [
            ("reorder_per_mille", self.faults.reorderPerMille),
            ("duplicate_per_mille", self.faults.duplicatePerMille),
            ("older_survives_per_mille", self.faults.olderSurvivesPerMille),
        ]
        for (name, chance) in chances { try InvalidField.check(0...1_000 ~= chance, name, "must be 0 to 1000") }
        try InvalidField.check(
            0...3_600_000 ~= self.faults.powerAwareDelayMilliseconds, "power_aware_delay_ms", "must be 0 to 3600000")
        try InvalidField.check(self.channelsMax >= 0, "channels_max", "must be 0 or more")
        try InvalidField.check(
            1...31_536_000 ~= self.channelStorageMaxSeconds, "channel_storage_max_seconds", "must be 1 to 31536000")
    }
}

public import TidingsModel

extension APNsPayload {
    /// Checks what holds for every push (APNs reference, section 13). `serialized(bytesMax:)` does so itself.
    ///
    /// - Throws: `InvalidField` by the path in the payload: `badge` (negative), `alert` (no title, subtitle or body, or a
    ///   localization without a key), `sound.name` (empty), `sound.volume` (outside 0…1), `relevance-score` (outside
    ///   0…1, for a Live Activity not finite), `custom.aps` (Apple's name), and for a Live Activity `timestamp`,
    ///   `stale-date`, `dismissal-date` (negative), `content-state` (missing in `start` and `update`), `alert`,
    ///   `attributes-type`, `attributes` (missing in `start`), `attributes-type`, `attributes`, `input-push-channel`,
    ///   `input-push-token` (set in anything but `start`), `input-push-channel` (not a channel id), `alert.title`,
    ///   `alert.body` (set twice, as text and from a table), `sound` (no alert to stand in).
    public func validate() throws(InvalidField) {
        if let badge = self.badge, badge < 0 { throw InvalidField(field: "badge", rule: "must be 0 or more") }
        try self.alert?.validate()
        try self.sound?.validate()
        try self.validateScore()
        if let activity = self.liveActivity {
            try activity.validate(beside: self.alert)
            try InvalidField.check(
                self.sound == nil || self.alert != nil, "sound", "must come with an alert for a Live Activity")
        }
        try InvalidField.check(self.custom["aps"] == nil, "custom.aps", "must not be set: aps holds Apple's members")
    }

    private func validateScore() throws(InvalidField) {
        guard let score = self.relevanceScore else { return }
        guard score.isFinite else { throw InvalidField(field: "relevance-score", rule: "must be a finite number") }
        try InvalidField.check(
            self.liveActivity != nil || (score >= 0 && score <= 1), "relevance-score", "must be between 0 and 1")
    }

    /// Checks what holds for every push and what one kind asks for (APNs reference, sections 7, 13 and 14).
    ///
    /// - Throws: what `validate()` throws, and `InvalidField` naming
    ///   - `aps` for an `alert` without alert, badge and sound,
    ///   - `content-available` if `background` lacks it, and whatever else of `aps` `background` has,
    ///   - `event` for a `liveactivity` without one, and for every other type with one,
    ///   - `content-changed` if `widgets` or `controls` lack it, whatever else of `aps` they have, and for every other
    ///     type that has it.
    public func validate(for pushType: APNsPushType) throws(InvalidField) {
        try self.validate()
        switch pushType {
        case .alert:
            try InvalidField.check(
                self.alert != nil || self.badge != nil || self.sound != nil, "aps",
                "must have alert, badge or sound for push type alert")
        case .background:
            try InvalidField.check(self.contentAvailable, "content-available", "must be set for push type background")
            try self.forbidOthers(than: "content-available", for: pushType)
        case .widgets, .controls:
            try InvalidField.check(
                self.contentChanged, "content-changed", "must be set for push type \(pushType.rawValue)")
            try self.forbidOthers(than: "content-changed", for: pushType)
        case .liveactivity:
            try InvalidField.check(self.liveActivity != nil, "event", "must be set for push type liveactivity")
        case .voip, .complication, .fileprovider, .mdm, .location, .pushtotalk: break
        }
        try InvalidField.check(
            pushType == .liveactivity || self.liveActivity == nil, "event",
            "must not be set for push type \(pushType.rawValue)")
        try InvalidField.check(
            pushType == .widgets || pushType == .controls || !self.contentChanged, "content-changed",
            "must not be set for push type \(pushType.rawValue)")
    }

    /// Checks what holds for every push and what a broadcast asks for: a Live Activity's `update` or `end` (APNs
    /// reference, section 17).
    ///
    /// - Throws: what `validate(for: .liveactivity)` throws, and `InvalidField` naming `event` for `start`.
    public func validateForBroadcast() throws(InvalidField) {
        try self.validate(for: .liveactivity)
        try InvalidField.check(self.liveActivity?.event != .start, "event", "must be update or end in a broadcast")
    }

    private func forbidOthers(than own: String, for pushType: APNsPushType) throws(InvalidField) {
        let members = [
            ("alert", self.alert != nil), ("badge", self.badge != nil), ("sound", self.sound != nil),
            ("thread-id", self.threadID != nil), ("category", self.category != nil),
            ("content-available", self.contentAvailable), ("mutable-content", self.mutableContent),
            ("interruption-level", self.interruptionLevel != nil), ("relevance-score", self.relevanceScore != nil),
            ("filter-criteria", self.filterCriteria != nil), ("target-content-id", self.targetContentID != nil),
            ("event", self.liveActivity != nil), ("content-changed", self.contentChanged),
        ]
        guard let member = members.first(where: { $0.1 && $0.0 != own }) else { return }
        throw InvalidField(
            field: member.0,
            rule: "must not be set for push type \(pushType.rawValue): its aps holds only \(own)")
    }
}

extension APNsPayload.Alert {
    fileprivate func validate() throws(InvalidField) {
        let lines = [self.titleLocalization, self.subtitleLocalization, self.bodyLocalization]
        try InvalidField.check(lines.allSatisfy({ $0?.key != "" }), "alert", "must not have an empty localization key")
        let hasText = self.title != nil || self.subtitle != nil || self.body != nil
        try InvalidField.check(
            hasText || lines.contains(where: { $0 != nil }), "alert", "must have a title, subtitle or body")
    }
}

extension APNsPayload.Sound {
    fileprivate func validate() throws(InvalidField) {
        let name: String
        switch self {
        case .named(let file): name = file
        case .critical(let file, let volume):
            name = file
            try InvalidField.check(volume >= 0 && volume <= 1, "sound.volume", "must be between 0 and 1")
        }
        guard !name.isEmpty else { throw InvalidField(field: "sound.name", rule: "must not be empty") }
    }
}

extension APNsPayload.LiveActivity {
    fileprivate func validate(beside alert: APNsPayload.Alert?) throws(InvalidField) {
        for (field, seconds) in [
            ("timestamp", self.timestamp), ("stale-date", self.staleDate), ("dismissal-date", self.dismissalDate),
        ] {
            if let seconds, seconds < 0 { throw InvalidField(field: field, rule: "must be UNIX seconds, 0 or more") }
        }
        if let alert {
            try InvalidField.check(
                alert.title == nil || alert.titleLocalization == nil, "alert.title",
                "must be a text or a localization, not both")
            try InvalidField.check(
                alert.body == nil || alert.bodyLocalization == nil, "alert.body",
                "must be a text or a localization, not both")
        }
        try InvalidField.check(
            self.event == .end || self.contentState != nil, "content-state",
            "must be set for event \(self.event.rawValue)")
        try self.event == .start ? self.validateStart(alert) : self.validateLater()
    }

    private func validateStart(_ alert: APNsPayload.Alert?) throws(InvalidField) {
        let needed = [
            ("alert", alert != nil), ("attributes-type", self.attributesType.map { !$0.isEmpty } ?? false),
            ("attributes", self.attributes != nil),
        ]
        if let missing = needed.first(where: { !$0.1 }) {
            throw InvalidField(field: missing.0, rule: "must be set for event start")
        }
        if let channel = self.inputPushChannel, !APNsFormat.isChannelID(channel.rawValue.utf8) {
            throw InvalidField(field: "input-push-channel", rule: APNsChannelID.rule)
        }
    }

    private func validateLater() throws(InvalidField) {
        let barred = [
            ("attributes-type", self.attributesType != nil), ("attributes", self.attributes != nil),
            ("input-push-channel", self.inputPushChannel != nil), ("input-push-token", self.inputPushToken),
        ]
        guard let extra = barred.first(where: { $0.1 }) else { return }
        throw InvalidField(field: extra.0, rule: "must be set for event start alone")
    }
}

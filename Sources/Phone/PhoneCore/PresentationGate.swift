struct PresentationFacts {
    var version: OSVersion
    var settings: NotificationSettings
    var entitlements: Entitlements
    var isLocked: Bool
    var isMuted: Bool
    /// Only one that does not allow the app.
    var focus: Focus?
    var isSummarized: Bool
}

struct PresentationVerdict: Equatable {
    var options: WillPresentOptions = []
    /// iOS 3–9.
    var panel = false
    /// iOS 10 and later.
    var persists = false
    var lights = false
    var reason = PresentationReason.system
}

/// ios-delivery.md §4 gates 3–5 and 7, §5.0.
enum PresentationGate {
    static func verdict(_ content: NotificationContent, _ facts: PresentationFacts) -> PresentationVerdict {
        let settings = facts.settings
        let level = self.level(of: content, facts)
        var verdict = self.kinds(facts)
        if settings.authorizationStatus == .provisional {
            verdict.options = verdict.options.intersection(.list)
            return self.quiet(verdict, .provisional)
        }
        switch level {
        case .critical:
            if content.sound != nil { verdict.options.insert(.sound) }
            verdict.reason = .critical
            return verdict
        case .timeSensitive:
            if facts.focus?.allowsTimeSensitive == false, !self.isCommunication(content, facts) {
                return self.quiet(verdict, .focus)
            }
        case .active, .passive:
            if !self.isCommunication(content, facts) {
                if facts.isSummarized {
                    verdict.options = verdict.options.intersection(.badge)
                    return self.quiet(verdict, .heldForSummary)
                }
                if facts.focus != nil { return self.quiet(verdict, level == .passive ? .passive : .focus) }
            }
            if level == .passive { return self.quiet(verdict, .passive) }
        }
        if facts.isMuted { verdict.options.remove(.sound) }
        return verdict
    }

    /// Returns the level; `active` in place of one that the app may not ask for (ios-delivery.md §4 gate 5, §11).
    static func level(of content: NotificationContent, _ facts: PresentationFacts) -> InterruptionLevel {
        let mayBeCritical = facts.settings.criticalAlert && facts.entitlements.contains(.criticalAlerts)
        guard facts.version.hasInterruptionLevels else {
            // Before iOS 15 a critical sound makes a critical alert (iOS 12).
            if case .critical = content.sound, mayBeCritical, facts.version >= 12 { return .critical }
            return .active
        }
        switch content.interruptionLevel {
        case .critical: return mayBeCritical ? .critical : .active
        case .timeSensitive:
            let isAllowed = facts.settings.timeSensitive && facts.entitlements.contains(.timeSensitive)
            return isAllowed ? .timeSensitive : .active
        case .active, .passive: return content.interruptionLevel
        }
    }

    /// ios-delivery.md §11.
    private static func isCommunication(_ content: NotificationContent, _ facts: PresentationFacts) -> Bool {
        content.isCommunication && facts.settings.directMessages && facts.entitlements.contains(.communication)
    }

    /// Gate 4, in the form that the version has (ios-delivery.md §5.0).
    private static func kinds(_ facts: PresentationFacts) -> PresentationVerdict {
        let settings = facts.settings
        var verdict = PresentationVerdict()
        if settings.sound { verdict.options.insert(.sound) }
        if settings.badge { verdict.options.insert(.badge) }
        if facts.version < 5 {
            verdict.panel = settings.alert
            verdict.lights = verdict.panel && facts.isLocked
            return verdict
        }
        if self.lists(facts) { verdict.options.insert(.list) }
        guard settings.alert else { return verdict }
        if facts.isLocked {
            guard settings.lockScreen else { return verdict }
            verdict.options.insert(.banner)
            verdict.lights = true
            return verdict
        }
        switch settings.alertStyle {
        case .none: break
        case .banner: verdict.options.insert(.banner)
        case .alert where facts.version < 10: verdict.panel = true
        case .alert:
            verdict.options.insert(.banner)
            verdict.persists = true
        }
        return verdict
    }

    /// In Notification Center, or on the lock screen, where provisional ones do not come (ios-delivery.md §4 gates 3
    /// and 4).
    static func lists(_ facts: PresentationFacts) -> Bool {
        let settings = facts.settings
        let lockScreen = settings.lockScreen && settings.authorizationStatus != .provisional
        return settings.notificationCenter || (lockScreen && facts.isLocked)
    }

    private static func quiet(_ verdict: PresentationVerdict, _ reason: PresentationReason) -> PresentationVerdict {
        PresentationVerdict(options: verdict.options.subtracting([.banner, .sound]), reason: reason)
    }
}

package import TidingsModel

// When a push is sent (design.md §5). The first row that fits decides: it *ends* the leg with its name, or lets it *wait* until the reason goes
// away. A leg for which no row fits is sent. All rows are tried again at the moment of sending.
//
// Some legs end before that, so that a crash loses none: the one to the sending device (`own_device`) in `ServerCore.startLeg`; the one of
// a person without a device (`no_device`) and those of a device that signs out (`signed_out`, `disabled`) in the store, in
// `ReferenceStore.deliver` and `ReferenceStore.undecided`.

package enum PushVerdict: Hashable, Sendable {
    case end(LegEnd)
    case wait(LegWait)
    case send

    package init(_ facts: PushFacts) {
        // Ends.
        if facts.isFromBlocked { self = .end(.blocked); return }
        if !facts.isNotifiable { self = .end(.notNotifiable); return }
        if let disposition = facts.settled { self = .end(.settled(disposition)); return }
        if facts.isReadElsewhere { self = .end(.readElsewhere); return }
        if facts.isRecalled { self = .end(.recalled); return }
        if facts.isExpired { self = .end(.expired); return }
        if facts.isMuted { self = .end(.muted); return }
        switch facts.token {
        case .missing: self = .end(.noToken); return
        case .dead(let timestamp): self = .end(.tokenDead(timestamp: timestamp)); return
        case .quarantined(let reason, let status):
            self = .end(.tokenQuarantined(reason: reason, status: status)); return
        case .usable: break
        }
        // Ends that do not depend on the hour come first (docs/decisions/0020).
        if facts.quietHours == .drop { self = .end(.quietHours); return }
        // Waits.
        if facts.presence == .live { self = .wait(.live); return }
        if facts.presence == .grace { self = .wait(.grace); return }
        if facts.quietHours == .defer { self = .wait(.quietHours); return }
        if facts.isActiveElsewhere { self = .wait(.activeElsewhere); return }
        if facts.isStorm { self = .wait(.merging); return }
        if facts.lane == .configFault { self = .wait(.configFault); return }
        if facts.lane == .breakerOpen { self = .wait(.breakerOpen); return }
        if facts.retry == .throttled { self = .wait(.throttled); return }
        if facts.lane == .providerDown || facts.retry == .providerDown { self = .wait(.providerDown); return }
        self = .send
    }
}

package struct PushFacts: Hashable, Sendable {
    /// The person had blocked the sender when the message was stored.
    package var isFromBlocked = false
    /// A push may tell of the message: it is no command, in no chat room (S0.17), not from the person themselves, and
    /// its sender did not forbid it.
    package var isNotifiable = true
    package var settled: Disposition?
    /// The person has read it on another device, has deleted it there, or is no member of its group any more.
    package var isReadElsewhere = false
    /// What a device has shown of it already is recalled by a push of its own.
    package var isRecalled = false
    package var isExpired = false
    /// The conversation's level lets nothing ring, or only mentions, which this is not.
    package var isMuted = false
    package var token: Token = .usable
    package var presence: Presence = .gone
    package var quietHours: QuietHold = .none
    /// The person has just done something on another device in the foreground.
    package var isActiveElsewhere = false
    /// Many alerts of its conversation have just gone to this device, and it does not mention the person.
    package var isStorm = false
    package var lane: LaneHold = .none
    package var retry: RetryHold = .none

    package enum Token: Hashable, Sendable {
        case usable
        case missing
        /// APNs has said so, later than the registration (apns.md §11).
        case dead(timestamp: Int64)
        /// Not used until the device registers again (design.md P8). Apple's reason and its status; 0 for an
        /// undocumented reason.
        case quarantined(reason: String, status: Int)
    }

    package enum Presence: Hashable, Sendable {
        case live
        case grace
        case gone
    }

    package enum QuietHold: Hashable, Sendable {
        case none
        /// Until their end, or until that is known.
        case `defer`
        case drop
    }

    package enum LaneHold: Hashable, Sendable {
        case none
        case configFault
        /// APNs refuses tokens, and it is not known yet whether tokens or lane are at fault (design.md P8).
        case breakerOpen
        case providerDown
    }

    package enum RetryHold: Hashable, Sendable {
        case none
        /// "Too many requests" for this token (apns.md §12).
        case throttled
        case providerDown
    }

    package init() {}
}

/// Whether a push tells a phone its badge after the unread count has fallen. Rows are tried in order.
package enum BadgeVerdict: Hashable, Sendable {
    case end(BadgeEnd)
    case wait(BadgeWait)
    case send

    package enum BadgeEnd: String, Hashable, Sendable, CaseIterable {
        case switchedOff = "switched_off"
        case live
        case noToken = "no_token"
        case right
    }

    package enum BadgeWait: String, Hashable, Sendable, CaseIterable {
        case restarted
        case budget
        case busy
        case recentAlert = "recent_alert"
        case lane
    }

    package init(_ facts: BadgeFacts) {
        // Ends.
        if facts.isSwitchedOff { self = .end(.switchedOff); return }
        if facts.isLive { self = .end(.live); return }
        if !facts.hasToken { self = .end(.noToken); return }
        if !facts.isTooHigh { self = .end(.right); return }
        // Waits.
        if facts.isBudgetUnknown { self = .wait(.restarted); return }
        if facts.isBudgetSpent { self = .wait(.budget); return }
        if facts.isBusy { self = .wait(.busy); return }
        if facts.isAlertRecent { self = .wait(.recentAlert); return }
        if facts.isLaneHeld { self = .wait(.lane); return }
        self = .send
    }
}

package struct BadgeFacts: Hashable, Sendable {
    package var isSwitchedOff = false
    package var isLive = false
    package var hasToken = true
    /// The phone was told a higher number, or it is not known what it shows.
    package var isTooHigh = true
    /// The device has not connected since this process began, which does not know what an earlier one has sent.
    package var isBudgetUnknown = false
    package var isBudgetSpent = false
    /// It may come straight back, or has a push under way or waiting: an alert carries the number itself.
    package var isBusy = false
    /// An alert went to it just now: of two that come close together APNs may keep one alone (apns.md §15), and a silent push
    /// alone is no alert.
    package var isAlertRecent = false
    /// Its lane sends nothing now, or is being probed: a badge is worth no probe.
    package var isLaneHeld = false

    package init() {}
}

/// How a phone is told its badge then. Rows are tried in order.
package enum BadgeRoute: String, Hashable, Sendable, CaseIterable {
    /// An alert that the service extension reduces to the number, once it has compared the recipient tag and the log position.
    case filtered
    /// The number alone, which the system sets without asking anybody.
    case direct
    /// A silent push. It reaches no app that was force-quit, and few where the person lets none refresh in the background.
    case silent

    package init(_ facts: BadgeRouteFacts) {
        if facts.iconNumber == .serviceExtension, facts.showsAlerts { self = .filtered; return }
        if facts.iconNumber != .app, facts.isOnlySender { self = .direct; return }
        self = .silent
    }
}

package struct BadgeRouteFacts: Hashable, Sendable {
    /// As the device has reported; `app` if it has reported nothing.
    package var iconNumber = DeviceStatus.IconNumber.app
    /// Without alerts no extension runs (ios-delivery.md §10).
    package var showsAlerts = true
    /// The app has declared that nobody else pushes to it: the number is no sum of several senders' (S2.13).
    package var isOnlySender = false

    package init() {}
}

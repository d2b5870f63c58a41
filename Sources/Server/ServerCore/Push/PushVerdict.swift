package import TidingsModel

// When a push is sent (design.md §5). The first row that fits decides: it *ends* the leg with its name, or lets it *wait* until the reason goes
// away. A leg for which no row fits is sent. All rows are tried again at the moment of sending.
//
// Some legs end before that, so that a crash loses none: the one to the sending device (`own_device`) in `Device.startLeg`; the one of
// a person without a device (`no_device`) and those of a device that signs out (`signed_out`, `disabled`) in the store, in
// `StoreMachine.deliver` and `StoreMachine.undecided`.

package enum PushVerdict: Hashable, Sendable {
    case end(LegEnd)
    case wait(LegWait)
    case send

    package init(_ facts: PushFacts) {
        switch (Self.rows.first { $0.holds(facts) }?.verdict ?? .send, facts.token) {
        // Details that only the facts know.
        case (.end(.settled(let usual)), _): self = .end(.settled(facts.settled ?? usual))
        case (.end(.tokenDead), .dead(let timestamp)): self = .end(.tokenDead(timestamp: timestamp))
        case (.end(.tokenQuarantined), .quarantined(let reason, let status)):
            self = .end(.tokenQuarantined(reason: reason, status: status))
        case (let verdict, _): self = verdict
        }
    }

    package struct Row: Sendable {
        /// The fact it asks for, by its name in reports. `provider` is asked of lane and retry together.
        package let fact: String
        /// Its decision, with details that stand for any.
        package let verdict: PushVerdict
        let holds: @Sendable (PushFacts) -> Bool
    }

    package static let rows: [Row] = [
        // Ends.
        Row(fact: "block", verdict: .end(.blocked)) { $0.isFromBlocked },
        Row(fact: "notifiable", verdict: .end(.notNotifiable)) { !$0.isNotifiable },
        Row(fact: "settled", verdict: .end(.settled(.shown))) { $0.settled != nil },
        Row(fact: "read_elsewhere", verdict: .end(.readElsewhere)) { $0.isReadElsewhere },
        Row(fact: "recalled", verdict: .end(.recalled)) { $0.isRecalled },
        Row(fact: "expired", verdict: .end(.expired)) { $0.isExpired },
        Row(fact: "level", verdict: .end(.muted)) { $0.isMuted },
        Row(fact: "token", verdict: .end(.noToken)) { $0.token == .missing },
        Row(fact: "token", verdict: .end(.tokenDead(timestamp: 0))) {
            if case .dead = $0.token { true } else { false }
        },
        Row(fact: "token", verdict: .end(.tokenQuarantined(reason: "", status: 0))) {
            if case .quarantined = $0.token { true } else { false }
        },
        // Ends that do not depend on the hour come first (docs/inside/decisions/0020).
        Row(fact: "quiet_hours", verdict: .end(.quietHours)) { $0.quietHours == .drop },
        // Waits.
        Row(fact: "lease", verdict: .wait(.live)) { $0.presence == .live },
        Row(fact: "lease", verdict: .wait(.grace)) { $0.presence == .grace },
        Row(fact: "quiet_hours", verdict: .wait(.quietHours)) { $0.quietHours == .defer },
        Row(fact: "active_elsewhere", verdict: .wait(.activeElsewhere)) { $0.isActiveElsewhere },
        Row(fact: "storm", verdict: .wait(.merging)) { $0.isStorm },
        Row(fact: "lane", verdict: .wait(.configFault)) { $0.lane == .configFault },
        Row(fact: "lane", verdict: .wait(.breakerOpen)) { $0.lane == .breakerOpen },
        Row(fact: "retry", verdict: .wait(.throttled)) { $0.retry == .throttled },
        Row(fact: "provider", verdict: .wait(.providerDown)) { $0.lane == .providerDown || $0.retry == .providerDown },
    ]
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
    /// True if it is recalled; a device that has shown it is told by a push of its own.
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

/// Decides if a push tells a phone its badge after the unread count has fallen. Rows are tried in order.
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
    /// The icon's number as the device has reported it; `app` if it has reported nothing.
    package var iconNumber = DeviceStatus.IconNumber.app
    /// Without alerts no extension runs (ios-delivery.md §10).
    package var showsAlerts = true
    /// The app has declared that nobody else pushes to it: the number is no sum of several senders' (S2.13).
    package var isOnlySender = false

    package init() {}
}

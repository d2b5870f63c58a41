package import TidingsModel

// When is a push sent? This file is the answer (DESIGN §5). The rows are tried in the order they are written in; the first that
// fits decides. A row either *ends* the leg with its name, or lets it *wait* and be judged again when the reason goes away. A leg
// for which no row fits is sent. The whole list is gone through again at the moment of sending.
//
// Some legs end before that, so that a crash loses none: the one to the sending device (`own_device`) when it would begin, in
// `ServerCore.start`; the one of a person without a device (`no_device`) and those of a device that signs out (`signed_out`,
// `disabled`) in the store, with the message or the sign-out, in `ReferenceStore.deliver` and `ReferenceStore.undecided`.

/// What is to become of one message for one device whose connection does not carry it.
package enum PushVerdict: Hashable, Sendable {
    /// No push: the leg is over.
    case end(LegEnd)
    /// No push now.
    case wait(LegWait)
    /// Push it.
    case send

    /// The verdict on one leg.
    package init(_ facts: PushFacts) {
        // Ends.
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
        // What no hour changes is said at every hour (docs/decisions/0020).
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
        // Nothing speaks against it.
        self = .send
    }
}

/// Everything the verdict looks at. The values at the start are those of a message that is to be pushed.
package struct PushFacts: Hashable, Sendable {
    /// A push may tell of the message: it is not a command, in no chat room (S0.17), not from the person themselves, and its
    /// sender did not forbid it.
    package var isNotifiable = true
    /// The device has settled it, and how.
    package var settled: Disposition?
    /// The person has read it on another device: the read cursor of the conversation stands at or behind its position. Or they
    /// have deleted it there, or are no member of its group any more: then nothing is unread there.
    package var isReadElsewhere = false
    /// It was recalled. What was shown of it already is recalled by a push of its own.
    package var isRecalled = false
    /// Its deadline has passed.
    package var isExpired = false
    /// The level the person has set for the conversation does not let it ring: nothing may, or only a mention, which it is not.
    package var isMuted = false
    /// What is known of the device's push token.
    package var token: Token = .usable
    /// Whether a connection may still carry it.
    package var presence: Presence = .gone
    /// Whether it is the person's quiet hours, and what they want of them.
    package var quietHours: QuietHold = .none
    /// The person has just done something on another device that is in the foreground.
    package var isActiveElsewhere = false
    /// Many alerts of its conversation have just gone to this device, and it does not mention the person.
    package var isStorm = false
    /// What holds up all pushes of the lane.
    package var lane: LaneHold = .none
    /// What holds up pushes to this device.
    package var retry: RetryHold = .none

    /// A device's push token as the verdict sees it.
    package enum Token: Hashable, Sendable {
        case usable
        /// Never registered.
        case missing
        /// APNs has said so, newer than the registration (apns.md §11).
        case dead(timestamp: Int64)
        /// Kept aside until the device registers again (DESIGN P8): Apple's reason and its status; 0 for a reason Apple does not
        /// document.
        case quarantined(reason: String, status: Int)
    }

    /// A device's lease as the verdict sees it.
    package enum Presence: Hashable, Sendable {
        /// Written to a connection whose deadline has not passed.
        case live
        /// The device may come back in a moment.
        case grace
        case gone
    }

    /// What a person's quiet hours are to pushes.
    package enum QuietHold: Hashable, Sendable {
        case none
        /// They wait for the end, or until it is known when that is.
        case `defer`
        /// They are not sent.
        case drop
    }

    /// What can hold up a lane.
    package enum LaneHold: Hashable, Sendable {
        case none
        /// The credential or topic is refused or missing.
        case configFault
        /// APNs refuses tokens, and it does not show yet whether these or the lane are at fault (DESIGN P8).
        case breakerOpen
        /// APNs cannot be reached or fails.
        case providerDown
    }

    /// What can hold up one device.
    package enum RetryHold: Hashable, Sendable {
        case none
        /// APNs said "too many requests" for this token (apns.md §12).
        case throttled
        /// The last try failed at APNs's side or on the way.
        case providerDown
    }

    /// Facts of a message that is to be pushed.
    package init() {}
}

/// What is to become of the silent push that tells a phone the number on its icon, when the person's unread count has fallen. The rows are
/// tried like those of a message.
package enum BadgeVerdict: Hashable, Sendable {
    /// Nothing is to be told.
    case end(BadgeEnd)
    /// Not now.
    case wait(BadgeWait)
    /// Push it.
    case send

    /// Why nothing is to be told.
    package enum BadgeEnd: String, Hashable, Sendable, CaseIterable {
        case switchedOff = "switched_off"
        case live
        case noToken = "no_token"
        case right
    }

    /// What it waits for.
    package enum BadgeWait: String, Hashable, Sendable, CaseIterable {
        case restarted
        case budget
        case busy
        case lane
    }

    /// The verdict on one device.
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
        if facts.isLaneHeld { self = .wait(.lane); return }
        // Nothing speaks against it.
        self = .send
    }
}

/// Everything the verdict on the number on a device's icon looks at. The values at the start are those of a number that is to be told.
package struct BadgeFacts: Hashable, Sendable {
    /// The server is to send no such pushes.
    package var isSwitchedOff = false
    /// A connection tells the app, which shows the number itself.
    package var isLive = false
    /// The device has a push token that may work.
    package var hasToken = true
    /// The phone was told a higher number, or nobody knows what it shows.
    package var isTooHigh = true
    /// The device has not connected since this process of the server began, which does not know what an earlier one has sent it.
    package var isBudgetUnknown = false
    /// It was sent as many this hour as it may be.
    package var isBudgetSpent = false
    /// It may come straight back, or has a push under way or waiting: an alert carries the number itself.
    package var isBusy = false
    /// Its lane sends nothing now, or tries whether it works: a number is worth no probe.
    package var isLaneHeld = false

    /// Facts of a number that is to be told.
    package init() {}
}

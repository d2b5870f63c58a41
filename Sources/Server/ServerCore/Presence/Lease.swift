import StoreModel
package import TidingsModel

// The lease of a device: what the server believes about it (design.md §4). Effects stand behind a slash; "over" is `timeReached` after
// the state's time. `connected` leads from every state, and `reported` from those with a connection and from `gone`, to what the
// app reports: foreground, background, or for "suspending" gone.
//
//  ┌────────────┐  deadlineMissed / probe   ┌─────────┐  over / hangUp, socketLost, heartbeatMissed / hangUp
//  │ foreground │──────────────────────────▶│ probing │──────────────────────────────────────────────────────▶┐
//  │            │◀──────────────────────────│         │                                                       │
//  └────────────┘           heard           └─────────┘                                                       │
//     │     │              socketLost       ┌─────────┐  over                                                 │
//     │     └──────────────────────────────▶│  grace  │──────────────────────────────────────────────────────▶│
//     │                                     └─────────┘                                                       │
//     │  heartbeatMissed / hangUp                                                                             ▼
//     └──────────────────────────────────────────────────────────────────────────────────────────────────▶ ┌──────┐
//  ┌────────────┐  over / hangUp, deadlineMissed / hangUp, heartbeatMissed / hangUp, socketLost            │ gone │
//  │ background │────────────────────────────────────────────────────────────────────────────────────────▶ └──────┘
//  └────────────┘                                                                                           ▲   │ ▲
//  ┌────────────┐  over                                                                                     │   └─┘
//  │ returning  │───────────────────────────────────────────────────────────────────────────────────────────┘ heartbeatMissed
//  └────────────┘                                                                                               / hangUp
package enum Lease: Hashable, Sendable {
    case foreground
    /// The connection is kept until the time the app said it has left.
    case background(until: Int64)
    /// A deadline was missed in the foreground, and the connection was asked for a sign of life.
    case probing(until: Int64)
    /// The socket was lost in the foreground without "suspending"; the phone may come straight back.
    case grace(until: Int64)
    /// The server has just started and does not know (design.md §3 "Push work").
    case returning(until: Int64)
    case gone

    /// Frames are written, and settling is waited for.
    package var isLive: Bool {
        switch self {
        case .foreground, .background: true
        case .probing, .grace, .returning, .gone: false
        }
    }

    /// A probed device still has time to answer, and has not gone.
    package var isInForeground: Bool {
        switch self {
        case .foreground, .probing: true
        case .background, .grace, .returning, .gone: false
        }
    }

    /// A probed connection still gets entries, so that it has no gap if it answers.
    package var getsFrames: Bool {
        switch self {
        case .foreground, .background, .probing: true
        case .grace, .returning, .gone: false
        }
    }

    package var until: Int64? {
        switch self {
        case .background(let until), .probing(let until), .grace(let until), .returning(let until): until
        case .foreground, .gone: nil
        }
    }
}

package enum LeaseEvent: Hashable, Sendable {
    case connected(ReportedRunState)
    case reported(ReportedRunState)
    /// A frame, or the answer to a probe.
    case heard
    case socketLost
    case deadlineMissed
    /// Nothing was heard for twice the heartbeat.
    case heartbeatMissed
    case timeReached
}

/// An effect of a lease's change on the legs.
package enum LeaseEffect: Hashable, Sendable {
    case probe
    /// A phone that thaws later learns that it must connect again.
    case hangUp
    case flagBug(String)
}

extension Lease {
    package mutating func handle(
        _ event: LeaseEvent, at now: Now, settings: ServerSettings, into effects: inout [LeaseEffect]
    ) {
        self = self.following(event, at: now.monotonic, settings: settings, into: &effects)
    }

    // tidy: long because the lease table of design.md §4 is one switch over (state, event).
    private func following(
        _ event: LeaseEvent, at now: Int64, settings: ServerSettings, into effects: inout [LeaseEffect]
    ) -> Lease {
        switch (self, event) {
        // A phone says where it is: from every state.
        case (_, .connected(let run)):
            return Self.reported(run, at: now, settings: settings)
        case (.foreground, .reported(let run)), (.background, .reported(let run)), (.probing, .reported(let run)),
            (.gone, .reported(let run)):
            return Self.reported(run, at: now, settings: settings)

        // In the foreground.
        case (.foreground, .socketLost):
            return .grace(until: now + settings.graceTime)
        case (.foreground, .deadlineMissed):
            effects.append(.probe)
            return .probing(until: now + settings.probeTime)
        case (.foreground, .heartbeatMissed), (.background, .heartbeatMissed), (.probing, .heartbeatMissed):
            effects.append(.hangUp)
            return .gone

        // In the background.
        case (.background, .socketLost):
            return .gone
        case (.background, .deadlineMissed):
            effects.append(.hangUp)
            return .gone
        case (.background(let until), .timeReached):
            guard now >= until else { return self }
            effects.append(.hangUp)
            return .gone

        // Asked for a sign of life.
        case (.probing, .heard):
            return .foreground
        case (.probing, .socketLost):
            return .gone
        case (.probing(let until), .timeReached):
            guard now >= until else { return self }
            effects.append(.hangUp)
            return .gone

        // Away for a moment.
        case (.grace(let until), .timeReached), (.returning(let until), .timeReached):
            return now >= until ? .gone : self

        // A phone that said "suspending" has gone silent without hanging up.
        case (.gone, .heartbeatMissed):
            effects.append(.hangUp)
            return .gone

        // Legal, and nothing changes.
        case (.foreground, .heard), (.background, .heard), (.gone, .heard), (.foreground, .timeReached),
            (.gone, .timeReached), (.gone, .socketLost):
            return self

        // Legal but late: the world moved on while the deadline was in flight.
        case (.probing, .deadlineMissed), (.grace, .deadlineMissed), (.returning, .deadlineMissed),
            (.gone, .deadlineMissed):
            return self

        // Our own bug: without a connection nothing can be heard on it or lost.
        case (.grace, .reported), (.grace, .heard), (.grace, .socketLost), (.grace, .heartbeatMissed),
            (.returning, .reported), (.returning, .heard), (.returning, .socketLost), (.returning, .heartbeatMissed):
            effects.append(.flagBug("\(event) without a connection"))
            return self
        }
    }

    private static func reported(_ run: ReportedRunState, at now: Int64, settings: ServerSettings) -> Lease {
        switch run {
        case .foreground: return .foreground
        case .background(let remaining):
            return .background(until: now + max(0, min(remaining, settings.backgroundTimeMax)))
        case .suspending: return .gone
        }
    }
}

extension LegTurn {
    /// Names the turn that the device's legs are told of an event that has changed its lease.
    init(_ event: LeaseEvent, to lease: Lease) {
        switch event {
        case .connected, .reported: self = lease.isLive ? .returned : .suspended
        case .heard: self = .returned
        case .socketLost: self = .connectionLost
        case .deadlineMissed: self = .deadlineMissed
        case .heartbeatMissed: self = .silent
        case .timeReached: self = .timeOver
        }
    }
}

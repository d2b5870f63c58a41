package import TidingsModel

/// What the server believes about one device: whether it listens, and until when (DESIGN §4).
package enum Lease: Hashable, Sendable {
    /// The app is in the foreground, on a connection.
    case foreground
    /// The app is in the background and keeps its connection until the time it said it has left.
    case background(until: Int64)
    /// The app in the foreground missed a deadline; the connection was asked for a sign of life.
    case probing(until: Int64)
    /// The socket was lost in the foreground without "suspending"; the phone may come straight back.
    case grace(until: Int64)
    /// The server has just started and does not know; the phone may come back (DESIGN §3 "Push work").
    case returning(until: Int64)
    /// Nobody listens: push at once.
    case gone

    /// Frames are written, and settling is waited for.
    package var isLive: Bool {
        switch self {
        case .foreground, .background: true
        case .probing, .grace, .returning, .gone: false
        }
    }

    /// The app is in the foreground, as far as anybody knows: a device that was asked for a sign of life, and has time to give it, has not gone.
    package var isInForeground: Bool {
        switch self {
        case .foreground, .probing: true
        case .background, .grace, .returning, .gone: false
        }
    }

    /// Entries are written to the connection. A probed one still gets them, so that it has no gap if it answers.
    package var getsFrames: Bool {
        switch self {
        case .foreground, .background, .probing: true
        case .grace, .returning, .gone: false
        }
    }

    /// When the lease ends by itself, in monotonic milliseconds.
    package var until: Int64? {
        switch self {
        case .background(let until), .probing(let until), .grace(let until), .returning(let until): until
        case .foreground, .gone: nil
        }
    }
}

/// What a lease is told.
package enum LeaseEvent: Hashable, Sendable {
    /// The device connected (again); a connection it had is closed.
    case connected(ReportedRunState)
    /// The app said where it is.
    case reported(ReportedRunState)
    /// A frame, or the answer to a probe.
    case heard
    /// The connection is gone.
    case socketLost
    /// The oldest unsettled entry was not settled in time.
    case deadlineMissed
    /// Nothing was heard for twice the heartbeat.
    case heartbeatMissed
    /// Time has passed; the lease looks whether it is over.
    case timeReached
}

/// What a lease wants done. What becomes of the legs follows from the lease before and after.
package enum LeaseEffect: Hashable, Sendable {
    /// Ask the connection for a sign of life.
    case probe
    /// Close the connection: a phone that thaws later learns that it must connect again.
    case hangUp
    /// Our own mistake.
    case flagBug(String)
}

extension Lease {
    /// Takes one event. Times are those of DESIGN §4, read from the settings.
    package mutating func handle(
        _ event: LeaseEvent, at now: Now, settings: ServerSettings, into effects: inout [LeaseEffect]
    ) {
        self = self.following(event, at: now.monotonic, settings: settings, into: &effects)
    }

    // tidy: long because the lease table of DESIGN §4 is one switch over (state, event).
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

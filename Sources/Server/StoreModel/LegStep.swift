package import TidingsModel

/// A step of a leg between its beginning and its end. It is kept with the record that keeps or ends the leg, so that it costs no record of
/// its own. Times are wall milliseconds.
package enum LegStep: Hashable, Sendable {
    /// The verdict has let it wait; `until` is nil for a wait that another event ends.
    case waited(LegWait, until: Int64?, at: Int64)
    /// Its device has come or gone.
    case turned(LegTurn, at: Int64)
    /// The verdict has let it be pushed, and the push was handed over.
    indirect case pushed(LegPush, at: Int64)
    /// An answer that has not ended it.
    indirect case answered(LegPushOutcome, status: Int, reason: String, at: Int64)
    /// The person has read it elsewhere; nil for the app's backend, and where the device is not known.
    indirect case read(on: DeviceID?, at: Int64)
    /// The last step of a leg that the verdict has ended, at that time.
    case judged

    /// Nil for the verdict, which is at the leg's end.
    package var at: Int64? {
        switch self {
        case .waited(_, _, let at), .turned(_, let at), .pushed(_, let at), .answered(_, _, _, let at),
            .read(_, let at):
            at
        case .judged: nil
        }
    }
}

/// Why a device's legs are live no longer, or are again.
package enum LegTurn: String, Hashable, Sendable, CaseIterable, JSONWritable {
    case returned
    /// The app said that it is about to be frozen.
    case suspended
    case connectionLost = "connection_lost"
    /// It had not settled in time what it was sent.
    case deadlineMissed = "deadline_missed"
    /// Nothing was heard of it for twice the heartbeat.
    case silent
    /// The time of the background, of a sign of life, or of coming back is over.
    case timeOver = "time_over"
}

/// The outcome of APNs's answer, or of none.
package enum LegPushOutcome: String, Hashable, Sendable, CaseIterable, JSONWritable {
    case refused
    /// It was sent, and the answer never came.
    case unknown
    case notSent = "not_sent"
    case noCredential = "no_credential"
}

/// A push of a leg, as far as it does not follow from the leg.
package struct LegPush: Hashable, Sendable {
    /// The newest of the messages that it counts; nil for the leg's own.
    package var carrier: MessageID?
    /// The attempt of the carrier's leg; its `apns-id` follows from both.
    package var attempt: Int
    package var topic: String
    package var environment: PushEnvironment
    /// Seconds since 1970, as APNs was told.
    package var expiration: Int64

    package init(
        carrier: MessageID? = nil, attempt: Int, topic: String, environment: PushEnvironment, expiration: Int64
    ) {
        self.carrier = carrier
        self.attempt = attempt
        self.topic = topic
        self.environment = environment
        self.expiration = expiration
    }
}

/// The steps of a leg in their order.
package struct LegSteps: Hashable, Sendable {
    /// The first eight are kept, and the newest: of a leg that waits through an outage of days those between say the same again.
    package static let countMax = 32
    private static let firstKept = 8

    package private(set) var all: [LegStep] = []

    package init() {}

    package init(_ steps: some Sequence<LegStep>) { for step in steps { self.append(step) } }

    package var isEmpty: Bool { self.all.isEmpty }

    /// A wait that goes on, after a restart or with another end, stays the step it is.
    package mutating func append(_ step: LegStep) {
        if case .waited(let wait, let until, _) = step, case .waited(wait, _, let at)? = self.all.last {
            self.all[self.all.count - 1] = .waited(wait, until: until, at: at)
            return
        }
        if self.all.count == Self.countMax { self.all.remove(at: Self.firstKept) }
        self.all.append(step)
    }
}

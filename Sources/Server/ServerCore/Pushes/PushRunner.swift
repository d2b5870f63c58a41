import OrderedCollections
import StoreModel
import TidingsModel

/// Push jobs that are unfinished, and the people whom their steps have reached and who are not done with it.
struct PushRunner: Sendable {
    struct Run: Sendable {
        var job: PushJob
        /// Commands about the job that the store has not answered. Until it has, no step begins.
        var asked = 0
        /// How many people the step that is asked for may reach.
        var reach = 0
        /// The bucket of the job's own rate.
        var bucket = RateBuckets()
        /// Monotonic milliseconds; the store could not read what a step needs.
        var notBefore: Int64 = .min
        /// Monotonic milliseconds.
        var reportedAt: Int64 = .min
    }

    /// The one that has waited longest for a step goes first.
    var runs: OrderedDictionary<PushJobID, Run> = [:]
    /// Monotonic milliseconds.
    var dueAt: Int64?
    private(set) var underWay: OrderedSet<UserKey> = []

    mutating func moveToEnd(_ id: PushJobID) {
        guard let run = self.runs.removeValue(forKey: id) else { return }
        self.runs[id] = run
    }

    mutating func begin(_ person: UserKey) { self.underWay.append(person) }

    /// Forgets those who have none left.
    /// - Returns: how many legs there are.
    mutating func countLegs(_ legs: (UserKey) -> Int) -> Int {
        var count = 0
        self.underWay.removeAll { person in
            let open = legs(person)
            count += open
            return open == 0
        }
        return count
    }
}

extension PushRunner {
    /// How long a step waits that could not begin, in milliseconds: for legs to end and for the store to catch up, and for what an operator
    /// has to mend.
    static let shortWait: Int64 = 50
    static let longWait: Int64 = 1_000
    static let unreadableWait: Int64 = 10_000
    /// A step reaches so many people, unless the rate is lower: each is a record, and a sync.
    static let reachMin = 100
    /// A rate is kept to by so many steps a second at most.
    static let stepsPerSecond = 10
    static let reportInterval: Int64 = 1_000

    /// A second's worth may go at once.
    static func limit(of job: PushJob) -> RateLimit? {
        job.ratePerSecond.map { RateLimit(perSecond: $0, burst: $0) }
    }
}

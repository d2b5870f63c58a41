import StoreModel
import TidingsModel

struct AppLoad: Sendable {
    var buckets = RateBuckets()
    var backlog = 0
}

enum Asker: Hashable, Sendable {
    case person(UserKey)
    case backend(AppID)

    var app: AppID {
        switch self {
        case .person(let user): user.app
        case .backend(let app): app
        }
    }
}

// When the disk is slow, commands wait. Those with most of them waiting are refused first, so that the others notice nothing.
extension ServerCore {
    /// Throws `unavailable` if the asker, its app or all together have too many commands waiting. `isReading`
    /// commands read a page of a log, a history or receipts, and occupy the store longest.
    mutating func checkBacklog(of asker: Asker, isReading: Bool = false) throws(ServerFrame.Problem) {
        if isReading, case .person(let user) = asker, self.reads[user] ?? 0 >= self.turn.settings.personReadsMax {
            self.turn.emit(.countRefusal(.person, nil))
            throw Self.backlogged("the person", self.turn.settings.personReadsMax, "readings")
        }
        if case .person(let user) = asker, self.backlogs[user] ?? 0 >= self.turn.settings.personBacklogMax {
            self.turn.emit(.countRefusal(.person, nil))
            throw Self.backlogged("the person", self.turn.settings.personBacklogMax)
        }
        if self.apps[asker.app]?.backlog ?? 0 >= self.turn.settings.appBacklogMax {
            self.turn.emit(.countRefusal(.app, nil))
            throw Self.backlogged("the app", self.turn.settings.appBacklogMax)
        }
        guard self.storeBacklog < self.turn.settings.storeBacklogMax else { throw Self.unavailable }
    }

    private static func backlogged(_ who: String, _ count: Int, _ what: String = "commands") -> ServerFrame.Problem {
        .init(
            code: .unavailable, rule: "must wait: \(count) \(what) of \(who) are being carried out already",
            retryAfterMilliseconds: 1_000)
    }

    mutating func addToBacklog(_ asker: Asker, isReading: Bool) {
        if case .person(let user) = asker {
            self.backlogs[user, default: 0] += 1
            if isReading { self.reads[user, default: 0] += 1 }
        }
        self.apps[asker.app, default: AppLoad()].backlog += 1
    }

    mutating func removeFromBacklog(_ asker: Asker, isReading: Bool) {
        self.apps[asker.app]?.backlog -= 1
        if isReading, case .person(let user) = asker, let count = self.reads[user] {
            self.reads[user] = count > 1 ? count - 1 : nil
        }
        guard case .person(let user) = asker, let count = self.backlogs[user] else { return }
        self.backlogs[user] = count > 1 ? count - 1 : nil
    }
}

extension StoreCommand {
    var isReading: Bool {
        switch self {
        case .readLog, .readHistory, .readReceipts, .readProfiles, .readFollowing, .countAudience, .readLegs: true
        default: false  // tidy: every other command writes, or reads a record or two
        }
    }
}

extension ClientRequest {
    var isReading: Bool {
        switch self {
        case .history, .enterRoom, .receipts, .profiles, .following: true
        default: false  // tidy: every other request writes, or reads a record or two
        }
    }
}

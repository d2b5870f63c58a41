import StoreModel
import TidingsModel

/// What one app has taken of the server.
struct AppLoad: Sendable {
    var buckets = RateBuckets()
    /// Commands of its people and its backend that the store has not answered.
    var backlog = 0
}

/// For whom the store is asked.
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

// When the disk is slow, commands wait. Whoever has most of them waiting is refused first, so that the others notice nothing.
extension ServerCore {
    /// Makes sure that another command may wait for the store.
    ///
    /// - Throws: `unavailable` if too many do: the asker's own, those of the app, or all together.
    func checkBacklog(
        of asker: Asker, _ effects: inout [ServerEffect]
    ) throws(ServerFrame.Problem) {
        if case .person(let user) = asker, self.backlogs[user] ?? 0 >= self.settings.personBacklogMax {
            effects.append(.countRefusal(.person, nil))
            throw Self.backlogged("the person", self.settings.personBacklogMax)
        }
        if self.apps[asker.app]?.backlog ?? 0 >= self.settings.appBacklogMax {
            effects.append(.countRefusal(.app, nil))
            throw Self.backlogged("the app", self.settings.appBacklogMax)
        }
        guard self.storeBacklog < self.settings.storeBacklogMax else { throw Self.unavailable }
    }

    private static func backlogged(_ who: String, _ count: Int) -> ServerFrame.Problem {
        .init(
            code: .unavailable, rule: "must wait: \(count) commands of \(who) are being carried out already",
            retryAfterMilliseconds: 1_000)
    }

    /// A command was handed to the store.
    mutating func noteAsked(_ asker: Asker) {
        if case .person(let user) = asker { self.backlogs[user, default: 0] += 1 }
        self.apps[asker.app, default: AppLoad()].backlog += 1
    }

    /// The store has answered it.
    mutating func noteAnswered(_ asker: Asker) {
        self.apps[asker.app]?.backlog -= 1
        guard case .person(let user) = asker, let count = self.backlogs[user] else { return }
        self.backlogs[user] = count > 1 ? count - 1 : nil
    }
}

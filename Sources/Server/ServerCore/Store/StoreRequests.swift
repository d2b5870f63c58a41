import DequeModule
import StoreModel
import TidingsModel

/// The commands that the store was asked to carry out, and has not answered.
struct StoreRequests: Sendable {
    var sent: UInt64 = 0
    var answered: UInt64 = 0
    /// The requests whose answers need more than `.done`, in their order.
    var pending: Deque<(id: UInt64, request: PendingStoreRequest, asker: Asker?, isReading: Bool)> = []
    /// By person: how many, and how many of them read.
    var backlogs: [UserKey: Int] = [:]
    var reads: [UserKey: Int] = [:]
    var lateEnds: Deque<LateEnd> = []

    var backlog: Int { Int(self.sent - self.answered) }
}

extension Turn {
    /// Without a pending request the store's answer must be `.done`. The command counts in the backlog of `asker`, if any, until it is
    /// answered.
    mutating func ask(_ command: StoreCommand, for request: PendingStoreRequest? = nil, by asker: Asker? = nil) {
        self.store.sent += 1
        let id = StoreRequestID(self.store.sent)
        if !self.shares.keysUnderWay.isEmpty, let keyed = request?.apiRequest.flatMap({ self.shares.keysUnderWay[$0] })
        {
            self.emit(.store(id, .once(keyed, command)))
        } else {
            self.emit(.store(id, command))
        }
        guard let request else { return }
        self.store.pending.append((id.rawValue, request, asker, command.isReading))
        if let asker { self.addToBacklog(asker, isReading: command.isReading) }
    }
}

// When the disk is slow, commands wait. Those with most of them waiting are refused first, so that the others notice nothing.
extension Turn {
    /// Throws `unavailable` if the asker, its app or all together have too many commands waiting. `isReading`
    /// commands read a page of a log, a history or receipts, and occupy the store longest.
    mutating func checkBacklog(of asker: Asker, isReading: Bool = false) throws(ServerFrame.Problem) {
        if isReading, case .person(let user) = asker, self.store.reads[user] ?? 0 >= self.settings.personReadsMax {
            self.emit(.countRefusal(.person, nil))
            throw Self.backlogged("the person", self.settings.personReadsMax, "readings")
        }
        if case .person(let user) = asker, self.store.backlogs[user] ?? 0 >= self.settings.personBacklogMax {
            self.emit(.countRefusal(.person, nil))
            throw Self.backlogged("the person", self.settings.personBacklogMax)
        }
        if self.shares.apps[asker.app]?.backlog ?? 0 >= self.settings.appBacklogMax {
            self.emit(.countRefusal(.app, nil))
            throw Self.backlogged("the app", self.settings.appBacklogMax)
        }
        guard self.store.backlog < self.settings.storeBacklogMax else { throw ServerCore.unavailable }
    }

    private static func backlogged(_ who: String, _ count: Int, _ what: String = "commands") -> ServerFrame.Problem {
        .init(
            code: .unavailable, rule: "must wait: \(count) \(what) of \(who) are being carried out already",
            retryAfterMilliseconds: 1_000)
    }

    mutating func addToBacklog(_ asker: Asker, isReading: Bool) {
        if case .person(let user) = asker {
            self.store.backlogs[user, default: 0] += 1
            if isReading { self.store.reads[user, default: 0] += 1 }
        }
        self.shares.apps[asker.app, default: .init()].backlog += 1
    }

    mutating func removeFromBacklog(_ asker: Asker, isReading: Bool) {
        self.shares.apps[asker.app]?.backlog -= 1
        if isReading, case .person(let user) = asker, let count = self.store.reads[user] {
            self.store.reads[user] = count > 1 ? count - 1 : nil
        }
        guard case .person(let user) = asker, let count = self.store.backlogs[user] else { return }
        self.store.backlogs[user] = count > 1 ? count - 1 : nil
    }
}

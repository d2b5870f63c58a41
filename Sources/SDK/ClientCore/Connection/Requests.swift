import DequeModule
import OrderedCollections
package import TidingsModel

/// A request belongs to its connection: when that is lost, nobody knows whether it was carried out.
package struct Requests: Hashable, Sendable {
    package static let openMax = 64
    /// The server takes that many of a session at once.
    package static let inFlightMax = 16
    /// How long an answer may take, in milliseconds; afterwards the outcome counts as unknown.
    package static let answerMilliseconds: Int64 = 30_000

    package enum Asker: Hashable, Sendable {
        case app(RequestNumber)
        case pendingChanges([Preferences.Telling])
        case token
        case voIP
        /// A part of the log is gone.
        case settings
        case conversation(ConversationID)
        case room(ConversationID)
        /// The people watched on the connection before, in parts.
        case watch(part: Int)
    }

    package struct Item: Hashable, Sendable {
        package var asker: Asker
        package var request: ClientRequest
        package var deadline: Int64
    }

    private var waiting: Deque<Item> = []
    private var inFlight: OrderedDictionary<RequestNumber, Item> = [:]
    private var last: RequestNumber = 0

    package init() {}

    /// All have the same time limit, so the oldest is the first.
    package var nextDeadline: Int64? { (self.inFlight.values.first ?? self.waiting.first)?.deadline }

    package func isOpen(_ asker: Asker) -> Bool {
        self.inFlight.values.contains { $0.asker == asker } || self.waiting.contains { $0.asker == asker }
    }

    package var openTellings: [Preferences.Telling] {
        (self.inFlight.values + Array(self.waiting)).flatMap { item -> [Preferences.Telling] in
            if case .pendingChanges(let tellings) = item.asker { tellings } else { [] }
        }
    }

    package mutating func add(_ asker: Asker, _ request: ClientRequest, at now: Now) -> Bool {
        if case .app = asker, self.countOfApp >= Self.openMax { return false }
        self.waiting.append(Item(asker: asker, request: request, deadline: now.monotonic + Self.answerMilliseconds))
        return true
    }

    package mutating func due() -> [(number: RequestNumber, request: ClientRequest)] {
        var due: [(RequestNumber, ClientRequest)] = []
        while self.inFlight.count < Self.inFlightMax, let item = self.waiting.popFirst() {
            self.last += 1
            self.inFlight[self.last] = item
            due.append((self.last, item.request))
        }
        return due
    }

    package mutating func nextNumber() -> RequestNumber {
        self.last += 1
        return self.last
    }

    package mutating func removeAnswered(_ number: RequestNumber) -> Item? { self.inFlight.removeValue(forKey: number) }

    /// Requests that get no answer any more.
    package struct Removed: Hashable, Sendable {
        /// The server may have carried them out.
        package var written: [Item]
        /// The server has never heard of them.
        package var waiting: [Item]
    }

    package mutating func removeExpired(at now: Now) -> Removed {
        let isOver = { (item: Item) in now.monotonic >= item.deadline }
        let over = Removed(written: self.inFlight.values.filter(isOver), waiting: self.waiting.filter(isOver))
        self.inFlight.removeAll { isOver($0.value) }
        self.waiting.removeAll(where: isOver)
        return over
    }

    package mutating func removeAll() -> Removed {
        defer {
            self.inFlight = [:]
            self.waiting = []
        }
        return Removed(written: Array(self.inFlight.values), waiting: Array(self.waiting))
    }

    package var count: Int { self.inFlight.count + self.waiting.count }

    private var countOfApp: Int {
        let isOfApp = { (item: Item) in if case .app = item.asker { true } else { false } }
        return self.inFlight.values.count(where: isOfApp) + self.waiting.count(where: isOfApp)
    }
}

package enum RequestOutcome: Hashable, Sendable {
    case answered(ClientAnswer)
    case notConnected
    case tooMany
    case unknown
}

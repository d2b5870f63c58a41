import DequeModule
import OrderedCollections
package import TidingsModel

/// What was asked of the server and not answered yet. A request belongs to its connection: when that is lost, nobody knows
/// whether it was carried out.
package struct Requests: Hashable, Sendable {
    /// How many requests of the app are open at most.
    package static let openMax = 64
    /// How many are written and not answered at most: the server takes that many of a session at once.
    package static let inFlightMax = 16
    /// How long an answer may take, in milliseconds; afterwards the outcome counts as unknown.
    package static let answerMilliseconds: Int64 = 30_000

    /// Who wants to know.
    package enum Asker: Hashable, Sendable {
        /// The app, by its own number.
        case app(RequestNumber)
        /// The core: these pending changes are told.
        case pendingChanges([Preferences.Telling])
        /// The core: this token in place of the one that expires.
        case token
        /// The core: what the person has set, because a part of the log is gone.
        case settings
        /// The core: the name and the members of a conversation the local store does not know well.
        case conversation(ConversationID)
        /// The core: the room again that was heard on the connection before.
        case room(ConversationID)
        /// The core: to watch those again who were watched on the connection before, a part of them.
        case watch(part: Int)
    }

    /// One request.
    package struct Item: Hashable, Sendable {
        /// Who asks.
        package var asker: Asker
        /// What.
        package var request: ClientRequest
        /// Until when the answer is awaited, in monotonic milliseconds.
        package var deadline: Int64
    }

    private var waiting: Deque<Item> = []
    private var inFlight: OrderedDictionary<RequestNumber, Item> = [:]
    private var last: RequestNumber = 0

    /// Nothing was asked.
    package init() {}

    /// The earliest deadline, in monotonic milliseconds. All have the same timeLimit, so the oldest is the first.
    package var nextDeadline: Int64? { (self.inFlight.values.first ?? self.waiting.first)?.deadline }

    /// Whether the core has asked something like this and waits for the answer.
    package func isOpen(_ asker: Asker) -> Bool {
        self.inFlight.values.contains { $0.asker == asker } || self.waiting.contains { $0.asker == asker }
    }

    /// Takes a request; false if too many of the app's are open.
    package mutating func add(_ asker: Asker, _ request: ClientRequest, at now: Now) -> Bool {
        if case .app = asker, self.countOfApp >= Self.openMax { return false }
        self.waiting.append(Item(asker: asker, request: request, deadline: now.monotonic + Self.answerMilliseconds))
        return true
    }

    /// Takes what may be written now, oldest first, each with its number on the connection.
    package mutating func due() -> [(number: RequestNumber, request: ClientRequest)] {
        var due: [(RequestNumber, ClientRequest)] = []
        while self.inFlight.count < Self.inFlightMax, let item = self.waiting.popFirst() {
            self.last += 1
            self.inFlight[self.last] = item
            due.append((self.last, item.request))
        }
        return due
    }

    /// A number for what is no request but answered like one.
    package mutating func takeNumber() -> RequestNumber {
        self.last += 1
        return self.last
    }

    /// Ends the one that is answered; nil if it has ended already.
    package mutating func answered(_ number: RequestNumber) -> Item? { self.inFlight.removeValue(forKey: number) }

    /// Ends those whose time is over, oldest first.
    package mutating func expired(at now: Now) -> [Item] {
        let isOver = { (item: Item) in now.monotonic >= item.deadline }
        let over = self.inFlight.values.filter(isOver) + self.waiting.filter(isOver)
        self.inFlight.removeAll { isOver($0.value) }
        self.waiting.removeAll(where: isOver)
        return over
    }

    /// The connection is gone: ends all, oldest first.
    package mutating func end() -> [Item] {
        defer {
            self.inFlight = [:]
            self.waiting = []
        }
        return self.inFlight.values + Array(self.waiting)
    }

    /// How many wait or are in flight.
    package var count: Int { self.inFlight.count + self.waiting.count }

    private var countOfApp: Int {
        let isOfApp = { (item: Item) in if case .app = item.asker { true } else { false } }
        return self.inFlight.values.count(where: isOfApp) + self.waiting.count(where: isOfApp)
    }
}

/// How a request ended.
package enum RequestOutcome: Hashable, Sendable {
    /// The server has answered.
    case answered(ClientAnswer)
    /// It was not asked: there is no connection.
    case notConnected
    /// It was not asked: `Requests.openMax` are open.
    case tooMany
    /// The connection was lost, or the answer did not come in time: it may have been carried out or not.
    case unknown
}

import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    private static let legMembers = ["user", "device", "message_id", "state", "wait", "reason", "since", "until"]
    /// A step is one command of the store, between whose batches others come in.
    private static let looksOfAStep = 500
    private static let stepsOfARequest = 20
    /// The number of people in memory a step looks at; most have nothing open.
    private static let openLooksOfAStep = 10_000
    private static let reasonBytesMax = 128

    static let legRoutes: [Route] = [.app(.get, "legs", .trace, query: Self.legMembers + Paging.query, API.searchLegs)]

    /// Newest message first.
    private func searchLegs(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request, of: Self.legMembers)
        let filter = try self.legFilter(request)
        let (since, until) = try Self.times(request)
        if let text = request.member("message_id") {
            let id = try self.messageID(text, "message_id")
            return .json(try await self.legs(of: id, in: app, filter, paging))
        }
        if filter.user == nil, filter.asksForOpen {
            var question = OpenLegQuestion(
                app: app, filter: filter, limit: paging.limit, looksMax: Self.openLooksOfAStep)
            if let since { question.oldest = MessageID(from: since) }
            if let until { question.newest = MessageID(from: until + 1) }
            return .json(try await self.openLegs(question, paging))
        }
        try Self.checkFinds(filter)
        var question = LegQuestion(app: app, user: filter.user, looksMax: Self.looksOfAStep)
        if let since { question.oldest = MessageID(from: since) }
        if let until { question.newest = MessageID(from: until + 1) }
        return .json(try await self.legs(question, filter, paging))
    }

    private func legFilter(_ request: Request) throws(InvalidField) -> LegFilter {
        var filter = LegFilter()
        if let user = request.member("user") { filter.user = try UserID.validated(user, field: "user") }
        if let device = request.member("device") { filter.device = try DeviceID.validated(device, field: "device") }
        if let state = request.member("state") {
            switch state {
            case "open": filter.state = .open
            case "ended": filter.state = .ended
            default:
                let names = LegFilter.ends + LegFilter.waits.filter { !LegFilter.ends.contains($0) }
                guard names.contains(state) else {
                    let known = ["open", "ended"] + names
                    throw InvalidField(field: "state", rule: "must be one of \(known.joined(separator: ", "))")
                }
                filter.state = .named(state)
            }
        }
        if let wait = request.member("wait") {
            let wait: LegWait = try self.word(wait, "wait")
            try InvalidField.check(
                filter.state == nil || filter.state == .open, "wait", "must be left out beside a state other than open")
            filter.state = .waiting(wait)
        }
        if let reason = Self.writtenOut("reason", in: request) {
            try InvalidField.check(reason.utf8.count, in: 1...Self.reasonBytesMax, "reason", unit: " bytes")
            filter.reason = reason
        }
        return filter
    }

    /// Without a person there is no list of people without a device.
    private static func checkFinds(_ filter: LegFilter) throws(InvalidField) {
        guard filter.user == nil, filter.state == .named(LegEnd.noDevice.name) else { return }
        throw InvalidField(
            field: "user", rule: "must be present, or message_id: without them people without a device are not found")
    }

    /// Searches the people in memory. Everybody with an open leg is in memory.
    private func openLegs(_ asked: OpenLegQuestion, _ paging: Paging) async throws -> JSONMembers {
        var question = asked
        question.after = try paging.after { OpenLegPlace(text: $0) }
        var legs: [JSONMembers] = []
        for _ in 0..<Self.stepsOfARequest {
            question.limit = paging.limit - legs.count
            let page = try await self.ask(.openLegs(question), \.openLegs)
            legs += page.legs.flatMap(\.openJSON)
            question.after = page.next
            guard page.next != nil, legs.count < paging.limit else { break }
        }
        return [
            "legs": legs, "next": paging.next(after: question.after?.text, hasMore: question.after != nil),
            "reached_at": nil,
        ]
    }

    private func legs(
        of id: MessageID, in app: AppID, _ filter: LegFilter, _ paging: Paging
    ) async throws -> JSONMembers {
        let trace = try await self.ask(.trace(app, id), \.trace)
        let place = try paging.after { LegPlace($0) }
        var found = FoundLegs(limit: paging.limit, filter: filter)
        if let trace { found.add(MessageLegs(trace), after: place) }
        return found.json(paging, reached: trace?.id, next: nil)
    }

    private func legs(_ asked: LegQuestion, _ filter: LegFilter, _ paging: Paging) async throws -> JSONMembers {
        var question = asked
        let place = try paging.after { LegPlace($0) }
        question.before = place?.before
        var found = FoundLegs(limit: paging.limit, filter: filter)
        var reached: MessageID?
        for _ in 0..<Self.stepsOfARequest {
            let page = try await self.ask(.legs(question), \.legs)
            for message in page.messages { found.add(message, after: place) }
            reached = page.reached ?? reached
            question.before = page.next
            guard page.next != nil, !found.isFull else { break }
        }
        return found.json(paging, reached: reached, next: question.before)
    }
}

extension MessageID {
    /// The first id of a time; the first and the last there can be for times of which there is none.
    fileprivate init(from wall: Int64) {
        let last = MessageID(rawValue: UInt64(Int64.max))
        self = wall > last.wallMilliseconds ? last : MessageID(wallMilliseconds: wall, node: 0, counter: 0)
    }
}

extension MessageLegs {
    fileprivate init(_ trace: MessageTrace) {
        self.init(
            id: trace.id, place: trace.id.rawValue, about: About(trace.subject), open: trace.open, ended: trace.ended,
            receipts: trace.receipts)
    }
}

/// Where a page of legs goes on: before a place of the store's, and in the message that stands right before it after one of its legs.
private struct LegPlace {
    var before: UInt64
    /// The message's place, and the last of its legs that was told.
    var last: (place: UInt64, user: String, device: String)?

    init(before: UInt64) { self.before = before }

    init(after leg: LegID, of message: MessageLegs) {
        self.before = message.place + 1
        self.last = (message.place, leg.user.user.rawValue, leg.device?.rawValue ?? "")
    }

    init?(_ text: String) {
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let before = UInt64(digits: parts[0]), before > 0, before <= UInt64(Int64.max) else { return nil }
        self.before = before
        guard parts.count > 1 else { return }
        guard parts.count == 3 else { return nil }
        self.last = (before - 1, parts[1], parts[2])
    }

    var text: String {
        guard let last else { return "\(self.before)" }
        return "\(self.before)\n\(last.user)\n\(last.device)"
    }

    /// Returns true if an earlier page has told it.
    func hasTold(_ leg: LegID, of message: MessageLegs) -> Bool {
        guard let last, last.place == message.place else { return false }
        return (leg.user.user.rawValue, leg.device?.rawValue ?? "") <= (last.user, last.device)
    }
}

/// The legs of a page, as they are found.
private struct FoundLegs {
    let limit: Int
    let filter: LegFilter
    private var legs: [JSONMembers] = []
    /// Behind the last that the page has room for, if there is another.
    private var next: LegPlace?
    private var last: LegPlace?

    init(limit: Int, filter: LegFilter) {
        self.limit = limit
        self.filter = filter
    }

    var isFull: Bool { self.next != nil }

    mutating func add(_ message: MessageLegs, after place: LegPlace?) {
        let about = message.about
        let receipts = Dictionary(grouping: message.receipts, by: \.leg)
        // A message has many legs, and a page some of them.
        typealias Found = (leg: LegID, json: () -> JSONMembers)
        let ended = message.ended.filter { self.filter.admits($0) }.map { end -> Found in
            (end.leg, { JSONMembers(["state": "ended"]) + end.members(about, receipts[end.leg] ?? []) })
        }
        let open = message.open.filter { self.filter.admits($0) }.map { wait -> Found in
            (wait.leg, { JSONMembers(["state": "open"]) + wait.members(about) })
        }
        for found in (ended + open).sorted(by: { $0.leg < $1.leg }) where !self.isFull {
            guard place?.hasTold(found.leg, of: message) != true else { continue }
            guard self.legs.count < self.limit else {
                self.next = self.last
                return
            }
            self.last = LegPlace(after: found.leg, of: message)
            self.legs.append(message.members + found.json() + message.receiptMembers(of: found.leg))
        }
    }

    func json(_ paging: Paging, reached: MessageID?, next: UInt64?) -> JSONMembers {
        let following = self.next ?? next.map { LegPlace(before: $0) }
        return [
            "legs": self.legs, "next": paging.next(after: following?.text, hasMore: following != nil),
            "reached_at": reached?.wallMilliseconds,
        ]
    }
}

extension LegFilter {
    /// For open legs alone; `quiet_hours` as a state is both, and an end without a person.
    fileprivate var asksForOpen: Bool {
        switch self.state {
        case .open?, .waiting?: true
        case .named(let name)?: !Self.ends.contains(name)
        case .ended?, nil: false
        }
    }
}

extension OpenLegPlace {
    fileprivate init?(text: String) {
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let slot = Int(digits: parts[0]) else { return nil }
        self.init(slot: slot)
        guard parts.count > 1 else { return }
        guard parts.count == 4, let position = LogPosition(digits: parts[3]) else { return nil }
        self.last = Looked(user: UserID(parts[1]), device: DeviceID(parts[2]), position: position)
    }

    fileprivate var text: String {
        guard let last else { return "\(self.slot)" }
        return "\(self.slot)\n\(last.user)\n\(last.device)\n\(last.position)"
    }
}

extension MessageLegs {
    fileprivate var openJSON: [JSONMembers] {
        self.open.map {
            self.members + JSONMembers(["state": "open"]) + $0.members(self.about) + self.receiptMembers(of: $0.leg)
        }
    }

    fileprivate var members: JSONMembers {
        [
            "message_id": self.id, "kind": self.about.kind, "sender": self.about.sender,
            "conversation": self.about.conversation, "object_name": self.about.objectName,
            "object_type": self.about.objectName?.word, "sent_at": self.about.sentAt,
        ]
    }

    fileprivate func receiptMembers(of leg: LegID) -> JSONMembers {
        func time(_ receipt: LegReceipt) -> Int64? {
            self.receipts.first { $0.leg == leg && $0.receipt == receipt }?.at
        }
        return ["shown_at": time(.shown), "opened_at": time(.opened)]
    }
}

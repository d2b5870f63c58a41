import StoreModel
import TidingsModel

// Searches for legs: a step looks at so much, so that no batch waits long for it.
extension StoreMachine {
    func readLegs(_ question: LegQuestion) throws -> LegPage {
        guard let user = question.user else { return try self.legsOfAnybody(question) }
        guard let person = try self.find(UserKey(app: question.app, user: user)) else { return LegPage() }
        return try self.legs(question, of: person)
    }

    private func legs(_ question: LegQuestion, of person: PersonState) throws -> LegPage {
        var page = LegPage()
        var position = min(question.before ?? .max, person.head + 1)
        var looks = 0
        var run = LogRun()
        let tail = self.indexTailByID
        while position > 1, looks < question.looksMax {
            position -= 1
            looks += 1
            let entry = try self.entry(at: position, of: person, &run)
            guard let id = try self.record(at: entry.record).legSubject(for: person.key.user) else { continue }
            guard id >= question.oldest else { return page }
            page.reached = id
            guard id < question.newest else { continue }
            var reading = LegReading(person: person, lacksDevice: entry.lacksDevice)
            try self.read(id, tail[id] ?? [], into: &reading)
            guard let found = try self.legs(of: id, question, place: position, reading) else { continue }
            looks += reading.endsOnDevices
            page.messages.append(found)
        }
        page.next = position > 1 ? position : nil
        return page
    }

    private func legsOfAnybody(_ question: LegQuestion) throws -> LegPage {
        let most = MessageID(rawValue: UInt64(Int64.max))
        let end = min(MessageID(rawValue: question.before ?? .max), question.newest, most)
        let tail = self.indexTailByID
        // Each costs one look at least; one more tells whether a next step has anything to look at.
        let count = max(0, min(question.looksMax, 100_000)) + 1
        let stored = try self.rows.messages(before: end, notBefore: question.oldest, limit: count)
        let ids = Set(tail.keys.filter { $0 < end && $0 >= question.oldest }).union(stored).sorted().reversed()
        var page = LegPage()
        var looks = 0
        for id in ids {
            guard looks < question.looksMax else {
                page.next = page.reached?.rawValue
                return page
            }
            page.reached = id
            looks += 1
            var reading = LegReading()
            try self.read(id, tail[id] ?? [], into: &reading)
            guard let found = try self.legs(of: id, question, place: id.rawValue, reading) else { continue }
            looks += reading.endsOnDevices
            if !found.isEmpty { page.messages.append(found) }
        }
        return page
    }

    /// Put together once for a step: each of its messages would go through the whole.
    private var indexTailByID: [MessageID: [JournalPosition]] {
        self.indexTail.reduce(into: [:]) { $0[$1.message, default: []].append($1.record) }
    }

    /// The journal's facts about a message's legs.
    private struct LegReading {
        /// In whose log it stands, if it is asked for there.
        var person: PersonState?
        /// True if that entry's person had no device.
        var lacksDevice = false
        var subject: MessageTrace.Subject?
        /// The first end of each.
        var ended: [LegID: EndedLeg] = [:]
        var receipts: [LegID: [LegReceipt: Int64]] = [:]

        var endsOnDevices: Int { self.ended.keys.count { $0.device != nil } }

        mutating func end(_ end: EndedLeg) { if self.ended[end.leg] == nil { self.ended[end.leg] = end } }
    }

    private func read(_ id: MessageID, _ tail: [JournalPosition], into reading: inout LegReading) throws {
        for position in try self.rows.records(of: id) + tail {
            let record = try self.record(at: position)
            switch record {
            case .endLeg(let end): reading.end(end.inTrace)
            case .receipt(let leg, let receipt, let at, _):
                if reading.receipts[leg]?[receipt] == nil { reading.receipts[leg, default: [:]][receipt] = at }
            default:  // tidy: the others say what it is, or nothing of its legs
                guard let subject = try self.legSubject(of: record, as: id) else { continue }
                reading.subject = subject
                guard let person = reading.person, reading.lacksDevice, case .message(let message) = subject else {
                    continue
                }
                let leg = LegID(message: id, user: person.key, device: nil)
                reading.end(EndedLeg(leg: leg, end: .noDevice, at: message.sentAt))
            }
        }
    }

    /// Without texts that were edited or recalled since: nothing of what it says is told.
    private func legSubject(of record: JournalRecord, as id: MessageID) throws -> MessageTrace.Subject? {
        switch record {
        case .accept(let message, _, _, _, _): return .message(message)
        case .recall(let app, let recall, _): return recall.id == id ? .recall(recall, app: app) : nil
        case .custom(let operation): return .custom(operation.message, app: operation.app)
        case .pushStep(let step):
            guard let recipient = step.recipient(of: id) else { return nil }
            switch try self.knownPush(step.job).job.entry(for: recipient, at: step.at) {
            case .message(let message): return .message(message)
            case .custom(let message): return .custom(message, app: step.app)
            default: return nil  // tidy: a push makes no other entries
            }
        default: return nil  // tidy: no other record begins a message
        }
    }

    /// Nil for a message of another app.
    private func legs(
        of id: MessageID, _ question: LegQuestion, place: UInt64, _ reading: LegReading
    ) throws -> MessageLegs? {
        guard let subject = reading.subject, subject.app == question.app else { return nil }
        var open: [OpenLeg] = []
        if let person = reading.person {
            open = try self.openLegs(of: person).values.filter { $0.leg.message == id }.sorted { $0.leg < $1.leg }
        }
        let receipts = reading.receipts.filter { question.asks(for: $0.key) }.flatMap { leg, times in
            times.map { MessageTrace.Receipt(leg: leg, receipt: $0.key, at: $0.value) }
        }
        return MessageLegs(
            id: id, place: place, about: .init(subject), open: open,
            ended: reading.ended.values.filter { question.asks(for: $0.leg) }.sorted { $0.leg < $1.leg },
            receipts: receipts.sorted())
    }
}

extension JournalRecord {
    /// The id of what an entry of the person brings, if that has legs.
    fileprivate func legSubject(for user: UserID) -> MessageID? {
        switch self {
        case .accept(let message, _, _, _, _): message.id
        case .recall(_, let recall, _): recall.id
        case .custom(let operation): operation.message.id
        case .pushStep(let step): step.recipient(user)?.id
        default: nil  // tidy: other entries have no legs
        }
    }
}

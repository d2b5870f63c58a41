import TidingsModel

extension ReferenceStore {
    func legs(_ question: LegQuestion) -> LegPage {
        question.user.map { self.legs(question, of: UserKey(app: question.app, user: $0)) }
            ?? self.legsOfAnybody(question)
    }

    private func legs(_ question: LegQuestion, of key: UserKey) -> LegPage {
        var page = LegPage()
        let log = self.people.read(key) { $0.log } ?? []
        var position = min(question.before ?? .max, LogPosition(log.count) + 1)
        var looks = 0
        while position > 1, looks < question.looksMax {
            position -= 1
            looks += 1
            guard let id = log[Int(position) - 1].body.legSubject else { continue }
            guard id >= question.oldest else { return page }
            page.reached = id
            guard id < question.newest, let found = self.legs(of: id, question, place: position) else { continue }
            looks += self.endsOnDevices(of: id)
            page.messages.append(found)
        }
        page.next = position > 1 ? position : nil
        return page
    }

    private func legsOfAnybody(_ question: LegQuestion) -> LegPage {
        let end = min(MessageID(rawValue: question.before ?? .max), question.newest)
        // Whatever has an id of its own, and whatever an end was told of.
        let known = Set(self.messages.keys).union(self.others.keys).union(self.pushes.keys).union(self.ended.keys)
        let ids = known.filter { $0 < end && $0 >= question.oldest }.sorted().reversed()
        var page = LegPage()
        var looks = 0
        for id in ids {
            guard looks < question.looksMax else {
                page.next = page.reached?.rawValue
                return page
            }
            page.reached = id
            looks += 1
            guard let found = self.legs(of: id, question, place: id.rawValue) else { continue }
            looks += self.endsOnDevices(of: id)
            if !found.isEmpty { page.messages.append(found) }
        }
        return page
    }

    private func endsOnDevices(of id: MessageID) -> Int {
        (self.ended[id] ?? Ends()).sorted.count { $0.leg.device != nil }
    }

    /// Nil for a message of another app.
    private func legs(of id: MessageID, _ question: LegQuestion, place: UInt64) -> MessageLegs? {
        let subject = self.messages[id].map { MessageTrace.Subject.message($0.message) } ?? self.others[id]?.subject
        guard let subject, subject.app == question.app else { return nil }
        let key = question.user.map { UserKey(app: question.app, user: $0) }
        // tidy: order does not leave: they are sorted below
        let open = key.flatMap { self.people.read($0) { $0.openLegs } }?.values.filter { $0.leg.message == id } ?? []
        let receipts = (self.receipts[id] ?? [:]).filter { question.asks(for: $0.key.leg) }
        return MessageLegs(
            id: id, place: place, about: .init(subject), open: open.sorted { $0.leg < $1.leg },
            ended: (self.ended[id] ?? Ends()).sorted.filter { question.asks(for: $0.leg) },
            receipts: receipts.map { .init(leg: $0.key.leg, receipt: $0.key.receipt, at: $0.value) }.sorted { $0 < $1 })
    }
}

extension LogEntry.Body {
    /// The id of what the entry brings, if that has legs.
    fileprivate var legSubject: MessageID? {
        switch self {
        case .message(let message): message.id
        case .recall(let recall): recall.id
        case .custom(let message): message.id
        case .read, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown: nil
        }
    }
}

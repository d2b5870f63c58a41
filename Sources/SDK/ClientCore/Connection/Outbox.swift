import OrderedCollections
package import TidingsModel

/// A message is stored, then sent, then sent again until the server has accepted or refused it. Within a conversation
/// one at a time, so that a retry cannot overtake.
package struct Outbox: Hashable, Sendable {
    private var items: OrderedDictionary<ClientMessageID, Item>

    private struct Item: Hashable, Sendable {
        var draft: MessageDraft
        var stage: Stage
    }

    private enum Stage: Hashable, Sendable {
        case storing
        case ready(notBefore: Int64)
        /// `retryAt` is a monotonic time, as is `notBefore`.
        case sent(retryAt: Int64)
    }

    /// How long the server may take for an answer before the message is sent again, in milliseconds.
    package static let answerMilliseconds: Int64 = 15_000
    /// How long to wait after "unavailable", or after "rate limited" without a time, in milliseconds.
    package static let unavailableMilliseconds: Int64 = 1_000
    /// How many messages may be on the way at once.
    package static let windowMax = 64

    package init(restored: [MessageDraft]) {
        self.items = [:]
        for draft in restored {
            self.items[draft.clientMessageID] = Item(draft: draft, stage: .ready(notBefore: .min))
        }
    }

    package var isEmpty: Bool { self.items.isEmpty }

    package var drafts: [MessageDraft] { self.items.values.map(\.draft) }

    package var waiting: [ClientMessageID] { Array(self.items.keys) }

    package mutating func add(_ draft: MessageDraft) -> Bool {
        guard self.items[draft.clientMessageID] == nil else { return false }
        self.items[draft.clientMessageID] = Item(draft: draft, stage: .storing)
        return true
    }

    package mutating func stored(_ id: ClientMessageID) {
        guard let item = self.items[id], item.stage == .storing else { return }
        self.items[id]?.stage = .ready(notBefore: .min)
    }

    /// Gives up the messages that waited for the store, and returns their ids.
    package mutating func storeFailed() -> [ClientMessageID] {
        let lost = self.items.filter { $0.value.stage == .storing }.map(\.key)
        for id in lost { self.items.removeValue(forKey: id) }
        return lost
    }

    package mutating func due(at now: Now) -> [MessageDraft] {
        guard !self.items.isEmpty else { return [] }
        var busy: Set<ConversationID> = []
        var due: [MessageDraft] = []
        var underWay = 0
        for (id, item) in self.items {
            guard underWay < Self.windowMax else { break }
            let isFirst = busy.insert(item.draft.conversation).inserted
            switch item.stage {
            case .storing: continue
            case .sent(let retryAt):
                underWay += 1
                guard now.monotonic >= retryAt else { continue }
            case .ready(let notBefore):
                guard isFirst, now.monotonic >= notBefore else { continue }
                underWay += 1
            }
            self.items[id]?.stage = .sent(retryAt: now.monotonic + Self.answerMilliseconds)
            due.append(item.draft)
        }
        return due
    }

    package mutating func accepted(_ id: ClientMessageID) -> MessageDraft? {
        self.items.removeValue(forKey: id)?.draft
    }

    /// "Unavailable" and "rate limited" are tried again later; anything else ends it, and true is returned.
    package mutating func refused(_ id: ClientMessageID, _ problem: ServerFrame.Problem, at now: Now) -> Bool {
        guard self.items[id] != nil else { return false }
        if let wait = problem.waitMilliseconds(default: Self.unavailableMilliseconds) {
            self.items[id]?.stage = .ready(notBefore: now.monotonic + wait)
            return false
        }
        self.items.removeValue(forKey: id)
        return true
    }

    /// The connection is gone: what was sent is sent again on the next one.
    package mutating func disconnected() {
        for (id, item) in self.items {
            if case .sent = item.stage { self.items[id]?.stage = .ready(notBefore: .min) }
        }
    }

    package var nextDeadline: Int64? {
        var next: Int64?
        for item in self.items.values {
            switch item.stage {
            case .storing: continue
            case .ready(let time), .sent(let time): if time != .min { next = min(next ?? time, time) }
            }
        }
        return next
    }

    package mutating func forget() -> [ClientMessageID] {
        let ids = self.waiting
        self.items.removeAll()
        return ids
    }
}

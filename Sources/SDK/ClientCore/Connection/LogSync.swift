import DequeModule
package import TidingsModel

/// Keeps the local log without gaps. `received` is what was handed to the store, `stored` what the store has written.
package struct LogSync: Hashable, Sendable {
    package private(set) var stored: LogPosition
    /// The entries handed to the store reach up to here.
    package private(set) var received: LogPosition
    package private(set) var head: LogPosition = 0
    private var inStore: Deque<Heard> = []
    private var isPageAsked = false

    /// How many entries are asked for at once.
    package static let pageSize: UInt32 = 200

    package init(stored: LogPosition) {
        self.stored = stored
        self.received = stored
    }

    package struct Heard: Hashable, Sendable {
        package var entry: LogEntry
        /// Nil for an entry that was written as it happened, and from a server that does not say.
        package var push: PushReport?
    }

    package enum PushReport: Hashable, Sendable {
        case sent
        case unsent
        case underWay
    }

    package enum Step: Hashable, Sendable {
        case store([LogEntry])
        /// The server has trimmed what lay between the two positions; it counts as stored.
        case skip(after: LogPosition, upTo: LogPosition)
        case ask(after: LogPosition)
        case reset
    }

    /// `isOtherLog`: what is held here is not the beginning of the server's log.
    package mutating func welcomed(head: LogPosition, isOtherLog: Bool = false) -> [Step] {
        self.isPageAsked = false
        self.head = head
        guard head >= self.received, !isOtherLog || self.received == 0 else {
            self.forget()
            return head > 0 ? [.reset, self.askForPage()] : [.reset]
        }
        return head > self.received ? [self.askForPage()] : []
    }

    package mutating func receive(_ entry: LogEntry) -> [Step] {
        self.head = max(self.head, entry.position)
        guard entry.position > self.received else { return [] }
        guard entry.position == self.received + 1 else { return self.isPageAsked ? [] : [self.askForPage()] }
        return [self.queueForStore([entry], nil)]
    }

    /// A first entry beyond the one that follows the position asked for means that the server has trimmed its log:
    /// what is gone is skipped. No entry at all below the head means that all of it is gone (`docs/server/protocol-log.md`). No
    /// other gap is accepted.
    package mutating func receive(_ page: ServerFrame.Page) -> [Step] {
        guard self.isPageAsked else { return [] }
        self.isPageAsked = false
        self.head = max(self.head, page.head)
        var fresh: [LogEntry] = []
        var last = self.received
        for entry in page.entries where entry.position > last {
            let isTrimmed = fresh.isEmpty && page.after == self.received
            guard entry.position == last + 1 || isTrimmed else { break }
            fresh.append(entry)
            last = entry.position
        }
        var steps: [Step] = []
        if let first = fresh.first {
            if first.position > self.received + 1 {
                steps.append(.skip(after: self.received, upTo: first.position - 1))
            }
            steps.append(self.queueForStore(fresh, page.pushes))
        }
        if page.entries.isEmpty, page.after == self.received, page.head > self.received {
            steps.append(.skip(after: self.received, upTo: page.head))
            self.received = page.head
        }
        // A page without news ends the questions: asking again would get the same answer.
        if self.head > self.received, !steps.isEmpty || page.after < self.received { steps.append(self.askForPage()) }
        return steps
    }

    /// The answer to a repeated send does not name the position of the message.
    package mutating func suspectNews() -> [Step] { self.isPageAsked ? [] : [self.askForPage()] }

    package var isCaughtUp: Bool { !self.isPageAsked && self.inStore.isEmpty && self.stored >= self.head }

    package mutating func written(upTo position: LogPosition) -> [Heard] {
        var entries: [Heard] = []
        while let first = self.inStore.first, first.entry.position <= position {
            entries.append(first)
            self.inStore.removeFirst()
        }
        self.stored = max(self.stored, min(position, self.received))
        return entries
    }

    /// Asks again after the next greeting for the entries that were handed to the store.
    package mutating func storeFailed() {
        self.inStore.removeAll()
        self.received = self.stored
    }

    /// The server could not answer the open question; it is asked once more.
    package func repeatQuestion() -> [Step] { self.isPageAsked ? [.ask(after: self.received)] : [] }

    package mutating func disconnected() { self.isPageAsked = false }

    package mutating func forget() {
        self.inStore.removeAll()
        self.stored = 0
        self.received = 0
    }

    private mutating func queueForStore(_ entries: [LogEntry], _ pushes: ServerFrame.Pushes?) -> Step {
        self.received = entries.last?.position ?? self.received
        if let pushes {
            let (unsent, underWay) = (Set(pushes.unsent), Set(pushes.underWay))
            for entry in entries {
                let report: PushReport =
                    underWay.contains(entry.position)
                    ? .underWay : unsent.contains(entry.position) ? .unsent : .sent
                self.inStore.append(Heard(entry: entry, push: report))
            }
        } else {
            for entry in entries { self.inStore.append(Heard(entry: entry, push: nil)) }
        }
        return .store(entries)
    }

    private mutating func askForPage() -> Step {
        self.isPageAsked = true
        return .ask(after: self.received)
    }
}

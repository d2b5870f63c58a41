import DequeModule
package import TidingsModel

/// Keeps the local log without gaps: applies what follows, asks for what is missing, and hands entries to the store in order.
///
/// `received` is what was handed to the store, `stored` what it has written.
package struct LogSync: Hashable, Sendable {
    /// The local store holds the log up to here.
    package private(set) var stored: LogPosition
    /// The entries handed to the store reach up to here.
    package private(set) var received: LogPosition
    /// The head of the server's log as last heard.
    package private(set) var head: LogPosition = 0
    /// Handed to the store, not yet written, oldest first.
    private var inStore: Deque<Heard> = []
    private var isPageAsked = false

    /// How many entries are asked for at once.
    package static let pageSize: UInt32 = 200

    /// Starts where the local store stands.
    package init(stored: LogPosition) {
        self.stored = stored
        self.received = stored
    }

    /// An entry, with what the server has said of its push.
    package struct Heard: Hashable, Sendable {
        /// The entry.
        package var entry: LogEntry
        /// What a page has said of its push to this device; nil for an entry that was written as it happened, and from a server that
        /// does not say.
        package var push: PushReport?
    }

    /// What a page says of the push of one of its entries.
    package enum PushReport: Hashable, Sendable {
        /// APNs has taken it, or there is nothing to ring for.
        case sent
        /// Nothing was given to APNs.
        case unsent
        /// It is with APNs, whose answer is open.
        case underWay
    }

    /// What to do with what was heard.
    package enum Step: Hashable, Sendable {
        /// Hand these entries to the store.
        case store([LogEntry])
        /// The server has trimmed its log: what lay after the one and up to the other is gone, and counts as stored.
        case skip(after: LogPosition, upTo: LogPosition)
        /// Ask for the log after here.
        case ask(after: LogPosition)
        /// The server's log is another one than the local one, or shorter: it is asked for from its start.
        case reset
    }

    /// The server's greeting.
    ///
    /// - Parameter isOtherLog: what is held here is not the beginning of the server's log.
    package mutating func welcomed(head: LogPosition, isOtherLog: Bool = false) -> [Step] {
        self.isPageAsked = false
        self.head = head
        guard head >= self.received, !isOtherLog || self.received == 0 else {
            self.forget()
            return head > 0 ? [.reset, self.ask()] : [.reset]
        }
        return head > self.received ? [self.ask()] : []
    }

    /// An entry written as it happens.
    package mutating func heard(_ entry: LogEntry) -> [Step] {
        self.head = max(self.head, entry.position)
        guard entry.position > self.received else { return [] }
        guard entry.position == self.received + 1 else { return self.isPageAsked ? [] : [self.ask()] }
        return [self.take([entry], nil)]
    }

    /// An answer to a question. A first entry beyond the next one after the place that was asked for means that the server has
    /// trimmed its log: what is gone is skipped. No entry at all below the head means that all of it is gone
    /// (`docs/protocol.md`). Beyond any other gap nothing is taken.
    package mutating func heard(_ page: ServerFrame.Page) -> [Step] {
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
            steps.append(self.take(fresh, page.pushes))
        }
        if page.entries.isEmpty, page.after == self.received, page.head > self.received {
            steps.append(.skip(after: self.received, upTo: page.head))
            self.received = page.head
        }
        // A page without news ends the questions: asking again would get the same answer.
        if self.head > self.received, !steps.isEmpty || page.after < self.received { steps.append(self.ask()) }
        return steps
    }

    /// Something of the log is here whose position is not known: the answer to a repeated send does not name it.
    package mutating func suspectNews() -> [Step] { self.isPageAsked ? [] : [self.ask()] }

    /// Everything the server is known to have is in the store.
    package var isCaughtUp: Bool { !self.isPageAsked && self.inStore.isEmpty && self.stored >= self.head }

    /// The store has written entries; returns them, oldest first.
    package mutating func written(upTo position: LogPosition) -> [Heard] {
        var entries: [Heard] = []
        while let first = self.inStore.first, first.entry.position <= position {
            entries.append(first)
            self.inStore.removeFirst()
        }
        self.stored = max(self.stored, min(position, self.received))
        return entries
    }

    /// The store could not write: what was handed to it is heard again after the next greeting.
    package mutating func storeFailed() {
        self.inStore.removeAll()
        self.received = self.stored
    }

    /// The server could not answer the open question; it is asked once more.
    package func askAgain() -> [Step] { self.isPageAsked ? [.ask(after: self.received)] : [] }

    /// The connection is gone, and with it the answer to an open question.
    package mutating func disconnected() { self.isPageAsked = false }

    /// Another person, or another log.
    package mutating func forget() {
        self.inStore.removeAll()
        self.stored = 0
        self.received = 0
    }

    private mutating func take(_ entries: [LogEntry], _ pushes: ServerFrame.Pushes?) -> Step {
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

    private mutating func ask() -> Step {
        self.isPageAsked = true
        return .ask(after: self.received)
    }
}

import Foundation
package import Logging
import StoreMachine
package import StoreModel
import TidingsModel

package struct WebhookDeskConfiguration: Sendable {
    /// At most so often is it logged that deliveries were dropped.
    package var logMilliseconds: Int64 = 60_000
    package var rules = WebhookSchedule.Rules()
    var following = JournalFollowerConfiguration()

    package init() {}
}

/// The totals of all webhooks.
package struct WebhookTotals: Hashable, Sendable {
    package var pending = 0
    package var dead = 0
    /// Records of the journal that were not looked at yet.
    package var behind = 0

    package init() {}
}

/// The webhooks' deliveries, in a file of their own that is derived behind the journal (docs/inside/decisions/0055-webhooks.md). It asks
/// the store for new events, writes deliveries, and goes by `WebhookSchedule` in having them sent; nothing of the store waits for it. There
/// is no file while no app has a webhook. `@unchecked Sendable`: what changes belongs to the thread of `follower` alone.
package final class WebhookDesk: @unchecked Sendable {
    /// Makes one attempt, and says how it ended, from any thread.
    package typealias Sender =
        @Sendable (WebhookDelivery, _ completion: @escaping @Sendable (WebhookAttemptEnd) -> Void) -> Void

    enum Work {
        /// The number of the file's opening in which it was sent.
        case ended(Int, WebhookKey, Int64, WebhookAttemptEnd)
        /// The file, if there is one; nil if it cannot be used.
        case question(@Sendable (WebhookFile?) throws -> [WebhookSchedule.Event], refuse: @Sendable () -> Void)
    }

    private let configuration: WebhookDeskConfiguration
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let send: Sender
    private let countDropped: @Sendable (Int) -> Void
    private let follower: JournalFollower<WebhookFile, Work>

    private var schedule: WebhookSchedule
    /// Since it was logged.
    private var dropped: [WebhookKey: Int] = [:]
    private var logAt: TimeInterval = 0

    /// Opens the file on its own thread; whatever is wrong with it is logged.
    /// - Parameters:
    ///   - now: wall milliseconds.
    ///   - countDropped: is told of deliveries that were deleted undelivered, since there were too many.
    package init(
        path: String, of store: MessageStore, configuration: WebhookDeskConfiguration = WebhookDeskConfiguration(),
        logger: Logger, now: @escaping @Sendable () -> Int64,
        countDropped: @escaping @Sendable (Int) -> Void = { _ in },
        send: @escaping Sender
    ) {
        self.configuration = configuration
        self.logger = logger
        self.now = now
        self.countDropped = countDropped
        self.send = send
        self.schedule = WebhookSchedule(rules: configuration.rules)
        self.follower = JournalFollower(
            "the file of webhooks", path, of: store, from: .end, configuration.following, logger, refuse: Self.refuse)
        self.follower.start(
            "tidings-webhooks", isDue: { self.isTimerDue }, turn: { try self.carryOut(&$0) },
            end: { self.logDropped(isLast: true) })
    }

    /// Waits until the file is closed. What is under way is sent again after the next start, unless it has ended before.
    package func close() { self.follower.close() }

    package var totals: WebhookTotals {
        let (file, behind) = self.follower.progress
        var totals = file ?? WebhookTotals()
        totals.behind = behind
        return totals
    }

    // MARK: - Questions

    /// Returns the progress, once it is at the journal's present end: a webhook made before the call misses nothing from here on.
    /// - Returns: in the order of `keys`; nil while the file cannot be used.
    package func progress(of keys: [WebhookKey]) async -> [WebhookProgress]? {
        await self.answer { file in
            (try keys.map { try file?.progress(of: $0) ?? WebhookProgress() }, [])
        }
    }

    /// - Returns: nil while the file cannot be used.
    package func progress(of key: WebhookKey) async -> WebhookProgress? { await self.progress(of: [key])?.first }

    /// Newest first, those before a number.
    package func deadLetters(of key: WebhookKey, before: Int64?, limit: Int) async -> [WebhookDeadLetter]? {
        await self.answer { file in (try file?.deadLetters(of: key, before: before, limit: limit) ?? [], []) }
    }

    /// - Parameter ids: nil for all of them.
    /// - Returns: how many are pending again.
    package func retry(_ ids: [String]?, of key: WebhookKey) async -> Int? {
        let now = self.now
        return await self.answer { file in
            let count = try file?.revive(ids, of: key, at: now()) ?? 0
            return (count, count > 0 ? [.revived(key)] : [])
        }
    }

    /// - Returns: whether there was one.
    package func removeDeadLetter(_ id: String, of key: WebhookKey) async -> Bool? {
        await self.answer { file in (try file?.removeDeadLetter(id, of: key) ?? false, []) }
    }

    private func answer<Value: Sendable>(
        _ read: @escaping @Sendable (WebhookFile?) throws -> (Value, [WebhookSchedule.Event])
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            self.follower.enqueue(
                .question(
                    { file in
                        let (value, events) = try read(file)
                        continuation.resume(returning: value)
                        return events
                    }, refuse: { continuation.resume(returning: nil) }))
        }
    }

    private static func refuse(_ work: Work) {
        switch work {
        case .ended: break
        case .question(_, let refuse): refuse()
        }
    }
}

// MARK: - The thread

extension WebhookDesk {
    private var isTimerDue: Bool { self.follower.file != nil && self.schedule.isTimerDue(at: self.now()) }

    private func carryOut(_ work: inout ArraySlice<Work>) throws {
        defer { self.logDropped() }
        var events = work.compactMap { self.event(of: $0) }
        if self.isTimerDue { events.append(.timer) }
        try self.carryOut(events)
        try self.follower.catchUp { try self.readPage() }
        while let item = work.first {
            var events: [WebhookSchedule.Event] = []
            if case .question(let answer, _) = item { events = try answer(self.follower.file) }
            work = work.dropFirst()
            try self.carryOut(events)
        }
    }

    private func event(of work: Work) -> WebhookSchedule.Event? {
        // What was sent before the file was opened is sent again, and its earlier end is of no interest.
        guard case .ended(self.follower.openings, let key, let id, let end) = work else { return nil }
        return .ended(key, id, end, jitter: .random(in: .min ... .max))
    }

    // MARK: - The journal

    private func readPage() throws -> JournalPlace {
        let (place, known, now) = (self.follower.reader.place, self.follower.file?.known ?? [:], self.now())
        let page = try self.follower.store.lookWaiting { try $0.webhookPage(after: place, knowing: known, now: now) }
        if page.isAnew {
            self.follower.log(
                .warning, "webhooks begin at the end of the journal",
                "the store was restored, is another one, or the file was missing")
        }
        guard self.follower.file != nil || !page.known.isEmpty else { return page.place }
        let file = try self.follower.openFile()
        let before = file.known
        let added = try file.apply(page, now: now)
        var events: [WebhookSchedule.Event] = []
        // The first page since the file was opened.
        let isFirst = !self.follower.reader.isCompared
        if isFirst { self.schedule = WebhookSchedule(rules: self.configuration.rules) }
        if isFirst || file.known != before {
            var all: [WebhookKey: Bool] = [:]
            for (app, webhooks) in file.known {
                for (id, webhook) in webhooks { all[WebhookKey(app: app, webhook: id)] = webhook.isEnabled }
            }
            events.append(.webhooks(all, held: file.counts.keys.sorted()))
        }
        events += added.map { .derived($0.key, pending: file.counts[$0.key]?.pending ?? 0) }
        if !added.isEmpty { events.append(.grown) }
        try self.carryOut(events)
        // The last webhook was removed.
        if file.isEmpty { self.follower.removeFile() }
        return page.place
    }

    // MARK: - What is decided

    /// In one transaction; what is to be sent is sent after it.
    private func carryOut(_ events: [WebhookSchedule.Event]) throws {
        guard let file = self.follower.file, !events.isEmpty else { return }
        var schedule = self.schedule
        let turn = try file.write { database in
            var turn = WebhookTurn(file: file, database: database, now: self.now())
            for event in events { try turn.carryOut(event, &schedule) }
            return turn
        }
        self.schedule = schedule
        self.noteDropped(turn.dropped)
        let number = self.follower.openings
        for (id, delivery) in turn.sent {
            self.send(delivery) { [weak self] in self?.follower.enqueue(.ended(number, delivery.key, id, $0)) }
        }
    }

    private func noteDropped(_ dropped: [WebhookKey: Int]) {
        guard !dropped.isEmpty else { return }
        self.dropped.merge(dropped, uniquingKeysWith: +)
        // tidy: order does not leave: a sum
        self.countDropped(dropped.values.reduce(0, +))
    }

    /// Logs dropped deliveries from time to time while it goes on, not each.
    private func logDropped(isLast: Bool = false) {
        guard !self.dropped.isEmpty, isLast || TimeInterval.uptime >= self.logAt else { return }
        self.logAt = TimeInterval.uptime + .milliseconds(self.configuration.logMilliseconds)
        for (key, count) in self.dropped.sorted(by: { $0.key < $1.key }) {
            self.logger.warning(
                "deliveries to a webhook were deleted undelivered: there are too many",
                metadata: ["app": "\(key.app)", "webhook": "\(key.webhook)", "count": "\(count)"])
        }
        self.dropped = [:]
    }
}

import Foundation
import GRDB
package import Logging
package import StoreModel
import Synchronization
import TidingsModel

package struct WebhookDeskConfiguration: Sendable {
    /// How often it looks whether the journal has grown.
    package var pollMilliseconds: Int64 = 200
    /// How long a question waits for what is not derived yet.
    package var catchUpMilliseconds: Int64 = 250
    /// How long nothing is tried after a failure, for example of a full disk.
    package var retryMilliseconds: Int64 = 5_000
    /// At most so often is it logged that deliveries were dropped.
    package var logMilliseconds: Int64 = 60_000
    package var rules = WebhookSchedule.Rules()
    /// Nil for as large as the disk.
    var pagesMax: Int?

    package init() {}
}

/// What all webhooks have together.
package struct WebhookTotals: Hashable, Sendable {
    package var pending = 0
    package var dead = 0
    /// Records of the journal that were not looked at yet.
    package var behind = 0

    package init() {}
}

/// What webhooks are told, in a file of its own that is derived behind the journal (docs/decisions/0055-webhooks.md). A thread of its own asks
/// the store for what is new, writes deliveries, and goes by `WebhookSchedule` in having them sent; nothing of the store waits for it. There
/// is no file while no app has a webhook. `@unchecked Sendable`: `told` guards itself, as `worker` does; everything else that changes belongs
/// to the worker's thread alone.
package final class WebhookDesk: @unchecked Sendable {
    /// Makes one attempt, and says how it ended, from any thread.
    package typealias Sender =
        @Sendable (WebhookDelivery, _ completion: @escaping @Sendable (WebhookAttemptEnd) -> Void) -> Void

    enum Work {
        /// The number of the run in which it was sent.
        case ended(Int, WebhookKey, Int64, WebhookAttemptEnd)
        /// The file, if there is one; nil if it cannot be used.
        case question(@Sendable (WebhookFile?) throws -> [WebhookSchedule.Event], refuse: @Sendable () -> Void)
    }

    private struct Told {
        var totals = WebhookTotals()
        var position: JournalPosition = 0
    }

    package let path: String
    private let store: MessageStore
    private let configuration: WebhookDeskConfiguration
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let send: Sender
    private let countDropped: @Sendable (Int) -> Void
    private let worker: SerialWorker<Work>
    private let told = Mutex(Told())

    private var file: WebhookFile?
    /// While there is no file.
    private var place: JournalPlace?
    private var schedule: WebhookSchedule
    /// What was sent in an earlier run is sent again: its end is of no interest.
    private var number = 0
    /// The place is known to be of this store, and the schedule knows the webhooks.
    private var isCompared = false
    private var retryAt: TimeInterval = 0
    private var lastFailure = ""
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
        self.path = path
        self.store = store
        self.configuration = configuration
        self.logger = logger
        self.now = now
        self.countDropped = countDropped
        self.send = send
        self.schedule = WebhookSchedule(rules: configuration.rules)
        self.worker = SerialWorker(pollMilliseconds: configuration.pollMilliseconds) { Self.refuse($0) }
        self.worker.start(
            named: "tidings-webhooks", isDue: { self.isDue },
            turn: { work in
                self.carryOut(work)
                self.publish()
                self.logDropped()
            }, end: { self.closeFile() })
    }

    /// Waits until the file is closed. What is under way is sent again after the next start, unless it has ended before.
    package func close() { self.worker.close() }

    package var totals: WebhookTotals {
        let told = self.told.withLock { $0 }
        var totals = told.totals
        // Of now: the store goes on also where this stands still.
        let last = self.store.lastRecord
        totals.behind = Int(clamping: last - min(last, told.position))
        return totals
    }

    // MARK: - Questions

    /// After what the journal has by now: whoever has made a webhook and asks this knows that nothing from here on is left out.
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
            self.worker.enqueue(
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
    private var isDue: Bool { TimeInterval.uptime >= self.retryAt && (self.isBehind || self.isTimerDue) }

    private func closeFile() {
        self.file?.close()
        self.file = nil
        self.logAt = 0
        self.logDropped()
    }

    private var isBehind: Bool {
        !self.isCompared || (self.file?.place ?? self.place)?.position ?? 0 < self.store.lastRecord
    }

    private var isTimerDue: Bool { self.file != nil && self.schedule.isTimerDue(at: self.now()) }

    private func carryOut(_ work: [Work]) {
        guard TimeInterval.uptime >= self.retryAt else {
            for item in work { Self.refuse(item) }
            return
        }
        var left = work[...]
        do {
            var events = work.compactMap { self.event(of: $0) }
            if self.isTimerDue { events.append(.timer) }
            try self.carryOut(events)
            try self.catchUp(for: .milliseconds(self.configuration.catchUpMilliseconds))
            while let item = left.first {
                if case .question(let answer, _) = item {
                    let events = try answer(self.file)
                    left = left.dropFirst()
                    try self.carryOut(events)
                } else {
                    left = left.dropFirst()
                }
            }
            self.lastFailure = ""
        } catch {
            self.recover(from: error)
            for item in left { Self.refuse(item) }
        }
    }

    private func event(of work: Work) -> WebhookSchedule.Event? {
        guard case .ended(self.number, let key, let id, let end) = work else { return nil }
        return .ended(key, id, end, jitter: .random(in: .min ... .max))
    }

    // MARK: - The journal

    /// Page after page until nothing is new or the time is over.
    private func catchUp(for time: TimeInterval) throws {
        let deadline = TimeInterval.uptime + time
        if self.file == nil, DerivedFile.exists(self.path) { self.file = try self.openFile() }
        while self.isBehind, !self.worker.isStopping {
            let (place, known, now) = (self.file?.place ?? self.place, self.file?.known ?? [:], self.now())
            let page = try self.look { try $0.webhookPage(after: place, knowing: known, now: now) }
            try self.apply(page, now)
            self.publish()
            if TimeInterval.uptime >= deadline { return }
        }
    }

    private func apply(_ page: WebhookPage, _ now: Int64) throws {
        if page.isAnew {
            self.logger.warning(
                "webhooks begin at the end of the journal",
                metadata: [
                    "path": "\(self.path)", "record": "\(page.place.position)",
                    "reason": "the store was restored, is another one, or the file was missing",
                ])
        }
        if self.file == nil, page.known.isEmpty {
            self.place = page.place
            self.isCompared = true
            return
        }
        let file = try self.file ?? self.openFile()
        self.file = file
        let before = file.known
        let added = try file.apply(page, now: now)
        var events: [WebhookSchedule.Event] = []
        if !self.isCompared || file.known != before {
            var all: [WebhookKey: Bool] = [:]
            for (app, webhooks) in file.known {
                for (id, webhook) in webhooks { all[WebhookKey(app: app, webhook: id)] = webhook.isEnabled }
            }
            events.append(.webhooks(all, held: file.counts.keys.sorted()))
        }
        self.isCompared = true
        events += added.map { .derived($0.key, pending: file.counts[$0.key]?.pending ?? 0) }
        if !added.isEmpty { events.append(.grown) }
        try self.carryOut(events)
        guard file.isEmpty else { return }
        // The last webhook was removed.
        file.close()
        DerivedFile.remove(path: self.path)
        (self.file, self.place) = (nil, page.place)
    }

    private func openFile() throws -> WebhookFile {
        let file = try WebhookFile(path: self.path, pagesMax: self.configuration.pagesMax)
        self.schedule = WebhookSchedule(rules: self.configuration.rules)
        self.number += 1
        self.isCompared = false
        return file
    }

    /// Waits for the store's thread, which takes its turn between two batches.
    private func look<Value: Sendable>(_ read: @escaping @Sendable (StoreEngine) throws -> Value) throws -> Value {
        try self.store.lookWaiting(read)
    }

    // MARK: - What is decided

    /// In one transaction; what is to be sent is sent after it.
    private func carryOut(_ events: [WebhookSchedule.Event]) throws {
        guard let file = self.file, !events.isEmpty else { return }
        var schedule = self.schedule
        let turn = try file.write { database in
            var turn = WebhookTurn(file: file, database: database, now: self.now())
            for event in events { try turn.carryOut(event, &schedule) }
            return turn
        }
        self.schedule = schedule
        self.noteDropped(turn.dropped)
        let number = self.number
        for (id, delivery) in turn.sent {
            self.send(delivery) { [weak self] in self?.worker.enqueue(.ended(number, delivery.key, id, $0)) }
        }
    }

    private func noteDropped(_ dropped: [WebhookKey: Int]) {
        guard !dropped.isEmpty else { return }
        self.dropped.merge(dropped, uniquingKeysWith: +)
        // tidy: order does not leave: a sum
        self.countDropped(dropped.values.reduce(0, +))
    }

    /// As long as it goes on, not every time.
    private func logDropped() {
        guard !self.dropped.isEmpty, TimeInterval.uptime >= self.logAt else { return }
        self.logAt = TimeInterval.uptime + .milliseconds(self.configuration.logMilliseconds)
        for (key, count) in self.dropped.sorted(by: { $0.key < $1.key }) {
            self.logger.warning(
                "deliveries to a webhook were deleted undelivered: there are too many",
                metadata: ["app": "\(key.app)", "webhook": "\(key.webhook)", "count": "\(count)"])
        }
        self.dropped = [:]
    }

    // MARK: - Failures

    /// Nothing is told meanwhile: the store and everything else goes on, and then it is read on from the place.
    private func recover(from error: any Error) {
        let words = "\(error)"
        self.retryAt = TimeInterval.uptime + .milliseconds(self.configuration.retryMilliseconds)
        self.file?.close()
        self.file = nil
        self.isCompared = false
        if Self.isDamage(error) {
            self.place = nil
            let aside = self.path + ".damaged"
            DerivedFile.move(path: self.path, to: aside)
            self.log("the file of webhooks is damaged, and was set aside", words, aside)
        } else if words != self.lastFailure {
            self.log("the file of webhooks cannot be used", words, self.path)
        }
        self.lastFailure = words
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode.primaryResultCode)
    }

    private func log(_ message: Logger.Message, _ reason: String, _ path: String) {
        self.logger.error(message, metadata: ["path": "\(path)", "reason": "\(reason)"])
    }

    private func publish() {
        var totals = WebhookTotals()
        // tidy: order does not leave: sums
        for counts in self.file?.counts.values.map({ $0 }) ?? [] {
            totals.pending += counts.pending
            totals.dead += counts.dead
        }
        let position = (self.file?.place ?? self.place)?.position ?? 0
        self.told.withLock { $0 = Told(totals: totals, position: position) }
    }
}

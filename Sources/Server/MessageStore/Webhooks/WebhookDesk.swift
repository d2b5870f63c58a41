import Foundation
import GRDB
package import Logging
package import StoreModel
import TidingsModel

package struct WebhookDeskConfiguration: Sendable {
    /// How often it looks whether the journal has grown.
    package var pollMilliseconds: Int64 = 200
    /// How long a question waits for what is not derived yet.
    package var catchUpMilliseconds: Int64 = 250
    /// How long nothing is tried after a failure, for example of a full disk.
    package var retryMilliseconds: Int64 = 5_000
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
/// is no file while no app has a webhook. `@unchecked Sendable`: `waiting`, `isStopping`, `isFinished`, `told` and `toldPosition` are guarded by
/// `condition`; everything else belongs to the thread alone.
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

    package let path: String
    private let store: MessageStore
    private let configuration: WebhookDeskConfiguration
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let send: Sender
    private let condition = NSCondition()
    private var waiting: [Work] = []
    private var isStopping = false
    private var isFinished = false
    private var told = WebhookTotals()
    private var toldPosition: JournalPosition = 0

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

    /// Opens the file on its own thread; whatever is wrong with it is logged.
    /// - Parameter now: wall milliseconds.
    package init(
        path: String, of store: MessageStore, configuration: WebhookDeskConfiguration = WebhookDeskConfiguration(),
        logger: Logger, now: @escaping @Sendable () -> Int64, send: @escaping Sender
    ) {
        self.path = path
        self.store = store
        self.configuration = configuration
        self.logger = logger
        self.now = now
        self.send = send
        self.schedule = WebhookSchedule(rules: configuration.rules)
        let thread = Thread { [self] in self.run() }
        thread.name = "tidings-webhooks"
        thread.start()
    }

    /// Waits until the file is closed. What is under way is sent again after the next start, unless it has ended before.
    package func close() {
        self.condition.lock()
        self.isStopping = true
        self.condition.broadcast()
        while !self.isFinished { self.condition.wait() }
        self.condition.unlock()
    }

    package var totals: WebhookTotals {
        self.condition.lock()
        defer { self.condition.unlock() }
        var totals = self.told
        // Of now: the store goes on also where this stands still.
        let last = self.store.lastRecord
        totals.behind = Int(clamping: last - min(last, self.toldPosition))
        return totals
    }

    // MARK: - Questions

    /// After what the journal has by now: whoever has made a webhook and asks this knows that nothing from here on is left out.
    /// - Returns: nil while the file cannot be used.
    package func progress(of key: WebhookKey) async -> WebhookProgress? {
        await self.answer { file in (try file?.progress(of: key) ?? WebhookProgress(), []) }
    }

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
            self.enqueue(
                .question(
                    { file in
                        let (value, events) = try read(file)
                        continuation.resume(returning: value)
                        return events
                    }, refuse: { continuation.resume(returning: nil) }))
        }
    }

    private func enqueue(_ work: Work) {
        self.condition.lock()
        guard !self.isStopping else {
            self.condition.unlock()
            return Self.refuse(work)
        }
        self.waiting.append(work)
        self.condition.broadcast()
        self.condition.unlock()
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
    private static var uptime: TimeInterval { ProcessInfo.processInfo.systemUptime }

    private static func seconds(_ milliseconds: Int64) -> TimeInterval { TimeInterval(milliseconds) / 1_000 }

    private func run() {
        while let work = self.next() {
            self.carryOut(work)
            self.publish()
        }
        self.file?.close()
        self.file = nil
        self.condition.lock()
        self.isFinished = true
        let left = self.waiting
        self.waiting = []
        self.condition.broadcast()
        self.condition.unlock()
        for work in left { Self.refuse(work) }
    }

    /// What waits, or nothing when there is something to do without being asked; nil at the end.
    private func next() -> [Work]? {
        self.condition.lock()
        defer { self.condition.unlock() }
        while true {
            if self.isStopping { return nil }
            if !self.waiting.isEmpty {
                defer { self.waiting = [] }
                return self.waiting
            }
            if Self.uptime >= self.retryAt, self.isBehind || self.isTimerDue { return [] }
            _ = self.condition.wait(
                until: Date(timeIntervalSinceNow: Self.seconds(self.configuration.pollMilliseconds)))
        }
    }

    private var isStopped: Bool {
        self.condition.lock()
        defer { self.condition.unlock() }
        return self.isStopping
    }

    private var isBehind: Bool {
        !self.isCompared || (self.file?.place ?? self.place)?.position ?? 0 < self.store.lastRecord
    }

    private var isTimerDue: Bool { self.file != nil && self.schedule.isTimerDue(at: self.now()) }

    private func carryOut(_ work: [Work]) {
        guard Self.uptime >= self.retryAt else {
            for item in work { Self.refuse(item) }
            return
        }
        var left = work[...]
        do {
            var events = work.compactMap { self.event(of: $0) }
            if self.isTimerDue { events.append(.timer) }
            try self.carryOut(events)
            try self.catchUp(for: Self.seconds(self.configuration.catchUpMilliseconds))
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
        let deadline = Self.uptime + time
        if self.file == nil, WebhookFile.exists(self.path) { self.file = try self.openFile() }
        while self.isBehind, !self.isStopped {
            let (place, known, now) = (self.file?.place ?? self.place, self.file?.known ?? [:], self.now())
            let page = try self.look { try $0.webhookPage(after: place, knowing: known, now: now) }
            try self.apply(page, now)
            self.publish()
            if Self.uptime >= deadline { return }
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
        try self.carryOut(events)
        guard file.isEmpty else { return }
        // The last webhook was removed.
        file.close()
        WebhookFile.remove(path: self.path)
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
        let sent = try file.write { database in
            var turn = WebhookTurn(file: file, database: database, now: self.now())
            for event in events { try turn.carryOut(event, &schedule) }
            return turn.sent
        }
        self.schedule = schedule
        let number = self.number
        for (id, delivery) in sent {
            self.send(delivery) { [weak self] in self?.enqueue(.ended(number, delivery.key, id, $0)) }
        }
    }

    // MARK: - Failures

    /// Nothing is told meanwhile: the store and everything else goes on, and then it is read on from the place.
    private func recover(from error: any Error) {
        let words = "\(error)"
        self.retryAt = Self.uptime + Self.seconds(self.configuration.retryMilliseconds)
        self.file?.close()
        self.file = nil
        self.isCompared = false
        if Self.isDamage(error) {
            self.place = nil
            let aside = self.path + ".damaged"
            for suffix in SearchFile.suffixes {
                unlink(aside + suffix)
                rename(self.path + suffix, aside + suffix)
            }
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
        self.condition.lock()
        self.told = totals
        self.toldPosition = (self.file?.place ?? self.place)?.position ?? 0
        self.condition.unlock()
    }
}

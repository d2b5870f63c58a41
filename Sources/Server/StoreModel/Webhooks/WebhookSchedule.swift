import TidingsModel

/// When which delivery of a webhook is tried, again, or given up. It is told what has happened and answers what is to be done, in order; the
/// deliveries themselves lie in a file, and here is only what is under way. Times are wall milliseconds, since waits outlive the process.
///
/// - At most `inFlightMax` requests of a webhook, `inFlightOfAppMax` of an app, and `inFlightInAllMax` of all, are under way. Apps take turns, and
///   the webhooks of an app do.
/// - After a failed attempt a delivery waits by `waits`; one that has failed after the last of them is a dead letter.
/// - A webhook whose last attempt failed is probed: one request at a time, with a pause by `probePauses` between failures. So a receiver that is
///   down costs a request a minute, however much waits for it. One that refuses a delivery alone is there, and nothing else waits for that.
/// - More than `pendingMax` that wait: the oldest become dead letters, never tried again by themselves. More than `deadMax` of those: the
///   oldest go.
/// - More than `heldInAllMax`, waiting or dead: of the apps, and of their webhooks, that hold the most, the oldest go, dead letters first.
package struct WebhookSchedule: Sendable {
    package struct Rules: Hashable, Sendable {
        package var inFlightMax = 4
        package var inFlightOfAppMax = 16
        package var inFlightInAllMax = 64
        /// Between one attempt and the next.
        package var waits: [Int64] = [5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000]
        /// After the first failure in a row, the second, …; the last one from then on.
        package var probePauses: [Int64] = [5_000, 30_000, 60_000]
        package var pendingMax = 100_000
        package var deadMax = 10_000
        package var heldInAllMax = 1_000_000
        package var deadMilliseconds: Int64 = 30 * 86_400_000
        package var deadSweepMilliseconds: Int64 = 3_600_000

        package init() {}
    }

    package struct Delivery: Hashable, Sendable {
        /// In the order of the journal.
        package var id: Int64
        /// Made so far.
        package var attempts: Int
        package var dueAt: Int64

        package init(id: Int64, attempts: Int, dueAt: Int64) {
            self.id = id
            self.attempts = attempts
            self.dueAt = dueAt
        }
    }

    package enum Event: Hashable, Sendable {
        /// Which there are, and whether they are enabled; `held`: those of which there are deliveries.
        case webhooks([WebhookKey: Bool], held: [WebhookKey])
        /// There are new ones, due at once; `pending`: with those that were there.
        case derived(WebhookKey, pending: Int)
        /// The deliveries that `.fetch` has found, by time; fewer than the limit: that is all.
        case fetched(WebhookKey, [Delivery])
        /// `jitter`: any number; it stretches the wait by up to a fifth.
        case ended(WebhookKey, Int64, WebhookAttemptEnd, jitter: UInt64)
        /// Dead letters are pending again, due at once.
        case revived(WebhookKey)
        /// After `.derived` of everything that is new.
        case grown
        /// The counts that `.countHeld` has found, of all.
        case held([WebhookKey: WebhookHeld])
        /// The webhook has so many dead letters by now.
        case buried(WebhookKey, dead: Int)
        case timer
    }

    package enum Effect: Hashable, Sendable {
        /// The first that are due, or will be. Answered by `.fetched` before anything else is told.
        case fetch(WebhookKey, limit: Int, besides: [Int64])
        case send(WebhookKey, Delivery)
        case remove(WebhookKey, Int64)
        case postpone(WebhookKey, Delivery, WebhookFailure)
        /// It is a dead letter. Answered by `.buried`, as the next one is.
        case bury(WebhookKey, Delivery, WebhookFailure)
        case buryOldest(WebhookKey, count: Int, besides: [Int64])
        case removeOldestDead(WebhookKey, count: Int)
        /// How much there is of each webhook. Answered by `.held` before anything else is told.
        case countHeld
        /// So many of its dead letters, and of those that wait, are deleted, the oldest.
        case drop(WebhookKey, dead: Int, pending: Int, besides: [Int64])
        /// Removes the dead deliveries of all webhooks that died before then.
        case removeDead(before: Int64)
        /// With all of its deliveries.
        case forget(WebhookKey)
    }

    private struct Webhook: Hashable {
        var isEnabled: Bool
        /// By id.
        var inFlight: [Int64: Delivery] = [:]
        /// When the first is due that is not under way; nil for none. `.min` where nobody has looked.
        var nextDueAt: Int64? = .min
        /// In a row.
        var failures = 0
        var pausedUntil: Int64 = .min
        var isFetching = false
    }

    private let rules: Rules
    private var webhooks: [WebhookKey: Webhook] = [:]
    private var inFlight = 0
    private var inFlightOfApp: [AppID: Int] = [:]
    /// The last app served among those that wait for a place: the one after it is next.
    private var lastApp: AppID?
    private var lastServed: [AppID: WebhookKey] = [:]
    private var sweptAt: Int64?

    package init(rules: Rules = Rules()) { self.rules = rules }

    package mutating func effects(of event: Event, now: Int64) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .webhooks(let all, let held): self.update(all, held, now, &effects)
        case .derived(let key, let pending):
            guard let webhook = self.webhooks[key] else { break }
            if pending > self.rules.pendingMax {
                effects.append(
                    .buryOldest(
                        key, count: pending - self.rules.pendingMax, besides: webhook.inFlight.keys.sorted()))
            }
            self.webhooks[key]?.nextDueAt = .min
            self.pump(key, now, &effects)
        case .revived(let key):
            self.webhooks[key]?.nextDueAt = .min
            self.pump(key, now, &effects)
        case .fetched(let key, let found): self.send(found, of: key, now, &effects)
        case .ended(let key, let id, let end, let jitter): self.finish(key, id, end, jitter, now, &effects)
        case .grown: effects.append(.countHeld)
        case .held(let held): self.drop(from: held, &effects)
        case .buried(let key, let dead):
            if dead > self.rules.deadMax {
                effects.append(.removeOldestDead(key, count: dead - self.rules.deadMax))
            }
        case .timer:
            if self.sweptAt.map({ now - $0 >= self.rules.deadSweepMilliseconds || now < $0 }) ?? true {
                self.sweptAt = now
                effects.append(.removeDead(before: now - self.rules.deadMilliseconds))
            }
            self.pumpAll(now, &effects)
        }
        return effects
    }

    /// When `.timer` has something to do; nil if only another event has.
    package var wakesAt: Int64? {
        guard !self.webhooks.isEmpty else { return nil }
        let sweep = self.sweptAt.map { $0 + self.rules.deadSweepMilliseconds } ?? .min
        guard self.inFlight < self.rules.inFlightInAllMax else { return sweep }
        // tidy: order does not leave: the least of them
        return self.webhooks.reduce(sweep) { first, entry in
            guard self.slots(of: entry.value, in: entry.key.app) > 0, let dueAt = entry.value.nextDueAt else {
                return first
            }
            return min(first, max(dueAt, entry.value.pausedUntil))
        }
    }

    /// Also when the clock was set back, after which the time to wake up may be far away.
    package func isTimerDue(at now: Int64) -> Bool {
        guard let wakesAt = self.wakesAt else { return false }
        return wakesAt <= now || self.sweptAt.map { now < $0 } ?? false
    }

    private func slots(of webhook: Webhook, in app: AppID) -> Int {
        guard webhook.isEnabled, !webhook.isFetching else { return 0 }
        let most = webhook.failures > 0 ? 1 : self.rules.inFlightMax
        return min(
            most - webhook.inFlight.count, self.rules.inFlightOfAppMax - (self.inFlightOfApp[app] ?? 0),
            self.rules.inFlightInAllMax - self.inFlight)
    }

    private mutating func changeInFlight(of app: AppID, by count: Int) {
        self.inFlight += count
        let left = (self.inFlightOfApp[app] ?? 0) + count
        self.inFlightOfApp[app] = left == 0 ? nil : left
    }

    private mutating func update(
        _ current: [WebhookKey: Bool], _ held: [WebhookKey], _ now: Int64, _ effects: inout [Effect]
    ) {
        for key in Set(held).union(self.webhooks.keys).sorted() where current[key] == nil {
            self.changeInFlight(of: key.app, by: -(self.webhooks.removeValue(forKey: key)?.inFlight.count ?? 0))
            if self.lastServed[key.app] == key { self.lastServed[key.app] = nil }
            effects.append(.forget(key))
        }
        for (key, isEnabled) in current.sorted(by: { $0.key < $1.key }) {
            self.webhooks[key, default: Webhook(isEnabled: isEnabled)].isEnabled = isEnabled
        }
        self.pumpAll(now, &effects)
    }

    /// Milliseconds.
    private static let withdrawnPause: Int64 = 1_000

    // MARK: - Sending

    private mutating func pumpAll(_ now: Int64, _ effects: inout [Effect]) {
        let keys = Dictionary(grouping: self.webhooks.keys, by: \.app)
        for app in Self.rotate(keys.keys.sorted(), after: self.lastApp) {
            self.pump((keys[app] ?? []).sorted(), of: app, now, &effects)
        }
    }

    private mutating func pump(_ keys: [WebhookKey], of app: AppID, _ now: Int64, _ effects: inout [Effect]) {
        for key in Self.rotate(keys, after: self.lastServed[app]) { self.pump(key, now, &effects) }
    }

    /// Returns the list with the one served last at the end.
    private static func rotate<Value: Comparable>(_ sorted: [Value], after last: Value?) -> [Value] {
        let first = last.flatMap { last in sorted.firstIndex { $0 > last } } ?? 0
        return Array(sorted[first...] + sorted[..<first])
    }

    private mutating func pump(_ key: WebhookKey, _ now: Int64, _ effects: inout [Effect]) {
        guard let webhook = self.webhooks[key], let dueAt = webhook.nextDueAt, self.isDue(dueAt, now),
            Self.hasCome(webhook.pausedUntil, within: max(self.rules.probePauses.max() ?? 0, Self.withdrawnPause), now)
        else { return }
        let slots = self.slots(of: webhook, in: key.app)
        guard slots > 0 else { return }
        self.webhooks[key]?.isFetching = true
        // One more than are sent: it says when to look again.
        effects.append(.fetch(key, limit: slots + 1, besides: webhook.inFlight.keys.sorted()))
    }

    private mutating func send(
        _ found: [Delivery], of key: WebhookKey, _ now: Int64, _ effects: inout [Effect]
    ) {
        self.webhooks[key]?.isFetching = false
        guard let webhook = self.webhooks[key] else { return }
        let due = found.prefix(max(0, self.slots(of: webhook, in: key.app))).prefix { self.isDue($0.dueAt, now) }
        self.webhooks[key]?.nextDueAt = found.dropFirst(due.count).first?.dueAt
        for delivery in due {
            self.webhooks[key]?.inFlight[delivery.id] = delivery
            self.changeInFlight(of: key.app, by: 1)
            effects.append(.send(key, delivery))
        }
        guard !due.isEmpty else { return }
        (self.lastApp, self.lastServed[key.app]) = (key.app, key)
    }

    private func isDue(_ dueAt: Int64, _ now: Int64) -> Bool {
        let longest = self.rules.waits.max() ?? 0
        return Self.hasCome(dueAt, within: longest + longest / 5, now)
    }

    /// A time further away than any wait could be was written before the clock was set back.
    private static func hasCome(_ time: Int64, within longest: Int64, _ now: Int64) -> Bool {
        time <= now || time - now > longest
    }

    // MARK: - What came of it

    private mutating func finish(
        _ key: WebhookKey, _ id: Int64, _ end: WebhookAttemptEnd, _ jitter: UInt64, _ now: Int64,
        _ effects: inout [Effect]
    ) {
        guard var delivery = self.webhooks[key]?.inFlight.removeValue(forKey: id) else { return }
        let isFull = self.inFlight >= self.rules.inFlightInAllMax
        let isAppFull = self.inFlightOfApp[key.app] ?? 0 >= self.rules.inFlightOfAppMax
        self.changeInFlight(of: key.app, by: -1)
        switch end {
        case .delivered:
            self.resume(key)
            effects.append(.remove(key, id))
        case .failed(let failure):
            if failure.isOfDeliveryAlone { self.resume(key) } else { self.pause(key, now) }
            delivery.attempts += 1
            if delivery.attempts <= self.rules.waits.count {
                delivery.dueAt = now + Self.stretched(self.rules.waits[delivery.attempts - 1], jitter)
                self.awaitDelivery(of: key, at: delivery.dueAt)
                effects.append(.postpone(key, delivery, failure))
            } else {
                effects.append(.bury(key, delivery, failure))
            }
        case .withdrawn:
            // Soon it is told what has become of the webhook.
            self.webhooks[key]?.pausedUntil = now + Self.withdrawnPause
            self.awaitDelivery(of: key, at: delivery.dueAt)
        }
        if isFull {
            self.pumpAll(now, &effects)
        } else if isAppFull {
            self.pump(self.webhooks.keys.filter { $0.app == key.app }.sorted(), of: key.app, now, &effects)
        } else {
            self.pump(key, now, &effects)
        }
    }

    /// The receiver is there.
    private mutating func resume(_ key: WebhookKey) {
        self.webhooks[key]?.failures = 0
        self.webhooks[key]?.pausedUntil = .min
    }

    /// Pauses a webhook. Attempts under way at the same time are one failure.
    private mutating func pause(_ key: WebhookKey, _ now: Int64) {
        guard let webhook = self.webhooks[key], webhook.inFlight.isEmpty || webhook.failures == 0 else { return }
        let failures = webhook.failures == 0 || webhook.pausedUntil <= now ? webhook.failures + 1 : webhook.failures
        self.webhooks[key]?.failures = failures
        let pauses = self.rules.probePauses
        guard let last = pauses.last else { return }
        self.webhooks[key]?.pausedUntil = now + (failures <= pauses.count ? pauses[failures - 1] : last)
    }

    private mutating func awaitDelivery(of key: WebhookKey, at: Int64) {
        guard let next = self.webhooks[key]?.nextDueAt else {
            self.webhooks[key]?.nextDueAt = at
            return
        }
        self.webhooks[key]?.nextDueAt = min(next, at)
    }

    private static func stretched(_ wait: Int64, _ jitter: UInt64) -> Int64 {
        wait + wait * Int64(jitter % 201) / 1_000
    }

    // MARK: - What is too much

    private func drop(from held: [WebhookKey: WebhookHeld], _ effects: inout [Effect]) {
        // tidy: order does not leave: sums
        let apps = held.reduce(into: [AppID: Int]()) { $0[$1.key.app, default: 0] += $1.value.count }
        for (app, surplus) in FairShares.surplus(of: apps, room: self.rules.heldInAllMax) {
            let own = held.filter { $0.key.app == app }.mapValues(\.count)
            for (key, count) in FairShares.surplus(of: own, room: (apps[app] ?? 0) - surplus) {
                let dead = min(count, held[key]?.dead ?? 0)
                effects.append(
                    .drop(
                        key, dead: dead, pending: count - dead,
                        besides: (self.webhooks[key]?.inFlight.keys).map { $0.sorted() } ?? []))
            }
        }
    }
}

import StoreModel
import Testing
import TidingsModel

private typealias Event = WebhookSchedule.Event
private typealias Effect = WebhookSchedule.Effect

private let orders = WebhookKey(app: "shop", webhook: "w1")
private let bills = WebhookKey(app: "shop", webhook: "w2")
private let down = WebhookFailure(.refusedConnection)

@Suite struct `When webhooks are tried` {
    /// A schedule beside a file of its own: what is pending, by id.
    private struct Bench {
        var schedule: WebhookSchedule
        var now: Int64 = 1_000_000
        var pending: [WebhookKey: [Int64: WebhookSchedule.Delivery]] = [:]
        var dead: [WebhookKey: [Int64]] = [:]
        /// Without `.fetch`, which is carried out.
        var effects: [Effect] = []

        init(_ rules: WebhookSchedule.Rules = .init(), _ webhooks: [WebhookKey: Bool] = [orders: true]) {
            self.schedule = WebhookSchedule(rules: rules)
            self.tell(.webhooks(webhooks, held: []))
            self.effects = []
        }

        mutating func tell(_ event: Event) {
            for effect in self.schedule.effects(of: event, now: self.now) {
                if case .fetch(let key, let limit, let besides) = effect {
                    let found = (self.pending[key] ?? [:]).values.filter { !besides.contains($0.id) }
                        .sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(limit)
                    self.tell(.fetched(key, Array(found)))
                    continue
                }
                self.effects.append(effect)
                switch effect {
                case .remove(let key, let id): self.pending[key]?[id] = nil
                case .postpone(let key, let delivery, _): self.pending[key]?[delivery.id] = delivery
                case .bury(let key, let delivery, _):
                    self.pending[key]?[delivery.id] = nil
                    self.dead[key, default: []].append(delivery.id)
                    self.tell(.buried(key, dead: self.dead[key]?.count ?? 0))
                case .buryOldest(let key, let count, let besides):
                    for id in (self.pending[key] ?? [:]).keys.filter({ !besides.contains($0) }).sorted().prefix(count) {
                        self.pending[key]?[id] = nil
                        self.dead[key, default: []].append(id)
                    }
                    self.tell(.buried(key, dead: self.dead[key]?.count ?? 0))
                default: break
                }
            }
        }

        mutating func add(_ ids: ClosedRange<Int64>, to key: WebhookKey = orders) -> [Effect] {
            for id in ids { self.pending[key, default: [:]][id] = .init(id: id, attempts: 0, dueAt: self.now) }
            return self.after { $0.tell(.derived(key, pending: $0.pending[key]?.count ?? 0)) }
        }

        mutating func end(
            _ id: Int64, _ end: WebhookAttemptEnd, of key: WebhookKey = orders, jitter: UInt64 = 0
        ) -> [Effect] {
            self.after { $0.tell(.ended(key, id, end, jitter: jitter)) }
        }

        /// Moves the clock to when the timer has something to do, and rings it.
        mutating func ring(at time: Int64) -> [Effect] {
            self.now = time
            return self.after { $0.tell(.timer) }
        }

        private mutating func after(_ body: (inout Bench) -> Void) -> [Effect] {
            self.effects = []
            body(&self)
            return self.effects
        }
    }

    private static func send(_ id: Int64, attempts: Int = 0, dueAt: Int64 = 1_000_000, of key: WebhookKey = orders)
        -> Effect
    {
        .send(key, .init(id: id, attempts: attempts, dueAt: dueAt))
    }

    @Test func `four requests of a webhook are under way at most`() {
        var bench = Bench()
        #expect(bench.add(1...6) == (1...4).map { Self.send($0) })
        #expect(bench.end(2, .delivered) == [.remove(orders, 2), Self.send(5)])
        #expect(bench.end(1, .delivered) == [.remove(orders, 1), Self.send(6)])
        #expect(bench.end(3, .delivered) == [.remove(orders, 3)])
        // Its end is told once.
        #expect(bench.end(3, .delivered) == [])
    }

    @Test func `so many of all are under way at most, and webhooks take turns`() {
        var rules = WebhookSchedule.Rules()
        (rules.inFlightMax, rules.inFlightInAllMax) = (2, 3)
        var bench = Bench(rules, [orders: true, bills: true])
        #expect(bench.add(1...4) == [Self.send(1), Self.send(2)])
        #expect(bench.add(11...14, to: bills) == [Self.send(11, of: bills)])
        #expect(bench.schedule.wakesAt == Int64.min)
        #expect(bench.end(1, .delivered) == [.remove(orders, 1), Self.send(3)])
        #expect(bench.end(2, .delivered) == [.remove(orders, 2), Self.send(12, of: bills)])
    }

    @Test func `waits grow to half a day, then a delivery is a dead letter`() {
        var bench = Bench()
        #expect(bench.add(1...1) == [Self.send(1)])
        let waits: [Int64] = [5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000]
        var due = bench.now
        for (index, wait) in waits.enumerated() {
            due = bench.now + wait
            #expect(
                bench.end(1, .failed(down)) == [
                    .postpone(orders, .init(id: 1, attempts: index + 1, dueAt: due), down)
                ])
            let early = bench.ring(at: due - 1)
            #expect(!early.contains(Self.send(1, attempts: index + 1, dueAt: due)))
            let rung = bench.ring(at: due)
            #expect(rung.contains(Self.send(1, attempts: index + 1, dueAt: due)))
        }
        let last = WebhookFailure(.status, status: 500)
        #expect(bench.end(1, .failed(last)) == [.bury(orders, .init(id: 1, attempts: 8, dueAt: due), last)])
        #expect(bench.dead[orders] == [1] && bench.pending[orders]?.isEmpty == true)
    }

    @Test func `jitter stretches a wait by a fifth at most`() {
        for (jitter, wait): (UInt64, Int64) in [
            (0, 5_000), (200, 6_000), (201, 5_000), (.max, 5_000 + 5 * Int64(UInt64.max % 201)),
        ] {
            var bench = Bench()
            _ = bench.add(1...1)
            #expect(
                bench.end(1, .failed(down), jitter: jitter) == [
                    .postpone(orders, .init(id: 1, attempts: 1, dueAt: bench.now + wait), down)
                ])
        }
    }

    @Test func `a receiver that is down is probed by one request, with pauses, until one succeeds`() {
        var bench = Bench()
        _ = bench.ring(at: bench.now)
        #expect(bench.add(1...9).count == 4)
        for id: Int64 in 1...4 {
            #expect(
                bench.end(id, .failed(down)) == [
                    .postpone(orders, .init(id: id, attempts: 1, dueAt: bench.now + 5_000), down)
                ])
        }
        #expect(bench.schedule.wakesAt == bench.now + 5_000)
        #expect(bench.ring(at: bench.now + 4_999) == [])
        // Those that were never tried are the first that are due.
        #expect(bench.ring(at: bench.now + 1) == [Self.send(5)])
        let second = bench.now
        _ = bench.end(5, .failed(down))
        #expect(bench.schedule.wakesAt == second + 30_000)
        #expect(bench.ring(at: second + 30_000) == [Self.send(6)])
        _ = bench.end(6, .failed(down))
        #expect(bench.ring(at: second + 89_999) == [])
        #expect(bench.ring(at: second + 90_000) == [Self.send(7)])
        #expect(
            bench.end(7, .delivered).map { effect -> Int64 in
                if case .send(_, let delivery) = effect { delivery.id } else { -1 }
            }
                == [-1, 8, 9, 1, 2])
    }

    @Test func `a webhook that is not enabled sends nothing, and what waits is sent when it is`() {
        var bench = Bench(.init(), [orders: false])
        #expect(bench.add(1...2) == [])
        bench.tell(.webhooks([orders: true], held: [orders]))
        #expect(bench.effects == [Self.send(1), Self.send(2)])
    }

    @Test func `a webhook that was removed is forgotten, also what is still under way of it`() {
        var bench = Bench()
        _ = bench.add(1...1)
        bench.effects = []
        bench.tell(.webhooks([:], held: [orders, bills]))
        #expect(bench.effects == [.forget(orders), .forget(bills)])
        #expect(bench.end(1, .delivered) == [])
        #expect(bench.schedule.wakesAt == nil)
    }

    @Test func `a withdrawn attempt counts for nothing`() {
        var bench = Bench()
        _ = bench.ring(at: bench.now)
        _ = bench.add(1...1)
        #expect(bench.end(1, .withdrawn) == [])
        #expect(bench.ring(at: bench.now + 999) == [])
        #expect(bench.ring(at: bench.now + 1) == [Self.send(1)])
    }

    @Test func `what is too much becomes dead letters, the oldest first and nothing that is under way`() {
        var rules = WebhookSchedule.Rules()
        (rules.pendingMax, rules.deadMax, rules.inFlightMax) = (4, 2, 1)
        var bench = Bench(rules)
        #expect(bench.add(1...4) == [Self.send(1)])
        #expect(bench.add(5...7) == [.buryOldest(orders, count: 3, besides: [1]), .removeOldestDead(orders, count: 1)])
        #expect(bench.pending[orders]?.keys.sorted() == [1, 5, 6, 7])
        #expect(bench.end(1, .delivered) == [.remove(orders, 1), Self.send(5)])
    }

    @Test func `dead letters are sent again at once, and old ones go`() {
        var bench = Bench()
        #expect(bench.ring(at: bench.now) == [.removeDead(before: bench.now - 30 * 86_400_000)])
        bench.pending[orders] = [3: .init(id: 3, attempts: 8, dueAt: bench.now)]
        bench.effects = []
        bench.tell(.revived(orders))
        #expect(bench.effects == [Self.send(3, attempts: 8)])
        #expect(bench.end(3, .failed(down)) == [.bury(orders, .init(id: 3, attempts: 9, dueAt: bench.now), down)])
        #expect(bench.schedule.wakesAt == bench.now + 3_600_000)
        #expect(
            bench.ring(at: bench.now + 3_600_000) == [.removeDead(before: bench.now - 30 * 86_400_000)])
    }

    @Test func `a clock that was set back ends a pause, and what waited for its time goes`() {
        var bench = Bench()
        _ = bench.add(1...1)
        _ = bench.end(1, .failed(down))
        let failedAt = bench.now
        let again = Self.send(1, attempts: 1, dueAt: failedAt + 5_000)
        #expect(!bench.ring(at: failedAt + 4_999).contains(again))
        #expect(bench.schedule.isTimerDue(at: failedAt - 86_400_000))
        #expect(bench.ring(at: failedAt - 86_400_000).contains(again))
        #expect(!bench.schedule.isTimerDue(at: failedAt - 86_400_000))
    }

    @Test func `a clock that was set back holds nothing up for longer than the longest wait`() {
        var bench = Bench()
        _ = bench.add(1...1)
        _ = bench.end(1, .delivered)
        bench.pending[orders] = [2: .init(id: 2, attempts: 1, dueAt: bench.now + 52_000_000)]
        bench.effects = []
        bench.tell(.revived(orders))
        #expect(bench.effects == [Self.send(2, attempts: 1, dueAt: bench.now + 52_000_000)])
    }
}

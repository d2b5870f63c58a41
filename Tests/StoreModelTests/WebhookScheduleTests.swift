import StoreModel
import Testing
import TidingsModel

private typealias Event = WebhookSchedule.Event
private typealias Effect = WebhookSchedule.Effect

private let orders = WebhookKey(app: "shop", webhook: "w1")
private let bills = WebhookKey(app: "shop", webhook: "w2")
private let down = WebhookFailure(.refusedConnection)

private let headlines = WebhookKey(app: "club", webhook: "w9")

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

    @Test func `an app whose requests hang has a share of the places, and the webhooks of an app take turns in it`() {
        var rules = WebhookSchedule.Rules()
        (rules.inFlightMax, rules.inFlightOfAppMax, rules.inFlightInAllMax) = (2, 3, 4)
        var bench = Bench(rules, [orders: true, bills: true, headlines: true])
        #expect(bench.add(1...4) == [Self.send(1), Self.send(2)])
        // The third of the app's, though there are four in all.
        #expect(bench.add(11...14, to: bills) == [Self.send(11, of: bills)])
        #expect(bench.add(21...24, to: headlines) == [Self.send(21, of: headlines)])
        // Of all there is none left; the app that has fewer goes on, and the other one does not take its place.
        #expect(bench.end(21, .delivered, of: headlines) == [.remove(headlines, 21), Self.send(22, of: headlines)])
        #expect(bench.end(1, .delivered) == [.remove(orders, 1), Self.send(3)])
        #expect(bench.end(2, .delivered) == [.remove(orders, 2), Self.send(23, of: headlines)])
        #expect(bench.end(22, .delivered, of: headlines) == [.remove(headlines, 22), Self.send(12, of: bills)])
    }

    @Test func `a place of an app that is full goes to its webhook that was not served last`() {
        var rules = WebhookSchedule.Rules()
        (rules.inFlightMax, rules.inFlightOfAppMax) = (2, 2)
        var bench = Bench(rules, [orders: true, bills: true, headlines: true])
        #expect(bench.add(1...4) == [Self.send(1), Self.send(2)])
        #expect(bench.add(11...14, to: bills) == [])
        // Another app's is served in between: the turn of this one's webhooks is not changed by it.
        #expect(bench.add(21...21, to: headlines) == [Self.send(21, of: headlines)])
        #expect(bench.end(1, .delivered) == [.remove(orders, 1), Self.send(11, of: bills)])
        #expect(bench.end(2, .delivered) == [.remove(orders, 2), Self.send(3)])
        #expect(bench.end(3, .delivered) == [.remove(orders, 3), Self.send(12, of: bills)])
    }

    @Test func `a webhook that is removed gives its places back to its app`() {
        var rules = WebhookSchedule.Rules()
        (rules.inFlightMax, rules.inFlightOfAppMax) = (2, 2)
        var bench = Bench(rules, [orders: true, bills: true])
        #expect(bench.add(1...2) == [Self.send(1), Self.send(2)])
        #expect(bench.add(11...12, to: bills) == [])
        bench.effects = []
        bench.tell(.webhooks([bills: true], held: [orders, bills]))
        #expect(bench.effects == [.forget(orders), Self.send(11, of: bills), Self.send(12, of: bills)])
    }

    @Test(arguments: [400, 401, 404, 409, 422, 499])
    func `a status that refuses one delivery holds up nothing else`(status: Int) {
        var bench = Bench()
        let refused = WebhookFailure(.status, status: status)
        #expect(bench.add(1...6) == (1...4).map { Self.send($0) })
        #expect(
            bench.end(1, .failed(refused)) == [
                .postpone(orders, .init(id: 1, attempts: 1, dueAt: bench.now + 5_000), refused), Self.send(5),
            ])
        #expect(
            bench.end(2, .failed(refused)) == [
                .postpone(orders, .init(id: 2, attempts: 1, dueAt: bench.now + 5_000), refused), Self.send(6),
            ])
    }

    @Test(arguments: [
        WebhookFailure(.status, status: 408), WebhookFailure(.status, status: 410),
        WebhookFailure(.status, status: 429),
        WebhookFailure(.status, status: 500), WebhookFailure(.status, status: 503),
        WebhookFailure(.status, status: 307),
        WebhookFailure(.timedOut), WebhookFailure(.refusedConnection), WebhookFailure(.tlsFailed),
        WebhookFailure(.nameNotFound), WebhookFailure(.addressNotAllowed), WebhookFailure(.connectionLost),
    ])
    func `whatever else fails holds up all of the webhook`(failure: WebhookFailure) {
        var bench = Bench()
        _ = bench.ring(at: bench.now)
        #expect(bench.add(1...6) == (1...4).map { Self.send($0) })
        for id: Int64 in 1...4 {
            #expect(
                bench.end(id, .failed(failure)) == [
                    .postpone(orders, .init(id: id, attempts: 1, dueAt: bench.now + 5_000), failure)
                ])
        }
        #expect(bench.schedule.wakesAt == bench.now + 5_000)
    }

    @Test func `a probe that is refused for itself shows that the receiver is there`() {
        var bench = Bench()
        _ = bench.ring(at: bench.now)
        _ = bench.add(1...6)
        for id: Int64 in 1...4 { _ = bench.end(id, .failed(down)) }
        #expect(bench.ring(at: bench.now + 5_000) == [Self.send(5)])
        let refused = WebhookFailure(.status, status: 422)
        #expect(
            bench.end(5, .failed(refused)) == [
                .postpone(orders, .init(id: 5, attempts: 1, dueAt: bench.now + 5_000), refused), Self.send(6),
                Self.send(1, attempts: 1, dueAt: 1_005_000), Self.send(2, attempts: 1, dueAt: 1_005_000),
                Self.send(3, attempts: 1, dueAt: 1_005_000),
            ])
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

    @Test func `what is too much in all goes from whoever holds the most, dead letters first`() {
        var rules = WebhookSchedule.Rules()
        rules.heldInAllMax = 100
        var schedule = WebhookSchedule(rules: rules)
        _ = schedule.effects(of: .webhooks([orders: true, bills: true, headlines: true], held: []), now: 0)
        #expect(schedule.effects(of: .grown, now: 0) == [.countHeld])
        let fits: [WebhookKey: WebhookHeld] = [
            orders: .init(pending: 60, dead: 5), bills: .init(pending: 5), headlines: .init(pending: 20, dead: 10),
        ]
        #expect(schedule.effects(of: .held(fits), now: 0) == [])
        // Of 145, the app that holds 30 keeps them; of the other one's webhooks the small one keeps its 5.
        let much: [WebhookKey: WebhookHeld] = [
            orders: .init(pending: 80, dead: 30), bills: .init(pending: 5), headlines: .init(pending: 20, dead: 10),
        ]
        #expect(
            schedule.effects(of: .held(much), now: 0) == [.drop(orders, dead: 30, pending: 15, besides: [])])
        // Two that hold much get half each.
        let both: [WebhookKey: WebhookHeld] = [
            orders: .init(pending: 70, dead: 1), headlines: .init(pending: 10, dead: 70),
        ]
        #expect(
            schedule.effects(of: .held(both), now: 0) == [
                .drop(headlines, dead: 30, pending: 0, besides: []), .drop(orders, dead: 1, pending: 20, besides: []),
            ])
    }

    @Test func `what is under way is not dropped`() {
        var rules = WebhookSchedule.Rules()
        rules.heldInAllMax = 3
        var bench = Bench(rules)
        _ = bench.add(1...5)
        #expect(
            bench.schedule.effects(of: .held([orders: .init(pending: 5)]), now: bench.now) == [
                .drop(orders, dead: 0, pending: 2, besides: [1, 2, 3, 4])
            ])
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

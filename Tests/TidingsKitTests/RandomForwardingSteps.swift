import ClientCore
import Foundation
import PhoneCore
import SDKTestSupport
import TidingsClient
import TidingsModel

@testable import TidingsKit
@testable import UIKit

/// One random sequence. The same seed makes the same calls; what runs beside them is as fast as it is.
@MainActor struct RandomSequence {
    static let versions: [OSVersion] = [6, 7, OSVersion(9, 3), 10, 12, 13, 15, 17, 26]

    let bench: ForwardingBench
    private var calls: RandomCalls

    init(seed: UInt64) throws {
        var chance = SplitMix64(seed: seed)
        let version = Self.versions[Int(seed % UInt64(Self.versions.count))]
        self.bench = try ForwardingBench(version: version, hasDelegate: version >= 10 && chance.next() % 5 > 0)
        self.calls = RandomCalls(seed: chance.next(), bench: self.bench)
    }

    var handlers: ForwardingHandlers { self.calls.handlers }

    private mutating func below(_ limit: Int) -> Int { self.calls.below(limit) }
    private mutating func says(_ percent: Int) -> Bool { self.calls.says(percent) }

    /// Runs the sequence and returns what was wrong.
    mutating func run(steps: Int) async -> [String] {
        self.bench.makeKit()
        if self.says(70) { self.bench.setHandler(true) }
        if self.says(70) {
            if self.says(15) { self.bench.server.setNetwork(.isSilent) }
            if self.says(70) { self.bench.toForeground() }
            await self.bench.signIn()
        }
        for _ in 0..<steps where self.bench.problems.isEmpty { await self.step() }
        await self.end()
        return self.bench.problems
    }

    private mutating func step() async {
        switch self.below(1_000) {
        case 0..<240: self.call { $0.tap($1) }
        case 240..<400: self.call { $0.present($1) }
        case 400..<540: self.call { $0.arrive($1) }
        case 540..<570: self.call { $0.backgroundFetch($1) }
        case 570..<600: self.call { $0.arriveLocally($1) }
        case 600..<630: self.call { $0.tapBanner($1) }
        case 630..<650: self.register()
        case 650..<740: self.move()
        case 740..<800: self.serve()
        case 800..<880: await self.pass()
        case 880..<930: self.bench.setHandler(self.says(60))
        case 930..<970: await self.changePerson()
        case 970..<985: self.bench.kit?.hesitates = true
        case 985..<995: await self.checkBadge()
        default: await self.letGo()
        }
        if self.says(20) { await Task.yield() }
    }

    private mutating func call(_ work: (inout RandomCalls, HesitantKit) -> Void) {
        guard let kit = self.bench.kit else { return }
        self.bench.coverage.note("call while \(self.bench.applicationState)")
        if self.bench.person == .never { self.bench.coverage.note("never signed in") }
        if self.bench.person == .signedOut { self.bench.coverage.note("signed out") }
        self.bench.inApp { work(&self.calls, kit) }
    }

    private mutating func register() {
        guard let kit = self.bench.kit else { return }
        let length = self.below(64)
        let fails = self.says(30)
        self.bench.inApp {
            if fails {
                kit.application(
                    .shared, didFailToRegisterForRemoteNotificationsWithError: NSError(domain: "test", code: 3_010))
            } else {
                kit.application(
                    .shared, didRegisterForRemoteNotificationsWithDeviceToken: Data((0..<length).map(UInt8.init)))
            }
        }
    }

    private mutating func move() {
        switch self.below(5) {
        case 0..<2: self.bench.toForeground()
        case 2: self.bench.resign()
        case 3: self.bench.toBackground()
        default: self.bench.terminate()
        }
    }

    private mutating func serve() {
        let server = self.bench.server
        switch self.below(10) {
        case 0..<5: server.say("hi")
        case 5..<6: server.readElsewhere()
        case 6..<8: server.setNetwork(.works)
        case 8:
            server.setNetwork(.isSilent)
            self.bench.coverage.note("server mute")
        default:
            server.setNetwork(.refuses)
            self.bench.coverage.note("server refusing")
        }
    }

    private mutating func pass() async {
        let times: [Int64] = [100, 1_000, 3_000, 6_000, 20_000, 40_000]
        self.bench.clock.advance(by: times[self.below(times.count)])
        for _ in 0..<5 { await Task.yield() }
        await self.decide()
    }

    /// The app answers what it was asked to present, after the kit has.
    private mutating func decide() async {
        guard let undecided = self.bench.kit?.undecided, self.bench.kit?.hesitates == true else { return }
        self.bench.coverage.note("presentation answered late", undecided.count)
        self.bench.clock.advance(by: 3_000)
        let handlers = self.handlers
        // Also what was asked before the app hesitated may not have reached the app until then.
        let isAnswered = await self.bench.until { handlers.arePresentationsDone }
        if !isAnswered { self.bench.problem("a presentation is not answered after three seconds") }
        if handlers.lateRings > 0 { self.bench.problem("a presentation that came late was taken") }
        self.bench.kit?.decide()
    }

    private mutating func changePerson() async {
        switch self.below(10) {
        case 0..<5: await self.bench.signIn()
        case 5..<8 where self.bench.isRequested:
            self.bench.coverage.note("disconnected by the app")
            self.bench.disconnect()
        case 8 where self.bench.person != .never: await self.bench.signOut()
        default: break
        }
    }

    private mutating func letGo() async {
        guard self.says(60) else { return }
        await self.decide()
        self.call { $0.backgroundFetch($1) }
        self.call { $0.arrive($1) }
        if !self.handlers.isDone { self.bench.coverage.note("kit let go with handlers open") }
        await self.bench.letGo()
        self.calls.forget()
        self.bench.makeKit()
        if self.says(60) { self.bench.setHandler(true) }
        if self.bench.person == .known || self.bench.person == .unknown, self.says(80) { await self.bench.signIn() }
    }

    // MARK: The badge

    /// A stay in the foreground and one in the background, with the number after every step.
    private mutating func checkBadge() async {
        guard self.bench.person == .known || self.bench.person == .unknown else { return }
        let bench = self.bench
        bench.toForeground()
        guard await bench.caughtUp() else { return }
        let atEnd = self.says(25)
        let written = bench.phone.written
        if atEnd { bench.terminate() } else { bench.resign() }
        let expected = Badge(server: bench.server.unread, position: bench.server.badge.position)
        await self.expectIcon(plus: 0, atEnd ? "badge at the end of the process" : "badge as of resigning")
        if !(await bench.until { bench.storedBadge == expected }) {
            bench.problem("the app group holds \(bench.storedBadge.map { "\($0)" } ?? "nothing"), not \(expected)")
        }
        bench.toBackground()
        guard let client = bench.kit?.client, await bench.until({ client.runState == .backgroundActive }) else {
            return bench.problem("not in the background")
        }
        // From here on the system writes the number too, so the app must have had its say.
        // Below iOS 16 the app writes no 0 over a 0: there is nothing to wait for.
        let isSilent = bench.version < 16 && expected.shown == 0
        if !(await bench.until { isSilent || bench.phone.written >= written + (atEnd ? 2 : 1) }) {
            bench.problem("the badge was not written")
        }
        // What a tap has begun, such as "mark as read", may still reach the server meanwhile: its log says what is right.
        let isRight = await bench.until {
            bench.storedBadge == Badge(server: bench.server.unread, position: bench.server.badge.position)
        }
        if !isRight { bench.problem("leaving made \(expected) \(bench.storedBadge.map { "\($0)" } ?? "nothing")") }
        var foreign = 0
        for _ in 0..<self.below(5) {
            switch self.below(4) {
            case 0:
                bench.server.say("hi")
                await self.expectIcon(plus: foreign, "badge with a message")
            case 1:
                foreign += 1
                bench.pushByAnother()
                await self.expectIcon(plus: foreign, "badge with another sender's push")
            case 2:
                bench.server.readElsewhere()
                await self.expectIcon(plus: foreign, "badge lowered")
            default:
                for _ in 0..<(2 + self.below(2)) {
                    if self.says(70) { bench.server.say("hi") } else { bench.server.readElsewhere() }
                }
                await self.expectIcon(plus: foreign, "badge after several at once")
            }
            guard bench.problems.isEmpty else { return }
        }
    }

    private func expectIcon(plus foreign: Int, _ situation: String) async {
        let bench = self.bench
        bench.coverage.note(situation)
        let server = bench.server
        if !(await bench.until { server.isAcknowledged && bench.phone.icon == server.unread + foreign }) {
            bench.problem(
                """
                \(situation): the icon shows \(bench.phone.icon), the rule says \(server.unread + foreign); acknowledged: \
                \(server.isAcknowledged), \(bench.kit?.client.runState as Any), \
                \(bench.kit?.client.connectionStatus as Any), posted: \(bench.phone.posted.suffix(2)), \
                newest: \(server.newest(2))
                """)
        }
    }

    // MARK: The end

    private mutating func end() async {
        let bench = self.bench
        let handlers = self.handlers
        await self.decide()
        for _ in 0..<40 where !handlers.isDone {
            if await bench.until(milliseconds: 20, { handlers.isDone }) { break }
            bench.clock.advance(by: 2_000)
        }
        _ = await bench.until { handlers.isDone }
        if bench.problems.isEmpty {
            bench.setHandler(true)
            await bench.letGo()
        }
        bench.problems += handlers.wrong
        self.count()
    }

    /// One ring for each message, whoever rang.
    private func count() {
        let bench = self.bench
        let front = self.handlers.rings
        bench.coverage.note("ring in the foreground", front.count)
        let posted = bench.phone.posted.filter(\.rings).map(\.message)
        bench.coverage.note("local notification", posted.count)
        var rings = bench.rings.merging(front) { $0 + $1 }
        for message in posted { rings[message, default: 0] += 1 }
        for (message, count) in rings.sorted(by: { $0.key < $1.key }) where count > 1 {
            bench.problem(
                "\(message) rings \(count) times: \(front[message] ?? 0) in the foreground, \(bench.rings[message] ?? 0) by the"
                    + " system, \(posted.count { $0 == message }) by the kit")
        }
        for handler in self.handlers.all {
            if let result = handler.result {
                bench.coverage.note("fetch \(result == .newData ? "newData" : result == .noData ? "noData" : "failed")")
            }
        }
    }
}

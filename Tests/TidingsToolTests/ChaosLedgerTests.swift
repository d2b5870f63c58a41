import APNsModel
import Testing

@testable import tidings

/// Seven notifications of which each has another outcome, as honest books have them.
private struct Books {
    var ledger = ChaosLedger(notifications: 7)
    var taken: [ChaosFault: Int] = [
        .internalServerError: 1, .loseAnswer: 1, .resetStream: 1, .refuseStream: 1, .shutdown: 1, .expireToken: 2,
        .blackHole: 1, .goAwayEmpty: 3, .tlsAlert: 2, .refuseConnect: 3, .outage: 1,
    ]
    var outages = ChaosLedger.Outages(cut: 4, refused: 2)
    var seen = ChaosLedger.Sightings()

    /// - Parameter change: what is different in these books: the ends and lines of each notification.
    init(_ change: (inout [(ends: [ChaosLedger.Result], lines: [ChaosLine])]) -> Void = { _ in }) {
        self.seen.faults = [
            "InternalServerError": 1, "stream_reset": 1, "stream_refused": 1, "Shutdown": 1, "ExpiredProviderToken": 1,
            "go_away": 4,
        ]
        // Of the four connections the outage cut the client was closing one itself.
        self.seen.closed = ["lost": 4, "connect_failed": 7, "silence": 1, "refused": 5]
        var outcomes: [(ends: [ChaosLedger.Result], lines: [ChaosLine])] = [
            ([.accepted], [.refused(.internalServerError), .accepted]),
            ([.unknown(byReset: false)], [.accepted, .answerLost]),
            ([.unknown(byReset: true)], [.faulted("reset_stream")]),
            ([.notSent], [.faulted("refuse_stream")]),
            ([.refused(.shutdown)], [.refused(.shutdown)]),
            // The answer was under way when the connection fell silent.
            ([.unknown(byReset: false)], [.refused(.expiredProviderToken), .faulted("black_hole")]),
            ([.unknown(byReset: false)], [.refused(.expiredProviderToken)]),
        ]
        change(&outcomes)
        for (number, outcome) in outcomes.enumerated() {
            for end in outcome.ends { self.ledger.ended(number, end) }
            for line in outcome.lines { self.ledger.logged(number, line) }
        }
    }

    func violations(atLeast: Int = 0) -> [String] {
        self.ledger.violations(taken: self.taken, seen: self.seen, outages: self.outages, atLeast: atLeast)
    }
}

@Suite struct `The books of the chaos` {
    @Test func `agree when every notification has one end, and every fault was done and seen`() {
        let books = Books()
        #expect(books.violations() == [])
        #expect(books.ledger.endedCount == 7)
        #expect(books.ledger.sentCount == 6)
        #expect(books.ledger.results[.unknown(byReset: false)] == 3)
        #expect(books.ledger.doubtful(.expireToken) == 1)
        #expect(books.ledger.doubtful(.resetStream) == 0)
    }

    @Test func `break on a notification that never ends, or ends twice`() {
        #expect(Books { $0[3].ends = [] }.violations() == ["notification 3 ended 0 times"])
        #expect(Books { $0[3].ends = [.notSent, .notSent] }.violations() == ["notification 3 ended 2 times"])
    }

    @Test func `break on an accepted notification that the log has lost`() {
        #expect(
            Books { $0[0].lines.removeLast() }.violations() == [
                "notification 0 was reported as accepted, and the log does not have it"
            ])
    }

    @Test func `break on one that was accepted twice, unless its outcome was reported as unknown`() {
        #expect(
            Books { $0[0].lines.append(.accepted) }.violations() == [
                "notification 0 was accepted 2 times, and not reported as unknown"
            ])
        #expect(Books { $0[1].lines.insert(.accepted, at: 0) }.violations() == [])
    }

    @Test func `break on one that was reported as refused or not sent, and accepted`() {
        #expect(
            Books { $0[4].lines.append(.accepted) }.violations() == [
                "notification 4 was reported as refused, and accepted"
            ])
        #expect(
            Books { $0[3].lines.append(.accepted) }.violations() == [
                "notification 3 was reported as not sent, and accepted"
            ])
    }

    @Test func `break on a refusal or a reset that nobody made`() {
        #expect(
            Books { $0[4].ends = [.refused(.badTopic)] }.violations() == [
                "notification 4 was reported as refused for BadTopic, and was not"
            ])
        #expect(
            Books { $0[6].ends = [.unknown(byReset: true)] }.violations() == [
                "notification 6 was reported as reset, and was not",
                "expire_token was injected 2 times, 0 of them in doubt, and the client saw 1",
            ])
    }

    @Test func `break on a log that differs from what the plan has done`() {
        var books = Books()
        books.ledger.logged(0, .refused(.badTopic))
        books.ledger.logged(nil, .accepted)
        #expect(
            books.violations() == [
                "the log has a request that nobody sent: accepted",
                #"the log has what the plan does not do: 1 times refused(APNsModel.APNsReason.badTopic)"#,
            ])
        books = Books()
        books.taken[.cut] = 1
        books.seen.closed["lost"] = 5
        #expect(books.violations() == ["cut was injected 1 times, and the log has 0"])
    }

    @Test(arguments: ChaosFault.allCases.filter { $0.counter != nil && $0 != .expireToken })
    func `break on a fault the client saw too seldom or too often`(fault: ChaosFault) throws {
        let counter = try #require(fault.counter)
        let honest = Books()
        let injected = honest.taken[fault] ?? 0
        for saw in [injected - 1, injected + 1] {
            var books = honest
            books.seen.faults[counter] = saw
            #expect(
                books.violations() == [
                    "\(fault.rawValue) was injected \(injected) times, 0 of them in doubt, and the client saw \(saw)"
                ])
        }
    }

    @Test func `leave open whether an answer in doubt was seen, and no other`() {
        for (saw, count) in [(0, 1), (1, 0), (2, 0), (3, 1)] {
            var books = Books()
            books.seen.faults["ExpiredProviderToken"] = saw
            #expect(books.violations().count == count)
        }
    }

    @Test func `break on a connection or a GOAWAY that was not noticed, or that nobody ended`() {
        var books = Books()
        books.seen.closed["silence"] = 0
        books.seen.faults["go_away"] = 2
        #expect(
            books.violations() == [
                "1 connections fell silent, and the client noticed 0",
                "the plan sent 3 GOAWAYs and 1 with Shutdown, and the client read 2",
            ])
        books.seen.faults["go_away"] = 5
        #expect(books.violations().last == "the plan sent 3 GOAWAYs and 1 with Shutdown, and the client read 5")
    }

    /// Twelve were ended: one cut, five turned away by the plan and two by the outage, four cut by the outage.
    @Test(arguments: [
        (5, 7, 0, true), (4, 7, 0, true), (3, 7, 0, false), (3, 7, 1, true),
        (1, 7, 4, true), (0, 7, 5, false), (1, 7, 3, true), (1, 6, 3, false), (6, 7, 0, false), (4, 8, 0, false),
        (5, 6, 0, true), (5, 5, 0, false), (5, 5, 1, true),
    ])
    func `break on connections that were turned away or cut by an outage, and not noticed or noticed too often`(
        lost: Int, failed: Int, refused: Int, isRight: Bool
    ) {
        var books = Books()
        books.seen.closed = ["lost": lost, "connect_failed": failed, "refused": refused, "silence": 1]
        #expect(books.violations().isEmpty == isRight)
    }

    @Test func `break when a fault was injected too seldom, whichever it is`() {
        let often: [ChaosFault] = [.expireToken, .goAwayEmpty, .tlsAlert, .refuseConnect]
        let seldom = ChaosFault.allCases.filter { !often.contains($0) }
        let injected = { (fault: ChaosFault) in Books().taken[fault] ?? 0 }
        #expect(
            Books().violations(atLeast: 2)
                == seldom.map { "\($0.rawValue) was injected \(injected($0)) times, and should 2 times" })
    }

    @Test func `know a notification by its id`() {
        for number in [0, 1, 199_999, 9_999_999] {
            let id = ChaosRun.apnsID(of: number)
            #expect(APNsFormat.isCanonicalUUID(id.utf8))
            #expect(ChaosRun.number(of: id) == number)
        }
        #expect(ChaosRun.number(of: "123e4567-e89b-12d3-a456-426614174000") == nil)
    }
}

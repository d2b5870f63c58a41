import Foundation
import ServerCore
import Testing
import TidingsModel

@Suite struct `The push verdict` {
    @Test func `sends when nothing speaks against it`() {
        #expect(PushVerdict(PushFacts()) == .send)
    }

    @Test(arguments: PolicyRow.all) func `names the one reason there is`(row: PolicyRow) {
        var facts = PushFacts()
        row.apply(&facts)
        #expect(PushVerdict(facts) == row.verdict)
    }

    @Test func `names the first of two reasons in the order of the policy`() {
        for (index, first) in PolicyRow.all.enumerated() {
            for second in PolicyRow.all[(index + 1)...] {
                var facts = PushFacts()
                second.apply(&facts)
                first.apply(&facts)
                #expect(PushVerdict(facts) == first.verdict, "\(first.verdict) before \(second.verdict)")
            }
        }
    }
}

@Suite struct `The verdict on the number on the icon` {
    @Test func `sends when nothing speaks against it`() {
        #expect(BadgeVerdict(BadgeFacts()) == .send)
    }

    @Test(arguments: BadgeRouteRow.all) func `goes by the way that the phone has`(row: BadgeRouteRow) {
        var facts = BadgeRouteFacts()
        row.apply(&facts)
        #expect(BadgeRoute(facts) == row.route)
        facts.isOnlySender = true
        #expect(BadgeRoute(facts) == (row.route == .silent ? .silent : row.route))
        facts.showsAlerts = false
        #expect(BadgeRoute(facts) == (row.route == .silent ? .silent : .direct))
    }

    @Test(arguments: BadgeRow.all) func `names the one reason there is`(row: BadgeRow) {
        var facts = BadgeFacts()
        row.apply(&facts)
        #expect(BadgeVerdict(facts) == row.verdict)
    }

    @Test func `names the first of two reasons`() {
        for (index, first) in BadgeRow.all.enumerated() {
            for second in BadgeRow.all[(index + 1)...] {
                var facts = BadgeFacts()
                second.apply(&facts)
                first.apply(&facts)
                #expect(BadgeVerdict(facts) == first.verdict, "\(first.verdict) before \(second.verdict)")
            }
        }
    }

    @Test func `has a row for every end and every wait`() {
        #expect(BadgeRouteRow.all.map(\.route) == BadgeRoute.allCases)
        let rows = Set(BadgeRow.all.map(\.verdict))
        for end in BadgeVerdict.BadgeEnd.allCases { #expect(rows.contains(.end(end))) }
        for wait in BadgeVerdict.BadgeWait.allCases { #expect(rows.contains(.wait(wait))) }
    }
}

/// One message on its way to one device, in the words of docs/server/push-policy.md.
struct Situation: Sendable {
    /// Whom the message mentions.
    enum Mention: CaseIterable, Sendable {
        case nobody, me, somebodyElse, everybody
        var mentions: Mentions {
            switch self {
            case .nobody: .none
            case .me: .users(["bob", "carol"])
            case .somebodyElse: .users(["carol"])
            case .everybody: .everyone
            }
        }
    }

    var level: NotificationLevel
    var mention: Mention
    var quiet: PushFacts.QuietHold
    var isRecalled: Bool
    var isRead: Bool
    var isActiveElsewhere: Bool
    var token: PushFacts.Token
    var lease: PushFacts.Presence

    /// All there are.
    static let all: [Situation] = {
        var all: [Situation] = []
        for level in NotificationLevel.allCases {
            for mention in Mention.allCases {
                for quiet in [PushFacts.QuietHold.none, .defer, .drop] {
                    for flags in 0..<8 {
                        for token in [
                            PushFacts.Token.usable, .missing, .quarantined(reason: "BadDeviceToken", status: 400),
                            .dead(timestamp: 9),
                        ] {
                            for lease in [PushFacts.Presence.live, .grace, .gone] {
                                all.append(
                                    Situation(
                                        level: level, mention: mention, quiet: quiet, isRecalled: flags & 1 != 0,
                                        isRead: flags & 2 != 0, isActiveElsewhere: flags & 4 != 0, token: token,
                                        lease: lease))
                            }
                        }
                    }
                }
            }
        }
        return all
    }()

    /// As the core sees it.
    var facts: PushFacts {
        var facts = PushFacts()
        facts.isMuted = !self.level.allows(self.mention.mentions, of: "bob")
        facts.quietHours = self.quiet
        facts.isRecalled = self.isRecalled
        facts.isReadElsewhere = self.isRead
        facts.isActiveElsewhere = self.isActiveElsewhere
        facts.token = self.token
        facts.presence = self.lease
        return facts
    }

    /// The rule once more, in other words: what may ring at all, then what can, then when.
    var expected: String {
        let rung: [NotificationLevel: Set<Mention>] = [
            .all: [.nobody, .me, .somebodyElse, .everybody], .mentions: [.me, .everybody], .mentionsOfMe: [.me],
            .mentionsOfAll: [.everybody], .blocked: [],
        ]
        if self.isRead { return "end read_elsewhere" }
        if self.isRecalled { return "end recalled" }
        if rung[self.level]?.contains(self.mention) != true { return "end muted" }
        switch (self.token, self.lease) {
        case (.missing, _): return "end no_token"
        case (.quarantined, _): return "end token_quarantined"
        case (.dead, _): return "end token_dead"
        case (.usable, _) where self.quiet == .drop: return "end quiet_hours"
        case (.usable, .live): return "wait live"
        case (.usable, .grace): return "wait grace"
        case (.usable, .gone):
            if self.quiet == .defer { return "wait quiet_hours" }
            return self.isActiveElsewhere ? "wait active_elsewhere" : "send"
        }
    }
}

extension PushVerdict {
    var words: String { self.reason.map { "\(self.result) \($0)" } ?? self.result }
}

@Suite struct `The push policy` {
    @Test func `is the same when it is stated twice, in every situation`() {
        var counts: [String: Int] = [:]
        for situation in Situation.all {
            let verdict = PushVerdict(situation.facts).words
            guard verdict == situation.expected else {
                Issue.record("\(situation): \(verdict), but by the other words \(situation.expected)")
                return
            }
            counts[verdict, default: 0] += 1
        }
        #expect(Situation.all.count == 5_760)
        // Each of them comes up, so the comparison is about something.
        #expect(
            counts.keys.sorted() == [
                "end muted", "end no_token", "end quiet_hours", "end read_elsewhere", "end recalled", "end token_dead",
                "end token_quarantined", "send", "wait active_elsewhere", "wait grace", "wait live", "wait quiet_hours",
            ])
    }

    @Test func `has a row for every end and every wait`() {
        let rows = Set(PolicyRow.all.map(\.verdict.words))
        for wait in LegWait.allCases where wait != .inFlight { #expect(rows.contains("wait \(wait.rawValue)")) }
        // Apple's answers are no rows: they come after the push.
        let ends: [LegEnd] = [
            .blocked, .notNotifiable, .settled(.shown), .readElsewhere, .recalled, .expired, .muted,
            .quietHours, .noToken, .tokenQuarantined(reason: "", status: 0), .tokenDead(timestamp: 0),
        ]
        for end in ends { #expect(rows.contains("end \(end.name)")) }
        for before: LegEnd in [.ownDevice, .noDevice, .signedOut, .disabled] {
            #expect(!rows.contains("end \(before.name)"), "decided before the rows")
        }
    }

    @Test func `looks at no fact that the server never sets`() throws {
        let folder = Self.root.appending(path: "Sources/Server/ServerCore")
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        let sources = try files.filter { $0.pathExtension == "swift" && $0.lastPathComponent != "PushVerdict.swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(sources.count > 30, "the sources were not found")
        for facts in [PushFacts() as Any, BadgeFacts() as Any] {
            let names = Mirror(reflecting: facts).children.compactMap(\.label)
            #expect(names.count >= 8)
            #expect(Self.unset(names, in: sources) == [])
        }
        #expect(Self.unset(["isMuted", "isOwnDevice"], in: sources) == ["isOwnDevice"])
    }

    /// The facts that no source sets.
    private static func unset(_ facts: [String], in sources: [String]) -> [String] {
        facts.filter { fact in
            !sources.contains { $0.contains("facts.\(fact) =\n") || $0.contains("facts.\(fact) = ") }
        }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `is what the page says`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/server/push-policy.md"), encoding: .utf8)
        for result in ["end", "wait"] {
            let reasons = PushVerdict.rows.filter { $0.verdict.result == result }.compactMap(\.verdict.reason)
            #expect(page.contains("| \(result) | \(reasons.map { "`\($0)`" }.joined(separator: ", ")) |"))
        }
        let numbered = page.matches(of: /\n\| \d+ \| (?:(?:end|wait) )?`(\w+)`/).map { String($0.1) }
        #expect(
            numbered == BadgeVerdict.BadgeEnd.allCases.map(\.rawValue) + BadgeVerdict.BadgeWait.allCases.map(\.rawValue)
                + BadgeRoute.allCases.map(\.rawValue))
        for level in NotificationLevel.allCases {
            let cells = Situation.Mention.allCases.map { level.allows($0.mentions, of: "bob") ? "rings" : "–" }
            #expect(page.contains("| `\(level.rawValue)` | \(cells.joined(separator: " | ")) |"))
        }
    }
}

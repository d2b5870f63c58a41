import ClientCore
import PhoneCore
import TidingsModel

@testable import ScenarioCore

/// A phone, an app with the SDK and a server, to which random things happen. The same seed gives the same things.
struct RandomPhone {
    static let versions: [OSVersion] = [6, 7, OSVersion(9, 3), 10, 12, 13, 15, 17, 26]
    static let quiet = ConversationID(type: .group, target: "quiet")
    static let actions = "random"

    let seed: UInt64
    let setup: ScenarioCase
    var chance: SplitMix64
    var phone: ScenarioPhone
    var checks: PhoneChecks
    var steps = 0
    private(set) var words: [String] = []
    /// Everything the server has sent, by label.
    var sent: [Sent] = []
    /// Pushes that APNs brings later.
    var late: [(step: Int, push: Push, label: String)] = []

    /// A message of the server's.
    struct Sent {
        var label: String
        var id: MessageID
        var conversation: ConversationID
        var isRecalled = false
    }

    init(seed: UInt64) {
        self.seed = seed
        var chance = SplitMix64(seed: seed)
        self.setup = Self.scenario(&chance)
        self.chance = chance
        self.phone = ScenarioPhone(self.setup)
        self.checks = PhoneChecks(self.phone)
        self.phone.observed = []
        self.phone.prepare()
        // What happens before the first step is not judged, but counted.
        self.checks.follow(self.phone, isBeforeFirstUnlock: false)
        self.phone.observed = []
        self.checks.problems = []
    }

    /// What runs, in a line.
    var summary: String {
        let app = self.setup.app.installed
        return "iOS \(self.setup.phone.version), \(app.lifecycle), "
            + "extension \(app.hasServiceExtension), filtering \(app.hasFilteringEntitlement)"
    }

    /// One random step; false once something is wrong.
    mutating func step() -> Bool {
        self.steps += 1
        self.phone.trace.mark(at: self.phone.now.monotonic)
        self.phone.observed = []
        let wasBeforeFirstUnlock = self.phone.core.screen.lock == .beforeFirstUnlock
        // No two deliveries of one notification have the same date.
        self.phone.advance(by: 1)
        let due = self.late.filter { $0.step <= self.steps }
        self.late.removeAll { $0.step <= self.steps }
        var expected: [String] = []
        var restarts = false
        if let first = due.first {
            self.late += due.dropFirst()
            self.words.append("\(first.label) comes late")
            self.phone.sendPush(first.push, label: first.label)
            self.phone.processQueue()
        } else {
            (expected, restarts) = self.happen()
        }
        self.checks.follow(self.phone, isBeforeFirstUnlock: wasBeforeFirstUnlock || restarts)
        self.checks.check(self.phone, opened: expected)
        return self.checks.problems.isEmpty && self.phone.halted == nil
    }

    mutating func note(_ words: String) { self.words.append(words) }

    /// What a reader needs to see what went wrong.
    var report: String {
        let lines = self.phone.trace.lines.suffix(40).map { "\($0.at) \($0.kind) \($0.text)" }
        return
            (["seed \(self.seed), step \(self.steps): \(self.summary)"] + self.checks.problems
            + [self.phone.halted].compactMap { $0 } + self.words.suffix(12) + lines).joined(separator: "\n  ")
    }

    // MARK: The phone and the app

    private static func scenario(_ chance: inout SplitMix64) -> ScenarioCase {
        let version = Self.versions[chance.below(Self.versions.count)]
        var phone = PhoneSetup(version: version)
        // Pushes of the server's fit no payload of the years before iOS 8.
        phone.settings.payloadLimit = 4_096
        phone.settings.sharesExtensionProcess = chance.says(50)
        // Q12: before iOS 10 an arrival that meets the app inactive cannot be told from a tap, by nobody (S1.8).
        if version < 10 { phone.settings.quirks.inactiveOnArrival = false }
        var methods: DelegateMethods = .modern
        if version < 10 {
            methods = version < 7 || chance.says(30) ? [.receiveRemote] : [.receiveRemoteFetch]
            if version >= 8 { methods.formUnion([.actionRemote, .actionLocal]) }
            methods.insert(.receiveLocal)
        }
        let installed = InstalledApp(
            bundleID: ScenarioPhone.bundle, lifecycle: chance.says(50) ? .scenes : .application, methods: methods,
            hasServiceExtension: version >= 10 && chance.says(75), hasFilteringEntitlement: chance.says(40),
            appGroup: "group.chat")
        var app = AppSetup(installed: installed)
        app.answers[.didReceiveRemoteNotificationFetch] = AnswerHabit(result: .fetch(.noData))
        app.categories = [
            NotificationCategory(
                identifier: Self.actions,
                actions: [
                    NotificationAction(identifier: "look", title: "Look", options: .foreground),
                    NotificationAction(identifier: MessageCategory.markReadAction, title: "Read"),
                ], reportsDismissal: chance.says(50))
        ]
        var sdk = SDKSetup()
        sdk.levels = [Self.quiet: .blocked]
        // What the extension posts is in no model here.
        sdk.fetchesMissed = false
        app.sdk = sdk
        return ScenarioCase(
            name: "random", position: ScenarioPosition(line: 1, column: 1), requirements: [], phone: phone, app: app,
            before: [], start: .foregroundActive, steps: [])
    }
}

extension SplitMix64 {
    /// A number from 0 to one below the limit.
    mutating func below(_ limit: Int) -> Int { Int(self.next() % UInt64(limit)) }
    /// True in so many of 100 cases.
    mutating func says(_ percent: Int) -> Bool { self.below(100) < percent }
    /// One of some.
    mutating func one<Element>(of some: [Element]) -> Element? { some.isEmpty ? nil : some[self.below(some.count)] }
}

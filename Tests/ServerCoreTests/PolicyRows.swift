import ServerCore
import Testing
import TidingsModel

/// The rows of design.md §5 in their order: how the facts come to fit one, and what it answers.
struct PolicyRow: Sendable, CustomTestStringConvertible {
    let fact: String
    let verdict: PushVerdict
    let apply: @Sendable (inout PushFacts) -> Void

    var testDescription: String { self.verdict.words }

    static let all: [PolicyRow] = [
        .init(fact: "block", verdict: .end(.blocked)) { $0.isFromBlocked = true },
        .init(fact: "notifiable", verdict: .end(.notNotifiable)) { $0.isNotifiable = false },
        .init(fact: "settled", verdict: .end(.settled(.appHandled))) { $0.settled = .appHandled },
        .init(fact: "read_elsewhere", verdict: .end(.readElsewhere)) { $0.isReadElsewhere = true },
        .init(fact: "recalled", verdict: .end(.recalled)) { $0.isRecalled = true },
        .init(fact: "expired", verdict: .end(.expired)) { $0.isExpired = true },
        .init(fact: "level", verdict: .end(.muted)) { $0.isMuted = true },
        .init(fact: "token", verdict: .end(.noToken)) { $0.token = .missing },
        .init(fact: "token", verdict: .end(.tokenDead(timestamp: 5))) { $0.token = .dead(timestamp: 5) },
        .init(fact: "token", verdict: .end(.tokenQuarantined(reason: "BadDeviceToken", status: 400))) {
            $0.token = .quarantined(reason: "BadDeviceToken", status: 400)
        },
        .init(fact: "quiet_hours", verdict: .end(.quietHours)) { $0.quietHours = .drop },
        .init(fact: "lease", verdict: .wait(.live)) { $0.presence = .live },
        .init(fact: "lease", verdict: .wait(.grace)) { $0.presence = .grace },
        .init(fact: "quiet_hours", verdict: .wait(.quietHours)) { $0.quietHours = .defer },
        .init(fact: "active_elsewhere", verdict: .wait(.activeElsewhere)) { $0.isActiveElsewhere = true },
        .init(fact: "storm", verdict: .wait(.merging)) { $0.isStorm = true },
        .init(fact: "lane", verdict: .wait(.configFault)) { $0.lane = .configFault },
        .init(fact: "lane", verdict: .wait(.breakerOpen)) { $0.lane = .breakerOpen },
        .init(fact: "retry", verdict: .wait(.throttled)) { $0.retry = .throttled },
        .init(fact: "provider", verdict: .wait(.providerDown)) { $0.retry = .providerDown },
        .init(fact: "provider", verdict: .wait(.providerDown)) { $0.lane = .providerDown },
    ]
}

/// The rows of the verdict on the number on a device's icon, in their order.
struct BadgeRow: Sendable {
    let verdict: BadgeVerdict
    let apply: @Sendable (inout BadgeFacts) -> Void

    static let all: [BadgeRow] = [
        .init(verdict: .end(.switchedOff)) { $0.isSwitchedOff = true },
        .init(verdict: .end(.live)) { $0.isLive = true },
        .init(verdict: .end(.noToken)) { $0.hasToken = false },
        .init(verdict: .end(.right)) { $0.isTooHigh = false },
        .init(verdict: .wait(.restarted)) { $0.isBudgetUnknown = true },
        .init(verdict: .wait(.budget)) { $0.isBudgetSpent = true },
        .init(verdict: .wait(.busy)) { $0.isBusy = true },
        .init(verdict: .wait(.recentAlert)) { $0.isAlertRecent = true },
        .init(verdict: .wait(.lane)) { $0.isLaneHeld = true },
    ]
}

/// The rows of how a phone is told its number, in their order.
struct BadgeRouteRow: Sendable {
    let route: BadgeRoute
    let apply: @Sendable (inout BadgeRouteFacts) -> Void

    static let all: [BadgeRouteRow] = [
        .init(route: .filtered) { $0.iconNumber = .serviceExtension },
        .init(route: .direct) { ($0.iconNumber, $0.isOnlySender) = (.kit, true) },
        .init(route: .silent) { _ in },
    ]
}

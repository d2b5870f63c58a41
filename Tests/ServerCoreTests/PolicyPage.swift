import Foundation
import ServerCore
import Testing
import TidingsModel

/// The rows of design.md §5 in their order: how the facts come to fit one, what it answers, and how the page tells it.
struct PolicyRow: Sendable, CustomTestStringConvertible {
    let name: String
    let verdict: PushVerdict
    /// Rows about the same fact exclude each other.
    let fact: String
    /// What must be so for the row to decide.
    let needs: String
    let apply: @Sendable (inout PushFacts) -> Void

    init(
        _ name: String, _ verdict: PushVerdict, _ needs: String, fact: String? = nil,
        apply: @escaping @Sendable (inout PushFacts) -> Void
    ) {
        self.name = name
        self.verdict = verdict
        self.fact = fact ?? name
        self.needs = needs
        self.apply = apply
    }

    var testDescription: String { self.name }

    static let all: [PolicyRow] = [
        .init("blocked", .end(.blocked), "the person had blocked the sender when the message was stored") {
            $0.isFromBlocked = true
        },
        .init(
            "not_notifiable", .end(.notNotifiable),
            "a command, a chat room, the person's own message, or the sender asked for no push, or for one on other devices"
        ) { $0.isNotifiable = false },
        .init("settled", .end(.settled(.appHandled)), "the device has settled it itself") { $0.settled = .appHandled },
        .init(
            "read_elsewhere", .end(.readElsewhere),
            "the person has read or deleted it on another device, or is no member of the group any more"
        ) {
            $0.isReadElsewhere = true
        },
        .init("recalled", .end(.recalled), "it was recalled before it was sent") { $0.isRecalled = true },
        .init("expired", .end(.expired), "its lifetime, or `push.lifetime_milliseconds`, is over") {
            $0.isExpired = true
        },
        .init("muted", .end(.muted), "the conversation's level, or its kind's, does not let it ring") {
            $0.isMuted = true
        },
        .init("no_token", .end(.noToken), "the device has registered no push token", fact: "token") {
            $0.token = .missing
        },
        .init(
            "token_dead", .end(.tokenDead(timestamp: 5)), "APNs has said 410, newer than the registration",
            fact: "token"
        ) { $0.token = .dead(timestamp: 5) },
        .init(
            "token_quarantined", .end(.tokenQuarantined(reason: "BadDeviceToken", status: 400)),
            "APNs has refused the token, and it has not registered again", fact: "token"
        ) { $0.token = .quarantined(reason: "BadDeviceToken", status: 400) },
        .init("quiet_hours", .end(.quietHours), "quiet hours whose pushes the person wants dropped", fact: "quiet") {
            $0.quietHours = .drop
        },
        .init("live", .wait(.live), "a connection carries it whose deadline has not passed", fact: "lease") {
            $0.presence = .live
        },
        .init("grace", .wait(.grace), "the phone may come straight back", fact: "lease") { $0.presence = .grace },
        .init("quiet_hours", .wait(.quietHours), "quiet hours, until they end", fact: "quiet") {
            $0.quietHours = .defer
        },
        .init(
            "active_elsewhere", .wait(.activeElsewhere),
            "the person has just done something on another device that is in the foreground"
        ) { $0.isActiveElsewhere = true },
        .init("merging", .wait(.merging), "many alerts of this conversation came, and it does not mention the person") {
            $0.isStorm = true
        },
        .init("config_fault", .wait(.configFault), "the push credential is missing or refused", fact: "lane") {
            $0.lane = .configFault
        },
        .init(
            "breaker_open", .wait(.breakerOpen),
            "APNs refuses tokens, and it does not show yet whether these or their lane are at fault", fact: "lane"
        ) {
            $0.lane = .breakerOpen
        },
        .init("throttled", .wait(.throttled), "APNs said that this token gets too many", fact: "retry") {
            $0.retry = .throttled
        },
        .init("provider_down", .wait(.providerDown), "APNs cannot be reached, or fails", fact: "retry") {
            $0.retry = .providerDown
        },
    ]
}

/// The rows of the verdict on the number on a device's icon, in their order.
struct BadgeRow: Sendable, CustomTestStringConvertible {
    let verdict: BadgeVerdict
    /// What must be so for the row to decide.
    let needs: String
    let apply: @Sendable (inout BadgeFacts) -> Void

    init(_ verdict: BadgeVerdict, _ needs: String, apply: @escaping @Sendable (inout BadgeFacts) -> Void) {
        self.verdict = verdict
        self.needs = needs
        self.apply = apply
    }

    var testDescription: String { self.verdict.words }

    static let all: [BadgeRow] = [
        .init(.end(.switchedOff), "`policy.badge_pushes_per_hour` is 0") { $0.isSwitchedOff = true },
        .init(.end(.live), "a connection tells the app, which shows the number itself") { $0.isLive = true },
        .init(.end(.noToken), "the device has no push token that may work") { $0.hasToken = false },
        .init(.end(.right), "the phone was told this number, or a lower one") { $0.isTooHigh = false },
        .init(
            .wait(.restarted),
            "the server has just started and does not know what the device was sent; until it connects, an hour at most"
        ) { $0.isBudgetUnknown = true },
        .init(.wait(.budget), "it was sent as many this hour as it may be") { $0.isBudgetSpent = true },
        .init(.wait(.busy), "the phone may come straight back, or an alert is under way, which carries the number") {
            $0.isBusy = true
        },
        .init(
            .wait(.recentAlert),
            "the number is an alert itself, and another one went out less than \(ServerSettings().badgeAlertGap / 1_000) s ago"
        ) { $0.isAlertRecent = true },
        .init(.wait(.lane), "nothing is sent in its lane, or it is tried out: a number is worth no probe") {
            $0.isLaneHeld = true
        },
    ]
}

/// The rows of how a phone is told its number, in their order.
struct BadgeRouteRow: Sendable, CustomTestStringConvertible {
    let route: BadgeRoute
    let push: String
    let needs: String
    let apply: @Sendable (inout BadgeRouteFacts) -> Void

    var testDescription: String { self.route.rawValue }

    static let all: [BadgeRouteRow] = [
        .init(
            route: .filtered,
            push: "an alert without sound, passive, that the service extension reduces to the number",
            needs:
                "the kit manages the number, on iOS 15 or later, the extension may discard alerts and has run there, and the person allows alerts"
        ) { $0.iconNumber = .serviceExtension },
        .init(
            route: .direct, push: "`aps` with `badge` alone, which the system sets",
            needs:
                "the kit manages the number, and the app has declared that nobody else pushes to it (`push.only_sender`)"
        ) {
            $0.iconNumber = .kit
            $0.isOnlySender = true
        },
        .init(route: .silent, push: "a silent push", needs: "otherwise") { _ in },
    ]
}

/// The page docs/push-policy.md, made from the rows and from what the verdict says.
///
/// `TIDINGS_WRITE_DOCS=1` writes it; otherwise it is compared.
enum PolicyPage {
    static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/push-policy.md")

    static func check() throws {
        if ProcessInfo.processInfo.environment["TIDINGS_WRITE_DOCS"] == "1" {
            try Self.text.write(to: Self.path, atomically: true, encoding: .utf8)
        }
        let page = (try? String(contentsOf: Self.path, encoding: .utf8)) ?? ""
        #expect(page == Self.text, "docs/push-policy.md is out of date: run this test with TIDINGS_WRITE_DOCS=1")
    }

    private static let examples: [(String, Situation)] = [
        ("nothing speaks against it", .plain),
        (
            "a message in a muted group that mentions me, at level `mentions`",
            .plain.with {
                $0.level = .mentions; $0.mention = .me
            }
        ),
        (
            "the same, mentioning somebody else",
            .plain.with {
                $0.level = .mentions; $0.mention = .somebodyElse
            }
        ),
        (
            "`@all` at level `mentions_of_me`",
            .plain.with {
                $0.level = .mentionsOfMe; $0.mention = .everybody
            }
        ),
        (
            "a mention of me at level `blocked`",
            .plain.with {
                $0.level = .blocked; $0.mention = .me
            }
        ),
        ("at night, quiet hours that defer", .plain.with { $0.quiet = .defer }),
        ("at night, quiet hours that drop", .plain.with { $0.quiet = .drop }),
        (
            "the same, and the app never registered for pushes",
            .plain.with {
                $0.quiet = .drop; $0.token = .missing
            }
        ),
        (
            "at night, recalled meanwhile",
            .plain.with {
                $0.quiet = .defer; $0.isRecalled = true
            }
        ),
        ("the person writes on the iPad", .plain.with { $0.isActiveElsewhere = true }),
        (
            "and reads it there",
            .plain.with {
                $0.isActiveElsewhere = true; $0.isRead = true
            }
        ),
        ("the phone has just lost its socket", .plain.with { $0.lease = .grace }),
        (
            "the app never registered for pushes",
            .plain.with {
                $0.token = .missing; $0.quiet = .defer
            }
        ),
    ]

    static var text: String {
        var lines = [
            "# When a push is sent", "",
            "This page is made from the rule and held against it by a test; the rule itself is one file,",
            "[PushVerdict.swift](../Sources/Server/ServerCore/Push/PushVerdict.swift). It is asked for each *leg*, one message on its",
            "way to one device, when a connection does not carry it.", "",
            "The rows are tried from the top; the first that fits decides. An **end** is for good: the message stays in the person's log,",
            "the device gets it when it syncs, and nothing rings. A **wait** is looked at again when its reason goes away. All rows are gone",
            "through again at the moment of sending, also after each wait. What the names mean to an operator stands in",
            "[errors.md](errors.md#ends-of-a-leg).", "",
            "A [call](api.md#calls) is no leg and passes by all rows, levels and quiet hours: it rings or it does not, at once. Only a block refuses it, before anything is sent.",
            "", "## The rows", "", "| # | verdict | when |", "|---|---|---|",
        ]
        for (index, row) in PolicyRow.all.enumerated() {
            let verdict = row.verdict.words.split(separator: " ")
            lines.append("| \(index + 1) | \(verdict[0]) `\(verdict[1])` | \(row.needs) |")
        }
        lines.append("| \(PolicyRow.all.count + 1) | send | nothing speaks against it |")
        lines += [
            "", "## Before the rows", "",
            "These legs end before anybody asks, where it is first known, so that a crash loses none of them:", "",
            "| end | when | where |", "|---|---|---|",
        ]
        lines += Self.before.map {
            "| \($0.ends) | \($0.when) | [\($0.file)](../Sources/Server/\($0.path)\($0.file)) |"
        }
        lines += [
            "", "## The number on the icon", "",
            "When the person's unread count falls, because they have read on another device or a message was recalled, a push tells the",
            "new number to phones that show a higher one. Rows of the same file decide it, in the same way:", "",
            "| # | verdict | when |", "|---|---|---|",
        ]
        for (index, row) in BadgeRow.all.enumerated() {
            let verdict = row.verdict.words.split(separator: " ")
            lines.append("| \(index + 1) | \(verdict[0]) `\(verdict[1])` | \(row.needs) |")
        }
        lines.append("| \(BadgeRow.all.count + 1) | send | nothing speaks against it |")
        lines += [
            "",
            "Which push that is, rows say as well. None of them is a message or has a leg, rings, or leaves anything in the list:",
            "",
            "| # | push | what goes out | when |", "|---|---|---|---|",
        ]
        for (index, row) in BadgeRouteRow.all.enumerated() {
            lines.append("| \(index + 1) | `\(row.route.rawValue)` | \(row.push) | \(row.needs) |")
        }
        lines += [
            "", "## Which messages a level lets ring", "", "| level | no mention | me | somebody else | everybody |",
            "|---|---|---|---|---|",
        ]
        for level in NotificationLevel.allCases {
            let cells = [Situation.Mention.nobody, .me, .somebodyElse, .everybody].map { mention in
                let situation = Situation.plain.with {
                    $0.level = level; $0.mention = mention
                }
                return PushVerdict(situation.facts) == .send ? "rings" : "–"
            }
            lines.append("| `\(level.rawValue)` | \(cells.joined(separator: " | ")) |")
        }
        lines += ["", "## Examples", "", "| what is | verdict |", "|---|---|"]
        for (words, situation) in Self.examples {
            lines.append("| \(words) | \(Self.marked(PushVerdict(situation.facts).words)) |")
        }
        lines += Self.notes
        return lines.joined(separator: "\n") + "\n"
    }

    /// The ends that are given before the verdict is asked.
    static let before: [(ends: String, names: [LegEnd], when: String, path: String, file: String)] = [
        (
            "`own_device`", [.ownDevice], "the message was sent from this device: when the leg would begin",
            "ServerCore/Sessions/", "Sending.swift"
        ),
        (
            "`no_device`", [.noDevice], "the person has no device: by the store, in the transaction of the message",
            "StoreModel/", "ReferenceStore+Messages.swift"
        ),
        (
            "`signed_out`, `disabled`", [.signedOut, .disabled],
            "the device signs out, or the person is banned: by the store, in that transaction, for all that is undecided",
            "StoreModel/", "ReferenceStore+Devices.swift"
        ),
    ]

    private static func marked(_ verdict: String) -> String {
        let words = verdict.split(separator: " ")
        return words.count == 2 ? "\(words[0]) `\(words[1])`" : verdict
    }

    private static let notes: [String] = {
        let settings = ServerSettings()
        return [
            "", "## Times and numbers", "",
            "- `active_elsewhere`: something the *person* did (connected in the foreground, came to the foreground, sent, read, opened, typed, asked) less than",
            "  \(settings.activeElsewhereTime / 1_000) s ago, on a device in the foreground. What the app does by itself, such as acks and pings, is not the person. The wait is",
            "  over at once when that device leaves the foreground.",
            "- `merging`: after \(settings.stormLimit) alerts of one conversation to a device within \(settings.stormWindow / 1_000) s the next ones wait for the end of that window",
            "  and go as one, with their number, under the newest one's id. It opens the next window, in which all wait. A mention of the",
            "  person goes at once.",
            "- After `config_fault`, `breaker_open` or `provider_down`, once the oldest alert of a conversation that waited for it is \(settings.outageMergeAge / 60_000) minutes old,",
            "  all of them go as one, with their number.",
            "- What a push says of a message without a text of its own, the phone says of it too: [the SDK](sdk.md#what-notifications-say).",
            "- Quiet hours go by the clock on the person's wall. Over a change of that clock: a begin or an end it never shows is the moment it",
            "  is put forward; of one it shows twice, they begin at the first and end at the second. As long as the zone is not known the leg waits.",
            "- A phone in the background holds quiet hours too: it shows nothing by itself and hangs up, so that these rows decide, and it rings",
            "  when they are over, or never.",
            "- A recall is a leg of its own, to devices that have shown the message or may have. It makes no sound, so neither level nor",
            "  hour holds it up; all other rows hold. Other senders' share of the number goes down with it if the message was unread and not",
            "  muted, as the store knows.",
            "- When the number on the icon falls otherwise, its push goes \(settings.badgePushDelay / 1_000) s later, so that what falls",
            "  together goes together: `silent` \(settings.badgePushesPerHour) an hour at most, `direct` \(settings.directBadgesPerHour), `filtered` by its distance from the last alert alone. APNs is not to keep",
            "  it: an alert that waits there for a phone that is off must not give way to it. All go with priority 5.",
            "- The notifications of what was read leave the list when the phone has the log: with `filtered` the extension asks for it, with `silent` the app does,",
            "  with `direct` the extension of the next push or the app in the foreground. No extension shows a number of an earlier log position",
            "  than the one it has; `direct` alone is compared with nothing, so one that is late or for the person before stands until the next",
            "  push or the next look at the app. That is why the app has to ask for it.",
        ]
    }()
}

extension Situation {
    /// Nothing special.
    static let plain = Situation(
        level: .all, mention: .nobody, quiet: .none, isRecalled: false, isRead: false, isActiveElsewhere: false,
        token: .usable, lease: .gone)

    func with(_ change: (inout Situation) -> Void) -> Situation {
        var copy = self
        change(&copy)
        return copy
    }
}

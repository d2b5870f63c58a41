import Testing
import TidingsModel

@testable import PhoneCore

/// One cell of a table of ios-delivery.md §5: a state, a class, and everything that comes of it in order.
struct ArrivalCell: Sendable, CustomTestStringConvertible {
    var state: String
    var column: String
    var story: [String]

    var testDescription: String { "\(self.column) in \(self.state)" }

    /// Reads a table: the first line names the columns, each further one a state and its cells, parted by `|`. A dash is
    /// an empty cell; `show` is everything the content has; words such as `woken` are short for what `events` says.
    static func table(_ text: String) -> [ArrivalCell] {
        let lines = text.split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        }
        return lines.dropFirst().flatMap { line in
            zip(lines[0], line).dropFirst().map { column, cell in
                ArrivalCell(
                    state: line[0], column: column,
                    story: cell.split(separator: " ").flatMap {
                        Self.events(String($0), column: column, state: line[0])
                    })
            }
        }
    }

    private static func events(_ word: String, column: String, state: String) -> [String] {
        let badge = column == "A" || column == "M" ? ",badge" : ""
        switch word {
        case "-": return []
        case "show": return ["show(banner,list,sound\(badge)\(state == "BFU" ? ",lit" : ""))"]
        case "hidden": return ["none(inForegroundBeforeIOS10)"]
        case "alone": return ["none(inForegroundWithoutDelegate)"]
        case "woken": return ["wake(delivered)", "RF(background)"]
        case "launched": return ["wake(delivered)", "WF", "DF(remoteNotification)", "RF(background)"]
        case "held": return ["wake(heldBeforeFirstUnlock)"]
        case "lost": return ["wake(discardedForceQuit)"]
        case "deaf": return ["wake(notImplemented)"]
        default: return [word]
        }
    }

    func play(on rig: PhoneRig) -> [String] {
        var rig = rig
        rig.enter(row: self.state)
        switch self.column {
        case "A": rig.push(Payload.alert, collapse: "m")
        case "AC": rig.push(Payload.alertAndContent, collapse: "m")
        case "C": rig.push(Payload.content)
        case "M": rig.push(Payload.mutable, collapse: "m")
        default: rig.fireLocal()
        }
        return rig.story + rig.faults.map { "fault(\($0))" }
    }
}

extension PhoneRig {
    /// Brings the app into a state by its code in ios-delivery.md §2.1.
    mutating func enter(row: String) {
        switch row {
        case "FA": self.enter(.foregroundActive)
        case "FI": self.enter(.foregroundInactive)
        case "BR": self.enter(.backgroundRunning)
        case "SU": self.enter(.suspended)
        case "NK": self.enter(.notRunning)
        case "NQ": self.enter(.forceQuit)
        default:
            self.send(.system(.restarted))
            self.clear()
        }
    }

    mutating func fireLocal(category: String = "") {
        let index = self.core.index(of: Self.chat) ?? 0
        self.core.apps[index].center.schedule.requests = [
            ScheduledRequest(
                request: NotificationRequest(
                    identifier: "m",
                    content: NotificationContent(
                        body: "hello", sound: .standard, categoryIdentifier: category),
                    trigger: .timeInterval(milliseconds: 1, repeats: false)),
                fireAt: self.now.monotonic)
        ]
        self.send(.timerReached)
    }

    /// Calls, presentations, wakes and ends in their order since `clear`.
    var story: [String] {
        self.effects.compactMap { effect in
            switch effect {
            case .call(_, _, let callback, let state): callback.short(state)
            case .record(let record):
                switch record.entry {
                case .presentation(let record): record.story
                case .wake(_, let outcome): "wake(\(outcome.rawValue))"
                case .refused(_, let reason): "refused(\(reason.rawValue))"
                case .processEnded(let process, let reason):
                    process.role == .app ? "ended(\(reason.rawValue))" : nil
                default: nil
                }
            default: nil
            }
        }
    }
}

extension PresentationRecord {
    var story: String {
        let parts = [
            (self.banner, "banner"), (self.panel, "panel"), (self.list, "list"), (self.sound, "sound"),
            (self.badge != nil, "badge"), (self.lit, "lit"),
        ].filter(\.0).map(\.1)
        if parts.isEmpty { return "none(\(self.reason.rawValue))" }
        return "show(\(parts.joined(separator: ",")))"
    }
}

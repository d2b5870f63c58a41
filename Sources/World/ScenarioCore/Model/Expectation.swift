package import PhoneCore
package import TidingsModel

package struct Expectation: Equatable, Sendable {
    /// At least one, or alternatives.
    package var checks: [ExpectedValue]
    /// Alternatives, at least one of which must hold as well; two or more, or none.
    package var alternatives: [[ExpectedValue]] = []
    /// With an app's own code only, as what follows.
    package var screen: ScreenCheck?
    /// Milliseconds; nil is the case's `stepTime`.
    package var within: Int64?
}

package struct ExpectedValue: Equatable, Sendable {
    package var key: ExpectKey
    package var position: ScenarioPosition
    package var choices: [ExpectedRows]
}

package struct ExpectedRows: Equatable, Sendable {
    package var rows: [ExpectedRow]
    /// True if they may stand anywhere, in any order and with others between them; otherwise they are all there is, in this order.
    package var isAnywhere = false
}

package enum ExpectedRow: Equatable, Sendable {
    case text(String)
    case part(String)
    case call(ExpectedCall)
    case presentation(ExpectedPresentation)
    case activity(String, contentState: JSONValue?)
}

/// An expected call. Members that are nil are not checked.
package struct ExpectedCall: Equatable, Sendable {
    package var name: String
    package var state: ApplicationState?
    package var arguments: [String]
    package var label: String?
    /// Milliseconds since the last `expect` or `clear`.
    package var at: Int64?
}

package struct ExpectedPresentation: Equatable, Sendable {
    /// Nil is not checked.
    package var label: String?
    package var parts: [PresentationPart]
}

/// A part of a notification that a person sees or hears (ios-delivery.md §5.0).
package enum PresentationPart: String, Equatable, Sendable, CaseIterable {
    case banner
    case panel
    case list
    case sound
    case badge

    static func parts(of record: PresentationRecord) -> [PresentationPart] {
        (record.banner ? [.banner] : []) + (record.panel ? [.panel] : []) + (record.list ? [.list] : [])
            + (record.sound ? [.sound] : []) + (record.badge != nil ? [.badge] : [])
    }
}

package enum ExpectKey: String, Hashable, Sendable, CaseIterable {
    case callbacks, shown, reasons, wakes, undelivered, results, started, ended, faults, activityChanges
    case state, badge, list, banners, panel, summary, activities, prompt, lock, inForeground, prewarmed, screen, texts,
        calls, options, people, says
    case server, opened, customMessages, settled, told, way, attached, donations, runState

    enum Form {
        case calls, presentations, words([String]), labels, conversations, texts, word([String]), number, flag, text
        case activities, activityChanges, undelivered

        var isList: Bool {
            switch self {
            case .calls, .presentations, .words, .labels, .conversations, .texts, .activities, .activityChanges,
                .undelivered:
                true
            case .word, .number, .flag, .text: false
            }
        }
    }

    var form: Form {
        switch self {
        case .callbacks: .calls
        case .shown: .presentations
        case .reasons: .words(PresentationReason.allCases.map(\.rawValue))
        case .wakes: .words(WakeOutcome.allCases.map(\.rawValue))
        case .results: .words(FetchResult.allCases.map { "\($0)" })
        case .ended: .words(EndReason.allCases.map(\.rawValue))
        case .faults, .texts, .calls, .options, .people, .says, .server, .settled, .told, .way, .attached, .donations:
            .texts
        case .started: .words(ProcessID.Role.words)
        case .list, .banners, .panel, .summary, .customMessages: .labels
        case .opened: .conversations
        case .activities: .activities
        case .activityChanges: .activityChanges
        case .undelivered: .undelivered
        case .state: .word(StartState.allCases.filter { $0 != .beforeFirstUnlock }.map(\.rawValue))
        case .badge: .number
        case .prompt, .inForeground, .prewarmed: .flag
        case .lock: .word(LockState.allCases.map(\.rawValue))
        case .screen: .text
        case .runState: .word(["foreground", "backgroundActive", "backgroundSuspended"])
        }
    }

    var needsSDK: Bool {
        [.server, .opened, .customMessages, .settled, .told, .way, .attached, .donations, .runState].contains(self)
    }
}

package enum UndeliveredReason: String, Equatable, Sendable, CaseIterable {
    /// APNs has no token: the app is not registered, or the phone is another one (ios-delivery.md §4 gate 1, §13).
    case noToken
    /// Larger than its era and kind allow (ios-delivery.md §3.1).
    case payloadTooLarge
    /// Too many VoIP pushes brought no call (ios-delivery.md §12).
    case voipBlocked
    /// A newer one took its place while the phone could not be reached (ios-delivery.md §3.2).
    case overwritten
    /// The phone could not be reached, and it is not to be stored: `apns-expiration` 0.
    case notStored
    case expired

    init(_ reason: RefusalReason) {
        switch reason {
        case .payloadTooLarge: self = .payloadTooLarge
        case .voipBlocked: self = .voipBlocked
        }
    }
}

extension ProcessID.Role {
    static let words = [Self.app, .serviceExtension].map(\.rawValue)
}

public import TidingsModel

/// One row of the app's table of screens: which notifications it is for, and how their screen is put on what is open
/// (S1.16–S1.18).
public enum NavigationEntry: Hashable, Sendable {
    /// The chat screens of all conversations whose kind has no row of its own.
    case conversations(NavigationPolicy)
    /// The chat screens of the conversations of one kind; never a chat room (S0.17).
    case kind(ConversationType, NavigationPolicy)
    /// A screen of the app's own, by its name, for pushes with one of these values of `type`: from the app's server, or from Tidings with
    /// `type` among the `custom` members of a message. It takes precedence over the push's conversation.
    case detail(types: [String], screen: String, NavigationPolicy = .fromRoot)

    var policy: NavigationPolicy {
        switch self {
        case .conversations(let policy), .kind(_, let policy), .detail(_, _, let policy): policy
        }
    }

    /// Keys that every payload has: a table that lists one of these as a type has confused key and value.
    static let reservedTypes = ["aps", NotificationPayload.key, PushInfo.key]

    /// Throws for the first row that breaks a rule by itself or says again what a row before it has said.
    static func check(_ table: [NavigationEntry]) throws(InvalidField) {
        var told: Set<Subject> = []
        for (index, entry) in table.enumerated() {
            try entry.check(row: "table[\(index)]")
            for subject in entry.subjects where !told.insert(subject).inserted {
                throw InvalidField(
                    field: "table[\(index)].\(subject.field)",
                    rule: "must not be \(subject.name): a row before is for it")
            }
        }
    }

    private func check(row: String) throws(InvalidField) {
        if let tab = self.policy.tab, tab < 0 {
            throw InvalidField(field: "\(row).tab", rule: "must be 0 or more, got \(tab)")
        }
        switch self {
        case .conversations: break
        case .kind(let kind, _):
            if kind.notificationCode == nil {
                throw InvalidField(field: "\(row).kind", rule: "must not be \(kind): no notification opens one")
            }
        case .detail(let types, let screen, _):
            if screen.isEmpty { throw InvalidField(field: "\(row).screen", rule: "must not be empty") }
            if types.isEmpty { throw InvalidField(field: "\(row).types", rule: "must name a type") }
            for type in types {
                if type.isEmpty { throw InvalidField(field: "\(row).types", rule: "must not hold an empty text") }
                if Self.reservedTypes.contains(type) {
                    throw InvalidField(
                        field: "\(row).types", rule: "must not hold \"\(type)\", which names a part of every payload")
                }
            }
        }
    }

    /// The subject that only one row may have.
    private enum Subject: Hashable {
        case conversations
        case kind(ConversationType)
        case type(String)
        case screen(String)

        var field: String {
            switch self {
            case .conversations: "conversations"
            case .kind: "kind"
            case .type: "types"
            case .screen: "screen"
            }
        }

        var name: String {
            switch self {
            case .conversations: "told twice"
            case .kind(let kind): "\(kind)"
            case .type(let name), .screen(let name): "\"\(name)\""
            }
        }
    }

    private var subjects: [Subject] {
        switch self {
        case .conversations: [.conversations]
        case .kind(let kind, _): [.kind(kind)]
        case .detail(let types, let screen, _): [.screen(screen)] + types.map { .type($0) }
        }
    }
}

import TidingsModel

/// Limits of one app in the place of the server's: what a person of it has, and what all of it has together. What stands here nowhere is the
/// server's.
package struct AppLimits: Hashable, Sendable {
    package enum Rate: Hashable, Sendable {
        case limit(RateLimit)
        case unlimited

        /// Reads a limit as the configuration writes it: `RATE/BURST`, or `none`. Nil for other text.
        package init?(_ text: String) {
            guard text != Self.none else { self = .unlimited; return }
            guard let limit = RateLimit(text) else { return nil }
            self = .limit(limit)
        }

        package var text: String {
            switch self {
            case .limit(let limit): limit.text
            case .unlimited: Self.none
            }
        }

        private static let none = "none"
        package static let rule =
            "must be RATE/BURST with whole numbers from 1 to \(RateLimit.perSecondMax) and \(RateLimit.burstMax), or none"
    }

    /// Connections and addresses are the server's: who they are of is known only later.
    package static let scopes: [RateScope] = [.person, .app]
    package static let kinds: [RateKind] = [.messages, .bytes, .signals, .requests, .deliveries, .connects]

    private struct Place: Hashable, Sendable {
        var scope: RateScope
        var kind: RateKind
    }

    private var rates: [Place: Rate] = [:]

    package init() {}

    package var isEmpty: Bool { self.rates.isEmpty }

    package subscript(scope: RateScope, kind: RateKind) -> Rate? {
        get { self.rates[Place(scope: scope, kind: kind)] }
        set { self.rates[Place(scope: scope, kind: kind)] = newValue }
    }

    /// The server's, with these in their place.
    package func over(_ limits: RateLimits) -> RateLimits {
        var limits = limits
        // tidy: order does not leave: each has a place of its own
        for (place, rate) in self.rates {
            switch rate {
            case .limit(let limit): limits[place.scope, place.kind] = limit
            case .unlimited: limits[place.scope, place.kind] = nil
            }
        }
        return limits
    }
}

extension AppLimits {
    /// Without scopes and kinds of which nothing is said.
    var json: JSONMembers {
        let scopes = Self.scopes.map { scope in
            (
                scope.rawValue,
                JSONMembers.given(JSONMembers(pairs: Self.kinds.map { ($0.rawValue, self[scope, $0]?.text) }))
            )
        }
        return JSONMembers(pairs: scopes.filter { !$0.1.isEmpty })
    }

    init(json fields: JSONFields) throws(InvalidField) {
        for scope in Self.scopes {
            guard let rates = try fields.inner(scope.rawValue) else { continue }
            for kind in Self.kinds {
                guard let text = try rates.given(kind.rawValue, as: String.self) else { continue }
                guard let rate = Rate(text) else {
                    throw rates.problem(kind.rawValue, "\(Rate.rule), got \"\(text)\"")
                }
                self[scope, kind] = rate
            }
            try rates.refuseUnknown()
        }
        try fields.refuseUnknown()
    }
}

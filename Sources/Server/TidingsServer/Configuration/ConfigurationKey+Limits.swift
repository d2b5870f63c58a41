import ServerCore
import StoreModel

extension ConfigurationKey {
    static let limits: [ConfigurationKey] =
        [
            .init(
                "limits.mode",
                "none carries out everything, whatever the other limits say; for proofs and measurements",
                .choice(\.limitsMode, ["enforce", "none"]))
        ] + Self.rates
        + [
            .init(
                "limits.person.backlog", "commands of a person that may wait for the disk before more are refused",
                .integer(\.core.personBacklogMax, 1...1_000_000)),
            .init(
                "limits.person.reads", "of these, pages of the log, histories and lists of receipts",
                .integer(\.core.personReadsMax, 1...1_000)),
            .init(
                "limits.app.backlog", "the same for an app, its backend included",
                .integer(\.core.appBacklogMax, 1...1_000_000)),
        ]

    private static let rates: [ConfigurationKey] = RateScope.allCases.flatMap { scope in
        RateKind.allCases.filter { RateLimits()[scope, $0] != nil }.map { kind in
            ConfigurationKey(
                "limits.\(scope.rawValue).\(kind.rawValue)",
                "\(Self.words(of: kind)) \(Self.words(of: scope)): so many a second on average / so many at once",
                .rate(scope, kind))
        }
    }

    private static func words(of kind: RateKind) -> String {
        switch kind {
        case .messages: "messages"
        case .bytes: "bytes of frames (a frame counts as at least \(ServerCore.frameBytesMin))"
        case .signals: "typing, opened notifications and run states"
        case .requests: "requests, syncs, read cursors and push registrations"
        case .deliveries: "entries in logs, and tenths of hearers, that messages and requests make"
        case .connects: "connections"
        case .failures: "refused tokens"
        case .refusals: "frames that are refused or dropped before the connection is closed"
        case .installations:
            "anonymous people (each counts as \(ServerCore.installationCost)) and renewals of their tokens"
        }
    }

    private static func words(of scope: RateScope) -> String {
        switch scope {
        case .connection: "of a connection"
        case .person: "of a person"
        case .app: "of an app"
        case .address: "of an address (of IPv6 the first 64 bits; not of this machine)"
        }
    }
}

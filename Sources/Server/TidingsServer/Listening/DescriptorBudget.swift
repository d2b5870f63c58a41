import Foundation
import Logging

/// How many connections each listener may have, so that all of them together leave some of the process's open files over: each
/// connection is one. Otherwise unauthenticated connections could use them up, and nothing could be accepted, opened or sent.
struct DescriptorBudget: Equatable {
    /// How many files the process may have open.
    let limit: Int
    let gateway: Int
    let api: Int
    let phone: Int

    /// Kept for everything that is no client: the database and its log, listening sockets, connections to APNs.
    static let reserve = 128
    static let httpMin = 8

    /// An eighth at most for each HTTP listener, the rest for the gateway, none more than it is configured to have.
    init(limit: Int, _ configuration: ServerConfiguration) {
        let limit = max(limit, 4 * Self.httpMin)
        let free = limit - min(Self.reserve, limit / 4)
        self.limit = limit
        self.api = min(configuration.api.connectionsMax, max(Self.httpMin, free / 8))
        self.phone = min(configuration.phone.connectionsMax, max(Self.httpMin, free / 8))
        self.gateway = min(configuration.gateway.connectionsMax, max(1, free - self.api - self.phone))
    }

    func applied(to configuration: ServerConfiguration) -> ServerConfiguration {
        var configuration = configuration
        configuration.gateway.connectionsMax = self.gateway
        configuration.api.connectionsMax = self.api
        configuration.phone.connectionsMax = self.phone
        return configuration
    }

    /// Raises the limit of open files as far as the system allows, and logs if it is too low for the configuration.
    static func claim(_ configuration: ServerConfiguration, logger: Logger) -> DescriptorBudget {
        var limits = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limits) == 0 else { return DescriptorBudget(limit: .max, configuration) }
        if limits.rlim_cur < limits.rlim_max {
            limits.rlim_cur = limits.rlim_max
            _ = setrlimit(resource, &limits)
            _ = getrlimit(resource, &limits)
        }
        let budget = DescriptorBudget(limit: Int(clamping: limits.rlim_cur), configuration)
        for (key, wanted, given) in [
            ("gateway.connections_max", configuration.gateway.connectionsMax, budget.gateway),
            ("api.connections_max", configuration.api.connectionsMax, budget.api),
            ("phone.connections_max", configuration.phone.connectionsMax, budget.phone),
        ] where given < wanted {
            logger.log(
                .warning, "fewer connections than configured",
                [
                    .field: key, .connections: "\(given)",
                    .reason: "the limit of open files is \(budget.limit); raise it with ulimit -n",
                ])
        }
        return budget
    }
}

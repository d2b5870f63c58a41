import Foundation
import Logging
import NIOCore

/// How many connections each listener may have, and how many files of media are read and written at a time, so that all of them together
/// leave some of the process's open files over: each is one, a download is two. Otherwise clients could use them up, and nothing could
/// be accepted, opened or sent; libdispatch, under the hashing of passwords, then ends the process.
struct DescriptorBudget: Equatable {
    /// How many files the process may have open.
    let limit: Int
    let gateway: Int
    let api: Int
    let phone: Int
    /// Downloads and uploads at a time, of both HTTP listeners.
    let media: Int

    /// Kept for everything that is no client: the databases and their logs, event loops and listening sockets (some 60), up to 64 requests
    /// of webhooks, connections to APNs, of which each app has its own, backups. Less of a small limit.
    static let reserve = 128

    /// Each core has an event loop of three files; those of eight are among the 60.
    private static func reserved(of limit: Int, cores: Int) -> Int {
        let loops = 3 * max(0, cores - 8)
        return min(max(Self.reserve, min(limit / 5, 2 * Self.reserve), limit / 16) + loops, limit / 4)
    }
    static let httpMin = 8

    /// An eighth at most for each HTTP listener and for media, the rest for the gateway, none more than it is configured to have.
    init(limit: Int, _ configuration: ServerConfiguration, cores: Int = 1) {
        let limit = max(limit, 4 * Self.httpMin)
        let free = limit - Self.reserved(of: limit, cores: cores)
        self.limit = limit
        self.api = min(configuration.api.connectionsMax, max(Self.httpMin, free / 8))
        self.phone = min(configuration.phone.connectionsMax, max(Self.httpMin, free / 8))
        // Each connection reads or writes one at a time.
        self.media =
            configuration.media.path.isEmpty ? 0 : min(self.api + self.phone, max(Self.httpMin, free / 8))
        self.gateway = min(configuration.gateway.connectionsMax, max(1, free - self.api - self.phone - self.media))
    }

    func applied(to configuration: ServerConfiguration) -> ServerConfiguration {
        var configuration = configuration
        configuration.gateway.connectionsMax = self.gateway
        configuration.api.connectionsMax = self.api
        configuration.phone.connectionsMax = self.phone
        configuration.media.filesMax = self.media
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
        let budget = DescriptorBudget(
            limit: Int(clamping: limits.rlim_cur), configuration, cores: System.coreCount)
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

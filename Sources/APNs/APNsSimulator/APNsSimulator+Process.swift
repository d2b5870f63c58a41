package import APNsCore
import NIOConcurrencyHelpers
import NIOCore
package import TidingsModel

extension APNsSimulator {
    package struct LogPage: Sendable {
        /// The number of the first line, counted from 0 since the start. It is higher than what was asked for if lines
        /// between have gone (`Configuration.logEntriesMax`).
        package var first: Int
        package var entries: [DeliveryLogEntry]
        package var next: Int { self.first + self.entries.count }
    }

    /// Sets what goes wrong from now on; every rule starts afresh. `GET /faults` shows the counts of such a plan, and
    /// not its text.
    ///
    /// - Throws: `InvalidField` naming `simulator` if it is not running; so do all of these.
    package func setFaults(_ plan: FaultPlan) async throws {
        try await self.onEngine { $0.change(.faultsChanged(plan)) }
    }

    /// The same, and what is known of the time before: how often each rule of the old plan was asked and was injected, and how
    /// many connections an outage in the new plan has cut.
    package func replaceFaults(_ plan: FaultPlan) async throws -> (counts: [FaultCount], cut: Int) {
        try await self.onEngine { engine in
            let (counts, open) = (engine.core.faultCounts, engine.core.connectionCount)
            engine.change(.faultsChanged(plan))
            return (counts, open - engine.core.connectionCount)
        }
    }

    package func faultCounts() async throws -> [FaultCount] { try await self.onEngine { $0.core.faultCounts } }

    /// Returns a part of the delivery log, for callers that read all of it while it grows.
    ///
    /// - Parameters:
    ///   - line: counted from 0 since the start.
    ///   - limit: how many lines at most, 1 or more.
    package func log(from line: Int, limit: Int) async throws -> LogPage {
        try await self.onEngine { $0.page(from: line, limit: limit) }
    }

    package func register(
        phones count: Int, topic: String, _ environment: PushEnvironment
    ) async throws -> [PushToken] {
        try await self.onEngine { $0.register(phones: count, topic: topic, environment) }
    }

    private func onEngine<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatorEngine) -> Value
    ) async throws -> Value {
        guard let engine = self.running.withLockedValue({ $0?.engine }) else {
            throw InvalidField(field: "simulator", rule: "must be running")
        }
        return try await engine.eventLoop.submit { body(engine) }.get()
    }
}

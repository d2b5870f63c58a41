/// How much a client holds in memory: queues that nothing bounds, and what nobody lets go, show here.
package struct ClientLoad: Hashable, Sendable {
    /// Messages that wait to be sent, or to be acknowledged.
    package var outbox = 0
    /// Requests that wait to be sent, or to be answered.
    package var requests = 0
    /// Messages whose local notification is not decided.
    package var decisions = 0
    /// Runs of entries that are not settled, each of one disposition.
    package var unsettled = 0
    /// Wakes that are not answered.
    package var wakes = 0

    /// Nothing.
    package init() {}
}

extension ClientCore {
    /// What it holds now.
    package var load: ClientLoad {
        var load = ClientLoad()
        load.outbox = self.outbox.waiting.count
        load.requests = self.requests.count
        load.decisions = self.decisions.count
        load.unsettled = self.settlements.openCount
        load.wakes = self.wakes.count
        return load
    }
}

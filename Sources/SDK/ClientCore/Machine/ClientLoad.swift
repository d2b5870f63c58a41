package struct ClientLoad: Hashable, Sendable {
    package var outbox = 0
    package var requests = 0
    package var decisions = 0
    package var unsettled = 0
    package var wakes = 0

    package init() {}
}

extension ClientCore {
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

import Metrics
import Synchronization

final class ChaosMetrics: MetricsFactory, Sendable {
    private final class Count: CounterHandler, Sendable {
        private let value = Mutex<Int64>(0)
        func increment(by amount: Int64) { self.value.withLock { $0 += amount } }
        func reset() { self.value.withLock { $0 = 0 } }
        var total: Int { self.value.withLock { Int($0) } }
    }

    private struct Key: Hashable {
        var label: String
        var dimension: String
    }

    private let counts = Mutex<[Key: [Count]]>([:])

    var sightings: ChaosLedger.Sightings {
        self.counts.withLock { counts in
            var seen = ChaosLedger.Sightings()
            for (key, handlers) in counts {
                let total = handlers.reduce(0) { $0 + $1.total }
                switch key.label {
                case "apns.client.faults": seen.faults[key.dimension] = total
                case "apns.client.connections.closed": seen.closed[key.dimension] = total
                case "apns.client.connections.opened": seen.opened += total
                default: break
                }
            }
            return seen
        }
    }

    /// One counter for each label and its last dimension, which tells the series of a client apart.
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let count = Count()
        let key = Key(label: label, dimension: dimensions.last?.1 ?? "")
        self.counts.withLock { $0[key, default: []].append(count) }
        return count
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { NOOPMetricsHandler.instance }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
}

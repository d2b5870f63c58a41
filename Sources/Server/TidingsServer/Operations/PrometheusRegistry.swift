package import Metrics
import Synchronization

/// Keeps the process's metrics and writes them in Prometheus's text form. Give it to `MetricsSystem.bootstrap`, or to each metric as
/// its factory. Names are swift-metrics labels with dots, for example `tidings.gateway.connections`; in the text the dots are
/// underscores, counters end in `_total`, and timers are histograms in seconds. Dimensions must come from closed sets, since every
/// combination is kept for good.
package final class PrometheusRegistry: MetricsFactory {
    private struct Key: Hashable {
        var name: String
        var labels: String
    }

    private let series = Mutex<[Key: any PrometheusSeries]>([:])
    private let help: [String: String]

    /// - Parameter help: one sentence per label, for the `# HELP` lines.
    package init(help: [String: String] = [:]) {
        var byName: [String: String] = [:]
        for (label, sentence) in help { byName[Self.name(label)] = sentence }
        self.help = byName
    }

    /// Prometheus exposition format 0.0.4, sorted by name, then labels.
    package var text: String {
        let all = self.series.withLock { $0.sorted { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) } }
        var text = ""
        var last = ""
        for (key, series) in all {
            let name = key.name + series.suffix
            if name != last {
                if let sentence = self.help[key.name] { text += "# HELP \(name) \(sentence)\n" }
                text += "# TYPE \(name) \(series.type)\n"
                last = name
            }
            series.write(name: name, labels: key.labels, into: &text)
        }
        return text
    }

    private func handler<Series: PrometheusSeries>(
        _ label: String, _ dimensions: [(String, String)], make: () -> Series
    ) -> Series {
        let key = Key(name: Self.name(label), labels: Self.labels(dimensions))
        return self.series.withLock { all in
            if let known = all[key] as? Series { return known }
            let new = make()
            all[key] = new
            return new
        }
    }

    private static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    // MARK: - MetricsFactory

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        self.handler(label, dimensions) { PrometheusCounter() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        self.handler(label, dimensions) { PrometheusGauge() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return self.handler(label, dimensions) { PrometheusGauge() } }
        return self.handler(label, dimensions) { PrometheusHistogram(bounds: PrometheusHistogram.counts) }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.handler(label, dimensions) { PrometheusHistogram(bounds: PrometheusHistogram.seconds) }
    }

    package func destroyCounter(_ handler: any CounterHandler) { self.remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { self.remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { self.remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { self.remove(handler) }

    private func remove(_ handler: AnyObject) {
        self.series.withLock { all in all = all.filter { ($0.value as AnyObject) !== handler } }
    }
}

private protocol PrometheusSeries: AnyObject, Sendable {
    /// The word of the `# TYPE` line.
    var type: String { get }
    /// Appended to the name.
    var suffix: String { get }
    func write(name: String, labels: String, into text: inout String)
}

extension PrometheusSeries {
    fileprivate func line(_ name: String, _ labels: String, _ value: String, into text: inout String) {
        text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }
}

private final class PrometheusCounter: PrometheusSeries, CounterHandler {
    private let value = Atomic<Int64>(0)
    let type = "counter"
    let suffix = "_total"

    func increment(by amount: Int64) { self.value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { self.value.store(0, ordering: .relaxed) }
    func write(name: String, labels: String, into text: inout String) {
        self.line(name, labels, "\(self.value.load(ordering: .relaxed))", into: &text)
    }
}

private final class PrometheusGauge: PrometheusSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)
    let type = "gauge"
    let suffix = ""

    func set(_ value: Int64) { self.set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { self.value.withLock { $0 += amount } }
    func decrement(by amount: Double) { self.value.withLock { $0 -= amount } }
    func record(_ value: Int64) { self.set(value) }
    func record(_ value: Double) { self.set(value) }
    func write(name: String, labels: String, into text: inout String) {
        let value = self.value.withLock { $0 }
        self.line(name, labels, Int64(exactly: value).map { "\($0)" } ?? "\(value)", into: &text)
    }
}

private final class PrometheusHistogram: PrometheusSeries, RecorderHandler, TimerHandler {
    private struct State {
        var buckets: [Int64]
        var count: Int64 = 0
        var sum = 0.0
    }

    static let seconds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    static let counts = [1.0, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000]

    private let bounds: [Double]
    private let state: Mutex<State>
    let type = "histogram"
    let suffix = ""

    init(bounds: [Double]) {
        self.bounds = bounds
        self.state = Mutex(State(buckets: Array(repeating: 0, count: bounds.count)))
    }

    func record(_ value: Int64) { self.record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        let index = self.bounds.firstIndex { value <= $0 }
        self.state.withLock { state in
            if let index { state.buckets[index] += 1 }
            state.count += 1
            state.sum += value
        }
    }

    func write(name: String, labels: String, into text: inout String) {
        let state = self.state.withLock { State(buckets: $0.buckets, count: $0.count, sum: $0.sum) }
        let prefix = labels.isEmpty ? "" : labels + ","
        var below: Int64 = 0
        for (bound, count) in zip(self.bounds, state.buckets) {
            below += count
            self.line("\(name)_bucket", "\(prefix)le=\"\(bound)\"", "\(below)", into: &text)
        }
        self.line("\(name)_bucket", "\(prefix)le=\"+Inf\"", "\(state.count)", into: &text)
        self.line("\(name)_sum", labels, "\(state.sum)", into: &text)
        self.line("\(name)_count", labels, "\(state.count)", into: &text)
    }
}

import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `The metrics text` {
    @Test func `follows Prometheus's exposition format`() {
        let registry = PrometheusRegistry(help: ["tidings.pushes": "Pushes."])
        Counter(label: "tidings.pushes", dimensions: [("outcome", "refused")], factory: registry).increment(by: 2)
        Counter(label: "tidings.pushes", dimensions: [("outcome", "accepted")], factory: registry).increment()
        Counter(label: "tidings.pushes", dimensions: [("outcome", "accepted")], factory: registry).increment()
        Meter(label: "tidings.gauge", factory: registry).set(1.5)
        Counter(label: "odd.label", dimensions: [("text", "a \"b\"\\\n")], factory: registry).increment()
        #expect(
            registry.text == """
                # TYPE odd_label_total counter
                odd_label_total{text="a \\"b\\"\\\\\\n"} 1
                # TYPE tidings_gauge gauge
                tidings_gauge 1.5
                # HELP tidings_pushes_total Pushes.
                # TYPE tidings_pushes_total counter
                tidings_pushes_total{outcome="accepted"} 2
                tidings_pushes_total{outcome="refused"} 2

                """)
    }

    @Test func `shows a timer as a histogram in seconds, cumulative`() {
        let registry = PrometheusRegistry()
        let timer = Metrics.Timer(label: "t", factory: registry)
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(20_000_000_000)
        let lines = registry.text.split(separator: "\n")
        #expect(lines.first == "# TYPE t histogram")
        #expect(lines.contains("t_bucket{le=\"0.001\"} 0"))
        #expect(lines.contains("t_bucket{le=\"0.0025\"} 2"))
        #expect(lines.contains("t_bucket{le=\"10.0\"} 2"))
        #expect(lines.contains("t_bucket{le=\"+Inf\"} 3"))
        #expect(lines.contains("t_sum 20.004"))
        #expect(lines.contains("t_count 3"))
    }

    @Test func `forgets a metric that is destroyed`() {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "c", factory: registry)
        counter.destroy()
        #expect(registry.text == "")
    }
}

@Suite struct `A log line` {
    private func line(_ format: LineLogHandler.Format, _ body: (Logger) -> Void) -> [String] {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "tidings") { label in
            LineLogHandler(label: label, format: format, level: .info) { text in
                lines.withLockedValue { $0.append(text) }
            }
        }
        body(logger)
        return lines.withLockedValue { $0 }
    }

    @Test func `has the form that is chosen, and JSON where nobody reads along`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)").path
        let output = try LogOutput(appendingTo: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(!output.isTerminal)
        var configuration = ServerConfiguration()
        for format in ["auto", "json", "text"] {
            configuration.log.format = format
            let handler = configuration.logHandler(label: "test", output: output)
            Logger(label: "test") { _ in handler }.info("hello")
        }
        output.flush()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.map { $0.hasPrefix("{") } == [true, true, false])
    }

    @Test func `is one JSON object with its keys`() throws {
        let lines = self.line(.json) { logger in
            logger.log(.warning, "a \"word\"\n", [.reason: "because", .address: "here"])
            logger.log(.debug, "not written", [:])
        }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.filter { $0 == "\n" }.count == 1)
        let value = try JSONValue(parsing: line)
        #expect(value.objectValue?.members.map(\.key) == ["time", "level", "logger", "message", "address", "reason"])
        let time = try #require(value["time"]?.stringValue)
        #expect(
            time.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z/) != nil, "\(time)")
        #expect(value["level"] == "warning")
        #expect(value["message"] == "a \"word\"\n")
        #expect(value["reason"] == "because")
    }

    @Test func `keeps a dependency's key apart from a member of its own`() throws {
        let lines = self.line(.json) { $0.warning("ours", metadata: ["message": "theirs"]) }
        let value = try JSONValue(parsing: try #require(lines.first))
        #expect(value["message"] == "ours")
        #expect(value["_message"] == "theirs")
    }

    @Test func `is readable text when that is asked for`() throws {
        let lines = self.line(.text) { $0.log(.info, "ready", [.address: "7400"]) }
        #expect(lines.first?.hasSuffix(" info ready address=7400\n") == true)
    }
}

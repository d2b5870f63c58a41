import Foundation
package import Logging
import TidingsModel

package struct LineLogHandler: LogHandler {
    package enum Format: String, Sendable {
        case json
        case text
    }

    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let label: String
    private let format: Format
    private let write: @Sendable (String) -> Void

    package init(
        label: String, format: Format, level: Logger.Level, write: (@Sendable (String) -> Void)? = nil
    ) {
        self.label = label
        self.format = format
        self.logLevel = level
        self.write = write ?? { LogOutput.standardError.write($0) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var metadata = self.metadata
        if let more = event.metadata { metadata.merge(more) { $1 } }
        if let error = event.error { metadata[LogKey.error.rawValue] = "\(error)" }
        self.write(self.line(event.level, event.message.description, metadata))
    }

    private func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let sorted = metadata.sorted { $0.key < $1.key }
        switch self.format {
        case .json:
            let members: JSONMembers = [
                "time": time, "level": level.rawValue, "logger": self.label, "message": message,
            ]
            // Names of metadata are not ours: one that has a member of the line already stands behind an underscore.
            let pairs = sorted.map { (members.names.contains($0.key) ? "_\($0.key)" : $0.key, "\($0.value)") }
            return (members + JSONMembers(pairs: pairs)).json.text.printableJSON + "\n"
        case .text:
            let pairs = sorted.map { " \($0.key)=\($0.value)" }.joined()
            return "\(time) \(level.rawValue) \(message)\(pairs)".printable + "\n"
        }
    }

    package func announceDrops(of output: LogOutput) {
        output.setDropNotice { self.line(.warning, "log lines were dropped", ["count": "\($0)"]) }
    }
}

extension ServerConfiguration {
    /// For `LoggingSystem.bootstrap`.
    package func logHandler(label: String, output: LogOutput? = nil) -> LineLogHandler {
        let output = output ?? .standardError
        return LineLogHandler(
            label: label,
            format: LineLogHandler.Format(rawValue: self.log.format) ?? (output.isTerminal ? .text : .json),
            level: Logger.Level(rawValue: self.log.level) ?? .info
        ) { output.write($0) }
    }

    /// Standard error, and the file of the audit log if there is one, with the loggers that write to them.
    package func logging() throws(ConfigurationFaults) -> (server: Logger, audit: Logger, outputs: [LogOutput]) {
        var outputs = [LogOutput.standardError]
        if !self.log.auditPath.isEmpty {
            do throws(ConfigurationFault) {
                outputs.append(try LogOutput(appendingTo: self.log.auditPath))
            } catch {
                throw ConfigurationFaults([error])
            }
        }
        for output in outputs { self.logHandler(label: "tidings.log").announceDrops(of: output) }
        var audit = self.logHandler(label: AuditLog.label, output: outputs[outputs.count - 1])
        // It is kept however few other lines are wanted.
        audit.logLevel = min(audit.logLevel, .notice)
        return (
            Logger(label: "tidings.server") { self.logHandler(label: $0) },
            Logger(label: AuditLog.label) { [audit] _ in audit }, outputs
        )
    }
}

import Foundation
package import Logging
import TidingsModel

/// Writes each log event as one line to standard error: a JSON object, or text for people.
package struct LineLogHandler: LogHandler {
    /// The form of a line.
    package enum Format: String, Sendable {
        case json
        case text
    }

    /// The lowest level that is written.
    package var logLevel: Logger.Level
    /// What every line carries.
    package var metadata: Logger.Metadata = [:]
    private let label: String
    private let format: Format
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - label: the logger's name.
    ///   - write: takes whole lines with their end; standard error if nil.
    package init(
        label: String, format: Format, level: Logger.Level, write: (@Sendable (String) -> Void)? = nil
    ) {
        self.label = label
        self.format = format
        self.logLevel = level
        self.write = write ?? { LogOutput.standardError.write($0) }
    }

    /// One value of what every line carries.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    /// Writes one line: the event's own metadata goes before the handler's.
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
            var members: [(String, JSONValue)] = [
                ("time", .string(time)), ("level", .string(level.rawValue)), ("logger", .string(self.label)),
                ("message", .string(message)),
            ]
            for (key, value) in sorted { members.append((key, .string("\(value)"))) }
            return JSONValue.members(members).text + "\n"
        case .text:
            let pairs = sorted.map { " \($0.key)=\($0.value)" }.joined()
            return "\(time) \(level.rawValue) \(message)\(pairs)\n"
        }
    }

    /// Lets an output say in this form how many lines it has dropped.
    package func announceDrops(of output: LogOutput) {
        output.announceDrops { self.line(.warning, "log lines were dropped", ["count": "\($0)"]) }
    }
}

extension ServerConfiguration {
    /// The log handler the configuration asks for; for `LoggingSystem.bootstrap`.
    ///
    /// - Parameter output: where lines go; standard error if nil.
    package func logHandler(label: String, output: LogOutput? = nil) -> LineLogHandler {
        let output = output ?? .standardError
        return LineLogHandler(
            label: label, format: LineLogHandler.Format(rawValue: self.log.format) ?? .json,
            level: Logger.Level(rawValue: self.log.level) ?? .info
        ) { output.write($0) }
    }

    /// The server's outputs and the loggers that write to them: standard error, and the file of the audit log if there is one.
    ///
    /// - Throws: `ConfigurationFaults` if that file cannot be written.
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

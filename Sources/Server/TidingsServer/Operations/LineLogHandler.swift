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
        self.write = write ?? { FileHandle.standardError.write(Data($0.utf8)) }
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
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let sorted = metadata.sorted { $0.key < $1.key }
        switch self.format {
        case .json:
            var members: [(String, JSONValue)] = [
                ("time", .string(time)), ("level", .string(event.level.rawValue)), ("logger", .string(self.label)),
                ("message", .string(event.message.description)),
            ]
            for (key, value) in sorted { members.append((key, .string("\(value)"))) }
            self.write(JSONValue.members(members).text + "\n")
        case .text:
            let pairs = sorted.map { " \($0.key)=\($0.value)" }.joined()
            self.write("\(time) \(event.level.rawValue) \(event.message)\(pairs)\n")
        }
    }
}

extension ServerConfiguration {
    /// The log handler the configuration asks for; for `LoggingSystem.bootstrap`.
    package func logHandler(label: String) -> LineLogHandler {
        LineLogHandler(
            label: label, format: LineLogHandler.Format(rawValue: self.log.format) ?? .json,
            level: Logger.Level(rawValue: self.log.level) ?? .info)
    }
}

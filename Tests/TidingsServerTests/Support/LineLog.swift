import Logging
import NIOConcurrencyHelpers

@testable import TidingsServer

/// Keeps what is logged, as lines of text.
final class LineLog: Sendable {
    private let kept = NIOLockedValueBox<[String]>([])

    var lines: [String] { self.kept.withLockedValue { $0 } }

    var logger: Logger {
        Logger(label: "test") { label in
            LineLogHandler(label: label, format: .text, level: .debug) { [kept] line in
                kept.withLockedValue { $0.append(line) }
            }
        }
    }
}

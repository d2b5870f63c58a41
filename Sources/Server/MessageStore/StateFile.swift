import Foundation
import Logging
import StoreModel
import TidingsModel

/// A small file beside the database, `<path>.state`: which store it is, the number of the opening that wrote last, and the last
/// record of the journal. An older copy of the database put in its place does not know that opening or lacks that record, which
/// `StoreEngine.isRestored` finds out. The file is never ahead of the database: it is written after the sync, and not synced itself.
final class StateFile {
    struct Content: Equatable {
        var store: String
        var held: HeldJournal
    }

    private let path: String
    private let logger: Logger
    private var descriptor: Int32 = -1
    private var hasFailed = false

    init(database: String, logger: Logger) {
        self.path = Self.path(of: database)
        self.logger = logger
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    static func path(of database: String) -> String { database + ".state" }

    private static let title = "tidings-state 1"

    /// Nil if there is none, or it cannot be understood.
    func read() -> Content? {
        guard let text = try? String(contentsOfFile: self.path, encoding: .utf8) else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 5, words[0] + " " + words[1] == Self.title, let opening = UInt64(words[3]),
            let position = UInt64(words[4])
        else { return nil }
        return Content(store: String(words[2]), held: HeldJournal(opening: opening, position: position))
    }

    /// A failure is logged once: the next opening then takes the database for a restored one.
    func write(_ content: Content) {
        // Always of the same length, so that nothing of the old text is left.
        func field(_ number: UInt64) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
        }
        let text = "\(Self.title) \(content.store) \(field(content.held.opening)) \(field(content.held.position))\n"
        if self.descriptor < 0 { self.descriptor = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        var bytes = Array(text.utf8)
        guard self.descriptor >= 0, pwrite(self.descriptor, &bytes, bytes.count, 0) == bytes.count else {
            guard !self.hasFailed else { return }
            self.hasFailed = true
            let words = String(cString: strerror(errno))
            return self.logger.warning(
                "the state file cannot be written", metadata: ["path": "\(self.path)", "error": "\(words)"])
        }
    }
}

/// The journal up to a position, as of the opening with a number.
struct HeldJournal: Equatable {
    var opening: UInt64
    var position: JournalPosition
}

import Foundation
import Logging
import StoreMachine
import StoreModel
import TidingsModel

/// A small file beside the database, `<path>.state`: which store it is, the number of the opening that wrote last, and the last
/// record of the journal. An older copy of the database put in its place does not know that opening or lacks that record, which
/// `StoreMachine.isRestored` finds out. The file is never ahead of the database: it is written after the sync, and not synced itself.
final class StateFile {
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
    func read() -> StoreState? {
        guard let text = try? String(contentsOfFile: self.path, encoding: .utf8) else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 5, words[0] + " " + words[1] == Self.title, let opening = UInt64(words[3]),
            let position = UInt64(words[4])
        else { return nil }
        return StoreState(store: String(words[2]), held: HeldJournal(opening: opening, position: position))
    }

    /// A failure is logged once: the next opening then takes the database for a restored one.
    func write(_ state: StoreState) {
        // Always of the same length, so that nothing of the old text is left.
        func field(_ number: UInt64) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
        }
        let text = "\(Self.title) \(state.store) \(field(state.held.opening)) \(field(state.held.position))\n"
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

extension StoreIdentity {
    /// Draws what an opening may need, which nobody may guess.
    static func drawn() -> StoreIdentity {
        func number() -> UInt64 { .random(in: Self.numbers) }
        return StoreIdentity(id: Hexadecimal.text(number() ^ number() << 11), generation: number(), opening: number())
    }
}

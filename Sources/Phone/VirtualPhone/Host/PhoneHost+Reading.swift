import NIOCore
package import TidingsModel

/// Trace and views for readers who take them at their own pace: nothing is kept for one but how far they are.
extension PhoneHost {
    /// How far a reader is.
    package struct ReadingPlace: Hashable, Sendable {
        /// The number of the last line that was read.
        package var line: Int
        /// The number of the last change of the views that was read.
        package var change: Int
    }

    /// Where reading begins.
    package enum ReadingStart: Hashable, Sendable {
        /// With the lines after this number. A number that the trace has not come to is of the phone before it was started anew: then
        /// as `last`.
        case after(Int)
        /// With so many of the newest lines.
        case last(Int)
    }

    /// Told when there is something to read; ends when the phone is switched off.
    package func news() -> AsyncStream<Void> { self.readers.news() }

    /// A place from which to read. Of the views, what is shown now is read first.
    ///
    /// - Throws: `InvalidField` if the phone is switched off.
    package func readingPlace(_ start: ReadingStart) async throws(InvalidField) -> ReadingPlace {
        try await self.askShell { shell in
            let last = shell.trace.last
            let line =
                switch start {
                case .after(let number) where number <= last: max(0, number)
                case .after: max(0, last - Self.usualLines)
                case .last(let count): max(0, last - max(0, count))
                }
            return shell.loop.makeSucceededFuture(ReadingPlace(line: line, change: 0))
        }
    }

    /// Returns the lines since a place, at most so many, and the next place. Views follow only when all lines are read: a slow reader gets
    /// the newest of them.
    ///
    /// - Throws: `InvalidField` if the phone is switched off.
    package func page(
        after place: ReadingPlace, linesMax: Int
    ) async throws(InvalidField) -> (lines: [(number: Int, line: JSONValue)], views: [JSONValue], next: ReadingPlace) {
        try await self.askShell { shell in
            let lines = shell.trace.page(after: place.line, count: linesMax)
            var next = place
            next.line = lines.last?.number ?? place.line
            guard next.line >= shell.trace.last else {
                return shell.loop.makeSucceededFuture((lines, [], next))
            }
            let views = shell.views.changes(after: place.change)
            next.change = shell.views.number
            return shell.loop.makeSucceededFuture((lines, views, next))
        }
    }

    /// For who asks for what is gone.
    private static var usualLines: Int { 400 }
}

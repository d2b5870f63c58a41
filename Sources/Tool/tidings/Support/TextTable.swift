import Foundation
import TidingsModel

/// Rows of cells as lines, each column as wide as its widest cell.
enum TextTable {
    /// - Parameters:
    ///   - rows: all with the same number of cells.
    ///   - numbers: the columns whose cells stand at the right.
    static func lines(_ rows: [[String]], indent: String = "", numbers: Set<Int> = []) -> [String] {
        // What is printed instead of a character is wider.
        let rows = rows.map { $0.map(\.printable) }
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { indent + self.row($0, widths: widths, numbers: numbers) }
    }

    /// Returns a list with a header line, and a dash for what there is not.
    ///
    /// - Parameter nothing: what is said of a list without rows.
    static func list(
        _ header: [String], _ rows: [[String]], nothing: String, indent: String = "", numbers: Set<Int> = []
    ) -> [String] {
        let cells = rows.map { $0.map { $0.isEmpty ? "-" : $0 } }
        return rows.isEmpty ? [indent + nothing] : self.lines([header] + cells, indent: indent, numbers: numbers)
    }

    /// Returns one row of a table that is printed row by row. A cell that is too long moves those behind it.
    static func row(_ cells: [String], widths: [Int], numbers: Set<Int> = []) -> String {
        var line = zip(cells, widths).enumerated().map { column, cell in
            let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return numbers.contains(column) ? space + cell.0 : cell.0 + space
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Milliseconds since 1970; `?` for anything else.
    static func time(_ value: JSONValue?) -> String {
        guard let milliseconds = value?.intValue else { return "?" }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000)) + " UTC"
    }
}

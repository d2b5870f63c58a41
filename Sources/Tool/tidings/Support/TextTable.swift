import Foundation
import TidingsModel

/// Rows of cells as lines, each column as wide as its widest cell.
enum TextTable {
    /// - Parameter rows: all with the same number of cells.
    static func lines(_ rows: [[String]], indent: String = "") -> [String] {
        // What is printed instead of a character is wider.
        let rows = rows.map { $0.map(\.printable) }
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line =
                indent
                + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
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

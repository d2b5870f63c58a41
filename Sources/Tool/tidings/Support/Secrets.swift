import Foundation
import TidingsModel

/// Keys and tokens that a command is given.
enum Secrets {
    /// That of the option, or else of the environment, where a file that it was read from may have left the end of its line.
    ///
    /// - Returns: nil if neither has one.
    static func find(
        _ option: String?, _ variable: String, in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        (option ?? environment[variable]).map { FileText.line($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

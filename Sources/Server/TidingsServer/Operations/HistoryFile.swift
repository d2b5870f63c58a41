import Foundation
import Logging
import ServerCore
import TidingsModel

/// Keeps the last hour of each app beside the database, so that it survives a restart. The file may be lost: without it the hour begins anew.
struct HistoryFile: Sendable {
    let path: String
    let logger: Logger

    func read() -> [AppID: AppHistory.Saved] {
        guard FileManager.default.fileExists(atPath: self.path) else { return [:] }
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: self.path))
            return try JSONDecoder().decode([AppID: AppHistory.Saved].self, from: bytes)
        } catch {
            self.log("the file of the last hour cannot be read; the hour begins anew", error)
            return [:]
        }
    }

    func write(_ histories: [AppID: AppHistory.Saved]) {
        do {
            let bytes = try JSONEncoder().encode(histories)
            try bytes.write(to: URL(fileURLWithPath: self.path), options: .atomic)
        } catch {
            self.log("the last hour cannot be saved", error)
        }
    }

    private func log(_ message: Logger.Message, _ error: any Error) {
        self.logger.log(.warning, message, [.path: self.path, .reason: "\(error)"])
    }
}

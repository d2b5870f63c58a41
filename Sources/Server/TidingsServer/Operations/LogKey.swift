import Logging

/// The keys of the server's log lines. Message text, device tokens and provider tokens are never logged.
enum LogKey: String, CaseIterable {
    case address = "address"
    case advice = "advice"
    case app = "app"
    case bug = "bug"
    case connections = "connections"
    case epoch = "store.epoch"
    case error = "error"
    case field = "field"
    case freeBytes = "storage.free.bytes"
    case lane = "push.lane"
    case path = "path"
    case pendingUsers = "store.pending.users"
    case pushAlarm = "push.alarm"
    case reason = "reason"
}

extension Logger {
    /// Logs with keys of `LogKey` only.
    func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: [LogKey: String]) {
        guard self.logLevel <= level else { return }
        self.log(
            level: level, message,
            metadata: Dictionary(uniqueKeysWithValues: metadata.map { ($0.key.rawValue, .string($0.value)) }))
    }
}

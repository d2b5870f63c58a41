import Logging

/// The keys of the server's log lines. Message text, device tokens and provider tokens are never logged.
enum LogKey: String, CaseIterable {
    case actor = "actor"
    case address = "address"
    case advice = "advice"
    case app = "app"
    case bug = "bug"
    case client = "client"
    case code = "code"
    case connections = "connections"
    case device = "device"
    case epoch = "store.epoch"
    case error = "error"
    case field = "field"
    case freeBytes = "storage.free.bytes"
    case key = "key"
    case lane = "push.lane"
    case listener = "listener"
    case method = "method"
    case path = "path"
    case pendingUsers = "store.pending.users"
    case pushAlarm = "push.alarm"
    case reason = "reason"
    case request = "request"
    case route = "route"
    case status = "status"
    case user = "user"
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

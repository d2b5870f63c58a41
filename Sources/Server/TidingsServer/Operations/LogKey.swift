import Logging

/// Message text, device tokens and provider tokens are never logged.
enum LogKey: String, CaseIterable {
    case account, actor, address, advice, app, author, bug, change, client, code, connections, credential, device,
        error, field
    case key, listener, method, `operator`, path, reason, request, role, route, sent, status, user
    case epoch = "store.epoch"
    case freeBytes = "storage.free.bytes"
    case lane = "push.lane"
    case pendingUsers = "store.pending.users"
    case pushAlarm = "push.alarm"
}

extension Logger {
    /// Takes keys of `LogKey` only.
    func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: [LogKey: String]) {
        guard self.logLevel <= level else { return }
        self.log(
            level: level, message,
            metadata: Dictionary(uniqueKeysWithValues: metadata.map { ($0.key.rawValue, .string($0.value)) }))
    }
}

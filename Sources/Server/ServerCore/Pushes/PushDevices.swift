import TidingsModel

// What a push to some devices of a person is on the others (docs/inside/decisions/0046-push-jobs.md).
extension LogEntry {
    /// Returns the entry for one of the person's devices: a message for others does not notify, and a custom one is a position alone.
    func seen(on device: DeviceID) -> LogEntry {
        switch self.body {
        case .message(let message) where !message.isFor(device):
            LogEntry(position: self.position, body: .message(message.seen(on: device)))
        case .custom(let message) where !message.isFor(device): self.place
        case .message, .custom, .read, .recall, .edit, .deletion, .conversationSettings, .personSettings, .blocked,
            .change, .unknown:
            self
        }
    }
}

extension Message {
    func seen(on device: DeviceID) -> Message {
        guard !self.isFor(device) else { return self }
        var message = self
        message.flags.remove(.notified)
        return message
    }
}

extension SharedMessage {
    func seen(on device: DeviceID) -> SharedMessage {
        guard !self.message.isFor(device) else { return self }
        return SharedMessage(self.message.seen(on: device), names: self.names, isHushed: self.isHushed)
    }
}

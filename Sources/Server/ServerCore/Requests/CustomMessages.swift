import StoreModel
import TidingsModel

extension ServerCore {
    mutating func sendCustom(
        _ message: CustomMessage, to recipients: [UserID], of app: AppID, _ clientMessageID: ClientMessageID,
        for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.messages, of: app, "send", now, &effects)
            try self.checkBacklog(of: .backend(app), &effects)
            try self.checkStorage()
            let recipients = Set(recipients).sorted()
            do throws(InvalidField) {
                try Self.checkCustom(message, recipients, clientMessageID)
            } catch {
                throw ServerFrame.Problem(error)
            }
            var message = message
            message.id = self.messageIDs.next(wallMilliseconds: now.wall)
            // The lifetime stays as requested.
            message.expiresAt = message.expiresAt.map { now.wall + ($0 - message.sentAt) }
            message.sentAt = now.wall
            let operation = CustomOperation(
                app: app, message: message, recipients: recipients, clientMessageID: clientMessageID)
            self.sendToStore(
                .acceptCustom(operation), for: .apiSendCustom(request, operation), by: .backend(app), &effects)
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    private static func checkCustom(
        _ message: CustomMessage, _ recipients: [UserID], _ clientMessageID: ClientMessageID
    ) throws(InvalidField) {
        _ = try ClientMessageID.validated(clientMessageID.rawValue, field: "client_message_id")
        try InvalidField.check(recipients.count, in: 1...CustomOperation.recipientsMax, "recipients")
        for user in recipients { _ = try UserID.validated(user.rawValue, field: "recipients") }
        try message.validate()
    }
}

extension LogEntry {
    /// An expired custom message leaves only its position in the log (S4.10). `wall` is this server's clock.
    func handedOver(at wall: Int64) -> LogEntry {
        guard case .custom(let message) = self.body, message.isExpired(at: wall) else { return self }
        return self.place
    }

    var place: LogEntry { LogEntry(position: self.position, body: .unknown) }
}

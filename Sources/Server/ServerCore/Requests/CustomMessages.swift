import StoreModel
import TidingsModel

extension ServerCore {
    /// Takes a custom message of the backend's (S4.10).
    mutating func sendCustom(
        _ message: CustomMessage, to recipients: [UserID], of app: AppID, _ clientMessageID: ClientMessageID,
        for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admit(.messages, of: app, "send", now, &effects)
            try self.checkBacklog(of: .backend(app), &effects)
            try self.checkRoom()
            let recipients = Set(recipients).sorted()
            do throws(InvalidField) {
                try Self.check(message, recipients, clientMessageID)
            } catch {
                throw ServerFrame.Problem(error)
            }
            var message = message
            message.id = self.messageIDs.next(wallMilliseconds: now.wall)
            // How long it is handed over stays as it was asked for.
            message.expiresAt = message.expiresAt.map { now.wall + ($0 - message.sentAt) }
            message.sentAt = now.wall
            let operation = CustomOperation(
                app: app, message: message, recipients: recipients, clientMessageID: clientMessageID)
            self.ask(.acceptCustom(operation), for: .errand(.custom(request, operation)), by: .backend(app), &effects)
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    private static func check(
        _ message: CustomMessage, _ recipients: [UserID], _ clientMessageID: ClientMessageID
    ) throws(InvalidField) {
        _ = try ClientMessageID.validated(clientMessageID.rawValue, field: "client_message_id")
        guard (1...CustomOperation.recipientsMax).contains(recipients.count) else {
            throw InvalidField(
                field: "recipients", rule: "must be 1 to \(CustomOperation.recipientsMax), got \(recipients.count)")
        }
        for user in recipients { _ = try UserID.validated(user.rawValue, field: "recipients") }
        try message.validate()
    }

    /// What the store said to a custom message.
    ///
    /// - Returns: false if the answer is of the wrong kind.
    mutating func finish(
        _ request: APIRequestID, _ operation: CustomOperation, _ result: StoreResult, _ now: Now,
        _ effects: inout [ServerEffect]
    ) -> Bool {
        // Nobody of the app has sent it: the first recipient's position tells it from a repeat, which has none.
        func accepted(_ id: MessageID, at sentAt: Int64, _ position: LogPosition) -> ServerEffect {
            let accepted = ServerFrame.SendAccepted(
                clientMessageID: operation.clientMessageID, messageID: id, sentAt: sentAt, position: position)
            return .reply(request, .accepted(accepted))
        }
        switch result {
        case .accepted(let deliveries, _):
            let position = deliveries.first?.position ?? 0
            effects.append(accepted(operation.message.id, at: operation.message.sentAt, position))
            self.countDeliveries(deliveries.count, by: nil, in: operation.app, now)
            self.note(.custom(operation.message), deliveries, in: operation.app, now, &effects)
        case .duplicate(let id, let sentAt): effects.append(accepted(id, at: sentAt, 0))
        case .refused(let problem): effects.append(.reply(request, .refused(problem)))
        case .done, .changed, .recalled, .noted, .taken, .conversation, .history, .settings, .receipts, .device, .read,
            .userAccount, .user, .page, .trace, .unread, .objectNames, .accounts, .bans, .isSameLog, .unreadable,
            .failed:
            return false
        }
        return true
    }
}

extension LogEntry {
    /// The entry as a device gets it: of a custom message that has expired only its place in the log (S4.10).
    ///
    /// - Parameter wall: this server's wall clock.
    func handedOver(at wall: Int64) -> LogEntry {
        guard case .custom(let message) = self.body, message.isExpired(at: wall) else { return self }
        return self.place
    }

    /// Only its place in the log.
    var place: LogEntry { LogEntry(position: self.position, body: .unknown) }
}

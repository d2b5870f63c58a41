import StoreModel
import TidingsModel

extension ServerCore {
    mutating func sendCustom(
        _ message: CustomMessage, to recipients: [UserID], of app: AppID, _ clientMessageID: ClientMessageID,
        for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        let now = self.turn.now
        try self.admitCommand(.messages, of: app, "send")
        try self.turn.checkBacklog(of: .backend(app))
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
        self.turn.ask(.acceptCustom(operation), for: .api(request, .sendCustom(operation)), by: .backend(app))
    }

    mutating func finishCustom(
        _ operation: CustomOperation, for request: APIRequestID, _ result: StoreResult
    ) throws(UnexpectedAnswer) {
        if let (id, sentAt) = result.duplicate {
            let first = Self.acceptance(ofRepeat: operation.clientMessageID, id, sentAt)
            return self.turn.emit(.reply(request, .accepted(first, isRepeat: true)))
        }
        let deliveries = try result.expect(\.accepted).deliveries
        self.turn.emit(.report(.acceptedCustom(operation.message.id, operation.app, recipients: deliveries.count)))
        // There is no sender whose position it could be.
        let accepted = ServerFrame.SendAccepted(
            clientMessageID: operation.clientMessageID, messageID: operation.message.id,
            sentAt: operation.message.sentAt, position: deliveries.first?.position ?? 0)
        self.turn.emit(.reply(request, .accepted(accepted)))
        self.countDeliveries(deliveries.count, by: nil, in: operation.app)
        self.publishEntry(.custom(operation.message), deliveries, in: operation.app)
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

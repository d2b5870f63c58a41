package import TidingsModel

extension MessageTrace {
    /// A message has arrived where a device has settled the log up to it since signing in, a leg ended as settled, a
    /// phone said that the push was shown or opened, or where it was read. `facts` gives a person's read cursor in
    /// the conversation and their devices.
    package func receipts<Failure: Error>(
        of message: Message, _ facts: (UserID) throws(Failure) -> (readUpTo: LogPosition, devices: [DeviceRecord])
    ) throws(Failure) -> MessageReceipts {
        var receipts = MessageReceipts(id: message.id, recipients: 0, delivered: [], read: [])
        let heard = Set(self.receipts.map(\.leg.user.user))
        var settled: Set<UserID> = []
        for ended in self.ended {
            guard case .settled = ended.end else { continue }
            settled.insert(ended.leg.user.user)
        }
        for delivery in self.deliveries where delivery.user != message.sender {
            let (readUpTo, devices) = try facts(delivery.user)
            let isRead = readUpTo >= delivery.position
            let isThere = devices.contains { $0.since < delivery.position && $0.settled >= delivery.position }
            receipts.recipients += 1
            if isRead { receipts.read.append(delivery.user) }
            if isRead || isThere || heard.contains(delivery.user) || settled.contains(delivery.user) {
                receipts.delivered.append(delivery.user)
            }
        }
        return receipts
    }
}

extension MessageTrace.Receipt: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.leg == right.leg ? left.receipt.rawValue < right.receipt.rawValue : left.leg < right.leg
    }
}

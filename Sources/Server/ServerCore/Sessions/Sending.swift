import OrderedCollections
import StoreModel
import TidingsModel

/// A message that was refused for now: the next ones of its conversation wait for it.
struct Awaited: Sendable {
    let message: ClientMessageID
    /// When it counts as given up, in monotonic milliseconds.
    let until: Int64
}

extension ServerCore {
    static let repeatTime: Int64 = 30_000

    mutating func handleSend(_ draft: MessageDraft, from session: SessionID, _ known: Session) {
        do throws(ServerFrame.Problem) {
            try self.checkOrder(of: draft, session)
            guard known.sendsInFlight < self.turn.settings.sendsInFlightMax else {
                throw .init(
                    code: .unavailable, field: "send",
                    rule: "must wait: \(self.turn.settings.sendsInFlightMax) are being stored already")
            }
            try self.turn.settings.checkPush(of: draft, from: known.device.user.app, isClient: true)
            let user = known.device.user
            // The store knows who operates the account.
            let sender = draft.account.map { UserKey(app: user.app, user: $0) } ?? user
            let message = try self.makeMessage(draft, from: sender, by: .person(user))
            self.turn.sessions[session]?.sendsInFlight += 1
            self.turn.ask(
                .accept(
                    message: message.message, senderDevice: known.device.device,
                    room: self.roomAccess(draft.conversation, of: known),
                    push: self.turn.settings.pushRules[user.app]?.options, author: sender == user ? nil : user.user),
                for: .send(session, message, known.device), by: .person(user))
        } catch {
            self.awaitRepeat(draft, error, session)
            self.turn.emit(.write(session, .sendRefused(draft.clientMessageID, error)))
        }
    }

    /// If the message may come again, those that follow it in its conversation would overtake it.
    mutating func awaitRepeat(_ draft: MessageDraft, _ problem: ServerFrame.Problem, _ session: SessionID) {
        guard [.unavailable, .rateLimited, .storageFull].contains(problem.code),
            let known = self.turn.sessions[session],
            known.awaited[draft.conversation] == nil
        else { return }
        let wait = Int64(problem.retryAfterMilliseconds ?? 0)
        if known.awaited.count >= self.turn.settings.sendsInFlightMax {
            self.turn.sessions[session]?.awaited.removeFirst()
        }
        self.turn.sessions[session]?.awaited[draft.conversation] = Awaited(
            message: draft.clientMessageID, until: self.turn.now.monotonic + wait + Self.repeatTime)
    }

    /// Messages wait until the one before them that was refused for now has come again, or was given up.
    private mutating func checkOrder(of draft: MessageDraft, _ session: SessionID) throws(ServerFrame.Problem) {
        guard let first = self.turn.sessions[session]?.awaited[draft.conversation] else { return }
        guard first.message != draft.clientMessageID, self.turn.now.monotonic < first.until else {
            self.turn.sessions[session]?.awaited.removeValue(forKey: draft.conversation)
            return
        }
        throw .init(
            code: .unavailable, field: "send",
            rule:
                "must follow \"\(first.message)\" of the same conversation, which was refused for now: send that again first"
        )
    }

    mutating func makeMessage(
        _ draft: MessageDraft, from sender: UserKey, by asker: Asker
    ) throws(ServerFrame.Problem) -> SharedMessage {
        try AnonymousRules.check(draft, from: sender.user, by: asker)
        try self.turn.checkBacklog(of: asker)
        try self.checkStorage()
        var draft = draft
        draft.recipients = Set(draft.recipients).sorted()
        // A command is in no history, so nobody could mark it read.
        if !draft.flags.contains(.stored) { draft.flags.remove(.counted) }
        if draft.mentions == .none, !draft.conversation.type.targetIsPeer, draft.content.hasBytes(of: "mentionedInfo"),
            let content = try? JSONValue(parsing: draft.content)
        {
            draft.mentions = Mentions(content: content)
        }
        do throws(InvalidField) { try draft.validate() } catch { throw ServerFrame.Problem(error) }
        let id = self.messageIDs.next(wallMilliseconds: self.turn.now.wall)
        return SharedMessage(self.message(of: draft, from: sender, id: id))
    }

    func message(of draft: MessageDraft, from sender: UserKey, id: MessageID) -> Message {
        let now = self.turn.now
        return Message(
            id: id, app: sender.app, sender: sender.user, conversation: draft.conversation,
            clientMessageID: draft.clientMessageID, objectName: draft.objectName, content: draft.content,
            flags: draft.flags, pushText: draft.pushText, sentAt: now.wall, mentions: draft.mentions.sorted,
            recipients: draft.recipients, expiresAt: draft.lifetimeMilliseconds.map { now.wall + $0 },
            push: draft.push?.nonEmpty)
    }

    /// Answers only once the store has synced the message (design.md P1). Who has written as an account is told no deliveries: the message
    /// is in the account's log, not in theirs.
    mutating func finishSend(
        _ session: SessionID, _ message: SharedMessage, by device: DeviceKey, _ result: StoreResult
    ) throws(UnexpectedAnswer) {
        if let (id, sentAt) = result.duplicate {
            self.turn.sessions[session]?.sendsInFlight -= 1
            let first = Self.acceptance(ofRepeat: message.message.clientMessageID, id, sentAt)
            return self.turn.write(.sendAccepted(first), to: session)
        }
        let (deliveries, names, push) = try result.expect(\.accepted)
        let isOwn = device.user == message.message.senderKey
        self.reportAccepted(message.message, to: deliveries)
        self.turn.sessions[session]?.sendsInFlight -= 1
        let accepted = Self.acceptance(of: message.message, isOwn ? deliveries : [])
        self.turn.write(.sendAccepted(accepted), to: session)
        self.noteSend(message.message, by: device.user, session)
        self.countDeliveries(of: message.message, deliveries, by: device.user)
        let message = message.accepted(names, push)
        self.sendToRoom(message.message, from: session)
        self.fanOut(message, deliveries, from: isOwn ? device.device : nil)
    }

    /// The same for what the backend has sent.
    mutating func finishSend(
        _ message: SharedMessage, for request: APIRequestID, _ result: StoreResult
    ) throws(UnexpectedAnswer) {
        if let (id, sentAt) = result.duplicate {
            let first = Self.acceptance(ofRepeat: message.message.clientMessageID, id, sentAt)
            return self.turn.emit(.reply(request, .accepted(first, isRepeat: true)))
        }
        let (deliveries, names, push) = try result.expect(\.accepted)
        self.reportAccepted(message.message, to: deliveries)
        self.turn.emit(.reply(request, .accepted(Self.acceptance(of: message.message, deliveries))))
        self.countDeliveries(of: message.message, deliveries, by: nil)
        let message = message.accepted(names, push)
        self.sendToRoom(message.message, from: nil)
        self.fanOut(message, deliveries, from: nil)
    }

    static func acceptance(
        ofRepeat id: ClientMessageID, _ first: MessageID, _ sentAt: Int64
    ) -> ServerFrame.SendAccepted {
        .init(clientMessageID: id, messageID: first, sentAt: sentAt, position: 0)
    }

    static func acceptance(of message: Message, _ deliveries: [Delivery]) -> ServerFrame.SendAccepted {
        .init(
            clientMessageID: message.clientMessageID, messageID: message.id, sentAt: message.sentAt,
            position: deliveries.first { $0.user == message.sender }?.position ?? 0)
    }

    mutating func fanOut(_ message: SharedMessage, _ deliveries: [Delivery], from device: DeviceID?) {
        // One for all who have blocked the sender.
        var hushed: SharedMessage?
        for delivery in deliveries {
            var message = message
            if delivery.isHushed {
                message = hushed ?? message.hushed
                hushed = message
            }
            let user = UserKey(app: message.message.app, user: delivery.user)
            let sender = delivery.user == message.message.sender ? device : nil
            self.tell(.delivery(delivery, message, from: sender), slot: self.slot(of: user))
        }
    }
}

extension Person {
    mutating func deliver(_ message: SharedMessage, _ delivery: Delivery, from sender: DeviceID?, _ turn: inout Turn) {
        guard delivery.position > self.state.head else {
            return turn.emit(.flagBug("\(self.state.key) got position \(delivery.position) twice"))
        }
        self.state.head = delivery.position
        self.state.unread = delivery.unread
        self.state.busyAt = turn.now.monotonic
        if message.message.pushJob == nil { self.state.leavesSoon = false }
        self.countWithoutDevice(message, &turn)
        for index in self.devices.indices {
            self.devices[index].startLeg(message, at: delivery.position, from: sender, &turn)
            if self.devices[index].lease.isLive {
                self.devices[index].dirtyCursor(&self.state, &turn)
            } else {
                self.pumpNewest(at: index, &turn)
            }
        }
        self.arm(&turn)
    }

    /// One pseudo-leg, which the store has ended with the message (design.md §5). The sender is no recipient.
    mutating func countWithoutDevice(_ message: SharedMessage, _ turn: inout Turn) {
        guard self.devices.isEmpty, self.state.key.user != message.message.sender else { return }
        turn.emit(.countEnd(.noDevice))
        let leg = LegID(message: message.message.id, user: self.state.key, device: nil)
        let ended = EndedLeg(leg: leg, end: .noDevice, at: message.message.sentAt, pushJob: message.message.pushJob)
        turn.emit(.report(.endedLeg(ended)))
    }
}

extension Device {
    /// - Parameter isRestored: an earlier process may have sent it.
    mutating func startLeg(
        _ message: SharedMessage, at position: LogPosition, from sender: DeviceID?, isRestored: Bool = false,
        _ turn: inout Turn
    ) {
        guard sender != self.id else {
            let leg = LegID(message: message.message.id, user: self.key.user, device: self.id)
            return self.endLeg(EndedLeg(leg: leg, end: .ownDevice, at: turn.now.wall), &turn)
        }
        let message = message.seen(on: self.id)
        self.legs.append(
            Leg(
                position: position, subject: .message(message), state: self.lease.firstLegState,
                liveSince: turn.now.monotonic, isRestored: isRestored && message.message.pushJob != nil))
        guard self.lease.getsFrames, let session = self.session else { return }
        if self.legs.count <= turn.settings.liveWindowMax {
            turn.emit(.write(session, .entry(LogEntry(position: position, body: .message(message.message)))))
        } else {
            self.skippedUpTo = position
        }
    }
}

extension Message {
    var senderKey: UserKey { UserKey(app: self.app, user: self.sender) }
}

extension Mentions {
    /// The order the message's addressees need: sorted, without repeats.
    fileprivate var sorted: Mentions {
        guard case .users(let users) = self else { return self }
        return .users(Set(users).sorted())
    }
}

extension String {
    /// By bytes: to search by characters cost more than all else that is done for a message here.
    fileprivate func hasBytes(of word: String) -> Bool {
        guard let first = word.utf8.first else { return true }
        var rest = self.utf8[...]
        while let place = rest.firstIndex(of: first) {
            rest = rest[place...]
            if rest.starts(with: word.utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

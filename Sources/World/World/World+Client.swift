import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

// The SDK in the app's process: its effects on disk, app group, network and notification centre.
extension World {
    /// The client a new process of the app begins with: what the disk holds.
    func client(of index: Int) -> ClientCore {
        let phone = self.phones[index]
        let restored = ClientCore.Restored(
            stored: phone.disk.stored, settled: phone.disk.settled, outbox: phone.disk.outbox.elements.map(\.value),
            reads: phone.disk.reads.elements.map { ClientCore.ReadPosition(conversation: $0.key, upTo: $0.value) },
            unread: phone.disk.unreadCount)
        let settings = ClientCore.Settings(app: Self.app, person: phone.person, device: phone.device, platform: "ios")
        return ClientCore(
            settings: settings, restored: restored, isForeground: true,
            seed: self.options.seed &+ UInt64(index) &* 7_919 &+ UInt64(self.time))
    }

    mutating func handle(_ event: ClientEvent, in process: ProcessID, on index: Int) {
        guard let hosted = self.phones[index].processes[process], hosted.client != nil else { return }
        guard !hosted.isSuspended else {
            if event != .deadlineReached { self.phones[index].processes[process]?.waiting.append(event) }
            return
        }
        var effects: [ClientEffect] = []
        let now = self.now
        self.phones[index].processes[process]?.client?.handle(event, at: now, into: &effects)
        for effect in effects { self.perform(effect, in: process, on: index) }
        guard let deadline = self.phones[index].processes[process]?.client?.nextDeadline else { return }
        let due = max(deadline, self.time)
        guard self.phones[index].processes[process]?.timerAt != due else { return }
        self.phones[index].processes[process]?.timerAt = due
        self.agenda.plan(.clientTimer(index, process), at: due)
    }

    private mutating func later(_ event: ClientEvent, in process: ProcessID, on index: Int, after wait: Int64 = 1) {
        self.plan(.client(index, process, event), after: wait)
    }

    // tidy: long because it is one case per effect.
    private mutating func perform(_ effect: ClientEffect, in process: ProcessID, on index: Int) {
        switch effect {
        case .askToken(let person):
            self.later(.tokenProvided(person.rawValue), in: process, on: index, after: self.chance.number(5...300))
        case .open(let number): self.open(number, in: process, on: index)
        case .sendFrame(let number, let frame): self.write(frame, on: number, in: process, on: index)
        case .close(let number): self.close(number, in: process, on: index)

        case .storeEntries(let entries):
            let person = self.phones[index].person
            self.phones[index].disk.write(entries, person: person)
            let disk = self.phones[index].disk
            self.later(.entriesStored(upTo: disk.stored, unread: disk.unreadCount), in: process, on: index)
        case .skipEntries(let after, _):
            self.checkers.found("bug", "phone \(index) skipped a part of the log after \(after)")
        case .storeSettled(let position): self.phones[index].disk.settled = position
        case .storeOutgoing(let draft):
            self.phones[index].disk.outbox[draft.clientMessageID] = draft
            self.later(.outgoingStored(draft.clientMessageID), in: process, on: index)
        case .removeOutgoing(let id): self.phones[index].disk.outbox[id] = nil
        case .storeRead(let conversation, let position):
            self.phones[index].disk.read(conversation, upTo: position)
            self.phones[index].disk.reads[conversation] = position
            self.later(.unreadCounted(self.phones[index].disk.unreadCount), in: process, on: index)
        case .storeWish, .setStoreAside: self.checkers.found("bug", "phone \(index) took its store for damaged")
        case .resetLog: self.checkers.found("bug", "phone \(index) dropped its log: the server's is another one")
        case .dropWish, .keepWish, .storeSettings:
            self.later(.unreadCounted(self.phones[index].disk.unreadCount), in: process, on: index)
        case .storeRecipient(let recipient): self.phones[index].group.recipient = recipient
        case .forgetPerson: self.phones[index].group = WorldAppGroup()

        case .finishSend(_, .accepted(let message)):
            self.note("phone \(index) has \(message.id) acknowledged")
            self.checkers.acknowledge(message)
        case .finishSend(let id, let outcome): self.checkers.found("P1", "a good send ended badly: \(id) \(outcome)")
        case .publishStatus, .publishRunState, .publishEntries, .finishConnect, .publishProblem, .finishWake,
            .handOverCustomMessages, .keepFarewell, .farewellEnded, .readDeviceStatus, .storeConversation,
            .noteHiddenContent, .publishSignal, .finishRequest:
            break

        case .resolveNames(let id, let question):
            let names = ResolvedNames(user: question.sender.rawValue, group: question.group?.target)
            self.later(.namesResolved(id, names), in: process, on: index, after: self.chance.number(1...200))
        case .askDelegate(let message, _):
            self.later(.delegateAnswered(message.id, handled: false), in: process, on: index)
        case .claimRing(let id): self.claim(id, in: process, on: index)
        case .postNotification(let notification): self.post(notification, in: process, on: index)
        case .markShown(let id):
            self.phones[index].group.ledger.markShown(id, by: .kit(process: process.number), wall: self.now.wall)
        case .releaseClaim(let id):
            self.phones[index].group.ledger.release(id, by: .kit(process: process.number))
        case .clearNotifications(let conversation, let position):
            let identifiers = self.phones[index].core.screen.list.map(\.notification.request).filter {
                NotificationClearing.isRead(
                    .object($0.content.userInfo), identifier: $0.identifier, thread: $0.content.threadIdentifier,
                    in: conversation, upTo: position, stored: { _ in nil })
            }.map(\.identifier)
            self.tell(process, .deliveredRemoved(identifiers: identifiers), on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        case .withdrawNotification(let id, let replacement):
            self.withdraw(id, replacement, in: process, on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        case .lowerBadge(let unread, let position):
            self.phones[index].group.badge?.posted(unread: unread, position: position)
            if let badge = self.phones[index].group.badge { self.ask(process, .setBadgeCount(badge.shown), on: index) }
            self.later(.notificationWorkDone, in: process, on: index)
        case .writeBadge(let unread, let position):
            var badge = self.phones[index].group.badge ?? Badge()
            badge.resigned(unread: unread, position: position)
            self.phones[index].group.badge = badge
            self.ask(process, .setBadgeCount(badge.shown), on: index)
            self.later(.notificationWorkDone, in: process, on: index)

        case .beginBackgroundTask:
            guard self.phones[index].processes[process]?.task == nil else { return }
            let task = self.phones[index].nextTask
            self.phones[index].nextTask += 1
            self.phones[index].processes[process]?.task = task
            self.tell(process, .backgroundTaskBegan(task), on: index)
        case .endBackgroundTask:
            guard let task = self.phones[index].processes[process]?.task else { return }
            self.phones[index].processes[process]?.task = nil
            self.tell(process, .backgroundTaskEnded(task), on: index)
        }
    }

    private mutating func claim(_ id: MessageID, in process: ProcessID, on index: Int) {
        let holder = Ledger.Holder.kit(process: process.number)
        var verdict = self.phones[index].group.ledger.claim(id, by: holder, wall: self.now.wall)
        if verdict == .lookAtDelivered {
            let isDelivered = self.phones[index].core.screen.list.contains {
                $0.notification.request.identifier == id.description
            }
            verdict = self.phones[index].group.ledger.claim(
                id, by: holder, isDelivered: isDelivered, wall: self.now.wall)
        }
        self.later(.ringClaimed(id, verdict), in: process, on: index)
    }

    private mutating func withdraw(
        _ id: MessageID, _ replacement: LocalNotification?, in process: ProcessID, on index: Int
    ) {
        let identifier = id.description
        guard self.phones[index].core.screen.list.contains(where: { $0.notification.request.identifier == identifier })
        else { return }
        guard let replacement else {
            return self.tell(process, .deliveredRemoved(identifiers: [identifier]), on: index)
        }
        self.post(replacement, in: process, on: index)
    }

    private mutating func post(_ notification: LocalNotification, in process: ProcessID, on index: Int) {
        self.phones[index].group.badge?.posted(unread: notification.unread, position: notification.position)
        let content = NotificationContent(
            title: notification.title, body: notification.body, badge: self.phones[index].group.badge?.shown,
            sound: .standard, userInfo: notification.userInfo.objectValue ?? JSONObject(),
            threadIdentifier: notification.conversation.description)
        let request = NotificationRequest(identifier: notification.message.description, content: content)
        self.ask(process, .add(request), on: index, posting: notification.message)
    }
}

import ClientCore
import OrderedCollections
import PhoneCore
import SimulatedPhone
import TidingsModel

// The SDK in the app's process: its effects on disk, network and the app. Those on the notification centre: World+Kit.swift.
extension World {
    func client(of index: Int) -> WorldClient {
        let key = self.phones[index].key
        var restored = self.phones[index].disk.store.restored()
        restored.isLeaving = self.phones[index].isLeaving
        let settings = ClientCore.Settings(app: Self.app, person: key.user.user, device: key.device, platform: "ios")
        return WorldClient(
            ClientCore(
                settings: settings, restored: restored, isForeground: true,
                seed: self.options.seed &+ UInt64(index) &* 7_919 &+ UInt64(self.time)))
    }

    mutating func handle(_ event: ClientEvent, in process: ProcessID, on index: Int) {
        guard let hosted = self.phones[index].processes[process], hosted.client != nil else { return }
        guard !hosted.isSuspended else {
            if event != .deadlineReached { hosted.waiting.append(.client(index, process, event)) }
            return
        }
        if case .frameReceived(_, .welcome) = event { self.phones[index].isWelcome = true }
        var effects = self.scratch.client.borrow()
        let now = self.now
        hosted.client?.handle(event, at: now, into: &effects)
        var answers: [ClientEffect] = []
        for place in effects.indices {
            let effect = effects.takeElement(place, leaving: .endBackgroundTask)
            guard !effect.answersCaller else {
                answers.append(effect)
                continue
            }
            self.perform(effect, in: process, on: index)
        }
        for answer in answers { self.perform(answer, in: process, on: index) }
        self.scratch.client.giveBack(&effects)
        guard let hosted = self.phones[index].processes[process], let deadline = hosted.client?.nextDeadline else {
            return
        }
        let due = max(deadline, self.time)
        guard hosted.timerAt != due else { return }
        hosted.timerAt = due
        self.agenda.plan(.clientTimer(index, process), at: due)
    }

    mutating func planClientEvent(
        _ event: consuming ClientEvent, in process: ProcessID, on index: Int, after wait: Int64 = 1
    ) {
        self.plan(.client(index, process, event), after: wait)
    }

    // tidy: long because it is one case per effect.
    private mutating func perform(_ effect: ClientEffect, in process: ProcessID, on index: Int) {
        let key = self.phones[index].key
        switch effect {
        case .askToken(let person):
            self.planClientEvent(
                .tokenProvided(self.token(for: person)), in: process, on: index,
                after: self.phones[index].chance.number(5...300))
        case .open(let number): self.openConnection(number, in: process, on: index)
        case .sendFrame(let number, let frame): self.write(frame, on: number, in: process, on: index)
        case .close(let number): self.closeConnection(number, in: process, on: index)

        case .storeEntries, .storeSettled, .storeOutgoing, .removeOutgoing, .storeRead, .removePendingChange,
            .addPendingChange, .markPendingChange,
            .storeSettings, .storeConversation:
            self.carryOutStoreEffect(effect, in: process, on: index)
        case .skipEntries(let after, _):
            self.checkers.foundBug("phone \(index) skipped a part of the log after \(after)")
        case .storePendingChange, .setStoreAside: self.checkers.foundBug("phone \(index) took its store for damaged")
        // This server does not say which store it has.
        case .storeOrigin: self.checkers.foundBug("phone \(index) heard of a store nobody told it of")
        case .resetLog: self.checkers.foundBug("phone \(index) dropped its log: the server's is another one")
        case .storeRecipient(let recipient):
            self.phones[index].group.recipient = recipient
            self.tags[recipient.tag] = key
        case .noteLanguage: break  // tidy: the people of the World all speak English
        case .noteHiddenContent(let hides): self.phones[index].group.hidesContent = hides
        case .forgetPerson:
            self.forgetPerson(on: index)
            if let work = effect.centerWork { self.requestCenterWork(work, in: process, on: index) }
        case .keepPendingSignOut: self.phones[index].isLeaving = true
        case .pendingSignOutEnded: self.endPendingSignOut(in: process, on: index)

        case .finishSend(_, .accepted(let message)):
            self.appendTrace("phone \(index) has \(message.id) acknowledged")
            self.emit(.acknowledged(message, to: key))
            self.maybeRecallSoon(message, on: index)
        case .finishSend(let id, .refused(let problem)):
            self.appendTrace("phone \(index) has \(id) refused: \(problem.code.rawValue)")
            guard let draft = self.phones[index].drafts.removeValue(forKey: id) else { return }
            self.emit(.refused(draft, problem, to: key))
        // The phone was full when it was to be stored, and may have room by now.
        case .finishSend(let id, .abandoned(reason: Self.noSpace)): self.phones[index].drafts.removeValue(forKey: id)
        case .finishSend(let id, let outcome):
            self.phones[index].drafts.removeValue(forKey: id)
            guard self.phones[index].isSignedIn else { return }
            self.checkers.foundBug("a send was given up: \(id) \(outcome)")
        case .finishRequest(let number, let outcome):
            guard !self.finishNames(number, outcome, in: process, on: index) else { return }
            self.appendTrace("phone \(index) has request \(number) ended", more: "\(outcome)")
            self.emit(.answered(number, outcome, to: key))
        case .publishEntries(let entries): self.emit(.applied(entries, on: key))
        case .handOverCustomMessages(let wall):
            self.handOverCustomMessages(wall: wall, in: process, on: index)
        case .publishProblem(let problem):
            self.appendTrace("phone \(index) problem: \(problem)")
            guard case .nameMissing(let message, _) = problem else { return }
            // An app that knows everybody answers at once.
            if self.phones[index].naming == .app { self.checkers.foundBug("\(key) has no name for \(message)") }
            self.emit(.nameless(message, on: key))
        case .finishWake(let number, let result): self.finishWake(number, result, in: process, on: index)
        case .publishStatus(.refused(let problem)) where problem.code == .kicked:
            self.wasSignedOutByOther(process, on: index)
        case .publishStatus, .publishRunState, .finishConnect, .publishSignal: break
        case .readDeviceStatus: self.readDeviceStatus(in: process, on: index)

        case .readTimeZone(let name):
            self.planClientEvent(.timeZoneRead(name, Self.zone), in: process, on: index)

        case .ringInForeground(let notification):
            self.emit(.rangInForeground(notification.message, on: self.phones[index].key))
            self.emit(.reached(.messageRings))
            self.handleKitEvent(.messageArrived(notification), in: process, on: index)
        case .learnNames(let question): self.askNames(question, for: .learning, in: process, on: index)
        case .nameSent(let id, let question): self.askNames(question, for: .sent(id), in: process, on: index)
        case .resolveNames, .askDelegate, .claimRing, .postNotification, .markShown, .markRecalled,
            .releaseClaim, .clearNotifications, .recallNotification, .lowerBadge, .writeBadge, .donate,
            .deleteDonations:
            self.performKit(effect, in: process, on: index)

        case .beginBackgroundTask:
            guard self.phones[index].processes[process]?.task == nil else { return }
            let task = self.phones[index].nextTask
            self.phones[index].nextTask += 1
            self.phones[index].processes[process]?.task = task
            self.sendToSystem(process, .backgroundTaskBegan(task), on: index)
        case .endBackgroundTask:
            guard let task = self.phones[index].processes[process]?.task else { return }
            self.phones[index].processes[process]?.task = nil
            self.sendToSystem(process, .backgroundTaskEnded(task), on: index)
        }
    }

    private mutating func carryOutStoreEffect(_ effect: ClientEffect, in process: ProcessID, on index: Int) {
        let key = self.phones[index].key
        guard let command = effect.storeCommand(for: key.user.user),
            self.canStore(command, in: process, on: index)
        else { return }
        let outcome = self.phones[index].disk.carryOut(command)
        if case .written(let written) = outcome { self.emit(.stored(upTo: written.stored, on: key)) }
        for event in command.events(after: outcome) { self.planClientEvent(event, in: process, on: index) }
    }

    private mutating func handOverCustomMessages(wall: Int64?, in process: ProcessID, on index: Int) {
        let waiting = self.phones[index].disk.store.rows.custom
        guard case .custom(let messages) = self.phones[index].disk.carryOut(.takeCustomMessages(wall: wall)) else {
            return
        }
        self.appendTrace("phone \(index) hands over \(Self.names(messages.map(\.id)))")
        let isInForeground = self.phones[index].processes[process]?.isInForeground ?? false
        let taken = messages.compactMap { message in
            waiting.first { $0.message == message }.map { (position: $0.position, message: message) }
        }
        self.emit(.handedOver(taken, isInForeground: isInForeground, on: self.phones[index].key))
    }

    private mutating func readDeviceStatus(in process: ProcessID, on index: Int) {
        guard let settings = self.phones[index].core.notificationSettings(of: Self.bundle) else { return }
        let status = DeviceStatus(settings, version: self.phones[index].core.version)
        let filters = self.phones[index].group.extensionFilters
        self.planClientEvent(.deviceStatusRead(status, extensionFilters: filters), in: process, on: index)
    }
}

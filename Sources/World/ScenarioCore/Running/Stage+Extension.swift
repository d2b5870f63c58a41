import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

struct StagedExtensionWork {
    let request: NotificationRequest
    let process: ProcessID
    let habit: AnswerHabit
    /// From when on it is answered, in monotonic milliseconds.
    let answersAt: Int64
    var machine: ExtensionMachine?
    var content: NotificationContent?
    /// Its time is up: nothing holds the answer back any more.
    var isExpired = false
    /// The content handler was called; a missed message may still be with the notification centre.
    var isAnswered = false
}

// The service extension: what the file says, or the shipped one's machine.
extension Stage {
    mutating func beginExtension(
        _ request: NotificationRequest, _ number: CallbackNumber, _ habit: AnswerHabit, in process: ProcessID
    ) {
        if let bytes = self.app.setup.extensionMemory {
            self.follow(.process(process, .memoryUseChanged(bytes: bytes)))
        }
        let removed = self.app.setup.extensionRemoves[self.labels.label(of: request.identifier)] ?? []
        if !removed.isEmpty {
            let identifiers = removed.map { self.labels.identifier(of: $0) ?? $0 }
            self.follow(.process(process, .deliveredRemoved(identifiers: identifiers)))
        }
        var work = StagedExtensionWork(
            request: request, process: process, habit: habit, answersAt: self.now.monotonic + habit.after)
        if self.app.sdk != nil { work.machine = ExtensionMachine(self.push(of: request)) }
        self.app.extensionRuns[number] = work
        // One that never answers, not even at the last moment, has never come to a decision.
        guard habit.result != nil || self.app.setup.bestAttempt != nil else { return }
        if work.machine != nil {
            self.extensionGoesOn(.received, number)
        } else if habit.result != nil {
            self.laterOrNow(.extensionAnswers(number), after: habit.after) { $0.answerExtension(number) }
        }
    }

    private func push(of request: NotificationRequest) -> ExtensionMachine.Push {
        let userInfo = JSONValue.object(request.content.userInfo)
        return ExtensionMachine.Push(
            identifier: request.identifier, userInfo: userInfo,
            mayFilter: ExtensionDecision.mayFilter(
                isEntitled: self.app.setup.installed.hasFilteringEntitlement,
                version: self.setup.phone.version.description),
            isForeignRecall: CornerMarkDecrease.isSet(in: userInfo))
    }

    private mutating func laterOrNow(_ due: Later, after wait: Int64, _ work: (inout Stage) -> Void) {
        if wait == 0 { work(&self) } else { self.later(due, after: wait) }
    }

    /// The content handler is called as the file says, or the process ends without a call.
    mutating func answerExtension(_ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number], !run.isAnswered else { return }
        if let death = run.habit.death {
            self.extensionEnded(run.process)
            return self.follow(.process(run.process, .exited(crashed: death == .crashes)))
        }
        let content = run.content ?? self.app.setup.extensionChange.applied(to: run.request.content)
        self.callHandler(number, content, times: run.habit.isTwice ? 2 : 1)
    }

    private mutating func callHandler(_ number: CallbackNumber, _ content: NotificationContent, times: Int = 1) {
        guard let run = self.app.extensionRuns[number] else { return }
        let isOver = run.machine?.isIdle ?? true
        self.app.extensionRuns[number]?.isAnswered = true
        if isOver { self.app.extensionRuns[number] = nil }
        for _ in 0..<times { self.follow(.process(run.process, .callbackCompleted(number, .content(content)))) }
    }

    /// `serviceExtensionTimeWillExpire()`: the best attempt goes out, if the app has one. Nothing is answered after it.
    mutating func extensionExpires(_ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number], !run.isAnswered, let attempt = self.app.setup.bestAttempt
        else { return }
        switch attempt {
        case .changed where run.machine != nil:
            self.app.extensionRuns[number]?.isExpired = true
            if let content = run.content { return self.callHandler(number, content) }
            self.extensionGoesOn(.timeExpired, number)
        case .changed: self.callHandler(number, self.app.setup.extensionChange.applied(to: run.request.content))
        case .own(let change): self.callHandler(number, change.applied(to: run.request.content))
        }
    }

    /// What was at work in a process ends with it.
    mutating func extensionEnded(_ process: ProcessID) {
        self.app.extensionRuns = self.app.extensionRuns.filter { $0.value.process != process }
    }

    // MARK: The SDK's machine

    mutating func extensionGoesOn(_ event: ExtensionMachine.Event, _ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number], var machine = run.machine else { return }
        var effects: [ExtensionMachine.Effect] = []
        var group = self.core.isUnlockedOnce ? self.app.sdk : nil
        machine.handle(
            event, group: &group, canAskServer: self.app.sdk?.canFetch ?? false, wall: self.now.wall, into: &effects)
        if let group { self.app.sdk = group }
        if run.machine?.changes == nil, machine.changes != nil {
            self.observed?.append(.extensionDecides(run.request))
        }
        self.app.extensionRuns[number]?.machine = machine
        for effect in effects { self.carryOut(effect, number, of: run) }
        if self.app.extensionRuns[number]?.isAnswered == true, machine.isIdle { self.app.extensionRuns[number] = nil }
    }

    private mutating func carryOut(
        _ effect: ExtensionMachine.Effect, _ number: CallbackNumber, of run: StagedExtensionWork
    ) {
        switch effect {
        case .wait(let milliseconds): self.later(.extensionGoesOn(number, .timePassed), after: milliseconds)
        case .listDelivered: self.extensionGoesOn(.deliveredListed(self.listedIdentifiers), number)
        case .remove(let messages):
            self.follow(.process(run.process, .deliveredRemoved(identifiers: messages.map(\.description))))
        case .fetch(let fetch):
            self.trace.told(server: "asks for \(fetch.limit) after \(fetch.after)", at: self.now.monotonic)
            let answer = self.app.sdk?.missed(fetch)
            self.hear(.missedFetched(answer, delivered: self.listedIdentifiers), number, of: run)
        case .report(let messages):
            for message in messages {
                let label = self.app.sdk?.labels[message] ?? message.description
                self.trace.told(server: "receipt of \(label)", at: self.now.monotonic)
            }
            self.hear(.reported, number, of: run)
        case .post(let post, let tag):
            let query = self.ask(.add(post.request(recipientTag: tag)), of: run.process)
            self.app.extensionPosting[query] = (number, post.message.message)
        // The small server of the scenarios has no images.
        case .fetchImage: self.hear(.imageFetched(isThere: false), number, of: run)
        case .finish(let edit):
            let content = edit?.applied(to: run.request.content) ?? run.request.content
            guard !run.isExpired else { return self.callHandler(number, content) }
            self.app.extensionRuns[number]?.content = content
            self.laterOrNow(.extensionAnswers(number), after: max(0, run.answersAt - self.now.monotonic)) {
                $0.answerExtension(number)
            }
        }
    }

    /// The server answers as slowly as the file says that the extension does; where that never answers, not at all.
    private mutating func hear(_ event: ExtensionMachine.Event, _ number: CallbackNumber, of run: StagedExtensionWork) {
        guard run.habit.result != nil || run.habit.death != nil else { return }
        self.laterOrNow(.extensionGoesOn(number, event), after: run.habit.after) { $0.extensionGoesOn(event, number) }
    }

    private var listedIdentifiers: Set<String> { Set(self.core.listed.map(\.key.identifier)) }
}

extension SDKHost: ExtensionGroup {
    var signIn: ExtensionDecision.SignIn {
        self.recipient.map { .signedIn(recipientTag: $0.tag) } ?? .signedOut
    }
    var position: LogPosition? {
        get { self.recipient?.position }
        set { if let newValue { self.recipient?.position = newValue } }
    }
    var showsContent: Bool { self.setup.kit.showsContent }
    /// The app's words in the person's language, at the small server as on the phone.
    var words: NotificationWords { self.setup.words.words(for: self.setup.language).words }
    // The names of the small server are in the push.
    func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }
}

extension ContentChange {
    func applied(to original: NotificationContent) -> NotificationContent {
        guard !self.isEmpty else { return NotificationContent(badge: self.badge) }
        var content = original
        content.title = self.title ?? content.title
        content.subtitle = self.subtitle ?? content.subtitle
        content.body = self.body ?? content.body
        content.badge = self.badge ?? content.badge
        if self.isSilent { content.sound = nil }
        content.interruptionLevel = self.level ?? content.interruptionLevel
        return content
    }
}

extension SDKHost {
    var canFetch: Bool { self.setup.fetchesMissed && !self.isOffline }

    /// The server's answer to `GET /v1/extension/missed`: the log as the person sees it.
    fileprivate func missed(_ fetch: MissedFetch) -> JSONValue {
        let entries = self.log.filter { $0.position > fetch.after }.prefix(fetch.limit)
        let answer = entries.map { entry -> JSONValue in
            switch entry.body {
            case .message(let message): self.missed(message, at: entry.position)
            case .recall(let recall):
                ["position": .int(entry.position), "recall": .string(recall.message.description)]
            case .read, .custom, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown:
                ["position": .int(entry.position)]
            }
        }
        return ["entries": .array(answer)]
    }

    private func missed(_ message: Message, at position: LogPosition) -> JSONValue {
        let conversation = message.conversation(seenBy: self.setup.person)
        let isRecalled = self.log.contains { later in
            switch later.body {
            case .recall(let recall): recall.message == message.id
            case .read(conversation, let upTo): upTo >= position
            case .message, .read, .custom, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change,
                .unknown:
                false
            }
        }
        // What was never to be pushed to this person rings nowhere.
        let isPushed = PushRule.sends(message, to: self.setup.person, level: self.level(of: conversation))
        let payload = try? NotificationPayload(message: message, seenBy: self.setup.person, at: position)
        return [
            "position": .int(position), "message_id": .string(message.id.description),
            "rings": .bool(isPushed && !isRecalled), "sender": .string(message.sender.rawValue),
            "text": PushInfo.Text(title: conversation.target, body: MessageSummary.text(of: message, in: self.words))
                .dictionary,
            NotificationPayload.key: payload.map { .object($0.dictionary) } ?? .null,
        ]
    }
}

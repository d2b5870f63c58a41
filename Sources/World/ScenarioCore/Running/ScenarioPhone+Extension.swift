import ClientCore
import PhoneCore
import ServerCore
import SimulatedPhone
import StoreModel
import TidingsModel

struct ScenarioExtensionWork {
    let request: NotificationRequest
    let process: ProcessID
    let habit: AnswerHabit
    /// Monotonic milliseconds before which it is not answered.
    let answersAt: Int64
    var machine: ExtensionMachine?
    var content: NotificationContent?
    /// Its time is up: nothing holds the answer back any more.
    var isExpired = false
    /// The content handler was called; a missed message may still be with the notification centre.
    var isAnswered = false
}

// The service extension: what the file says, or the shipped one's machine.
extension ScenarioPhone {
    mutating func beginExtension(
        _ request: NotificationRequest, _ number: CallbackNumber, _ habit: AnswerHabit, in process: ProcessID
    ) {
        if let bytes = self.app.setup.extensionMemory {
            self.enqueue(.process(process, .memoryUseChanged(bytes: bytes)))
        }
        let removed = self.app.setup.extensionRemoves[self.labels.label(of: request.identifier)] ?? []
        if !removed.isEmpty {
            let identifiers = removed.map { self.labels.identifier(of: $0) ?? $0 }
            self.enqueue(.process(process, .deliveredRemoved(identifiers: identifiers)))
        }
        var work = ScenarioExtensionWork(
            request: request, process: process, habit: habit, answersAt: self.now.monotonic + habit.after)
        if self.app.sdk != nil { work.machine = ExtensionMachine(self.extensionPush(of: request)) }
        self.app.extensionRuns[number] = work
        // One that never answers, not even at the last moment, has never come to a decision.
        guard habit.result != nil || self.app.setup.bestAttempt != nil else { return }
        if work.machine != nil {
            self.handleExtension(.received, number)
        } else if habit.result != nil {
            self.perform(.extensionAnswers(number), after: habit.after)
        }
    }

    private func extensionPush(of request: NotificationRequest) -> ExtensionMachine.ReceivedPush {
        let userInfo = JSONValue.object(request.content.userInfo)
        return ExtensionMachine.ReceivedPush(
            identifier: request.identifier, userInfo: userInfo,
            mayFilter: ExtensionDecision.mayFilter(
                isEntitled: self.app.setup.installed.hasFilteringEntitlement,
                version: self.setup.phone.version.description),
            isForeignRecall: CornerMarkDecrease.isSet(in: userInfo),
            usesCommunicationNotifications: self.app.sdk?.setup.kit.usesCommunicationNotifications ?? false)
    }

    /// True if the app has the entitlement, as the system asks: without it the content stays one of the app.
    var isCommunicationEntitled: Bool { self.app.setup.installed.entitlements.contains(.communication) }

    mutating func answerExtension(_ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number], !run.isAnswered else { return }
        if let death = run.habit.death {
            self.endExtensions(in: run.process)
            return self.enqueue(.process(run.process, .exited(crashed: death == .crashes)))
        }
        let content = run.content ?? self.app.setup.extensionChange.applied(to: run.request.content)
        self.callContentHandler(number, content, times: run.habit.isTwice ? 2 : 1)
    }

    private mutating func callContentHandler(_ number: CallbackNumber, _ content: NotificationContent, times: Int = 1) {
        guard let run = self.app.extensionRuns[number] else { return }
        let isOver = run.machine?.isIdle ?? true
        self.app.extensionRuns[number]?.isAnswered = true
        if isOver { self.app.extensionRuns[number] = nil }
        for _ in 0..<times { self.enqueue(.process(run.process, .callbackCompleted(number, .content(content)))) }
    }

    /// `serviceExtensionTimeWillExpire()`: the best attempt goes out, if the app has one. Nothing is answered after it.
    mutating func expireExtension(_ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number], !run.isAnswered, let attempt = self.app.setup.bestAttempt
        else { return }
        switch attempt {
        case .changed where run.machine != nil:
            self.app.extensionRuns[number]?.isExpired = true
            if let content = run.content { return self.callContentHandler(number, content) }
            self.handleExtension(.timeExpired, number)
        case .changed: self.callContentHandler(number, self.app.setup.extensionChange.applied(to: run.request.content))
        case .own(let change): self.callContentHandler(number, change.applied(to: run.request.content))
        }
    }

    mutating func endExtensions(in process: ProcessID) {
        self.app.extensionRuns = self.app.extensionRuns.filter { $0.value.process != process }
    }

    // MARK: The SDK's machine

    mutating func handleExtension(_ event: ExtensionMachine.Event, _ number: CallbackNumber) {
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
        _ effect: ExtensionMachine.Effect, _ number: CallbackNumber, of run: ScenarioExtensionWork
    ) {
        switch effect {
        case .wait(let milliseconds): self.schedule(.extensionGoesOn(number, .timePassed), after: milliseconds)
        case .listDelivered: self.handleExtension(.deliveredListed(self.listedIdentifiers), number)
        case .remove(let messages):
            self.enqueue(.process(run.process, .deliveredRemoved(identifiers: messages.map(\.description))))
        case .fetch(let fetch):
            self.trace.append(server: "asks for \(fetch.limit) after \(fetch.after)", at: self.now.monotonic)
            var answer: JSONValue?
            if case .missed(let page, let words, let hidesContent)? = self.request(
                .missed(after: fetch.after, limit: fetch.limit)), let person = self.app.sdk?.setup.person
            {
                answer = page.missedAnswer(for: person, in: words, hidesContent: hidesContent)
            }
            self.answerExtensionRequest(
                .missedFetched(answer, delivered: self.core.listed.map { .init($0.notification.request) }), number,
                of: run)
        case .report(let messages):
            for message in messages { _ = self.request(.receipt(message, .shown)) }
            self.answerExtensionRequest(.reported, number, of: run)
        case .post(let post, let tag):
            let (donated, request) = post.posted(recipientTag: tag, isEntitled: self.isCommunicationEntitled)
            if let donated { self.enqueue(.process(run.process, .messageDonated(donated))) }
            let query = self.submit(
                .add(request), in: run.process, after: self.app.sdk?.setup.centerTakes ?? 0)
            self.app.extensionPosting[query] = (number, post.message.message)
        case .fetchImage(let url):
            self.answerExtensionRequest(
                .imageFetched(isThere: self.mayFetch(url, run.request.identifier)), number, of: run)
        case .fetchPortrait(let url):
            self.answerExtensionRequest(
                .portraitFetched(isThere: self.mayFetch(url, run.request.identifier)), number, of: run)
        case .deleteDonations(let messages):
            self.enqueue(.process(run.process, DonationScope.messages(messages).event))
        case .finish(let edit):
            let answer = edit?.answer(to: run.request.content, isEntitled: self.isCommunicationEntitled)
            if let donated = answer?.donated { self.enqueue(.process(run.process, .messageDonated(donated))) }
            if let edit {
                self.traceAttached(edit, answer?.donated, to: self.labels.label(of: run.request.identifier))
            }
            let content = answer?.content ?? run.request.content
            guard !run.isExpired else { return self.callContentHandler(number, content) }
            self.app.extensionRuns[number]?.content = content
            self.perform(.extensionAnswers(number), after: max(0, run.answersAt - self.now.monotonic))
        }
    }

    /// The server of a scenario keeps no files; what it knows is whether the message names one.
    private mutating func mayRead(_ media: MediaID, _ identifier: String) -> Bool {
        guard let message = MessageID(identifier), case .mediaUse(_?)? = self.request(.media(media, in: message)) else {
            return false
        }
        return true
    }

    /// Returns true if the extension may fetch a file: from the server if it is media, else from a host it lists.
    private mutating func mayFetch(_ url: String, _ identifier: String) -> Bool {
        if let media = MediaID(reference: url) { return self.mayRead(media, identifier) }
        let hosts = self.app.sdk?.setup.imageHosts ?? []
        return WebAddress.host(of: url).map { NotificationImage.isAllowed(String($0), among: hosts) } ?? false
    }

    /// Traces the parts that the virtual phone does not draw.
    private mutating func traceAttached(_ edit: ContentEdit, _ donated: DonatedMessage?, to label: String) {
        var attached = edit.hasImage ? ["image"] : []
        if let donated { attached.append(donated.words) }
        if edit.hasPortrait { attached.append("portrait") }
        for text in attached {
            self.trace.append(.attached, "\(label): \(text)", kind: "attaches", at: self.now.monotonic)
        }
    }

    /// The server takes as long as the file's answer of the extension, and never answers where that never does.
    private mutating func answerExtensionRequest(
        _ event: ExtensionMachine.Event, _ number: CallbackNumber, of run: ScenarioExtensionWork
    ) {
        guard run.habit.result != nil || run.habit.death != nil else { return }
        self.perform(.extensionGoesOn(number, event), after: run.habit.after)
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
    var canFetch: Bool { self.setup.fetchesMissed && !self.isOffline }
    var words: NotificationWords { self.setup.words.words(for: self.setup.language).words }
    func names(of payload: NotificationPayload) -> KnownNames {
        KnownNames(
            sender: self.userNames[payload.senderID], group: self.groupNames[payload.conversation],
            memberCount: self.memberCounts[payload.conversation])
    }
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

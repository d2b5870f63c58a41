import ClientCore
import PhoneCore
import TidingsModel

/// One push at work in the service extension.
struct ExtensionWork {
    let request: NotificationRequest
    let process: ProcessID
    /// How the app has it answered.
    let habit: AnswerHabit
    /// What the SDK has decided; nil without an SDK, or while it waits.
    var changes: ExtensionDecision.Changes?
    var isDecided = false
}

// The service extension: what the file says, or the SDK's decision.
extension Stage {
    /// A push comes to the extension.
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
        self.app.extensionRuns[number] = ExtensionWork(request: request, process: process, habit: habit)
        self.decideExtension(number)
    }

    /// Decides about a push, or waits for the app's claim of its message (DESIGN P3); then answers as the app has it.
    mutating func decideExtension(_ number: CallbackNumber) {
        guard var run = self.app.extensionRuns[number], !run.isDecided else { return }
        // One that never answers, not even at the last moment, has never come to a decision.
        guard run.habit.result != nil || self.app.setup.bestAttempt != nil else { return }
        if self.app.sdk != nil {
            if let wait = self.extensionWait(run.request) { return self.later(.extensionDecides(number), after: wait) }
            run.changes = self.decideBySDK(run.request, in: run.process)
        }
        run.isDecided = true
        self.app.extensionRuns[number] = run
        guard run.habit.result != nil else { return }
        guard run.habit.after == 0 else { return self.later(.extensionAnswers(number), after: run.habit.after) }
        self.answerExtension(number)
    }

    /// The content handler is called, or the process ends without a call.
    mutating func answerExtension(_ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number] else { return }
        if let death = run.habit.death {
            self.extensionEnded(run.process)
            return self.follow(.process(run.process, .exited(crashed: death == .crashes)))
        }
        let content = self.content(of: run)
        for _ in 0..<(run.habit.isTwice ? 2 : 1) {
            self.follow(.process(run.process, .callbackCompleted(number, .content(content))))
        }
        self.app.extensionRuns[number] = nil
    }

    /// EXP: the best attempt goes out, if the app has one. Nothing is answered after it.
    mutating func extensionExpires(_ number: CallbackNumber) {
        guard let run = self.app.extensionRuns[number], let attempt = self.app.setup.bestAttempt else { return }
        let content =
            switch attempt {
            case .changed: self.content(of: run)
            case .own(let change): change.applied(to: run.request.content)
            }
        self.app.extensionRuns[number] = nil
        self.follow(.process(run.process, .callbackCompleted(number, .content(content))))
    }

    /// What was at work in a process ends with it.
    mutating func extensionEnded(_ process: ProcessID) {
        self.app.extensionRuns = self.app.extensionRuns.filter { $0.value.process != process }
    }

    /// What the extension has of a push by now: the SDK's decision, asked once more, or what the file says.
    private func content(of run: ExtensionWork) -> NotificationContent {
        guard let sdk = self.app.sdk else {
            return self.app.setup.extensionChange.applied(to: run.request.content)
        }
        guard let changes = run.changes else { return run.request.content }
        let canRead = self.core.isUnlockedOnce
        let last = ExtensionDecision.answer(
            changes, userInfo: .object(run.request.content.userInfo), facts: self.extensionFacts(run.request),
            ledger: canRead ? sdk.ledger : Ledger(), badge: canRead ? sdk.badge : nil)
        return last.applied(to: run.request.content)
    }

    // MARK: The SDK's decision

    /// Who is signed in, as the extension finds it.
    private var extensionSignIn: ExtensionDecision.SignIn {
        guard self.core.isUnlockedOnce else { return .unknown }
        return self.app.sdk?.recipient.map { .signedIn(recipientTag: $0.tag) } ?? .signedOut
    }

    private func extensionFacts(_ request: NotificationRequest) -> ExtensionDecision.Facts {
        ExtensionDecision.Facts(
            signIn: self.extensionSignIn,
            isDelivered: self.core.listed.contains { $0.key.identifier == request.identifier },
            position: self.app.sdk?.recipient?.position, showsContent: self.app.sdk?.setup.kit.showsContent ?? true,
            isFilteringEntitled: ExtensionDecision.mayFilter(
                isEntitled: self.app.setup.installed.hasFilteringEntitlement,
                version: self.setup.phone.version.description),
            canFetch: self.app.sdk?.canFetch ?? false)
    }

    /// How long the app's claim still counts, in milliseconds.
    private func extensionWait(_ request: NotificationRequest) -> Int64? {
        guard let sdk = self.app.sdk else { return nil }
        return ExtensionDecision.wait(
            userInfo: .object(request.content.userInfo), signIn: self.extensionSignIn, ledger: sdk.ledger,
            wall: self.now.wall)
    }

    /// The extension's decision, and what it does besides (DESIGN P3, §7 "Extension").
    private mutating func decideBySDK(
        _ request: NotificationRequest, in process: ProcessID
    ) -> ExtensionDecision.Changes? {
        let facts = self.extensionFacts(request)
        guard var sdk = self.app.sdk else { return nil }
        let canRead = self.core.isUnlockedOnce
        var badge = canRead ? sdk.badge : nil
        let changes = ExtensionDecision.changes(
            userInfo: .object(request.content.userInfo), facts: facts, ledger: &sdk.ledger, badge: &badge,
            wall: self.now.wall)
        if canRead {
            sdk.badge = badge
            if let reached = changes?.reached { sdk.recipient?.position = reached }
        }
        self.app.sdk = sdk
        guard let changes else { return nil }
        if !changes.removed.isEmpty {
            self.follow(.process(process, .deliveredRemoved(identifiers: changes.removed.map(\.description))))
        }
        if let fetch = changes.fetch { self.fetchMissed(fetch, pushRings: changes.reason == .rings, in: process) }
        if let receipt = changes.receipt, sdk.canFetch { self.receipt(of: receipt) }
        return changes
    }

    private mutating func receipt(of message: MessageID) {
        let label = self.app.sdk?.labels[message] ?? message.description
        self.trace.told(server: "receipt of \(label)", at: self.now.monotonic)
    }

    /// Posts what APNs has overwritten, before the push itself is shown (DESIGN §5 "Keep-one").
    private mutating func fetchMissed(_ fetch: MissedFetch, pushRings: Bool, in process: ProcessID) {
        guard var sdk = self.app.sdk else { return }
        self.trace.told(server: "asks for \(fetch.limit) after \(fetch.after)", at: self.now.monotonic)
        let answer = sdk.missed(fetch)
        let delivered = Set(self.core.screen.list.compactMap { MessageID($0.key.identifier) })
        let posts = MissedDecision.posts(
            answer, fetch, showsContent: sdk.setup.kit.showsContent, pushRings: pushRings, delivered: delivered,
            ledger: &sdk.ledger, wall: self.now.wall)
        for post in posts { sdk.ledger.markShown(post.message.message, by: .pushExtension, wall: self.now.wall) }
        if let known = sdk.recipient?.position { sdk.recipient?.position = max(known, fetch.before) }
        self.app.sdk = sdk
        let removed = MissedDecision.removed(answer).map(\.description)
        if !removed.isEmpty { self.follow(.process(process, .deliveredRemoved(identifiers: removed))) }
        for post in posts {
            let message = post.message
            var content = NotificationContent(
                title: message.text.title ?? "", body: message.text.body, sound: post.isSilent ? nil : .standard,
                userInfo: message.userInfo(recipientTag: sdk.recipient?.tag ?? "").objectValue ?? JSONObject(),
                threadIdentifier: message.conversation.description)
            if post.isSilent { content.interruptionLevel = .passive }
            _ = self.ask(
                .add(NotificationRequest(identifier: message.message.description, content: content)), of: process)
            self.receipt(of: message.message)
        }
    }
}

extension ContentChange {
    /// A content with what is changed.
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

extension ExtensionDecision.Changes {
    /// A content as it was decided, in the order in which the shipped extension changes one: what is stripped may get other words.
    func applied(to original: NotificationContent) -> NotificationContent {
        var content = original
        if self.isStripped {
            content.title = ""
            content.subtitle = ""
            content.badge = nil
            content.userInfo = ExtensionDecision.strippedUserInfo.objectValue ?? JSONObject()
            content.threadIdentifier = ""
            content.categoryIdentifier = ""
        }
        content.badge = self.badge ?? content.badge
        content.title = self.title ?? content.title
        content.body = self.body ?? content.body
        if self.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        return self.isDiscarded ? NotificationContent(badge: content.badge) : content
    }
}

extension SDKHost {
    /// Whether the extension reaches the small server.
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
        let isWithdrawn = self.log.contains { later in
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
            "rings": .bool(isPushed && !isWithdrawn), "sender": .string(message.sender.rawValue),
            "text": PushInfo.Text(title: conversation.target, body: Gate.text(message)).dictionary,
            NotificationPayload.key: payload.map { .object($0.dictionary) } ?? .null,
        ]
    }
}

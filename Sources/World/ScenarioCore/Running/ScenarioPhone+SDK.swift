import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

// The SDK's decisions behind the app's callbacks. Only translation: effects to events.
extension ScenarioPhone {
    var clientDeadline: Int64? {
        guard let sdk = self.app.sdk, !sdk.isSuspended else { return nil }
        return sdk.client?.nextDeadline
    }

    mutating func clientDeadlineReached() {
        guard let process = self.app.sdk?.process, let due = self.clientDeadline, due <= self.now.monotonic else {
            return
        }
        self.handleClient(.deadlineReached, in: process)
        self.processQueue()
    }

    /// The SDK's run state, as S0.1 names it.
    var runState: String { self.app.sdk?.client?.runState.rawValue ?? "backgroundSuspended" }

    // MARK: The process

    mutating func clientStarted(_ process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        self.app.sdk?.process = process
        self.app.sdk?.client = sdk.newClient(isForeground: true)
        self.app.sdk?.isSuspended = false
        self.app.sdk?.waiting = []
        self.app.sdk?.openActions = [:]
        self.app.sdk?.task = nil
        self.app.sdk?.kit = KitMachine(sdk.kit.settings)
        self.app.sdk?.center = NotificationCenterQueue()
        self.app.sdk?.waitingCenter = []
        self.app.sdk?.waitingKit = []
        self.app.centerQueries = [:]
    }

    mutating func clientResumed(_ process: ProcessID) {
        guard process.role == .app, self.app.sdk != nil else { return }
        self.app.sdk?.isSuspended = false
        let waiting = self.app.sdk?.waiting ?? []
        self.app.sdk?.waiting = []
        for event in waiting { self.handleClient(event, in: process) }
        let centerAnswers = self.app.sdk?.waitingCenter ?? []
        self.app.sdk?.waitingCenter = []
        for answer in centerAnswers { self.handleCenter(answer, in: process) }
        let kitTimers = self.app.sdk?.waitingKit ?? []
        self.app.sdk?.waitingKit = []
        for event in kitTimers { self.handleKit(event, in: process) }
        self.handleClient(.deadlineReached, in: process)
    }

    mutating func clientKilled(_ process: ProcessID) {
        guard process.role == .app, self.app.sdk?.process == process else { return }
        self.app.sdk?.process = nil
        self.app.sdk?.client = nil
        self.hangUp()
    }

    /// Signs in a person. They must not see notifications that came too late for the sign-out to clear.
    mutating func signIn(_ person: UserID, in process: ProcessID) {
        self.app.sdk?.signIn(person)
        self.requestCenterWork(.clearAll(showsZero: false), in: process)
        guard let sdk = self.app.sdk else { return }
        self.handleClient(.kitConfigured(sdk.setup.hasKit ? sdk.setup.kit : nil), in: process)
        self.handleClient(.connectRequested, in: process)
        if let registration = sdk.registration { self.handleClient(.pushRegistrationSet(registration), in: process) }
    }

    // MARK: The network

    mutating func run(_ event: PhoneEvent) {
        if case .person(.airplaneModeChanged(let isOn)) = event, let sdk = self.app.sdk {
            self.app.sdk?.isOffline = isOn || sdk.setup.isOffline
            self.handle(event)
            if isOn { self.loseConnection() }
        } else {
            self.handle(event)
        }
    }

    /// The connection is gone, and the server does not learn of it before it misses an answer.
    mutating func loseConnection(reason: String = "lost") {
        guard let number = self.app.sdk?.connection, let process = self.app.sdk?.process else { return }
        self.app.sdk?.connection = nil
        self.handleClient(.connectionClosed(number, reason: reason), in: process)
        self.processQueue()
    }

    /// The phone's end is closed, and the server is told by the phone's system.
    private mutating func hangUp() {
        guard let sdk = self.app.sdk, sdk.connection != nil, let session = sdk.session else { return }
        self.app.sdk?.connection = nil
        self.app.sdk?.session = nil
        self.disconnect(session)
    }

    private mutating func openConnection(_ number: ConnectionNumber, in process: ProcessID) {
        guard self.app.sdk?.isOffline == false else {
            return self.handleClient(.connectionClosed(number, reason: "unreachable"), in: process)
        }
        let session = self.nextSession()
        self.app.sdk?.session = session
        self.app.sdk?.connection = number
        self.handleClient(.connectionOpened(number), in: process)
    }

    mutating func clientCalled(_ process: ProcessID, _ callback: Callback, _ state: ApplicationState) {
        guard let sdk = self.app.sdk, process.role == .app else { return }
        switch callback {
        case .didFinishLaunching:
            if state == .background {
                self.handleClient(.appDidEnterBackground(remainingMilliseconds: nil), in: process)
            }
            self.handleClient(.kitConfigured(sdk.setup.hasKit ? sdk.setup.kit : nil), in: process)
            self.requestCenterWork(.recoverClaims, in: process)
            if !sdk.isSignedOut { self.handleClient(.connectRequested, in: process) }
        case .sceneWillEnterForeground, .applicationWillEnterForeground, .applicationDidBecomeActive,
            .sceneDidBecomeActive:
            self.handleClient(.appWillEnterForeground, in: process)
        case .sceneWillResignActive, .applicationWillResignActive:
            self.handleClient(.appWillResignActive, in: process)
        case .applicationWillTerminate:
            guard sdk.setup.hasKit, sdk.setup.kit.managesBadge else { break }
            self.requestCenterWork(
                .countAtTermination(unread: sdk.store.counts().unread, position: sdk.store.rows.log.stored),
                in: process)
        case .sceneDidEnterBackground, .applicationDidEnterBackground:
            let remaining = self.core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
            self.handleClient(.appDidEnterBackground(remainingMilliseconds: remaining), in: process)
        case .backgroundTaskExpired: self.handleClient(.backgroundTimeExpired, in: process)
        case .registeredForRemoteNotifications(let token):
            let registration = PushRegistration(
                token: token, environment: .sandbox, topic: Self.bundle.rawValue)
            self.app.sdk?.registration = registration
            self.handleClient(.pushRegistrationSet(registration), in: process)
        default: break
        }
    }

    // MARK: The core

    mutating func handleClient(_ event: ClientEvent, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.client != nil, process == sdk.process else { return }
        guard !sdk.isSuspended else {
            if event != .deadlineReached { self.app.sdk?.waiting.append(event) }
            return
        }
        self.app.sdk?.queue.append(event)
        guard sdk.queue.isEmpty else { return }
        while let next = self.app.sdk?.queue.first {
            var effects: [ClientEffect] = []
            let now = self.now
            self.app.sdk?.client?.handle(next, at: now, into: &effects)
            // As the engine does: what lets a caller go on comes last.
            let last = effects.filter(\.answersCaller)
            effects.removeAll(where: \.answersCaller)
            for effect in effects + last {
                self.observed?.append(.client(effect))
                self.carryOut(effect, in: process)
            }
            if self.app.sdk?.queue.isEmpty == false { self.app.sdk?.queue.removeFirst() }
        }
    }

    // tidy: long because it is one case per effect.
    private mutating func carryOut(_ effect: ClientEffect, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        switch effect {
        case .askToken(let person): self.handleClient(.tokenProvided(person.rawValue), in: process)
        case .open(let number): self.openConnection(number, in: process)
        case .sendFrame(let number, let frame): self.receive(frame, on: number)
        case .close(let number):
            self.trace.append(server: "hangs up", at: self.now.monotonic)
            self.hangUp()
            self.handleClient(.connectionClosed(number, reason: "closed"), in: process)
        case .storeEntries, .skipEntries, .storeSettled, .storeOutgoing, .removeOutgoing, .storeRead,
            .markPendingChange, .removePendingChange, .addPendingChange, .storeSettings, .storeConversation,
            .storeOrigin:
            guard let command = effect.storeCommand(for: sdk.setup.person),
                let outcome = self.app.sdk?.store.carryOut(command)
            else { return }
            for event in command.events(after: outcome) { self.handleClient(event, in: process) }
        case .storeRecipient(let recipient): self.app.sdk?.recipient = recipient
        case .forgetPerson:
            self.app.sdk?.forgetPerson()
            if let work = effect.centerWork { self.requestCenterWork(work, in: process) }
        case .pendingSignOutEnded:
            self.app.sdk?.isLeaving = false
            self.app.sdk?.client = nil
            self.hangUp()
        case .ringInForeground(let notification):
            let strings = self.app.setup.installed.localizations
            let shown = notification.lookedUp { LocalizedText.text(key: $0, arguments: $1, strings: strings) }
            self.handleKit(.messageArrived(shown), in: process)
        case .learnNames(let question):
            self.rememberNames(sdk.setup.names ?? question.everyName, for: question)
        case .nameSent(let id, let question):
            self.handleClient(.sentNamed(id, sdk.setup.names ?? question.everyName), in: process)
        case .resolveNames(let id, let question):
            guard let wait = sdk.names[id] ?? 0 else { return }
            let names = sdk.setup.names ?? question.everyName
            self.rememberNames(names, for: question)
            self.perform(.client(.namesResolved(id, names), process), after: wait)
        case .askDelegate(let message, _):
            let own = sdk.labels[message.id].flatMap { sdk.setup.customCallbackOf[$0] }
            // Without a callback there is nobody who could answer.
            guard let habit = own ?? sdk.setup.customCallback, let isHandled = habit.isHandled else { return }
            self.perform(.client(.delegateAnswered(message.id, handled: isHandled), process), after: habit.after)
        case .claimRing, .postNotification, .markShown, .markRecalled, .releaseClaim, .clearNotifications,
            .recallNotification, .lowerBadge, .writeBadge, .donate, .deleteDonations:
            if let work = effect.centerWork { self.requestCenterWork(work, in: process) }
        case .readDeviceStatus:
            // Before iOS 10 there is no notification centre to ask.
            guard self.setup.phone.version.major >= 10,
                let settings = self.core.notificationSettings(of: Self.bundle)
            else { return }
            self.handleClient(
                .deviceStatusRead(
                    DeviceStatus(settings, version: self.setup.phone.version), extensionFilters: sdk.extensionFilters),
                in: process)
        case .finishWake(let number, let result): self.finishWake(number, result, in: process)
        case .beginBackgroundTask:
            guard sdk.task == nil else { return }
            self.app.sdk?.tasks = sdk.tasks + 1
            self.app.sdk?.task = sdk.tasks + 1
            self.enqueue(.process(process, .backgroundTaskBegan(sdk.tasks + 1)))
        case .endBackgroundTask:
            guard let task = sdk.task else { return }
            self.app.sdk?.task = nil
            self.enqueue(.process(process, .backgroundTaskEnded(task)))
        case .handOverCustomMessages(let wall):
            guard case .custom(let messages) = self.app.sdk?.store.carryOut(.takeCustomMessages(wall: wall)) else {
                return
            }
            for message in messages {
                self.trace.append(
                    .customMessages, sdk.labels[message.id] ?? message.id.description, kind: "custom",
                    at: self.now.monotonic)
            }
        default: break
        }
    }
}

extension ScenarioPhone {
    private mutating func rememberNames(_ names: ResolvedNames, for question: NameQuestion) {
        if let name = names.user { self.app.sdk?.userNames[question.sender] = name }
        if let group = question.group, let name = names.group { self.app.sdk?.groupNames[group] = name }
        if let group = question.group, let count = names.memberCount { self.app.sdk?.memberCounts[group] = count }
    }
}

extension NameQuestion {
    /// Everybody is called by their id.
    fileprivate var everyName: ResolvedNames {
        ResolvedNames(user: self.sender.rawValue, group: self.group?.target)
    }
}

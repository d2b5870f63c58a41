import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

// The SDK's decisions behind the app's callbacks. Only translation: effects to events, and a server that answers at once.
extension Stage {
    var clientDeadline: Int64? {
        guard let sdk = self.app.sdk, !sdk.isSuspended else { return nil }
        return sdk.client?.nextDeadline
    }

    mutating func clientDeadlineReached() {
        guard let process = self.app.sdk?.process, let due = self.clientDeadline, due <= self.now.monotonic else {
            return
        }
        self.client(.deadlineReached, in: process)
        self.drain()
    }

    /// The SDK's run state, as S0.1 names it.
    var runState: String { self.app.sdk?.client?.runState.rawValue ?? "backgroundSuspended" }

    // MARK: The process

    mutating func clientStarted(_ process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        self.app.sdk?.process = process
        self.app.sdk?.connection = nil
        self.app.sdk?.isWelcome = false
        self.app.sdk?.client = sdk.newClient(isForeground: true)
        self.app.sdk?.isSuspended = false
        self.app.sdk?.waiting = []
        self.app.sdk?.openActions = [:]
        self.app.sdk?.task = nil
        self.app.sdk?.kit = KitMachine(sdk.kit.settings)
        self.app.sdk?.center = NotificationCenterQueue()
        self.app.sdk?.waitingCenter = []
        self.app.centerQueries = [:]
    }

    mutating func clientSuspended(_ process: ProcessID) {
        if process.role == .app { self.app.sdk?.isSuspended = true }
    }

    mutating func clientResumed(_ process: ProcessID) {
        guard process.role == .app, self.app.sdk != nil else { return }
        self.app.sdk?.isSuspended = false
        let waiting = self.app.sdk?.waiting ?? []
        self.app.sdk?.waiting = []
        for event in waiting { self.client(event, in: process) }
        let centerAnswers = self.app.sdk?.waitingCenter ?? []
        self.app.sdk?.waitingCenter = []
        for answer in centerAnswers { self.center(answer, in: process) }
        self.client(.deadlineReached, in: process)
    }

    mutating func clientKilled(_ process: ProcessID) {
        guard process.role == .app, self.app.sdk?.process == process else { return }
        self.app.sdk?.process = nil
        self.app.sdk?.client = nil
        self.app.sdk?.connection = nil
        self.app.sdk?.isWelcome = false
    }

    // MARK: The network

    /// A phone event of a scenario; airplane mode takes the SDK's connection with it.
    mutating func happen(_ event: PhoneEvent) {
        if case .person(.airplaneModeChanged(let isOn)) = event, let sdk = self.app.sdk {
            self.app.sdk?.isOffline = isOn || sdk.setup.isOffline
            self.send(event)
            if isOn { self.loseConnection() }
        } else {
            self.send(event)
        }
    }

    /// The connection is gone without a word: what was not settled is pushed when the server has waited long enough.
    mutating func loseConnection() {
        guard let number = self.app.sdk?.connection, let process = self.app.sdk?.process else { return }
        self.app.sdk?.connection = nil
        self.app.sdk?.isWelcome = false
        self.client(.connectionClosed(number, reason: "lost"), in: process)
        self.drain()
    }

    /// Lets the first connection finish, so that a trace begins with a quiet SDK.
    mutating func settleClient() { if self.app.sdk != nil { self.drain() } }

    /// What an app forwards to the SDK when iOS calls it.
    mutating func clientCalled(_ process: ProcessID, _ callback: Callback, _ state: ApplicationState) {
        guard let sdk = self.app.sdk, process.role == .app else { return }
        switch callback {
        case .didFinishLaunching:
            if state == .background { self.client(.appDidEnterBackground(remainingMilliseconds: nil), in: process) }
            self.client(.kitConfigured(sdk.setup.hasKit ? sdk.setup.kit : nil), in: process)
            self.requestCenterWork(.recoverClaims, in: process)
            self.client(.connectRequested, in: process)
        case .sceneWillEnterForeground, .applicationWillEnterForeground, .applicationDidBecomeActive,
            .sceneDidBecomeActive:
            self.client(.appWillEnterForeground, in: process)
        case .sceneWillResignActive, .applicationWillResignActive:
            self.client(.appWillResignActive, in: process)
        case .applicationWillTerminate:
            guard sdk.setup.hasKit, sdk.setup.kit.managesBadge else { break }
            self.requestCenterWork(
                .countAtTermination(unread: sdk.unread, position: sdk.storedPosition), in: process)
        case .sceneDidEnterBackground, .applicationDidEnterBackground:
            let remaining = self.core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
            self.client(.appDidEnterBackground(remainingMilliseconds: remaining), in: process)
        case .backgroundTaskExpired: self.client(.backgroundTimeExpired, in: process)
        case .registeredForRemoteNotifications(let token):
            let registration = PushRegistration(
                token: token, environment: .sandbox, topic: Self.bundle.rawValue)
            self.client(.pushRegistrationSet(registration), in: process)
        default: break
        }
    }

    // MARK: The core

    /// One event of the client, with everything that follows at once.
    mutating func client(_ event: ClientEvent, in process: ProcessID) {
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
                self.perform(effect, in: process)
            }
            if self.app.sdk?.queue.isEmpty == false { self.app.sdk?.queue.removeFirst() }
        }
    }

    /// An answer of the app's that takes its time.
    private mutating func client(_ event: ClientEvent, in process: ProcessID, after wait: Int64) {
        if wait == 0 { self.client(event, in: process) } else { self.later(.client(event, process), after: wait) }
    }

    // tidy: long because it is one case per effect.
    private mutating func perform(_ effect: ClientEffect, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        switch effect {
        case .askToken(let person): self.client(.tokenProvided(person.rawValue), in: process)
        case .open(let number):
            if sdk.isOffline {
                self.client(.connectionClosed(number, reason: "unreachable"), in: process)
            } else {
                self.app.sdk?.connection = number
                self.client(.connectionOpened(number), in: process)
            }
        case .sendFrame(let number, let frame): self.serve(frame, on: number, in: process)
        case .close(let number):
            self.trace.told(server: "hangs up", at: self.now.monotonic)
            self.hangUp()
            self.client(.connectionClosed(number, reason: "closed"), in: process)
        case .storeEntries, .skipEntries, .storeSettled, .storeOutgoing, .removeOutgoing, .storeRead,
            .removePendingChange,
            .addPendingChange, .storeSettings, .storeConversation, .storeOrigin:
            guard let command = effect.storeCommand(for: sdk.setup.person),
                let outcome = self.app.sdk?.carryOut(command)
            else { return }
            for event in command.events(after: outcome) { self.client(event, in: process) }
        case .storeRecipient(let recipient): self.app.sdk?.recipient = recipient
        case .forgetPerson:
            self.app.sdk?.recipient = nil
            if let work = effect.centerWork { self.requestCenterWork(work, in: process) }
        case .resolveNames(let id, let question):
            let everything = ResolvedNames(user: question.sender.rawValue, group: question.group?.target)
            guard case .after(let wait) = sdk.names[id] ?? .after(0) else { return }
            self.client(.namesResolved(id, sdk.setup.names ?? everything), in: process, after: wait)
        case .askDelegate(let message, _):
            let own = sdk.labels[message.id].flatMap { sdk.setup.customCallbackOf[$0] }
            let habit = own ?? sdk.setup.customCallback ?? CustomCallbackHabit(isHandled: false)
            guard let isHandled = habit.isHandled else { return }
            self.client(.delegateAnswered(message.id, handled: isHandled), in: process, after: habit.after)
        case .claimRing, .postNotification, .markShown, .markRecalled, .releaseClaim, .clearNotifications,
            .recallNotification, .lowerBadge, .writeBadge:
            if let work = effect.centerWork { self.requestCenterWork(work, in: process) }
        case .finishWake(let number, let result): self.finishWake(number, result, in: process)
        case .beginBackgroundTask:
            guard sdk.task == nil else { return }
            self.app.sdk?.tasks = sdk.tasks + 1
            self.app.sdk?.task = sdk.tasks + 1
            self.follow(.process(process, .backgroundTaskBegan(sdk.tasks + 1)))
        case .endBackgroundTask:
            guard let task = sdk.task else { return }
            self.app.sdk?.task = nil
            self.follow(.process(process, .backgroundTaskEnded(task)))
        case .handOverCustomMessages(let wall):
            guard case .custom(let messages) = self.app.sdk?.carryOut(.takeCustomMessages(wall: wall)) else { return }
            for message in messages {
                self.trace.received(custom: sdk.labels[message.id] ?? message.id.description, at: self.now.monotonic)
            }
        default: break
        }
    }
}

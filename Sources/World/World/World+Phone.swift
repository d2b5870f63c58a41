import APNsCore
import ClientCore
import OrderedCollections
import PhoneCore
import SimulatedPhone
import TidingsModel

// Phones: what the system does to the app's processes, and what the app answers.
extension World {
    mutating func handle(_ event: PhoneEvent, on index: Int) {
        if case .person(let action) = event { self.appendTrace("person on phone \(index)", more: "\(action)") }
        var effects = self.scratch.phone.borrow()
        let now = self.now
        self.phones[index].core.handle(event, at: now, into: &effects)
        // Taken out one after the other: a copy of each would cost more than to carry it out.
        for place in effects.indices { self.perform(effects.takeElement(place, leaving: .connectCourier), on: index) }
        self.scratch.phone.giveBack(&effects)
        guard let deadline = self.phones[index].nextDeadline else { return }
        let due = max(deadline, self.time)
        guard self.phones[index].timerAt != due else { return }
        self.phones[index].timerAt = due
        self.agenda.plan(.phoneTimer(index), at: due)
    }

    // tidy: long because it is one case per effect.
    private mutating func perform(_ effect: consuming PhoneEffect, on index: Int) {
        switch effect {
        case .startProcess(let process):
            let started = WorldProcess(major: self.phones[index].core.version.major)
            if process.role == .app { self.emit(.appStarted(self.phones[index].key)) }
            let hasPerson = self.phones[index].isSignedIn || self.phones[index].isLeaving
            if process.role == .app, hasPerson { started.client = self.client(of: index) }
            self.phones[index].processes[process] = started
            self.plan(.phone(index, .process(process, .started)), after: self.phones[index].chance.number(20...400))
        case .suspendProcess(let process): self.phones[index].processes[process]?.isSuspended = true
        case .resumeProcess(let process):
            self.phones[index].processes[process]?.isSuspended = false
            let waiting = self.phones[index].processes[process]?.waiting ?? []
            self.phones[index].processes[process]?.waiting = []
            for event in waiting { self.plan(event, after: 0) }
            // A timer that was due while the process was suspended.
            self.plan(.client(index, process, .deadlineReached), after: 0)
        case .killProcess(let process):
            self.phones[index].processes[process] = nil
            self.extensionKilled(process, on: index)
            self.dropConnections(of: process, on: index)
        case .call(let process, let number, let callback, let state):
            self.answerCallback(process, number, callback, state, on: index)
        case .answer(let process, let query, let answer):
            self.handleQueryAnswer(
                self.phones[index].queries.removeValue(forKey: query), answer, in: process, on: index)
        case .registerTopic: self.askForToken(index)
        case .unregisterTopic(let bundle):
            guard let courier = self.phones[index].courier else { return }
            self.tellCourier(.unregistrationRequested(.init(courier), topic: bundle.rawValue, .sandbox), index)
        case .invalidateTokens: self.invalidateTokens(on: index)
        case .requestToken, .dropToken, .subscribe, .unsubscribe:
            // The apps of this world use the device token only.
            break
        case .acknowledge(let delivery):
            guard let courier = self.phones[index].courier else { return }
            self.tellCourier(.deliveryAcknowledged(.init(courier), delivery: Int64(delivery)), index)
        case .connectCourier: self.goOnline(index)
        case .disconnectCourier: self.goOffline(index)
        case .record(let record): self.handleRecord(record, on: index)
        }
    }

    private mutating func handleQueryAnswer(
        _ purpose: QueryPurpose?, _ answer: QueryAnswer, in process: ProcessID, on index: Int
    ) {
        switch purpose {
        case .center(let query): self.plan(.center(index, process, query.event(for: answer)), after: 1)
        case .extensionPost(let call, let message):
            let isTaken = answer == .added
            self.continueExtension(.posted(message, isTaken: isTaken), for: call, on: index)
            if isTaken, self.phones[index].group.ledger[message]?.isRecalled != true { self.emit(.reached(.fetched)) }
        case nil: break
        }
    }

    /// Emits the shown notification; and a push for another person that is shown with its message's text.
    private mutating func emitShown(_ identifier: String, isRemote: Bool, on index: Int) {
        guard let entry = self.phones[index].core.listed.last(where: { $0.key.identifier == identifier }) else {
            return
        }
        let content = entry.notification.request.content
        self.emit(.shown(entry.notification.request, on: self.phones[index].key))
        guard isRemote, let info = PushInfo(userInfo: .object(content.userInfo)), let text = info.text,
            text.line == .text(content.body), let owner = self.tags[info.recipientTag],
            owner.user != self.phones[index].key.user
        else { return }
        self.emit(.exposed(info.message, byAlert: info.textMode == .alert, on: self.phones[index].key))
    }

    private mutating func handleRecord(_ record: PhoneRecord, on index: Int) {
        switch record.entry {
        case .presentation(let presentation):
            self.appendTrace(
                "phone \(index) shows \(presentation.identifier) banner \(presentation.banner) sound "
                    + "\(presentation.sound) badge \(presentation.badge ?? -1) \(presentation.reason.rawValue)")
            // Ended before it was even called, it has left the push as it came.
            if presentation.isRemote, self.phones[index].extensionEndedAt == self.time {
                self.emit(.unextended(identifier: presentation.identifier, on: self.phones[index].key))
            }
            self.emit(.presented(presentation, on: self.phones[index].key))
            self.emitShown(presentation.identifier, isRemote: presentation.isRemote, on: index)
            self.planClearing(of: presentation, on: index)
        case .callback(let call): self.appendTrace("phone \(index) calls \(call.callback.name)")
        case .state(let state):
            self.appendTrace("phone \(index) app \(state.rawValue)")
            self.emit(.moved(isInForeground: state.isInForeground, on: self.phones[index].key))
        case .arrival(let arrival):
            self.appendTrace("phone \(index) gets \(arrival.identifier) \(arrival.state.rawValue)")
        case .processEnded(let process, let reason):
            self.appendTrace("phone \(index) ends \(process) \(reason.rawValue)")
            // Before what it leaves is shown.
            self.extensionKilled(process, on: index)
            if process.role == .serviceExtension, reason != .extensionDone {
                self.phones[index].extensionEndedAt = self.time
            }
            // What was left out on purpose is not the SDK's.
            let isExcused = process == self.phones[index].neglectful && reason != .backgroundTaskNotEnded
            if process.role == .app, !isExcused { self.emit(.appKilled(reason, on: self.phones[index].key)) }
        case .fault(let text):
            self.appendTrace("phone \(index) fault \(text)")
            // The app was made to be late.
            guard !self.phones[index].neglected.contains(where: { text.contains("callback \($0) was not called") })
            else {
                return
            }
            self.checkers.foundBug("phone \(index): \(text)")
        case .wake(_, let outcome):
            if outcome.isHeldBySystem { self.emit(.wakeHeld(self.phones[index].device)) }
        case .completion, .processStarted, .badge, .refused, .backgroundFetch, .refreshTask, .activity,
            .systemSound, .incomingCall:
            break
        }
    }

    // tidy: long because it is one case per callback.
    private mutating func answerCallback(
        _ process: ProcessID, _ number: CallbackNumber, _ callback: Callback, _ state: ApplicationState, on index: Int
    ) {
        let isNeglected = self.neglects(callback, number, on: index)
        if isNeglected { self.phones[index].neglectful = process }
        switch callback {
        case .didFinishLaunching:
            if state == .background {
                self.handle(.appDidEnterBackground(remainingMilliseconds: nil), in: process, on: index)
            }
            self.phones[index].processes[process]?.isInForeground = state != .background
            if self.phones[index].isSignedIn { self.requestCenterWork(.recoverClaims, in: process, on: index) }
            // A process that only finishes a sign-out has no kit.
            if self.phones[index].isSignedIn {
                self.handle(.kitConfigured(self.kitSettings(of: index)), in: process, on: index)
            }
            self.handle(.connectRequested, in: process, on: index)
            self.sendToSystem(process, .delegateChanged(isSet: true), on: index)
            self.sendToSystem(process, .remoteRegistrationRequested, on: index)
            self.querySystem(process, .requestAuthorization([.alert, .sound, .badge]), on: index)
        case .sceneWillEnterForeground, .applicationWillEnterForeground, .applicationDidBecomeActive:
            self.phones[index].processes[process]?.isInForeground = true
            self.handle(.appWillEnterForeground, in: process, on: index)
        case .sceneWillResignActive, .applicationWillResignActive:
            self.handle(.appWillResignActive, in: process, on: index)
        case .applicationWillTerminate:
            let counts = self.phones[index].counts
            guard self.phones[index].isSignedIn else { break }
            self.requestCenterWork(
                .countAtTermination(unread: counts.unread, position: counts.stored), in: process, on: index)
        case .sceneDidEnterBackground, .applicationDidEnterBackground:
            self.phones[index].processes[process]?.isInForeground = false
            let remaining = self.phones[index].core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
            self.handle(.appDidEnterBackground(remainingMilliseconds: remaining), in: process, on: index)
        case .registeredForRemoteNotifications(let token):
            let registration = PushRegistration(token: token, environment: .sandbox, topic: Self.bundle.rawValue)
            self.phones[index].registration = registration
            guard self.phones[index].isSignedIn else { break }
            self.handle(.pushRegistrationSet(registration), in: process, on: index)
        case .backgroundTaskExpired: self.handle(.backgroundTimeExpired, in: process, on: index)
        case .serviceExtensionReceive(let request):
            return self.extensionCalled(request, number, in: process, on: index)
        case .serviceExtensionTimeWillExpire:
            for (call, work) in self.phones[index].extensionWork where work.process == process {
                self.continueExtension(.timeExpired, for: call, on: index)
            }
        case .willPresent(let notification):
            self.markPresentation(of: notification.request, in: process, on: index)
        // The kit handles these, if anything does.
        case .willFinishLaunching, .applicationDidReceiveMemoryWarning, .sceneConfiguration, .sceneWillConnect,
            .sceneDidBecomeActive, .sceneDidDisconnect, .receiveResponse, .receiveRemote,
            .receiveRemoteFetch, .receiveLocal, .performFetch, .handleActionRemote, .handleActionLocal,
            .failedToRegisterForRemoteNotifications, .openSettings, .registeredUserNotificationSettings,
            .refreshTaskLaunched, .refreshTaskExpired, .backgroundRefreshStatusChanged, .voipTokenUpdated,
            .protectedDataDidBecomeAvailable, .protectedDataWillBecomeUnavailable,
            .voipPushReceived, .voipTokenInvalidated, .callAnswered, .callDeclined, .activityTokenUpdated,
            .pushToStartTokenUpdated,
            .activityUpdated, .expiringActivityExpired:
            break
        }
        let event = KitMachine.Event(callback, number, state, isCenterDelegateSet: true)
        // A push is neglected as a whole; a tap opens its conversation also where the app never answers.
        if let event, !isNeglected || callback.isResponse {
            let isOurs = self.handleKitEvent(event, in: process, on: index)
            if isOurs, callback.isAnsweredByKit { return }
        }
        if isNeglected { return }
        self.plan(
            .phone(index, .process(process, .callbackCompleted(number, callback.answerWithoutKit))),
            after: self.phones[index].chance.number(1...30))
    }

    mutating func sendToSystem(_ process: ProcessID, _ event: consuming ProcessEvent, on index: Int) {
        self.plan(.phone(index, .process(process, event)), after: 1)
    }

    mutating func querySystem(
        _ process: ProcessID, _ query: consuming Query, on index: Int, for purpose: QueryPurpose? = nil
    ) {
        let number = self.phones[index].nextQuery
        self.phones[index].nextQuery += 1
        if let purpose { self.phones[index].queries[number] = purpose }
        self.sendToSystem(process, .query(number, query), on: index)
    }
}

extension Callback {
    fileprivate var isResponse: Bool { if case .receiveResponse = self { true } else { false } }

    fileprivate var answerWithoutKit: CallbackResult {
        switch self {
        case .receiveRemoteFetch, .performFetch: .fetch(.noData)
        case .willPresent: .presentation([.banner, .list, .sound, .badge])
        default: .returned  // tidy: the others ask nothing
        }
    }
}

extension WakeOutcome {
    /// The system keeps a silent push from the app, as it may (ios-delivery.md §7.3).
    fileprivate var isHeldBySystem: Bool {
        [.heldForBudget, .heldAfterRestart, .heldBeforeFirstUnlock, .discardedForceQuit, .refreshOff].contains(self)
    }
}

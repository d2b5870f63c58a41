import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

struct HostedApp {
    let setup: AppSetup
    var sdk: SDKHost?
    var hasCenterDelegate = false
    var centerQueries: [QueryNumber: NotificationCenterQueue.PendingQuery] = [:]
    var extensionPosting: [QueryNumber: (push: CallbackNumber, message: MessageID)] = [:]
    var extensionRuns: [CallbackNumber: ScenarioExtensionWork] = [:]

    static let ownTask: BackgroundTaskNumber = 1_000
    static let refreshTask = "chat.example.refresh"
}

// What the app does when iOS calls it.
extension ScenarioPhone {
    mutating func processStarted(_ process: ProcessID) {
        guard process.role == .app else { return }
        self.app.hasCenterDelegate = false
        self.clientStarted(process)
    }

    mutating func handleQueryAnswer(_ process: ProcessID, _ number: QueryNumber, _ answer: QueryAnswer) {
        if let query = self.app.centerQueries.removeValue(forKey: number) {
            if case (.badge, .refused(let error)) = (query, answer) { self.traceFault("refused: \(error)") }
            self.handleCenter(query.event(for: answer), in: process)
        } else if let post = self.app.extensionPosting.removeValue(forKey: number) {
            self.handleExtension(.posted(post.message, isTaken: answer == .added), post.push)
        } else if case .refused(let error) = answer {
            self.traceFault("refused: \(error)")
        } else if case .taskRefused(let error) = answer {
            self.traceFault("refused: \(error)")
        }
    }

    mutating func answerCallback(
        _ process: ProcessID, _ number: CallbackNumber, _ callback: Callback, _ state: ApplicationState
    ) {
        let own = self.ownHabit(for: callback)
        let habit = own ?? self.usualHabit(for: callback)
        switch callback {
        case .didFinishLaunching: self.setUpApp(in: process)
        case .applicationDidBecomeActive, .sceneDidBecomeActive:
            if self.app.setup.delegateMoment == .didBecomeActive {
                self.enqueue(.process(process, .delegateChanged(isSet: true)))
            }
        case .applicationDidEnterBackground, .sceneDidEnterBackground:
            if let task = self.app.setup.backgroundTask {
                self.enqueue(.process(process, .backgroundTaskBegan(HostedApp.ownTask)))
                if let ends = task.endsAfter {
                    self.schedule(.phone(.process(process, .backgroundTaskEnded(HostedApp.ownTask))), after: ends)
                }
            }
        case .backgroundTaskExpired(HostedApp.ownTask):
            if self.app.setup.backgroundTask?.endsOnExpiration ?? true {
                self.enqueue(.process(process, .backgroundTaskEnded(HostedApp.ownTask)))
            }
        case .voipPushReceived(let payload):
            // Before iOS 10 there is no CallKit.
            if habit.reportsCall, self.setup.phone.version >= 10 {
                let call = IncomingCall(
                    identifier: payload["call"]?.stringValue ?? "\(number)",
                    caller: payload["caller"]?.stringValue ?? "")
                self.enqueue(.process(process, .incomingCallReported(call)))
            }
        case .refreshTaskLaunched(let identifier):
            self.enqueue(.process(process, .refreshTaskCompleted(identifier: identifier, success: true)))
        case .serviceExtensionReceive(let request):
            return self.beginExtension(request, number, habit, in: process)
        case .serviceExtensionTimeWillExpire(_, let call): self.expireExtension(call)
        default: break
        }
        self.clientCalled(process, callback, state)
        let isCenterDelegateSet = self.app.hasCenterDelegate
        if let event = KitMachine.Event(callback, number, state, isCenterDelegateSet: isCenterDelegateSet) {
            if own != nil { self.app.sdk?.callsAnsweredByFile.insert(number) }
            let isOurs = self.handleKit(event, in: process)
            if own == nil, isOurs, callback.isAnsweredByKit { return }
        }
        guard let result = habit.result else { return }
        for _ in 0..<(habit.isTwice ? 2 : 1) {
            self.perform(.phone(.process(process, .callbackCompleted(number, result))), after: habit.after)
        }
    }

    private func ownHabit(for callback: Callback) -> AnswerHabit? {
        let call: AnsweredCall? =
            switch callback {
            case .willPresent: .willPresent
            case .receiveResponse: .didReceive
            case .receiveRemoteFetch: .didReceiveRemoteNotificationFetch
            case .performFetch: .performFetch
            case .voipPushReceived: .didReceiveIncomingPush
            case .serviceExtensionReceive: .serviceExtension
            case .didFinishLaunching: .didFinishLaunching
            case .applicationDidEnterBackground, .sceneDidEnterBackground: .didEnterBackground
            default: nil
            }
        return call.flatMap { self.habit($0, about: callback) ?? self.app.setup.answers[$0] }
    }

    private func usualHabit(for callback: Callback) -> AnswerHabit {
        switch callback {
        // Everything the version knows: banner and list are parts of the alert before iOS 14 (ios-delivery.md §5.5).
        case .willPresent:
            AnswerHabit(
                result: .presentation(
                    self.setup.phone.version < 14 ? [.alert, .sound, .badge] : [.banner, .list, .sound, .badge]))
        case .receiveRemoteFetch, .performFetch: AnswerHabit(result: .fetch(.newData))
        default: AnswerHabit(result: .returned)  // tidy: the others take no answer
        }
    }

    private func habit(_ call: AnsweredCall, about callback: Callback) -> AnswerHabit? {
        guard let habits = self.app.setup.answersOf[call], let subject = CallWords.observed(callback).subject,
            let label = self.labels.label(of: subject)
        else { return nil }
        return habits[label]
    }

    private mutating func setUpApp(in process: ProcessID) {
        let version = self.setup.phone.version
        if self.app.setup.delegateMoment == .didFinishLaunching, version.hasUserNotifications {
            self.enqueue(.process(process, .delegateChanged(isSet: true)))
        }
        let categories = self.categories
        if version.hasUserNotifications, !categories.isEmpty {
            self.enqueue(.process(process, .categoriesSet(categories)))
        }
        if self.app.setup.installed.backgroundModes.contains(.voip) {
            self.enqueue(.process(process, .voipRegistrationChanged(isOn: true)))
        }
        if !self.app.setup.installed.permittedTasks.isEmpty {
            self.enqueue(.process(process, .refreshTaskRegistered(identifier: HostedApp.refreshTask)))
        }
        if self.app.setup.registers == .everyLaunch { self.registerForPushes(in: process) }
    }

    /// Asks for a device token, by the call of the phone's era: before iOS 8 the same one asks for permission.
    private mutating func registerForPushes(in process: ProcessID) {
        guard self.setup.phone.version < 8 else {
            return self.enqueue(.process(process, .remoteRegistrationRequested))
        }
        guard self.setup.phone.authorization != .notDetermined else { return }
        self.enqueue(.process(process, .remoteTypesRequested([.alert, .sound, .badge])))
    }

    private var categories: [NotificationCategory] {
        let registers = self.app.setup.sdk?.registersActions == true
        return self.app.setup.categories + (registers ? [Self.kitCategory] : [])
    }

    // MARK: Before the trace

    /// The first launch, in which the app asks and registers, as each version has it; then the person's answers.
    mutating func prepare() {
        self.handle(.person(.appOpened(Self.bundle)))
        if let process = self.process { self.registerAtFirstLaunch(process) }
        self.processQueue()
        self.advance(by: 1_000)
        let phone = self.setup.phone
        switch phone.authorization {
        case .authorized, .denied:
            let isOn = phone.authorization == .authorized
            if self.core.screen.permissionPrompt != nil { self.handle(.person(.permissionAnswered(allowed: isOn))) }
        case .notDetermined, .provisional, .ephemeral: break
        }
        for change in phone.switches {
            self.handle(.person(.settingChanged(Self.bundle, change.which, isOn: change.isOn)))
        }
        if phone.backgroundRefresh != .available {
            for event in phone.backgroundRefresh.events { self.handle(event) }
        }
        self.trace.mark(at: self.now.monotonic)
        for step in self.setup.before where self.halted == nil {
            self.run(step)
            self.collectFaults()
        }
        guard self.halted == nil else { return }
        self.step = self.setup.position
        self.reach(self.setup.start)
        for condition in phone.conditions { self.run(condition) }
        self.collectFaults()
        self.checkStart()
        if self.setup.start != .background { self.processQueue() }
        // What the app group holds when the steps begin, whatever the app wrote on the way there.
        let log = self.serverLog
        self.app.sdk?.beginSteps(wall: self.now.wall, log: log)
        self.trace.clear(at: self.now.monotonic)
    }

    /// Faults before the trace fail the case as well.
    private mutating func collectFaults() {
        self.preparation += self.faultDifferences(at: self.step)
        self.trace.mark(at: self.now.monotonic)
    }

    private mutating func checkStart() {
        let start = self.setup.start
        let isBeforeFirstUnlock = self.core.screen.lock == .beforeFirstUnlock
        let there = isBeforeFirstUnlock ? StartState.beforeFirstUnlock.rawValue : self.state.word
        guard there != start.rawValue else { return }
        self.preparation.append(
            Difference(
                position: self.setup.position, key: "start", expected: [start.rawValue], actual: [there], differing: [0]
            ))
    }

    private mutating func registerAtFirstLaunch(_ process: ProcessID) {
        let asks = self.setup.phone.authorization != .notDetermined
        let usual: AuthorizationOptions = [.alert, .sound, .badge]
        let version = self.setup.phone.version
        // With `everyLaunch`, `didFinishLaunching` has done it.
        let registers = self.app.setup.registers == .firstLaunch
        if version < 8 {
            if registers { self.registerForPushes(in: process) }
            return
        }
        if version < 10 {
            if asks {
                self.enqueue(
                    .process(process, .userNotificationSettingsRegistered(usual, self.categories)))
            }
        } else if asks {
            let isProvisional = self.setup.phone.authorization == .provisional
            var options = usual.union(isProvisional ? [.provisional] : [])
            if self.app.setup.installed.methods.contains(.openSettings) {
                options.insert(.providesAppNotificationSettings)
            }
            _ = self.submit(.requestAuthorization(options), in: process)
        }
        if registers { self.registerForPushes(in: process) }
    }

    private mutating func reach(_ state: StartState) {
        switch state {
        case .foregroundActive: self.handle(.person(.appOpened(Self.bundle)))
        case .foregroundInactive:
            self.handle(.person(.appOpened(Self.bundle)))
            self.handle(.person(.overlayAppeared))
        case .background: self.handle(.person(.wentHome))
        case .suspended:
            self.handle(.person(.wentHome))
            self.advance(by: 6_000)
            // The SDK holds a background task until it has hung up: two minutes at most (S3.2).
            if self.app.sdk != nil, self.state != .suspended { self.advance(by: 130_000) }
            if self.state != .suspended { self.handle(.system(.appFrozen(Self.bundle))) }
        case .notRunning:
            self.handle(.person(.wentHome))
            self.handle(.system(.appKilled(Self.bundle)))
        case .forceQuit: self.handle(.person(.appForceQuit(Self.bundle)))
        case .beforeFirstUnlock: self.handle(.system(.restarted))
        }
    }
}

import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

struct HostedApp {
    let setup: AppSetup
    /// The SDK in the app, what its store and app group hold, and its server.
    var sdk: SDKHost?
    /// Whether the app's process has set the notification centre's delegate.
    var hasCenterDelegate = false
    /// What the kit's work at the notification centre is waiting for.
    var centerQueries: [QueryNumber: NotificationCenterQueue.PendingQuery] = [:]
    /// What a post of the service extension is waiting for.
    var extensionPosting: [QueryNumber: (push: CallbackNumber, message: MessageID)] = [:]
    /// The pushes at work in the service extension, by their calls.
    var extensionRuns: [CallbackNumber: StagedExtensionWork] = [:]

    init(setup: AppSetup, major: Int) {
        self.setup = setup
        self.sdk = setup.sdk.map { SDKHost(setup: $0, major: major) }
    }

    static let ownTask: BackgroundTaskNumber = 1_000
    static let refreshTask = "chat.example.refresh"
}

// What the app does when iOS calls it.
extension Stage {
    mutating func started(_ process: ProcessID) {
        guard process.role == .app else { return }
        self.app.hasCenterDelegate = false
        self.clientStarted(process)
    }

    mutating func suspended(_ process: ProcessID) { self.clientSuspended(process) }
    mutating func resumed(_ process: ProcessID) { self.clientResumed(process) }
    mutating func killed(_ process: ProcessID) {
        self.clientKilled(process)
        self.extensionEnded(process)
    }

    mutating func answered(_ process: ProcessID, _ number: QueryNumber, _ answer: QueryAnswer) {
        if let query = self.app.centerQueries.removeValue(forKey: number) {
            if case (.badge, .refused(let error)) = (query, answer) { self.fault("refused: \(error)") }
            self.center(query.event(for: answer), in: process)
        } else if let post = self.app.extensionPosting.removeValue(forKey: number) {
            self.extensionGoesOn(.posted(post.message, isTaken: answer == .added), post.push)
        } else if case .refused(let error) = answer {
            self.fault("refused: \(error)")
        } else if case .taskRefused(let error) = answer {
            self.fault("refused: \(error)")
        }
    }

    /// Plays the app: what it does in a call, and how it answers.
    mutating func answer(
        _ process: ProcessID, _ number: CallbackNumber, _ callback: Callback, _ state: ApplicationState
    ) {
        let own = self.ownHabit(for: callback)
        let habit = own ?? self.usualHabit(for: callback)
        switch callback {
        case .didFinishLaunching: self.launched(process)
        case .applicationDidBecomeActive, .sceneDidBecomeActive:
            if self.app.setup.delegateMoment == .didBecomeActive {
                self.follow(.process(process, .delegateChanged(isSet: true)))
            }
        case .applicationDidEnterBackground, .sceneDidEnterBackground:
            if let task = self.app.setup.backgroundTask {
                self.follow(.process(process, .backgroundTaskBegan(HostedApp.ownTask)))
                if let ends = task.endsAfter {
                    self.later(.phone(.process(process, .backgroundTaskEnded(HostedApp.ownTask))), after: ends)
                }
            }
        case .backgroundTaskExpired(HostedApp.ownTask):
            if self.app.setup.backgroundTask?.endsOnExpiration ?? true {
                self.follow(.process(process, .backgroundTaskEnded(HostedApp.ownTask)))
            }
        case .voipPushReceived:
            if habit.reportsCall { self.follow(.process(process, .incomingCallReported)) }
        case .refreshTaskLaunched(let identifier):
            self.follow(.process(process, .refreshTaskCompleted(identifier: identifier, success: true)))
        case .serviceExtensionReceive(let request):
            return self.beginExtension(request, number, habit, in: process)
        case .serviceExtensionTimeWillExpire(_, let call): self.extensionExpires(call)
        default: break
        }
        self.clientCalled(process, callback, state)
        let isCenterDelegateSet = self.app.hasCenterDelegate
        if let event = KitMachine.Event(callback, number, state, isCenterDelegateSet: isCenterDelegateSet) {
            if own != nil { self.app.sdk?.callsAnsweredByFile.insert(number) }
            let isOurs = self.kit(event, in: process)
            if own == nil, isOurs, callback.isAnsweredByKit { return }
        }
        guard let result = habit.result else { return }
        for _ in 0..<(habit.isTwice ? 2 : 1) {
            let event = PhoneEvent.process(process, .callbackCompleted(number, result))
            if habit.after == 0 { self.follow(event) } else { self.later(.phone(event), after: habit.after) }
        }
    }

    /// How the file says that the app answers; nil if it does not.
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

    /// How an app answers of which the file says nothing.
    private func usualHabit(for callback: Callback) -> AnswerHabit {
        guard case .willPresent = callback else { return AnswerHabit(result: .returned) }
        // Everything the version knows: banner and list are parts of the alert before iOS 14 (ios-delivery.md §5.5).
        return AnswerHabit(
            result: .presentation(
                self.setup.phone.version < 14 ? [.alert, .sound, .badge] : [.banner, .list, .sound, .badge]))
    }

    /// The app's own answer for the notification a call is about; nil if it has none.
    private func habit(_ call: AnsweredCall, about callback: Callback) -> AnswerHabit? {
        guard let habits = self.app.setup.answersOf[call], let subject = CallWords.observed(callback).subject,
            let label = self.labels.label(of: subject)
        else { return nil }
        return habits[label]
    }

    /// `application(_:didFinishLaunchingWithOptions:)`: what an app sets up.
    private mutating func launched(_ process: ProcessID) {
        let version = self.setup.phone.version
        if self.app.setup.delegateMoment == .didFinishLaunching, version.hasUserNotifications {
            self.follow(.process(process, .delegateChanged(isSet: true)))
        }
        let categories = self.categories
        if version.hasUserNotifications, !categories.isEmpty {
            self.follow(.process(process, .categoriesSet(categories)))
        }
        if self.app.setup.installed.backgroundModes.contains(.voip) {
            self.follow(.process(process, .voipRegistrationChanged(isOn: true)))
        }
        if !self.app.setup.installed.permittedTasks.isEmpty {
            self.follow(.process(process, .refreshTaskRegistered(identifier: HostedApp.refreshTask)))
        }
        if self.app.setup.registers == .everyLaunch { self.register(process) }
    }

    /// Asks for a device token, by the call of the phone's era: before iOS 8 the same one asks for permission.
    private mutating func register(_ process: ProcessID) {
        guard self.setup.phone.version < 8 else {
            return self.follow(.process(process, .remoteRegistrationRequested))
        }
        guard self.setup.phone.authorization != .notDetermined else { return }
        self.follow(.process(process, .remoteTypesRequested([.alert, .sound, .badge])))
    }

    private var categories: [NotificationCategory] {
        let registers = self.app.setup.sdk?.registersActions == true
        return self.app.setup.categories + (registers ? [Self.kitCategory] : [])
    }

    // MARK: Before the trace

    /// The first launch, in which the app asks and registers, as each version has it; then the person's answers.
    mutating func prepare() {
        self.send(.person(.appOpened(Self.bundle)))
        if let process = self.process { self.registerAtFirstLaunch(process) }
        self.drain()
        self.pass(1_000)
        let phone = self.setup.phone
        switch phone.authorization {
        case .authorized, .denied:
            let isOn = phone.authorization == .authorized
            if self.core.screen.permissionPrompt != nil { self.send(.person(.permissionAnswered(allowed: isOn))) }
        case .notDetermined, .provisional, .ephemeral: break
        }
        for change in phone.switches {
            self.send(.person(.settingChanged(Self.bundle, change.which, isOn: change.isOn)))
        }
        if phone.backgroundRefresh != .available {
            for event in phone.backgroundRefresh.events { self.send(event) }
        }
        self.trace.mark(at: self.now.monotonic)
        for step in self.setup.before where self.halted == nil {
            self.perform(step)
            self.noteFaults()
        }
        guard self.halted == nil else { return }
        self.step = self.setup.position
        self.enter(self.setup.start)
        for condition in phone.conditions { self.happen(condition) }
        self.noteFaults()
        self.checkStart()
        if self.setup.start != .background { self.settleClient() }
        // What the app group holds when the steps begin, whatever the app wrote on the way there.
        self.app.sdk?.beginSteps(wall: self.now.wall)
        self.trace.clear(at: self.now.monotonic)
    }

    /// What was done against the rules before the trace is no secret.
    private mutating func noteFaults() {
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
            if registers { self.register(process) }
            return
        }
        if version < 10 {
            if asks {
                self.follow(
                    .process(process, .userNotificationSettingsRegistered(usual, self.categories)))
            }
        } else if asks {
            let isProvisional = self.setup.phone.authorization == .provisional
            var options = usual.union(isProvisional ? [.provisional] : [])
            if self.app.setup.installed.methods.contains(.openSettings) {
                options.insert(.providesAppNotificationSettings)
            }
            _ = self.ask(.requestAuthorization(options), of: process)
        }
        if registers { self.register(process) }
    }

    /// Brings the app into a state by what a person and the system do.
    private mutating func enter(_ state: StartState) {
        switch state {
        case .foregroundActive: self.send(.person(.appOpened(Self.bundle)))
        case .foregroundInactive:
            self.send(.person(.appOpened(Self.bundle)))
            self.send(.person(.overlayAppeared))
        case .background: self.send(.person(.wentHome))
        case .suspended:
            self.send(.person(.wentHome))
            self.pass(6_000)
            // The SDK holds a background task until it has hung up: two minutes at most (S3.2).
            if self.app.sdk != nil, self.state != .suspended { self.pass(130_000) }
            if self.state != .suspended { self.send(.system(.appFrozen(Self.bundle))) }
        case .notRunning:
            self.send(.person(.wentHome))
            self.send(.system(.appKilled(Self.bundle)))
        case .forceQuit: self.send(.person(.appForceQuit(Self.bundle)))
        case .beforeFirstUnlock: self.send(.system(.restarted))
        }
    }
}

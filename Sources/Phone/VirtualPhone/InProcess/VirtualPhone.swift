public import PhoneCore
public import TidingsModel

/// An iPhone without a screen, for tests: it runs an app's and its extension's code in this process, on a clock that moves
/// only when the test says so.
///
/// ```swift
/// let phone = VirtualPhone(osVersion: 17)
/// phone.install(
///     InstalledApp(bundleID: "com.example.chat"),
///     code: VirtualApp().code {
///         AppDelegate()
///     } sceneDelegate: {
///         SceneDelegate()
///     },
///     serviceExtension: VirtualExtension.code { NotificationService() })
/// await phone.launch()
/// await phone.allowNotifications()
/// await phone.home()
/// await phone.deliver(["aps": ["alert": "hi"]])
/// #expect(phone.screen.banners.count == 1)
/// ```
///
/// A suspended app is never called, but its tasks and threads cannot be stopped in one process; for that, and for memory
/// that is really lost, there is `PhoneHost`. Singletons and `static` variables are shared by everything in the process.
/// What an app does outside its own tasks (threads, timers, detached tasks) finds no phone and traps.
@MainActor public final class VirtualPhone {
    /// The system.
    public let osVersion: OSVersion
    /// The phone's name; the device tokens follow from it.
    public let id: String
    /// The folder that holds app groups and homes; nil for none.
    public let folder: String?
    /// How long real time may pass without any sign of the app before its work counts as done, in milliseconds; longer on a
    /// machine that is too busy to let its tasks run.
    public var quietMilliseconds = 15
    /// How long real time may pass while the app owes an answer, in milliseconds; longer on a busy machine, too. Later the
    /// phone's own deadlines decide.
    public var timeoutMilliseconds = 400

    /// Every line of the trace, oldest first.
    public internal(set) var trace: [PhoneRecord] = []
    /// The apps' log lines, reports of their screens and faults against the rules, oldest first.
    public private(set) var reports: [Report] = []

    private let settings: PhoneSettings
    private(set) lazy var engine = PhoneEngine(
        core: PhoneCore(version: self.osVersion, settings: self.settings), surroundings: self)
    private var codes: [BundleID: ProcessCode] = [:]
    private var extensionCodes: [BundleID: ProcessCode] = [:]
    var contentExtensions: [BundleID: ContentExtensionCode] = [:]
    var expanded: ExpandedNotification?
    var expansions: UInt64 = 0
    var processes: [ProcessID: PhoneProcess] = [:]
    var mail: [Letter] = []
    private var isDeliveringMail = false
    var monotonic: Int64 = 0
    let wallStart: Int64
    var openCalls: Set<OpenCall> = []
    private var activity: UInt64 = 0
    var isOnline = true
    var kept: [BundleID: Push] = [:]
    /// nil before the phone looked.
    var foldersAreProtected: Bool?
    /// How often the app's tokens became void.
    var tokenGeneration: [BundleID: Int] = [:]
    var channels: Set<SubscribedChannel> = []
    private var deliveries: UInt64 = 0
    private var answersPrompts: Bool?
    let inbox = Inbox()

    /// Delivered once the core's effects are done.
    struct Letter {
        var process: ProcessID
        /// nil starts the process's code.
        var message: HostMessage?
    }

    struct OpenCall: Hashable {
        var process: ProcessID
        var number: CallbackNumber
    }

    /// Something an app told the phone beside its answers.
    public enum Report: Hashable, Sendable {
        case log(app: BundleID, level: String, text: String)
        case screen(app: BundleID, JSONValue)
        /// Only the app's side can see it, for example a declared method that does not exist.
        case fault(app: BundleID, String)
    }

    /// A phone that is on, unlocked and online.
    ///
    /// - Parameters:
    ///   - osVersion: decides every callback; 3 or later.
    ///   - id: the phone's name.
    ///   - folder: where homes and app groups are made; nil leaves apps without groups. Not removed by the phone.
    ///   - settings: times, limits and quirks.
    ///   - wallMilliseconds: what the phone's calendar clock shows first.
    public init(
        osVersion: OSVersion, id: String = "phone", folder: String? = nil,
        settings: PhoneSettings = PhoneSettings(), wallMilliseconds: Int64 = 1_767_225_600_000
    ) {
        self.osVersion = osVersion
        self.id = id
        self.folder = folder
        self.settings = settings
        self.wallStart = wallMilliseconds
        self.inbox.setOwner(self)
    }

    // MARK: What can be seen

    /// The content of the screen.
    public var screen: ScreenState { self.engine.phone.screen }

    /// Milliseconds since the phone was made.
    public var elapsedMilliseconds: Int64 { self.monotonic }

    /// Every call into an app or extension, oldest first.
    public var callbacks: [CallbackRecord] {
        self.trace.compactMap { if case .callback(let record) = $0.entry { record } else { nil } }
    }

    /// The presentations of each notification to the person, oldest first.
    public var presentations: [PresentationRecord] {
        self.trace.compactMap { if case .presentation(let record) = $0.entry { record } else { nil } }
    }

    /// Returns the messages that an app and its extensions have donated to the system, oldest first; of the first app if none is named.
    public func donations(of app: BundleID? = nil) -> [DonatedMessage] {
        self.engine.phone.donations(of: self.target(app))
    }

    /// Rules that were broken, by an app or by the test, in words.
    public var faults: [String] {
        let seen = self.trace.compactMap { if case .fault(let text) = $0.entry { text } else { nil } }
        return seen + self.reports.compactMap { if case .fault(_, let text) = $0 { text } else { nil } }
    }

    /// An app's state; nil if it is not installed. Without a name the first app installed is meant.
    public func state(of app: BundleID? = nil) -> AppState? {
        (app ?? self.firstApp).flatMap(self.engine.phone.state(of:))
    }

    /// The process an app runs in now, to reach its facades from a test; nil if it does not run.
    public func process(of app: BundleID? = nil) -> PhoneProcess? {
        (app ?? self.firstApp).flatMap(self.engine.phone.process(of:)).flatMap { self.processes[$0] }
    }

    /// Runs work as if the app's own code did it.
    ///
    /// - Precondition: the app runs.
    @discardableResult
    public func inApp<Result: Sendable>(
        _ app: BundleID? = nil, _ work: @MainActor () async throws -> Result
    ) async rethrows -> Result {
        guard let process = self.process(of: app) else { fatalError("the app does not run") }
        let result = try await PhoneContext.$process.withValue(process) { try await work() }
        await self.settle()
        return result
    }

    // MARK: Apps

    /// Installs an app with its code.
    public func install(
        _ app: InstalledApp, code: ProcessCode, serviceExtension: ProcessCode? = nil,
        contentExtension: ContentExtensionCode? = nil
    ) {
        self.codes[app.bundleID] = code
        self.extensionCodes[app.bundleID] = serviceExtension
        self.contentExtensions[app.bundleID] = contentExtension
        self.post(.system(.appInstalled(app)))
    }

    /// From the next start on; nil keeps the code.
    func replaceCode(of app: BundleID, code: ProcessCode?, serviceExtension: ProcessCode?) {
        if let code { self.codes[app] = code }
        if let serviceExtension { self.extensionCodes[app] = serviceExtension }
    }

    func target(_ app: BundleID?) -> BundleID {
        guard let bundle = app ?? self.firstApp else { fatalError("no app is installed") }
        return bundle
    }

    private var firstApp: BundleID? { self.engine.phone.installedApps.first?.bundleID }

    // MARK: Events

    func postAndSettle(_ event: PhoneEvent) async {
        self.post(event)
        await self.settle()
    }

    func answerPrompts(_ isAllowed: Bool) async {
        self.answersPrompts = isAllowed
        self.answerPrompt()
        await self.settle()
    }

    /// While the phone is offline the newest per app is kept, as APNs does (ios-delivery.md §3.2).
    func deliverPush(_ push: Push) async {
        guard self.isOnline else {
            if push.expiration != 0 { self.kept[BundleID(push.topic)] = push }
            return
        }
        await self.postAndSettle(.courier(.pushArrived(push)))
    }

    func nextDelivery() -> UInt64 {
        self.deliveries += 1
        return self.deliveries
    }

    /// Stops at every deadline on the way.
    func moveClock(to target: Int64) async {
        await self.settle()
        while let deadline = self.engine.phone.nextDeadline, deadline <= target {
            self.monotonic = max(self.monotonic, deadline)
            self.post(.timerReached)
            await self.settle()
        }
        self.monotonic = max(self.monotonic, target)
        self.post(.timerReached)
        await self.settle()
    }

    func input(_ value: JSONValue, to app: BundleID) async {
        guard let process = self.engine.phone.process(of: app) else { fatalError("\(app) does not run") }
        self.send(.input(value), to: process)
        self.deliverMail()
        await self.settle()
    }

    func post(_ event: PhoneEvent) {
        self.activity += 1
        self.engine.post(event)
        if self.engine.isWorking == false { self.deliverMail() }
    }

    /// After the core's effects; what the apps do at once becomes new events and new mail.
    private func deliverMail() {
        guard !self.isDeliveringMail else { return }
        self.isDeliveringMail = true
        while !self.mail.isEmpty {
            let letter = self.mail.removeFirst()
            guard let process = self.processes[letter.process] else { continue }
            if let message = letter.message {
                process.receive(message)
            } else {
                self.startCode(of: letter.process, in: process)
            }
        }
        self.isDeliveringMail = false
    }

    private func startCode(of id: ProcessID, in process: PhoneProcess) {
        let code = id.role == .app ? self.codes[id.app] : self.extensionCodes[id.app]
        guard let code else { return self.post(.process(id, .exited(crashed: true))) }
        PhoneContext.$process.withValue(process) { code.start(process) }
        self.post(.process(id, .started))
    }

    /// Waits until the apps are quiet: no answer owed and no sign of life for a moment of real time, or out of timeLimit.
    public func settle() async {
        var waited = 0
        var quiet = 0
        while true {
            let before = self.activity
            for _ in 0..<20 { await Task.yield() }
            // Behind all that the apps' tasks have queued, however long a busy machine takes for it.
            await Task.detached {}.value
            try? await Task.sleep(nanoseconds: 1_000_000)
            quiet = self.activity == before ? quiet + 1 : 0
            waited = self.activity == before ? waited + 1 : 0
            if quiet >= self.quietMilliseconds, self.openCalls.isEmpty || waited >= self.timeoutMilliseconds { return }
        }
    }

    func handleMessage(_ message: ProcessMessage, from process: ProcessID) {
        guard self.processes[process] != nil else { return }
        self.activity += 1
        if process == self.expanded?.process, self.answer(message, asExpanded: process) { return }
        switch message {
        case .hello(let hello):
            guard process.role == .app,
                let app = self.engine.phone.installedApps.first(where: { $0.bundleID == process.app }),
                let difference = hello.mismatch(with: app)
            else { break }
            self.reports.append(.fault(app: process.app, difference))
        case .event(let event):
            if case .callbackCompleted(let number, _) = event {
                self.openCalls.remove(OpenCall(process: process, number: number))
            }
            self.post(.process(process, event))
        case .screen(let value):
            self.reports.append(.screen(app: process.app, value))
            self.post(.process(process, .screenChanged(value.screenText)))
        case .log(let level, let text): self.reports.append(.log(app: process.app, level: level, text: text))
        case .fault(let text): self.reports.append(.fault(app: process.app, text))
        // Only a content extension in its own process sends this.
        case .responded, .views, .touched: break
        }
    }

    func recordFault(_ text: String, of app: BundleID?) { self.reports.append(.fault(app: app ?? "phone", text)) }

    func answerPrompt() {
        guard let isAllowed = self.answersPrompts, self.engine.phone.screen.permissionPrompt != nil else { return }
        self.post(.person(.permissionAnswered(allowed: isAllowed)))
    }
}

public import ClientCore
public import Foundation
package import TidingsAppGroup
public import TidingsModel

/// The core library (IMLib): connects, sends, receives, keeps messages on the device. Knows nothing of UIKit; an app with a
/// user interface adds `TidingsKit`, which drives the run states and shows local notifications.
///
/// ```swift
/// let client = ChatClient(configuration: .init(appKey: "demo", serverURL: url))
/// try await client.connect(userID: "alice") { try await fetchUserToken() }
/// let message = try await client.send(text: "hi", to: ConversationID(type: .direct, target: "bob"))
/// ```
///
/// All methods may be called from any thread.
public final class ChatClient: Sendable {
    struct State {
        var engine: ClientEngine?
        var status = ConnectionStatus.disconnected
        var runState: RunState
        var isForeground: Bool
        /// Monotonic milliseconds, and the background time left at that moment.
        var backgroundSince: Int64 = 0
        var backgroundRemaining: Int64?
        var kit: KitSettings?
        var switches = KitSettings()
        var host: (any KitHost)?
        var registration: PushRegistration?
        var isUnregistered = false
        var voIP: VoIPRegistration?
        var storeFault: String?
        var wakes: [WakeNumber: CheckedContinuation<BackgroundRefreshResult, Never>] = [:]
        var lastWake: WakeNumber = 0
        /// True if the engine was told to connect: before that nobody wants a connection, so wakes wait.
        var hasRequested = false
        var pendingOpened: [PendingOpened] = []
        var pendingWakes: [PendingWake] = []
        /// The person who has signed out without the server knowing, and the engine that will tell it.
        var pendingSignOut: ClientFolders.PendingSignOut?
        var leaving: ClientEngine?
        var signOutWaiters: [CheckedContinuation<Void, Never>] = []
        /// Counts sign-outs: a sign-in begun before one is void.
        var generation: UInt64 = 0
        var isGateHeld = false
        var gateWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The configuration that the client was made with.
    public let configuration: Configuration
    let state: Locked<State>
    let outlets: Outlets
    let center = NotificationCenterWorker()
    private let transport: any ClientTransport
    let tokens: (any ExtensionTokens)?
    private let secrets: (any SecretStore)?
    private let safety: any FileSafety
    package let clock: any ClientClock
    let mediaHTTP: any MediaHTTP
    /// Held while it is decided which anonymous person is kept.
    let installations = Locked(())
    let processNumber = UInt64.random(in: 1...UInt64(Int64.max))

    /// A client that is not connected.
    public convenience init(configuration: Configuration) {
        self.init(
            configuration: configuration, transport: Self.transport(for: configuration), clock: SystemClientClock(),
            tokens: configuration.extensionTokens, secrets: KeychainSecrets())
    }

    package init(
        configuration: Configuration, transport: any ClientTransport, clock: any ClientClock,
        tokens: (any ExtensionTokens)? = nil, secrets: (any SecretStore)? = nil,
        safety: any FileSafety = SystemFileSafety(), mediaHTTP: any MediaHTTP = URLSessionMediaHTTP()
    ) {
        self.configuration = configuration
        self.mediaHTTP = mediaHTTP
        self.tokens = tokens
        self.secrets = secrets
        self.safety = safety
        self.transport = transport
        self.clock = clock
        self.outlets = Outlets(capacity: configuration.streamElementsMax)
        let isForeground = configuration.isStartedInForeground
        self.state = Locked(
            State(runState: isForeground ? .foreground : .backgroundSuspended, isForeground: isForeground))
    }

    deinit {
        for engine in self.engines { Task { await engine.finish() } }
    }

    // MARK: Connection

    /// Signs in and connects; returns when the server has welcomed this device.
    ///
    /// - Parameters:
    ///   - userID: the person.
    ///   - tokenProvider: gives the signed user token; asked again when it has expired.
    /// - Throws: `ChatError.refused` or `.noToken`: the pending change has ended or waits for a better token. `.timedOut`: the client
    ///   goes on trying. `.store`, `.invalid`: nothing was begun. `.cancelled`: overtaken by `disconnect`, `signOut` or
    ///   another person's `connect`.
    public func connect(
        userID: UserID, tokenProvider: @escaping @Sendable () async throws -> String
    ) async throws {
        try ChatError.check { () throws(InvalidField) in
            _ = try UserID.validated(userID.rawValue, field: "user_id")
        }
        let generation = self.state.withLock { $0.generation }
        let provider = self.storingTokens(tokenProvider, of: userID, generation: generation)
        let engine = try await self.signIn(userID, generation: generation, tokenProvider: provider)
        try await engine.connect(
            tokenProvider: provider, limit: self.configuration.connectTimeLimit.wholeMilliseconds
        ) { [self] in self.beginPendingWakes(on: engine) }
    }

    /// The same with a token that is not renewed.
    public func connect(userID: UserID, token: String) async throws {
        try await self.connect(userID: userID) { token }
    }

    /// Hangs up and stays disconnected until `connect`. What waits to be sent is kept.
    public func disconnect() { self.engine?.post(.disconnectRequested) }

    /// Where the connection is.
    public var connectionStatus: ConnectionStatus { self.state.withLock { $0.status } }
    /// The status now and whenever it changes.
    public var connectionStatuses: AsyncStream<ConnectionStatus> {
        self.outlets.statuses.stream(startingWith: self.connectionStatus, gap: self.gap(in: .connectionStatuses))
    }

    // MARK: Run state (S0.1–S0.7)

    /// Where the app is.
    public var runState: RunState { self.state.withLock { $0.runState } }
    /// The run state now and whenever it changes.
    public var runStates: AsyncStream<RunState> {
        self.outlets.runs.stream(startingWith: self.runState, gap: self.gap(in: .runStates))
    }

    /// The app went to the background. The kit calls this; an app without it does so itself, inside a background task.
    ///
    /// - Parameter remaining: the background time the system says is left, in seconds; nil if it does not say.
    public func applicationDidEnterBackground(remaining: TimeInterval? = nil) {
        self.changeForeground(false, .appDidEnterBackground(remainingMilliseconds: remaining?.wholeMilliseconds))
    }

    /// The app is coming to the foreground.
    public func applicationWillEnterForeground() { self.changeForeground(true, .appWillEnterForeground) }

    /// The app stopped being active: the badge is written (S2.17).
    public func applicationWillResignActive() { self.engine?.post(.appWillResignActive) }

    /// The process ends: the badge is written before this returns (S2.17).
    public func applicationWillTerminate() {
        guard self.state.withLock({ $0.kit?.managesBadge ?? false }) else { return }
        self.engine?.writeBadgeNow()
    }

    /// The background time is over: hangs up at once.
    public func backgroundTimeWillExpire() { for engine in self.engines { engine.post(.backgroundTimeExpired) } }

    private func changeForeground(_ isForeground: Bool, _ event: ClientEvent) {
        let since = self.clock.now.monotonic
        let (engine, leaving) = self.state.withLock { state in
            state.isForeground = isForeground
            if case .appDidEnterBackground(let remaining) = event {
                state.backgroundSince = since
                state.backgroundRemaining = remaining
            }
            if state.engine == nil { state.runState = isForeground ? .foreground : .backgroundSuspended }
            return (state.engine, state.leaving)
        }
        leaving?.post(event)
        if let engine { engine.post(event) } else { self.outlets.runs.send(self.runState) }
    }

    // MARK: Push (S2.7)

    /// Hands the device token to the server, after each connect and when it changes.
    ///
    /// - Throws: `ChatError.invalid` for an empty token or an app without bundle identifier.
    public func register(deviceToken: DeviceToken, environment: PushEnvironment) throws {
        let topic = self.configuration.bundleIdentifier ?? Bundle.main.bundleIdentifier ?? ""
        try ChatError.check { () throws(InvalidField) in
            let token = try PushToken.validated(deviceToken.hexString, field: "device_token")
            guard !topic.isEmpty else { throw InvalidField(field: "bundleIdentifier", rule: "must not be empty") }
            self.setRegistration(PushRegistration(token: token, environment: environment, topic: topic))
        }
    }

    /// Takes the push registration back: the server forgets this device's token, now or with the next connection, also of a
    /// later process, until `register(deviceToken:environment:)`.
    public func unregisterDevice() { self.setRegistration(nil) }

    private func setRegistration(_ registration: PushRegistration?) {
        let engine = self.state.withLock { state in
            state.registration = registration
            state.isUnregistered = registration == nil
            return state.engine
        }
        let app = self.configuration.appKey
        self.storing { try $0.writeUnregistered(registration == nil, app: app) }
        engine?.post(.pushRegistrationSet(registration))
    }

    // MARK: Calls

    struct VoIPRegistration: Sendable {
        let registration: PushRegistration?
    }

    /// Hands the token for calls to the server, after each connect and when it changes. `CallIntegration` does it for an app that
    /// uses the kit.
    ///
    /// - Throws: `ChatError.invalid` for an empty token or an app without bundle identifier.
    public func register(voIPToken: DeviceToken, environment: PushEnvironment) throws {
        let bundle = self.configuration.bundleIdentifier ?? Bundle.main.bundleIdentifier ?? ""
        try ChatError.check { () throws(InvalidField) in
            let token = try PushToken.validated(voIPToken.hexString, field: "voip_token")
            guard !bundle.isEmpty else { throw InvalidField(field: "bundleIdentifier", rule: "must not be empty") }
            self.setVoIP(
                PushRegistration(
                    token: token, environment: environment, topic: bundle + PushRegistration.voIPSuffix))
        }
    }

    /// Takes the token for calls back: no call rings here until the next `register(voIPToken:environment:)`.
    public func unregisterVoIP() { self.setVoIP(nil) }

    private func setVoIP(_ registration: PushRegistration?) {
        let engine = self.state.withLock { state in
            state.voIP = VoIPRegistration(registration: registration)
            return state.engine
        }
        engine?.post(.voIPRegistrationSet(registration))
    }

    // MARK: Kit

    package func attach(host: (any KitHost)?, settings: KitSettings?) {
        let settings = settings?.fitted(to: host?.major)
        let engine = self.state.withLock { state in
            state.host = host
            state.kit = settings
            return state.engine
        }
        self.center.setHost(host, donates: settings?.usesCommunicationNotifications ?? false)
        engine?.setHost(host)
        engine?.setKitSettings(settings)
        engine?.post(.kitConfigured(settings))
    }

    // MARK: The engine

    /// The person who is signed in.
    public var userID: UserID? { self.engine?.person }
    /// The last failure with the files of this device; nil if there was none.
    public var storeFault: String? { self.state.withLock { $0.storeFault } }

    var engine: ClientEngine? { self.state.withLock { $0.engine } }
    /// That of who is signed in, and that of who has signed out without the server knowing.
    private var engines: [ClientEngine] { self.state.withLock { [$0.engine, $0.leaving].compactMap(\.self) } }
    /// The engines that may hold the background task.
    package var taskHolders: [ObjectIdentifier] { self.engines.map { ObjectIdentifier($0) } }

    func reading<Value>(_ question: (LocalStoreMachine<DatabaseRows>) throws -> Value) throws -> Value {
        try self.withStore { try $0.ask(question) }
    }

    func withStore<Value>(_ body: (LocalStore) throws -> Value) throws -> Value {
        guard let engine = self.engine else { throw ChatError.notSignedIn }
        do {
            return try body(engine.store)
        } catch {
            _ = engine.reportDamage(error)
            throw ChatError.store(reason: "\(error)")
        }
    }

    var folders: ClientFolders {
        ClientFolders(root: self.configuration.resolvedStoreFolder, secrets: self.secrets, safety: self.safety)
    }

    /// - Parameter isLeaving: the person has signed out; the engine only tells the server.
    func parts(for person: UserID, isLeaving: Bool = false) throws -> ClientEngine.Parts {
        let folders = self.folders
        let app = self.configuration.appKey
        let file = folders.store(app: app, person: person)
        if !isLeaving { try folders.makeStoreFolder(app: app) }
        let store = isLeaving ? try LocalStore(inMemoryFor: file) : try LocalStore(file: file, safety: self.safety)
        if let aside = store.setAside { self.report(.storeSetAside(path: aside.path)) }
        var group: AppGroup?
        if !isLeaving {
            let isNew = self.isNewSignIn(person)
            if let folder = self.configuration.resolvedAppGroupFolder {
                let words = self.configuration.words
                let opened = Result {
                    try AppGroup(
                        folder: folder, identifier: self.configuration.appGroupIdentifier,
                        badgeKey: self.configuration.badgeKey, safety: self.safety,
                        foreignBadge: self.reportForeignBadge)
                }
                group = try? opened.get()
                // A push for the earlier person must not be shown to this one, also before the first welcome, nor use names only the
                // other knew (design.md P7); and a badge counted at a position of their log would outrank this one's. Cleared before
                // the sign-in is recorded, so that the next attempt makes up for a failure.
                if isNew {
                    let isAfterAnother = folders.lastSignIn != nil
                    try opened.get().update {
                        if isAfterAnother { $0.forgetPerson(words: words) } else { $0.recipient = nil }
                    }
                }
            }
            // Nothing of a person who did not sign out stays for this one, or for anybody who takes the phone.
            try folders.removeStores(except: person, app: app)
            if isNew { try folders.noteSignIn(person, app: app) }
        }
        var settings = ClientCore.Settings(
            app: app, person: person, device: try folders.deviceID(app: app),
            platform: Configuration.platform, words: self.configuration.words)
        settings.runState.limitMilliseconds = self.configuration.backgroundConnectionLimitMilliseconds
        let isForeground = self.state.withLock { $0.isForeground }
        var restored = try store.ask { try $0.restored() }
        restored.isLeaving = isLeaving
        let preferences = Preferences(confirmed: restored.preferences, pendingChanges: restored.pendingChanges)
        let core = ClientCore(
            settings: settings, restored: restored, isForeground: isForeground,
            seed: UInt64.random(in: .min ... .max))
        return ClientEngine.Parts(
            core: core, store: store, group: group, tokens: self.tokens, center: self.center,
            transport: self.transport,
            serverURL: self.configuration.serverURL, apiURL: self.configuration.apiURL, clock: self.clock,
            processNumber: self.processNumber, isForeground: isForeground, settings: preferences.current.person,
            words: self.configuration.words,
            outlets: self.engineOutlets(for: person))
    }

    func isNewSignIn(_ person: UserID) -> Bool {
        self.folders.lastSignIn != self.folders.signInNote(person, app: self.configuration.appKey)
    }

    func publishStatus(_ status: ConnectionStatus) {
        self.state.withLock { $0.status = status }
        self.outlets.statuses.send(status)
    }

    private func engineOutlets(for person: UserID) -> ClientEngine.Outlets {
        ClientEngine.Outlets(
            status: { [weak self] in self?.publishStatus($0) },
            runState: { [weak self] runState in
                self?.state.withLock { $0.runState = runState }
                self?.outlets.runs.send(runState)
            },
            entries: { [weak self] entries in for entry in entries { self?.outlets.entries.send(entry) } },
            customMessage: { [weak self] in self?.handOver($0) },
            signal: { [weak self] in self?.outlets.signals.send($0) },
            problem: { [weak self] in self?.report($0) },
            wakeFinished: { [weak self] in self?.finishWake($0, $1) },
            keepPendingSignOut: { [weak self] in self?.storePendingSignOut(of: person, token: $0, wasWelcomed: $1) },
            pendingSignOutEnded: { [weak self] in self?.pendingSignOutEnded(of: person) })
    }

    private static func transport(for configuration: Configuration) -> any ClientTransport {
        #if os(Linux)
            return NIOTransport(certificateAuthorityFile: configuration.certificateAuthorityFile?.path)
        #else
            return URLSessionTransport()
        #endif
    }
}

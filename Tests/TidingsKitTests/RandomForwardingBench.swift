import ClientCore
import Foundation
import PhoneCore
import SDKTestSupport
import TidingsAppGroup
import TidingsModel
import UIKit
import UserNotifications

@testable import TidingsClient
@testable import TidingsKit
@testable import VirtualPhone

/// A notification centre's delegate of an app that forwards by hand.
private final class SomeDelegate: UNUserNotificationCenterDelegate {}

/// The real kit with its client, engine, store and app group, on a phone and with a server that answer at once, and with a
/// clock that moves only when told.
@MainActor final class ForwardingBench {
    /// Who is signed in, as far as a notification's recipient tag can be judged by it.
    enum Person {
        case never
        /// Signed in, and the server has never said who they are.
        case unknown
        case known
        case signedOut
    }

    let clock: ForwardingClock
    let server: ServerTransport
    let phone = ForwardingPhone()
    let version: OSVersion
    /// Whether the callbacks before iOS 10 tell of taps.
    let hasOldCallbackPaths: Bool
    private let process: PhoneProcess
    private let folder: URL
    private let center: UNUserNotificationCenter
    private let delegate = SomeDelegate()
    let group: AppGroup

    private(set) var kit: HesitantKit?
    private(set) var person = Person.never
    private(set) var isRequested = false
    private(set) var applicationState = ApplicationState.background
    private(set) var taps = ForwardingTaps()
    private(set) var opened: [String] = []
    private var responses: [ForwardingTaps.Taken] = []
    private var listening: Task<Void, Never>?
    /// Rings that the system made without asking the app, by message.
    var rings: [String: Int] = [:]
    var coverage = ForwardingCoverage()
    var problems: [String] = []

    init(version: OSVersion, hasDelegate: Bool) throws {
        let clock = ForwardingClock()
        self.clock = clock
        self.server = ServerTransport(now: { clock.now })
        self.version = version
        self.hasOldCallbackPaths = version < 10 || !hasDelegate
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        let container = self.folder.appendingPathComponent("group")
        try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
        self.process = PhoneProcess(
            facts: PhoneProcessFacts(
                role: .app, bundleID: "com.example.chat", osVersion: version.description, phoneID: "phone",
                home: self.folder.appendingPathComponent("home").path, groups: ["group.chat": container.path]),
            link: self.phone)
        self.phone.setProcess(self.process)
        self.group = try AppGroup(folder: container)
        self.center = UNUserNotificationCenter.of(self.process)
        if hasDelegate { self.center.delegate = self.delegate }
    }

    func remove() { try? FileManager.default.removeItem(at: self.folder) }

    /// Runs work as the app's own code.
    @discardableResult
    func inApp<Result>(_ work: () -> Result) -> Result { withPhoneProcess(self.process, work) }

    /// Waits until something holds, or until it is plain that it never will.
    ///
    /// - Parameter milliseconds: how long at least. On a busy machine that is little: every task that waits now has its turn
    ///   many times over before this gives up.
    func until(milliseconds: Int = 120_000, _ holds: @MainActor () -> Bool) async -> Bool {
        let end = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
        var round = 0
        while !holds() {
            if round >= 200, ContinuousClock.now >= end { return false }
            round += 1
            switch round % 4 {
            case 0: try? await Task.sleep(for: .microseconds(200))
            // Behind all that is queued for the threads of the pool.
            case 2: await Task.detached {}.value
            default: await Task.yield()
            }
        }
        return true
    }

    func problem(_ text: String) { self.problems.append(text) }

    // MARK: The kit

    func makeKit() {
        self.inApp {
            var configuration = KitSurroundings.fill(
                ChatClient.Configuration(
                    appKey: "demo", appGroupIdentifier: "group.chat", serverURL: URL(fileURLWithPath: "/in-memory")),
                application: .shared)
            configuration.log = { _ in }
            let client = ChatClient(configuration: configuration, transport: self.server, clock: self.clock)
            let kit = HesitantKit(client: client, pushEnvironment: .sandbox)
            kit.userInfoProvider = Names()
            kit.router = ChatBench.router
            self.kit = kit
            let stream = kit.notificationResponses
            self.listening = Task { [weak self] in
                for await response in stream {
                    self?.responses.append(
                        ForwardingTaps.Taken(content: Self.content(response), action: response.actionIdentifier))
                }
            }
        }
        self.taps = ForwardingTaps()
        self.opened = []
        self.responses = []
        self.isRequested = false
    }

    private static func content(_ response: NotificationResponse) -> String {
        response.payload?.messageUID ?? response.userInfo["number"]?.stringValue ?? "nothing"
    }

    /// What the kit has opened and told must be what the rule says.
    func check(after call: String) {
        if self.opened.count != self.taps.opened.count || self.opened.suffix(3) != self.taps.opened.suffix(3) {
            self.problem("\(call): opened \(self.opened.suffix(3)), the rule says \(self.taps.opened.suffix(3))")
        }
        let waiting = self.kit?.pendingResponse.map { Self.content($0) }
        if waiting != self.taps.waiting {
            self.problem("\(call): \(waiting ?? "nothing") waits, the rule says \(self.taps.waiting ?? "nothing")")
        }
    }

    func tell(_ content: String, action: String, by path: ForwardingTaps.CallbackPath) {
        let echoes = self.taps.echoes
        self.taps.tell(content, action: action, by: path)
        if self.taps.echoes > echoes { self.coverage.note("echo by another callback path") }
        if !self.taps.hasHandler { self.coverage.note("tap while no handler") }
    }

    func setHandler(_ isSet: Bool) {
        if isSet, self.taps.waiting != nil { self.coverage.note("handler set late") }
        self.taps.hasHandler = isSet
        self.kit?.responseHandler = isSet ? { [weak self] in self?.opened.append(Self.content($0)) } : nil
        self.check(after: "handler set")
    }

    /// The app lets go of its kit; the client must go with it, once its work is done.
    func letGo() async {
        self.kit?.decide()
        if self.opened != self.taps.opened { self.problem("what was opened is not what the rule says") }
        if !(await self.until { self.responses == self.taps.taken }) {
            self.problem("the streams told \(self.responses.count) responses, the rule says \(self.taps.taken.count)")
        }
        weak let client = self.kit?.client
        // What the engine has begun, it ends: until then the next kit would have a rival.
        weak let engine = self.kit?.client.engine
        self.kit = nil
        await self.gone { client == nil && engine == nil }
        self.listening?.cancel()
        if client == nil, engine == nil, await self.until({ self.server.connections.isEmpty }) {
            self.coverage.note("client deallocated")
        } else {
            self.problem("the client outlives its kit, or its connection does")
        }
    }

    private func gone(_ isGone: @MainActor () -> Bool) async {
        for _ in 0..<60 {
            if await self.until(milliseconds: 20, isGone) { return }
            self.clock.advance(by: 2_000)
        }
        _ = await self.until(isGone)
    }

    // MARK: The person

    /// Signs in; with a server that answers, returns when it has.
    func signIn() async {
        guard let client = self.kit?.client else { return }
        let wasSignedIn = client.userID != nil
        let isOver = Flag()
        self.inApp {
            _ = Task {
                try? await client.connect(userID: "alice", token: "alice")
                isOver.isSet = true
            }
        }
        self.isRequested = true
        // Whoever is signed in already does not show that the pending change has arrived.
        if wasSignedIn { await self.gone { isOver.isSet } }
        if self.person != .known { self.person = .unknown }
        if !(await self.until { client.userID != nil }) { self.problem("nobody is signed in") }
        guard self.server.network == .works, self.applicationState != .background else {
            return self.coverage.note("first sign-in not answered", self.person == .unknown ? 1 : 0)
        }
        await self.connected()
    }

    /// Lets time pass until the server has welcomed the client.
    func connected() async {
        guard let client = self.kit?.client else { return }
        let server = self.server
        let isConnected: @MainActor () -> Bool = { client.connectionStatus == .connected && server.hasListener }
        for _ in 0..<100 where !isConnected() {
            if await self.until(milliseconds: 20, isConnected) { break }
            self.clock.advance(by: 1_000)
        }
        guard await self.until(isConnected) else { return self.problem("not connected: \(client.connectionStatus)") }
        guard self.person != .known else { return }
        let isKnown = await self.until {
            (try? self.group.update { $0.signIn }) == .signedIn(recipientTag: self.server.tag())
        }
        if isKnown { self.person = .known } else { self.problem("the app group does not know the person") }
    }

    func signOut() async {
        guard let client = self.kit?.client else { return }
        let work = self.inApp { Task { await client.signOut() } }
        let isOver = Flag()
        Task {
            await work.value
            isOver.isSet = true
        }
        await self.gone { isOver.isSet }
        if !isOver.isSet { self.problem("signing out does not end") }
        self.person = .signedOut
        // The ledger is forgotten with the person, and with it what has rung.
        self.phone.beginStay()
        self.isRequested = false
    }

    func disconnect() {
        self.kit?.client.disconnect()
        self.isRequested = false
    }

    /// Whether a notification with this tag, or without one, is for the person; nil if that hangs on who is faster.
    func accepts(_ tag: String?) -> Bool? {
        guard let tag else { return true }
        switch self.person {
        case .known: return tag == self.server.tag()
        case .never, .signedOut: return false
        case .unknown: return nil
        }
    }

    // MARK: The extension

    /// Whether the extension lets a push ring: it claims the message in the ledger, and shows it.
    func letExtensionDecide(_ id: MessageID) -> Bool {
        let wall = self.clock.now.wall
        return self.inGroup(false) { contents in
            guard contents.ledger.claim(id, by: .pushExtension, wall: wall) == .granted else { return false }
            contents.ledger.markShown(id, by: .pushExtension, wall: wall)
            return true
        }
    }

    /// The system shows a push the extension has let ring.
    func ringInBackground(_ message: String) {
        self.coverage.note("ring in the background")
        self.rings[self.phone.named(message), default: 0] += 1
    }

    /// Another sender's push: the extension counts it, and the system shows the number.
    func pushByAnother() {
        let shown = self.inGroup(-1) { contents in
            contents.badge?.pushedByAnother(isRecall: false)
            return contents.badge?.shown ?? -1
        }
        self.phone.setIcon(shown)
    }

    var storedBadge: Badge? { self.inGroup(nil) { $0.badge } }

    private func inGroup<Value>(_ failed: Value, _ work: (inout AppGroup.Contents) -> Value) -> Value {
        do { return try self.group.update(work) } catch {
            self.problem("the app group: \(error)")
            return failed
        }
    }

    // MARK: The app's life

    private func post(_ name: Notification.Name) {
        self.inApp { NotificationCenter.default.post(name: name, object: UIApplication.shared) }
    }

    private func enter(_ state: ApplicationState) {
        self.applicationState = state
        self.process.receive(.state(state))
        self.phone.setBackgroundTime(state == .background ? 30_000 : nil)
    }

    func toForeground() {
        if self.applicationState == .background {
            self.enter(.inactive)
            self.post(UIApplication.willEnterForegroundNotification)
        }
        guard self.applicationState != .active else { return }
        self.enter(.active)
        self.taps.becameActive()
        self.post(UIApplication.didBecomeActiveNotification)
    }

    func resign() {
        guard self.applicationState == .active else { return }
        self.post(UIApplication.willResignActiveNotification)
        self.enter(.inactive)
    }

    func terminate() { self.post(UIApplication.willTerminateNotification) }

    func toBackground() {
        self.resign()
        guard self.applicationState == .inactive else { return }
        self.enter(.background)
        self.post(UIApplication.didEnterBackgroundNotification)
    }

    /// Lets time pass until the client has stored and acknowledged everything the server has.
    func caughtUp() async -> Bool {
        self.server.setNetwork(.works)
        if !self.isRequested { await self.signIn() }
        await self.connected()
        // What taps have begun ends first: an answer, or "read", changes the count.
        for _ in 1...2 { _ = await self.kit?.client.performBackgroundRefresh() }
        let isCurrent = await self.until { self.server.isAcknowledged }
        let unread = try? self.kit?.client.unreadMessageCount()
        guard isCurrent, unread == self.server.unread else {
            self.problem("unread are \(unread ?? -1), the rule says \(self.server.unread); acknowledged: \(isCurrent)")
            return false
        }
        return true
    }
}

/// Something that happened, or not yet.
@MainActor private final class Flag {
    var isSet = false
}

import ClientCore
import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import ServerCore
import Synchronization
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

@testable import TidingsClient
@testable import TidingsKit
@testable import TidingsUI

/// A phone of alice's whose app shows the SDK's screens, and its server.
@MainActor final class ConversationBench: PhoneBench {
    static let bundle: BundleID = "com.example.chat"
    static let withBob = ConversationID(type: .direct, target: "bob")
    static let team = ConversationID(type: .group, target: "team")
    /// How far back the history of a bench may go, in milliseconds.
    static let past: Int64 = 8 * 86_400_000
    static let lobby = ConversationID(type: .chatRoom, target: "lobby")

    let server: ServerTransport
    let media = TestMedia()
    let phone: VirtualPhone
    let clock: ForwardingClock
    let language: String
    let people: People
    let folder: String
    var configure: (inout InterfaceConfiguration) -> Void
    /// Whom the app signs in at its launch; nil for nobody.
    var person: UserID? = "alice"
    /// How many elements each stream of the client holds.
    let streamElementsMax: Int
    fileprivate(set) var app: ConversationApp?

    var interface: ChatInterface? { self.app?.interface }
    var client: ChatClient? { self.app?.interface?.client }
    var screen: ConversationViewController? {
        self.app?.navigation?.topViewController as? ConversationViewController
    }

    /// - Parameters:
    ///   - wall: what the phone's calendar clock shows at the launch, in milliseconds since 1970.
    ///   - streamElementsMax: how many elements each stream of the client holds.
    ///   - history: what has happened by then; the clock stands at `past` before the launch and goes on with it.
    init(
        osVersion: OSVersion = 17, language: String = "en", people: People = People(),
        wall: Int64 = 1_767_225_600_000, streamElementsMax: Int = 1_000,
        configure: @escaping (inout InterfaceConfiguration) -> Void = { _ in },
        history: ((ConversationBench) -> Void)? = nil
    ) async {
        self.language = language
        self.people = people
        self.streamElementsMax = streamElementsMax
        self.configure = configure
        self.folder = testFolder().path
        self.phone = VirtualPhone(osVersion: osVersion, folder: self.folder, wallMilliseconds: wall)
        let clock = ForwardingClock(wall: wall - (history == nil ? 0 : Self.past))
        self.clock = clock
        self.server = ServerTransport(now: { clock.now })
        self.phone.install(
            InstalledApp(
                bundleID: Self.bundle, lifecycle: .application, methods: .modern,
                backgroundModes: [.remoteNotification], appGroup: "group.chat"),
            code: VirtualApp(delegates: .modern, lifecycle: .application).code(
                delegate: { ConversationApp(bench: self) }))
        if let history {
            history(self)
            clock.advance(by: wall - clock.now.wall)
        }
        await self.phone.allowNotifications()
        await self.phone.launch()
        await self.untilConnected()
    }

    func untilConnected() async { await self.until { $0.client?.connectionStatus == .connected } }
    func loseConnection() async {
        self.server.setNetwork(.refuses)
        await self.until { $0.client?.connectionStatus != .connected }
    }
    /// A message that waits for a connection.
    func writeUnsent(_ text: String) async {
        await self.loseConnection()
        await self.write(text)
        await self.until(reads: "Waiting for a connection")
    }
    func until(reads text: String) async { await self.until { $0.texts.contains(text) } }
    func until(readsNo text: String) async { await self.until { !$0.texts.contains(text) } }

    // MARK: The app

    /// Holds the main thread, so that the app takes nothing, until the client has a message.
    func holdApp(until message: MessageID) {
        let end = ContinuousClock.now.advanced(by: .seconds(30))
        while ((try? self.client?.storedMessage(message)) ?? nil) == nil, ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    func inApp<Result: Sendable>(_ body: @escaping @MainActor @Sendable () async -> Result) async -> Result? {
        await self.phone.inApp { await body() }
    }

    static func opened(_ conversation: ConversationID) async -> ConversationBench {
        let bench = await ConversationBench()
        await bench.open(conversation)
        return bench
    }

    /// As a tap on a notification does.
    func open(_ conversation: ConversationID) async {
        let app = self.app
        _ = await self.inApp { app?.open(Route(conversation: conversation)) ?? () }
        await self.settle()
    }

    func back() async {
        let app = self.app
        _ = await self.inApp { _ = app?.navigation?.popViewController(animated: true) }
        await self.settle()
    }

    func restart() async {
        await self.phone.forceQuit()
        await self.phone.launch()
        await self.until { $0.client?.userID != nil || $0.person == nil }
    }

    // MARK: What a person reads and does

    var nodes: [ViewNode] { self.phone.views() }
    var texts: [String] { self.nodes.flatMap(\.texts) }
    /// The rows of the table that are seen, each with its texts.
    var rows: [[String]] { self.rowNodes.map(\.texts) }
    var rowNodes: [ViewNode] { self.nodes.flatMap { $0.all(.row) } }
    var title: String? {
        self.nodes.flatMap { $0.all(.navigationBar) }.last?.children.last { $0.role == .text }?.text
    }
    func row(_ text: String) -> ViewNode? { self.rowNodes.last { $0.texts.contains(text) } }

    @discardableResult func tap(_ name: String) async -> Bool {
        let isTaken = await self.phone.touch(name)
        await self.settle()
        return isTaken
    }

    @discardableResult func touch(_ name: String, _ action: ViewAction) async -> Bool {
        let isTaken = await self.phone.touch(name, action)
        await self.settle()
        return isTaken
    }

    /// What VoiceOver offers on the row of a message.
    @discardableResult func act(_ action: String, on text: String) async -> Bool {
        await self.touch(self.row(text)?.identifier ?? text, .named(action))
    }

    func write(_ text: String) async {
        await self.touch("tidings.input", .enter(text))
        await self.tap("Send")
    }

    // MARK: Others

    @discardableResult
    func say(_ text: String, from sender: UserID = "bob", to conversation: ConversationID? = nil) -> MessageID {
        self.server.send(text, from: sender, to: conversation ?? ConversationID(type: .direct, target: "alice"))
    }

    func makeTeam(by owner: UserID = "alice", with members: [UserID] = ["bob", "carol"]) {
        self.server.request(
            .request(
                ServerTransport.app, actor: owner,
                .change(Self.team, .create(name: "Team", portrait: nil, members: members))))
    }
}

extension ViewNode {
    func all(_ role: Role) -> [ViewNode] {
        (self.role == role ? [self] : []) + self.children.flatMap { $0.all(role) }
    }
}

final class ConversationApp: UIResponder, UIApplicationDelegate {
    let bench: ConversationBench
    var window: UIWindow?
    private(set) var interface: ChatInterface?
    var navigation: UINavigationController? { self.window?.rootViewController as? UINavigationController }

    init(bench: ConversationBench) { self.bench = bench }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.bench.app = self
        var configuration = KitSurroundings.fill(
            ChatClient.Configuration(
                appKey: "demo", appGroupIdentifier: "group.chat", serverURL: URL(fileURLWithPath: "/in-memory")),
            application: application)
        configuration.log = { _ in }
        configuration.words.language = self.bench.language
        configuration.streamElementsMax = self.bench.streamElementsMax
        configuration.apiURL = URL(string: "https://chat.example.com")
        let client = ChatClient(
            configuration: configuration, transport: self.bench.server, clock: self.bench.clock,
            mediaHTTP: self.bench.media)
        let kit = NotificationIntegration(client: client, pushEnvironment: .sandbox)
        kit.userInfoProvider = self.bench.people
        kit.groupInfoProvider = self.bench.people
        var chosen = InterfaceConfiguration()
        self.bench.configure(&chosen)
        self.interface = ChatInterface(kit: kit, configuration: chosen)
        if let person = self.bench.person { Task { try await client.connect(userID: person, token: person.rawValue) } }
        let window = UIWindow(frame: UIScreen.main.bounds)
        let root = UIViewController()
        root.title = "Start"
        window.rootViewController = UINavigationController(rootViewController: root)
        window.makeKeyAndVisible()
        self.window = window
        return kit.application(application, didFinishLaunchingWithOptions: launchOptions)
    }

    func open(_ route: Route) {
        guard let window = self.window, let interface = self.interface else { return }
        NavigationExecutor(window: window, router: interface.kit.router) { interface.screen(for: $0) }.open(route)
    }
}

/// The server's side of uploads and downloads, as far as one image needs it.
final class TestMedia: MediaHTTP {
    private struct State {
        var files: [String: Data] = [:]
        var refusal: (status: Int, code: String)?
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var deleted = 0
    }
    private let state = Mutex(State())

    var files: [Data] { self.state.withLock { state in state.files.keys.sorted().compactMap { state.files[$0] } } }
    var deletedCount: Int { self.state.withLock { $0.deleted } }
    func refuse(_ refusal: (status: Int, code: String)?) { self.state.withLock { $0.refusal = refusal } }
    /// Parts of files wait from now on.
    func hold() { self.state.withLock { $0.isHeld = true } }
    func release() {
        let held = self.state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.resume() }
    }

    func send(_ request: MediaHTTPRequest) async throws -> MediaHTTPAnswer {
        if request.method == "PATCH", request.headers["Upload-Offset"] != "0" {
            await withCheckedContinuation { continuation in
                let isHeld = self.state.withLock { state in
                    if state.isHeld { state.held.append(continuation) }
                    return state.isHeld
                }
                if !isHeld { continuation.resume() }
            }
        }
        return self.state.withLock { Self.answer(request, &$0) }
    }

    private static func answer(_ request: MediaHTTPRequest, _ state: inout State) -> MediaHTTPAnswer {
        if let (status, code) = state.refusal {
            return MediaHTTPAnswer(status: status, body: Data("{\"code\":\"\(code)\"}".utf8))
        }
        let id = request.url.lastPathComponent
        switch request.method {
        case "POST":
            let id = String(repeating: "\(state.files.count)", count: 32)
            state.files[id] = Data()
            return MediaHTTPAnswer(status: 201, headers: ["location": "/v1/media/uploads/\(id)"])
        case "PATCH":
            state.files[id]?.append(request.body)
            return MediaHTTPAnswer(status: 204, headers: ["upload-offset": "\(state.files[id]?.count ?? 0)"])
        case "GET":
            guard let file = state.files[id] else {
                return MediaHTTPAnswer(status: 404, body: Data("{\"code\":\"unknown_media\"}".utf8))
            }
            let ends = (request.headers["Range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
            let part = file[ends[0]..<min(ends[1] + 1, file.count)]
            return MediaHTTPAnswer(
                status: 206,
                headers: ["etag": "\"\(id)\"", "content-range": "bytes \(ends[0])-\(ends[1])/\(file.count)"],
                body: Data(part))
        default:
            state.deleted += 1
            state.files[id] = nil
            return MediaHTTPAnswer(status: 204)
        }
    }
}

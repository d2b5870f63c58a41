import ClientCore
import Foundation
import PhoneCore
import Synchronization
import TidingsClient
import TidingsModel
import TidingsWire
import UIKit
import UserNotifications
import VirtualPhone

@testable import TidingsKit

/// A server for one person: welcomes, keeps what it is told, and writes messages.
final class PersonServer: ClientTransport {
    private struct State {
        var events: (@Sendable (TransportEvent) -> Void)?
        var frames: [ClientFrame] = []
        var log: [LogEntry] = []
    }

    private let state = Mutex(State())

    var frames: [ClientFrame] { self.state.withLock { $0.frames } }
    var isConnected: Bool { self.state.withLock { $0.events != nil } }

    func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection {
        self.state.withLock { $0.events = events }
        events(.opened)
        return End(server: self)
    }

    /// A message of bob's.
    @discardableResult
    func say(_ text: String, sender: UserID = "bob") -> MessageID {
        let (entry, id, events) = self.state.withLock { state in
            let position = LogPosition(state.log.count + 1)
            let id = MessageID(rawValue: 1_000 + position)
            let message = Message(
                id: id, app: "demo", sender: sender, conversation: ConversationID(type: .direct, target: "alice"),
                clientMessageID: "c", objectName: .text, content: JSONValue.members([("content", .string(text))]).text,
                flags: .normal, pushText: nil, sentAt: 0)
            let entry = LogEntry(position: position, body: .message(message))
            state.log.append(entry)
            return (entry, id, state.events)
        }
        events?(.received(FrameCodec.encode(.entry(entry), as: .protobuf)))
        return id
    }

    private func receive(_ frame: ClientFrame) {
        let (answer, events) = self.state.withLock { state -> (ServerFrame?, (@Sendable (TransportEvent) -> Void)?) in
            state.frames.append(frame)
            let head = LogPosition(state.log.count)
            switch frame {
            case .hello:
                return (
                    .welcome(
                        ServerFrame.Welcome(
                            version: 1, serverTime: 0, head: head, unread: 0, heartbeatMilliseconds: 60_000,
                            frameBytesMax: 65_536, recipientTag: "tag", extensionToken: "")), state.events
                )
            case .sync(let after, _):
                let entries = state.log.filter { $0.position > after }
                return (.page(.init(after: after, entries: entries, head: head, unread: 0)), state.events)
            case .send, .ack, .runState, .registerPush, .markRead, .ping, .signOut: return (nil, nil)
            }
        }
        if let answer { events?(.received(FrameCodec.encode(answer, as: .protobuf))) }
    }

    private func close() {
        let events = self.state.withLock { state in
            defer { state.events = nil }
            return state.events
        }
        events?(.closed(reason: "closed"))
    }

    private struct End: TransportConnection {
        let server: PersonServer
        func send(_ bytes: [UInt8]) {
            if let frame = try? FrameCodec.decodeClientFrame(bytes, as: .protobuf) { self.server.receive(frame) }
        }
        func close() { self.server.close() }
    }
}

/// Persons are called what their id says.
struct Names: UserInfoProvider {
    func userInfo(for id: UserID) async -> UserInfo? { UserInfo(name: id.rawValue.capitalized) }
}

/// The app under test: forwards to the kit and writes down what a tap opened.
@MainActor final class TestApp: UIResponder, UIApplicationDelegate, @preconcurrency UNUserNotificationCenterDelegate {
    static let bundle: BundleID = "com.example.chat"
    let bench: ChatBench
    private(set) var kit: NotificationIntegration?
    var window: UIWindow?

    init(bench: ChatBench) { self.bench = bench }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        let configuration = KitSurroundings.fill(
            ChatClient.Configuration(
                appKey: "demo", appGroupIdentifier: "group.chat", serverURL: URL(fileURLWithPath: "/in-memory")),
            application: application)
        let client = ChatClient(
            configuration: configuration, transport: self.bench.server, clock: SystemClientClock())
        let kit = NotificationIntegration(client: client, pushEnvironment: .sandbox)
        kit.userInfoProvider = self.bench.hasNames ? Names() : nil
        self.kit = kit
        self.bench.kit = kit
        kit.handleLaunch(options: launchOptions)
        kit.responseHandler = { [bench = self.bench] in bench.opened.append($0.conversation.description) }
        Task { await kit.registerForNotifications() }
        Task { try await client.connect(userID: "alice", token: "token") }
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { self.kit?.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken) }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        let isOurs = self.kit?.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        if isOurs != true { completionHandler(.noData) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let isOurs = self.kit?.userNotificationCenter(
            center, willPresent: notification, withCompletionHandler: completionHandler)
        if isOurs != true { completionHandler([]) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let isOurs = self.kit?.userNotificationCenter(
            center, didReceive: response, withCompletionHandler: completionHandler)
        if isOurs != true { completionHandler() }
    }
}

@MainActor final class TestScene: UIResponder, UIWindowSceneDelegate {
    let bench: ChatBench
    init(bench: ChatBench) { self.bench = bench }
    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        self.bench.kit?.scene(scene, willConnectTo: session, options: options)
    }
}

/// A phone with the app installed, a server, and a folder that is deleted afterwards.
@MainActor final class ChatBench {
    let server = PersonServer()
    let phone: VirtualPhone
    let folder: String
    let hasNames: Bool
    var kit: NotificationIntegration?
    var opened: [String] = []

    init(osVersion: OSVersion = 17, lifecycle: LifecycleStyle = .scenes, hasNames: Bool = true) async {
        self.hasNames = hasNames
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)").path
        self.phone = VirtualPhone(osVersion: osVersion, folder: self.folder)
        let app = VirtualApp(delegates: .modern, lifecycle: lifecycle)
        self.phone.install(
            InstalledApp(bundleID: TestApp.bundle, lifecycle: lifecycle, appGroup: "group.chat"),
            code: app.code(delegate: { TestApp(bench: self) }, sceneDelegate: { TestScene(bench: self) }))
        await self.phone.allowNotifications()
        await self.phone.launch()
        await self.until { $0.kit?.client.connectionStatus == .connected }
    }

    /// Lets the app work until something holds; what never holds is recorded by the test's own expectation.
    func until(_ holds: (ChatBench) -> Bool) async {
        for _ in 0..<400 where !holds(self) { await self.phone.advance(by: .milliseconds(1)) }
    }

    /// A Tidings push for a message of bob's.
    func push(_ id: MessageID) -> JSONValue {
        [
            "aps": ["alert": ["title": "Bob", "body": "hi"], "sound": "default", "badge": 1, "mutable-content": 1],
            "rc": [
                "cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "mId": "",
                "id": .string(id.description),
            ],
        ]
    }

    func remove() { try? FileManager.default.removeItem(atPath: self.folder) }
}

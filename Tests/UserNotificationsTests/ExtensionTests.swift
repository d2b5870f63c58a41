import Foundation
import PhoneCore
import Requirements
import Synchronization
import Testing
import TidingsModel
import UserNotifications

@testable import VirtualPhone

private final class SlowService: UNNotificationServiceExtension {
    private var finish: (() -> Void)?

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
        content.body = "best attempt"
        self.finish = { contentHandler(content) }
    }

    override func serviceExtensionTimeWillExpire() { self.finish?() }
}

private final class GroupService: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        if let folder { try? Data("seen".utf8).write(to: folder.appendingPathComponent(request.identifier)) }
        contentHandler(request.content)
    }
}

private final class PunctualService: UNNotificationServiceExtension {
    private let notes: Notes
    private var request: UNNotificationRequest?
    private var finish: ((UNNotificationContent) -> Void)?

    init(_ notes: Notes) {
        self.notes = notes
        super.init()
    }

    deinit { self.notes.add("\(self.request?.content.body ?? "-") gone") }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.request = request
        self.finish = contentHandler
    }

    override func serviceExtensionTimeWillExpire() {
        guard let request = self.request else { return }
        self.notes.add("EXP \(request.content.body)")
        self.finish?(request.content)
    }
}

/// Waits in its call until it is told that the time is up, as one that downloads does. Its initializer is Apple's own.
private final class BlockingService: UNNotificationServiceExtension {
    private let isOver = DispatchSemaphore(value: 0)

    override init() { super.init() }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let content = UNMutableNotificationContent()
        content.body = self.isOver.wait(timeout: .now() + 300) == .success ? "told" : "not told"
        contentHandler(content)
    }

    override func serviceExtensionTimeWillExpire() { self.isOver.signal() }
}

private final class Listener: PhoneLink {
    let messages: AsyncStream<ProcessMessage>
    private let continuation: AsyncStream<ProcessMessage>.Continuation

    init() { (self.messages, self.continuation) = AsyncStream.makeStream() }

    func send(_ message: ProcessMessage) { self.continuation.yield(message) }
    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? { nil }
}

private final class Notes: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { self.lines.withLock { $0.append(line) } }
    var all: [String] { self.lines.withLock { $0 } }
}

@MainActor @Suite struct `A notification service extension` {
    /// An app that only registers: the facades of UIKit are not needed for it.
    private func phone(
        folder: String? = nil, _ service: @escaping @MainActor @Sendable () -> UNNotificationServiceExtension
    ) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: 17, folder: folder)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], appGroup: "group.chat"),
            code: ProcessCode { process in
                process.setHandler { callback, reply in
                    if case .didFinishLaunching = callback {
                        process.report(.remoteRegistrationRequested)
                        Task {
                            _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [
                                .alert, .badge, .sound,
                            ])
                        }
                    }
                    reply()
                }
            }, serviceExtension: VirtualExtension.code(service))
        await phone.allowNotifications()
        await phone.launch()
        await phone.home()
        return phone
    }

    private let push: JSONValue = ["aps": ["alert": "raw", "mutable-content": 1]]

    @Test(.requirement("S2.21"))
    func `may deliver its best attempt when its time is up`() async {
        let phone = await self.phone { SlowService() }
        phone.timeoutMilliseconds = 30
        await phone.deliver(self.push)
        #expect(phone.screen.list == [])
        await phone.advance(by: .seconds(31))
        #expect(phone.screen.list.map(\.notification.request.content.body) == ["best attempt"])
    }

    @Test(.requirement("S2.21"))
    func `is told of its own time, also when two of its pushes have one identifier`() async {
        let notes = Notes()
        let phone = await self.phone { PunctualService(notes) }
        phone.timeoutMilliseconds = 30
        await phone.deliver(["aps": ["alert": "first", "mutable-content": 1]], collapseID: "same")
        await phone.advance(by: .seconds(10))
        await phone.deliver(["aps": ["alert": "second", "mutable-content": 1]], collapseID: "same")
        await phone.advance(by: .seconds(21))
        #expect(notes.all == ["EXP first", "first gone"])
        await phone.advance(by: .seconds(10))
        #expect(notes.all == ["EXP first", "first gone", "EXP second", "second gone"])
        #expect(phone.faults == [])
    }

    @Test(.requirement("S2.21"))
    func `that blocks in a process of its own delays neither its end nor another push`() async {
        let link = Listener()
        let process = PhoneProcess(
            facts: PhoneProcessFacts(
                role: .notificationService, bundleID: "com.example.chat", osVersion: "17", phoneID: "phone", home: "/",
                groups: [:]), link: link)
        ServiceExtensionRuntime(hasOwnProcess: true) { BlockingService() }.attach(to: process)
        let request = NotificationRequest(
            identifier: "m1", content: NotificationContent(body: "raw"), trigger: .push)
        process.receive(.call(1, .serviceExtensionReceive(request), .background))
        process.receive(.call(2, .serviceExtensionReceive(request), .background))
        process.receive(.call(3, .serviceExtensionTimeWillExpire(identifier: "m1", call: 2), .background))
        var bodies: [CallbackNumber: String] = [:]
        for await message in link.messages {
            guard case .event(.callbackCompleted(let number, .content(let content))) = message else { continue }
            bodies[number] = content.body
            if bodies.count == 2 { break }
            process.receive(.call(4, .serviceExtensionTimeWillExpire(identifier: "m1", call: 1), .background))
        }
        #expect(bodies == [1: "told", 2: "told"])
    }

    @Test(.requirement("S2.16"))
    func `shares the folder of the app group`() async throws {
        let folder = NSTemporaryDirectory() + "/extension-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let phone = await self.phone(folder: folder) { GroupService() }
        await phone.deliver(self.push, collapseID: "m1")
        #expect(FileManager.default.contents(atPath: folder + "/groups/group.chat/m1") == Data("seen".utf8))
        let seen = await phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat").map {
                FileManager.default.fileExists(atPath: $0.appendingPathComponent("m1").path)
            }
        }
        #expect(seen == true)
        let stranger = await phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.other")
        }
        #expect(stranger == nil)
    }

    @Test(.requirement("S2.20")) func `cannot reach the app group before the first unlock`() async throws {
        let folder = NSTemporaryDirectory() + "/extension-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let phone = await self.phone(folder: folder) { GroupService() }
        await phone.restart()
        await phone.deliver(self.push, collapseID: "m2")
        #expect(FileManager.default.contents(atPath: folder + "/groups/group.chat/m2") == nil)
        #expect(phone.screen.list.map(\.key.identifier) == ["m2"])
        await phone.unlock()
        await phone.deliver(self.push, collapseID: "m3")
        #expect(FileManager.default.contents(atPath: folder + "/groups/group.chat/m3") == Data("seen".utf8))
    }
}

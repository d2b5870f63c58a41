import ClientCore
import Foundation
import PhoneCore
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

/// The extension as an app writes it: everything forwarded.
private final class Service: UNNotificationServiceExtension {
    private let handler = NotificationServiceHandler(appGroupIdentifier: "group.chat")

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { self.handler.didReceive(request, contentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
}

@MainActor private final class ServiceBench {
    let phone: VirtualPhone
    let folder: String

    init() async {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)").path
        self.phone = VirtualPhone(osVersion: 17, folder: self.folder)
        self.phone.install(
            InstalledApp(bundleID: "com.example.chat", lifecycle: .application, methods: [], appGroup: "group.chat"),
            code: ProcessCode { process in
                process.setHandler { callback, reply in
                    if case .didFinishLaunching = callback {
                        process.tell(.remoteRegistrationRequested)
                        Task {
                            _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [
                                .alert, .badge, .sound,
                            ])
                        }
                    }
                    reply()
                }
            }, serviceExtension: VirtualExtension.code(Service.self))
        await self.phone.allowNotifications()
        await self.phone.launch()
        await self.phone.home()
    }

    /// The app group, prepared as the app leaves it when alice is signed in.
    func signIn(tag: String = "tag", badge: Badge? = Badge(server: 2, position: 10)) async throws {
        let container = await self.phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        }
        let group = try AppGroup(folder: try #require(container))
        try group.update { contents in
            contents.recipient = Recipient(tag: tag, extensionToken: "", position: 10)
            contents.badge = badge
        }
    }

    func push(_ number: UInt64, badge: Int = 3, bseq: LogPosition = 11, isRecall: Bool = false) async {
        let id = MessageID(rawValue: number)
        let info = PushInfo(message: id, position: 11, badgePosition: bseq, recipientTag: "tag", isRecall: isRecall)
        await self.phone.deliver(
            [
                "aps": [
                    "alert": ["title": "Bob", "body": "hi"], "sound": "default", "badge": .int(badge),
                    "mutable-content": 1,
                ],
                "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
                "tidings": info.dictionary,
            ], collapseID: id.description)
    }

    func remove() { try? FileManager.default.removeItem(atPath: self.folder) }
}

@MainActor @Suite(.serialized) struct `A service extension with the handler` {
    @Test func `rings once for a push that comes twice`() async throws {
        let bench = await ServiceBench()
        defer { bench.remove() }
        try await bench.signIn()
        await bench.push(7)
        await bench.push(7)
        let presented = bench.phone.presentations
        #expect(presented.map(\.isRing) == [true, false])
        #expect(presented.map(\.badge) == [3, 3])
        #expect(bench.phone.screen.list.count == 1)
        #expect(bench.phone.faults == [])
    }

    @Test func `does not ring for what the kit has shown`() async throws {
        let bench = await ServiceBench()
        defer { bench.remove() }
        try await bench.signIn()
        let container = await bench.phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        }
        try AppGroup(folder: try #require(container)).update {
            $0.ledger.markShown(MessageID(rawValue: 7), by: .kit(process: 1), wall: 0)
        }
        await bench.push(7)
        #expect(bench.phone.presentations.map(\.isRing) == [false])
    }

    @Test(arguments: [true, false])
    func `looks at the delivered list when the kit died between claim and showing`(wasPosted: Bool) async throws {
        let bench = await ServiceBench()
        defer { bench.remove() }
        try await bench.signIn()
        let id = MessageID(rawValue: 7)
        let container = await bench.phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        }
        let claimedAt = Int64(Date().timeIntervalSince1970 * 1_000) - 2 * Ledger.kitClaimMilliseconds
        try AppGroup(folder: try #require(container)).update { contents in
            _ = contents.ledger.claim(id, by: .kit(process: 1), wall: claimedAt)
        }
        if wasPosted {
            try await bench.phone.inApp {
                let content = UNMutableNotificationContent()
                content.title = "Bob"
                content.body = "hi"
                content.sound = .default
                try await UNUserNotificationCenter.current().add(
                    UNNotificationRequest(identifier: id.description, content: content, trigger: nil))
            }
        }
        await bench.push(7)
        // One ring in all: the kit's own, or the push's.
        #expect(bench.phone.presentations.map(\.isRing) == (wasPosted ? [true, false] : [true]))
        #expect(bench.phone.presentations.last?.badge == 3)
    }

    @Test func `counts another sender's pushes on top of the server's number`() async throws {
        let bench = await ServiceBench()
        defer { bench.remove() }
        try await bench.signIn()
        await bench.phone.deliver(["aps": ["alert": "sale", "mutable-content": 1]])
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 3)
        await bench.push(7, badge: 5)
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 6)
        await bench.push(8, badge: 1, bseq: 10)
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 6)
    }

    @Test func `leaves the badge as it came where none is stored`() async throws {
        let bench = await ServiceBench()
        defer { bench.remove() }
        try await bench.signIn(badge: nil)
        await bench.push(7, badge: 5)
        #expect(bench.phone.presentations.map(\.badge) == [5])
    }

    @Test func `shows nothing of a push for somebody else`() async throws {
        let bench = await ServiceBench()
        defer { bench.remove() }
        try await bench.signIn(tag: "carol")
        await bench.push(7)
        #expect(bench.phone.presentations.allSatisfy { !$0.isRing })
        let contents = bench.phone.screen.list.map(\.notification.request.content)
        #expect(contents.map(\.body) == ["You have a notification"])
        #expect(contents.map(\.title) == [""])
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 0)
    }

    @Test func `calls the content handler once, though the time expires afterwards`() {
        let handler = NotificationServiceHandler(badgeStore: nil)
        let request = UNNotificationRequest(identifier: "x", content: UNNotificationContent(), trigger: nil)
        var calls = 0
        handler.didReceive(request) { _ in calls += 1 }
        handler.serviceExtensionTimeWillExpire()
        #expect(calls == 1)
    }
}

import ClientCore
import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

/// The extension as an app writes it: everything forwarded.
final class Service: UNNotificationServiceExtension {
    static let web = WebDouble()
    private let handler = NotificationServiceHandler(
        surroundings: .init(
            group: { (try? BadgeStore(appGroupIdentifier: "group.chat"))?.group }, http: Service.web),
        options: .init(usesCommunicationNotifications: true))

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { self.handler.didReceive(request, contentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
}

@MainActor final class ServiceBench {
    let phone: VirtualPhone
    let folder: String

    /// - Parameters:
    ///   - isFiltering: whether app and extension have the filtering entitlement.
    ///   - extensionCode: another extension than `Service`.
    init(
        osVersion: OSVersion = 17, isFiltering: Bool = false, entitlements: Entitlements = .communication,
        extensionCode: ProcessCode? = nil
    ) async {
        // It is shared by all benches with our own extensions; tests with another one run beside them.
        if extensionCode == nil { Service.web.reset() }
        self.folder = testFolder().path
        self.phone = VirtualPhone(osVersion: osVersion, folder: self.folder)
        self.phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [],
                hasFilteringEntitlement: isFiltering, appGroup: "group.chat", entitlements: entitlements,
                localizations: ["FROM": "From %@"]),
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
            },
            serviceExtension: extensionCode
                ?? (isFiltering
                    ? VirtualExtension.code { FilteringService() } : VirtualExtension.code { Service() }))
        await self.phone.allowNotifications()
        await self.phone.launch()
        await self.phone.home()
    }

    /// The app group, prepared as the app leaves it when alice is signed in.
    func signIn(
        tag: String = "tag", token: String = "", badge: Badge? = Badge(server: 2, position: 10)
    ) async throws {
        try await self.group().update { contents in
            contents.recipient = Recipient(tag: tag, extensionToken: token, position: 10)
            contents.badge = badge
            contents.settings.apiURL = "https://chat.example.com"
        }
    }

    func group() async throws -> AppGroup {
        let container = await self.phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        }
        return try AppGroup(folder: try #require(container))
    }

    func push(
        _ number: UInt64, position: LogPosition = 11, badge: Int = 3, bseq: LogPosition = 11, isRecall: Bool = false
    ) async {
        let id = MessageID(rawValue: number)
        let info = PushInfo(
            message: id, position: position, badgePosition: bseq, recipientTag: "tag", isRecall: isRecall,
            text: .init(title: "bob", body: .text("secret \(number)")))
        await self.phone.deliver(
            [
                "aps": [
                    "alert": ["body": isRecall ? "A message was recalled" : "You have a new message"],
                    "sound": "default", "badge": .int(badge),
                    "mutable-content": 1,
                ],
                "rc": [
                    "cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob",
                    "mId": .string(isRecall ? "" : String(position)),
                ],
                "tidings": info.dictionary,
            ], collapseID: id.description)
    }

    func pushBadge(_ badge: Int, at position: LogPosition, to tag: String = "tag") async {
        let info = BadgeInfo(badge: badge, badgePosition: position, recipientTag: tag)
        await self.phone.deliver(
            [
                "aps": [
                    "alert": ["body": "You have a notification"], "mutable-content": 1,
                    "interruption-level": "passive",
                ],
                "tidings": info.dictionary,
            ], collapseID: BadgeInfo.identifier)
    }
}

@MainActor @Suite(.serialized) struct `A service extension with the handler` {
    @Test func `rings once for a push that comes twice`() async throws {
        let bench = await ServiceBench()
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

    @Test(.requirement("S2.13", "S2.15", "S2.19")) func `counts another sender's pushes on top of the server's number`()
        async throws
    {
        let bench = await ServiceBench()
        try await bench.signIn()
        await bench.phone.deliver(["aps": ["alert": "sale", "mutable-content": 1]])
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 3)
        await bench.push(7, badge: 5)
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 6)
        await bench.push(8, badge: 1, bseq: 10)
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 6)
    }

    @Test(.requirement("S2.20")) func `leaves the badge as it came where none is stored`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(badge: nil)
        await bench.push(7, badge: 5)
        #expect(bench.phone.presentations.map(\.badge) == [5])
    }

    @Test func `shows nothing of a push for somebody else`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(tag: "carol", token: "t")
        await bench.push(7, position: 20)
        #expect(bench.phone.presentations.allSatisfy { !$0.isRing })
        let contents = bench.phone.screen.list.map(\.notification.request.content)
        #expect(contents.map(\.body) == ["You have a notification"])
        #expect(contents.map(\.title) == [""])
        // An empty mark: by it the kit knows in the foreground that the push is none of its own person's.
        #expect(contents.map { JSONValue.object($0.userInfo) } == [ExtensionDecision.strippedUserInfo])
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 0)
        #expect(Service.web.sent == [])
    }

    @Test(arguments: ["carol", nil])
    func `keeps of a push for nobody here a fixed text and an empty mark, and drops everything else`(
        person: String?
    ) async throws {
        let bench = await ServiceBench()
        try await bench.signIn()
        try await bench.group().update {
            $0.recipient = person.map { Recipient(tag: $0, extensionToken: "t", position: 10) }
        }
        let info = PushInfo(
            message: MessageID(rawValue: 7), position: 11, badgePosition: 11, recipientTag: "tag",
            text: .init(title: "bob", body: "secret"), imageURL: "https://files.example.com/cat")
        await bench.phone.deliver(
            [
                "aps": [
                    "alert": ["title": "bob", "subtitle": "team", "body": "secret"], "sound": "default", "badge": 9,
                    "mutable-content": 1, "thread-id": "PR:bob", "category": "tidings.message",
                ],
                "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"], "tidings": info.dictionary,
                "message": ["params": ["corner_mark_decrease": true]], "appData": "secret",
            ], collapseID: MessageID(rawValue: 7).description)
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect([content.title, content.subtitle, content.body] == ["", "", "You have a notification"])
        #expect([content.threadIdentifier, content.categoryIdentifier] == ["", ""])
        #expect(content.sound == nil)
        #expect(content.badge == nil)
        #expect(content.attachments.isEmpty)
        #expect(JSONValue.object(content.userInfo) == ["tidings": [:]])
        #expect(bench.phone.presentations.map(\.isRing) == [false])
        #expect(Service.web.asked == [])
    }

    @Test func `writes the lines that were chosen, those from the app's strings as the app has them`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn()
        let info = PushInfo(
            message: MessageID(rawValue: 7), position: 11, badgePosition: 11, recipientTag: "tag",
            text: .init(
                title: .localized(key: "FROM", arguments: ["Main Street"]), isTitleChosen: true, subtitle: "Order 7",
                body: "Ready"))
        await bench.phone.deliver(
            [
                "aps": ["alert": "neutral", "sound": "bell.caf", "mutable-content": 1, "category": "ORDER"],
                "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"], "tidings": info.dictionary,
                "order": 7,
            ], collapseID: MessageID(rawValue: 7).description)
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect([content.title, content.subtitle, content.body] == ["From Main Street", "Order 7", "Ready"])
        #expect(content.sound == .named("bell.caf"))
        #expect(content.categoryIdentifier == "ORDER")
        #expect(content.userInfo["order"] == 7)
    }

    @Test func `writes the real text for the person who is signed in, and keeps it nowhere else`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn()
        await bench.push(7)
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect(content.title == "bob")
        #expect(content.body == "secret 7")
        #expect(!JSONValue.object(content.userInfo).text.contains("secret"))
        #expect(PushInfo(userInfo: .object(content.userInfo))?.message == MessageID(rawValue: 7))
    }

    @Test func `leaves the neutral text where nobody has said who is signed in`() async throws {
        let bench = await ServiceBench()
        await bench.push(7)
        #expect(bench.phone.screen.list.map(\.notification.request.content.body) == ["You have a new message"])
        #expect(bench.phone.presentations.map(\.isRing) == [true])
    }

    @Test(.requirement("S2.20")) func `leaves everything as it came where the app group cannot be used`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn()
        // Before the first unlock files cannot be opened; a file where the folder should be has the same effect.
        let folder = try await bench.group().folder
        try FileManager.default.removeItem(at: folder)
        try Data().write(to: folder)
        await bench.push(7, badge: 5)
        #expect(bench.phone.screen.list.map(\.notification.request.content.body) == ["You have a new message"])
        #expect(bench.phone.presentations.map(\.badge) == [5])
        // The person unlocks; the next push is as usual.
        try FileManager.default.removeItem(at: folder)
        try await bench.signIn()
        await bench.push(8)
        #expect(bench.phone.screen.list.first?.notification.request.content.body == "secret 8")
    }

    @Test(.requirement("S0.14"))
    func `fetches what APNs has overwritten, posts it under its ids, and rings once in all`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(token: "t")
        Service.web.answer("/v1/extension/missed", with: ["entries": [entry(11, 1), entry(12, 2)]])
        await bench.push(3, position: 13, badge: 3, bseq: 13)
        #expect(
            Service.web.sent.filter { $0.method == "GET" }.map(\.url.absoluteString) == [
                "https://chat.example.com/v1/extension/missed?after=10&limit=2"
            ])
        #expect(Service.web.sent.allSatisfy { $0.token == "t" })
        let list = bench.phone.screen.list.map(\.notification.request)
        #expect(Set(list.map(\.identifier)) == Set((UInt64(1)...3).map { MessageID(rawValue: $0).description }))
        #expect(bench.phone.presentations.filter(\.isRing).count == 1)
        // By it the kit tells in the foreground which were silenced, and for whom they are.
        #expect(list.allSatisfy { PushInfo(userInfo: .object($0.content.userInfo))?.recipientTag == "tag" })
        // And by it an app where their messages stand in the log.
        let numbers = list.map { [$0.identifier, $0.content.userInfo["rc"]?["mId"]?.stringValue ?? "none"] }
        #expect(
            Set(numbers)
                == Set((UInt64(1)...3).map { [MessageID(rawValue: $0).description, String($0 + 10)] }))
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 3)
        // Those that come late after all are silent, and nothing is fetched again.
        await bench.push(2, position: 12)
        await bench.push(4, position: 14, bseq: 14)
        #expect(bench.phone.presentations.filter(\.isRing).count == 2)
        #expect(Service.web.sent.filter { $0.method == "GET" }.count == 1)
        #expect(try await bench.group().update { $0.recipient?.position } == 14)
    }

    @Test func `asks nothing for another sender's push, and again after a failed fetch`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(token: "t")
        await bench.phone.deliver(["aps": ["alert": "sale", "mutable-content": 1]])
        #expect(Service.web.sent == [])
        await bench.push(3, position: 13)
        #expect(try await bench.group().update { $0.recipient?.position } == 10)
        await bench.push(4, position: 14)
        #expect(
            Service.web.sent.filter { $0.method == "GET" }.map { $0.url.query } == [
                "after=10&limit=2", "after=10&limit=3",
            ])
        #expect(bench.phone.presentations.count == 3)
    }

    @Test func `tells the server which message was shown`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(token: "t")
        await bench.push(7)
        let sent = try #require(Service.web.sent.first)
        #expect(sent.method == "POST")
        #expect(sent.url.absoluteString == "https://chat.example.com/v1/extension/receipts")
        let body: JSONValue = ["message_id": .string(MessageID(rawValue: 7).description), "receipt": "shown"]
        #expect(try JSONValue(parsing: sent.body) == body)
    }

    @Test func `names the sender where the app's providers have named them`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn()
        try await bench.group().update { $0.settings.remember("Bob Brown", for: .user("bob")) }
        await bench.push(7)
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect(content.title == "Bob Brown")
        #expect(content.isCommunication)
    }

    @Test(.requirement("S2.22")) func `marks a recalled message in the list without a ring`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn()
        await bench.push(7)
        await bench.push(7, position: 12, badge: 2, bseq: 12, isRecall: true)
        #expect(bench.phone.presentations.map(\.isRing) == [true, false])
        #expect(bench.phone.screen.list.map(\.notification.request.content.body) == ["A message was recalled"])
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 2)
    }
}

/// An entry of the server's answer.
func entry(_ position: Int64, _ number: UInt64) -> JSONValue {
    [
        "position": .int(position), "message_id": .string(MessageID(rawValue: number).description), "sender": "bob",
        "rings": true, "text": ["title": "bob", "body": .string("secret \(number)")],
        "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "mId": .string(String(position))],
    ]
}

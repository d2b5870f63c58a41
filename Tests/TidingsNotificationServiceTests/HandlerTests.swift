import ClientCore
import Dispatch
import Foundation
import Requirements
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications

@testable import TidingsNotificationService

/// A handler over an app group of its own, without a phone around it.
final class HandlerBench: Sendable {
    let web = WebDouble()
    let group: AppGroup
    private let folder: URL

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        self.group = try AppGroup(folder: self.folder, lockMilliseconds: 20_000)
        try self.group.update { contents in
            contents.recipient = Recipient(tag: "tag", extensionToken: "t", position: 10)
            contents.badge = Badge(server: 2, position: 10)
        }
    }

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    func handler(
        isFilteringEntitled: Bool = false, imageHosts: [String] = ["*.example.com"],
        apiURL: String = "https://chat.example.com"
    ) -> NotificationServiceHandler {
        let group = self.group
        return NotificationServiceHandler(
            surroundings: .init(group: { group }, http: self.web, version: { "17.0" }),
            options: .init(
                apiURL: URL(string: apiURL), imageHosts: imageHosts,
                isFilteringEntitled: isFilteringEntitled))
    }

    func push(
        _ number: UInt64, text: String = "secret", image: String? = nil, position: LogPosition = 11,
        isRecall: Bool = false
    ) -> UNNotificationRequest {
        let id = MessageID(rawValue: number)
        let info = PushInfo(
            message: id, position: position, badgePosition: position, recipientTag: "tag", isRecall: isRecall,
            text: .init(title: "bob", body: .text(text)), imageURL: image)
        let content = UNMutableNotificationContent()
        content.body = "You have a new message"
        content.sound = .default
        content.userInfo = JSONValue.members([(PushInfo.key, info.dictionary)]).userInfo
        return UNNotificationRequest(identifier: id.description, content: content, trigger: nil)
    }
}

/// The first content a handler was called with.
private func content(
    _ bench: HandlerBench, _ handler: NotificationServiceHandler, image: String?, position: LogPosition = 11
) async -> UNNotificationContent? {
    let (contents, continuation) = AsyncStream.makeStream(of: UNNotificationContent.self)
    handler.didReceive(bench.push(1, image: image, position: position)) { continuation.yield($0) }
    for await content in contents { return content }
    return nil
}

@Suite struct `The image of a push` {
    private static let jpeg = Data([0xff, 0xd8, 0xff, 0xe0]) + Data(repeating: 7, count: 1_000)
    private static let url = "https://files.example.com/cat"

    @Test func `is fetched and shown beside the text`() async throws {
        let bench = try HandlerBench()
        bench.web.put(Self.jpeg, at: Self.url)
        let content = try #require(await content(bench, bench.handler(), image: Self.url))
        #expect(content.body == "secret")
        #expect(content.attachments.map(\.identifier) == ["image"])
        #expect(content.attachments.map(\.type) == ["public.jpeg"])
        #expect(try content.attachments.map { try Data(contentsOf: $0.url) } == [Self.jpeg])
        // Where it came from is nobody's business any more.
        #expect(!JSONValue(userInfo: content.userInfo).text.contains("example.com"))
        for attachment in content.attachments { try FileManager.default.removeItem(at: attachment.url) }
    }

    @Test func `is left out if it does not come, is none, or is too large, and the text comes all the same`()
        async throws
    {
        let files: [Data?] = [
            nil, Data("<html>".utf8), Data(), Self.jpeg + Data(repeating: 7, count: NotificationImage.bytesMax),
        ]
        for file in files {
            let bench = try HandlerBench()
            if let file { bench.web.put(file, at: Self.url) }
            let content = try #require(await content(bench, bench.handler(), image: Self.url))
            #expect(content.body == "secret")
            #expect(content.attachments.isEmpty)
            #expect(bench.web.asked == [Self.url])
        }
    }

    @Test func `is not asked for if the push names none, or one behind a plain connection`() async throws {
        for url in [nil, "http://files.example.com/cat"] {
            let bench = try HandlerBench()
            #expect(await content(bench, bench.handler(), image: url)?.body == "secret")
            #expect(bench.web.asked == [])
        }
    }

    /// The sender of a message chooses its URL: asked, their server would learn when and from where the push was read.
    @Test func `is not asked for at a host that the app has not allowed, and by default at none`() async throws {
        let urls = [
            (Self.url, []), (Self.url, ["files.example.org"]), ("https://example.com/cat", ["*.example.com"]),
            ("https://files.example.com@evil.org/cat", ["files.example.com"]),
            ("https://evil.org@files.example.com/cat", ["files.example.com"]),
            ("https://files.example.com.evil.org/cat", ["files.example.com", "*.example.com"]),
        ]
        for (url, hosts) in urls {
            let bench = try HandlerBench()
            bench.web.put(Self.jpeg, at: url)
            #expect(await content(bench, bench.handler(imageHosts: hosts), image: url)?.body == "secret")
            #expect(bench.web.asked == [], "\(url)")
        }
        #expect(NotificationServiceHandler.Options().imageHosts == [])
    }

    private static let media = MediaID("00112233445566778899aabbccddeeff")

    @Test func `that lies on the server is asked for with the token and the message, whatever hosts the app allows`()
        async throws
    {
        let bench = try HandlerBench()
        let address = "t:https://chat.example.com/v1/media/\(Self.media)?message=\(MessageID(rawValue: 1))"
        bench.web.put(Self.jpeg, at: address)
        let content = try #require(
            await content(bench, bench.handler(imageHosts: []), image: Self.media.reference))
        #expect(bench.web.asked == [address])
        #expect(try content.attachments.map { try Data(contentsOf: $0.url) } == [Self.jpeg])
        for attachment in content.attachments { try FileManager.default.removeItem(at: attachment.url) }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["https://example.org/chat", "https://example.org/chat/"])
    func `is asked for below the path that the app gives, as is all else of the server`(apiURL: String) async throws {
        let bench = try HandlerBench()
        _ = await content(bench, bench.handler(apiURL: apiURL), image: Self.media.reference, position: 13)
        let base = "https://example.org/chat/v1"
        // The report does not hold up the notification.
        while bench.web.sent.count < 2 { await Task.yield() }
        #expect(bench.web.asked == ["t:\(base)/media/\(Self.media)?message=\(MessageID(rawValue: 1))"])
        #expect(
            Set(bench.web.sent.map { "\($0.method) \($0.url.absoluteString)" }) == [
                "GET \(base)/extension/missed?after=10&limit=2", "POST \(base)/extension/receipts",
            ])
    }

    @Test func `that lies on the server is not asked for by any other name, nor by somebody who is not signed in`()
        async throws
    {
        for image in ["media:../../missed", "media:\(Self.media)?x=y", "MEDIA:\(Self.media)"] {
            let bench = try HandlerBench()
            #expect(await content(bench, bench.handler(), image: image)?.attachments == [])
            #expect(bench.web.asked == [], "\(image)")
        }
        let bench = try HandlerBench()
        try bench.group.update { $0.recipient = Recipient(tag: "other", extensionToken: "t", position: 10) }
        #expect(await content(bench, bench.handler(), image: Self.media.reference)?.attachments == [])
        #expect(bench.web.asked == [])
    }

    @Test(.requirement("S2.21")) func `that has not come when the time is up is left out`() async throws {
        let bench = try HandlerBench()
        bench.web.beSilent()
        let shown = Shown()
        let handler = bench.handler()
        handler.didReceive(bench.push(1, image: Self.url)) { shown.add($0) }
        while bench.web.asked.isEmpty { await Task.yield() }
        handler.serviceExtensionTimeWillExpire()
        #expect(shown.bodies == ["secret"])
    }
}

/// The texts a content handler was called with.
final class Shown: Sendable {
    private let state = Locked<[String]>([])
    var bodies: [String] { self.state.withLock { $0 } }
    func add(_ content: UNNotificationContent) {
        let body = content.body
        self.state.withLock { $0.append(body) }
    }
}

@Suite struct `A content handler` {
    @Test(.requirement("S2.21")) func `is called once with the best content when the time is up`() async throws {
        let bench = try HandlerBench()
        bench.web.beSilent()
        let shown = Shown()
        let handler = bench.handler()
        handler.didReceive(bench.push(1)) { shown.add($0) }
        #expect(shown.bodies == [])
        handler.serviceExtensionTimeWillExpire()
        #expect(shown.bodies == ["secret"])
        handler.serviceExtensionTimeWillExpire()
        #expect(shown.bodies == ["secret"])
    }

    @Test func `is called once when the handler is given up`() throws {
        let bench = try HandlerBench()
        bench.web.beSilent()
        let shown = Shown()
        do {
            let handler = bench.handler()
            handler.didReceive(bench.push(1)) { shown.add($0) }
        }
        #expect(shown.bodies == ["secret"])
    }

    @Test func `is called once for each call of the system's, also with the same push`() throws {
        let bench = try HandlerBench()
        bench.web.beSilent()
        let first = Shown()
        let second = Shown()
        let handler = bench.handler()
        handler.didReceive(bench.push(1)) { first.add($0) }
        handler.didReceive(bench.push(1)) { second.add($0) }
        handler.serviceExtensionTimeWillExpire()
        #expect(first.bodies == ["secret"])
        #expect(second.bodies == ["secret"])
    }

    @Test func `is called once with the server out of reach`() async throws {
        let bench = try HandlerBench()
        let handler = bench.handler()
        let (bodies, continuation) = AsyncStream.makeStream(of: String.self)
        handler.didReceive(bench.push(1)) { continuation.yield($0.body) }
        var iterator = bodies.makeAsyncIterator()
        #expect(await iterator.next() == "secret")
        handler.serviceExtensionTimeWillExpire()
        continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test func `is called at once where the app group cannot be used, and though the time expires afterwards`() {
        let handler = NotificationServiceHandler(badgeStore: nil)
        let request = UNNotificationRequest(identifier: "x", content: UNNotificationContent(), trigger: nil)
        var calls = 0
        handler.didReceive(request) { _ in calls += 1 }
        handler.serviceExtensionTimeWillExpire()
        #expect(calls == 1)
    }

    @Test func `of many pushes on many threads is called once each, and no count is lost`() throws {
        let bench = try HandlerBench()
        let shown = Shown()
        let handler = bench.handler()
        let pushes = 40
        DispatchQueue.concurrentPerform(iterations: pushes) { number in
            let content = UNMutableNotificationContent()
            content.body = "\(number)"
            handler.didReceive(UNNotificationRequest(identifier: "\(number)", content: content, trigger: nil)) {
                shown.add($0)
            }
        }
        #expect(Set(shown.bodies) == Set((0..<pushes).map { "\($0)" }))
        #expect(shown.bodies.count == pushes)
        #expect(try bench.group.update { $0.badge?.shown } == 2 + pushes)
    }

    @Test(.requirement("S2.14")) func `comes with a clear word about an app group that is none`() {
        let handler = NotificationServiceHandler(appGroupIdentifier: "group.your.identifier")
        #expect(handler.problem == .unknownAppGroup("group.your.identifier"))
        #expect(
            handler.problem?.description.hasPrefix(
                "appGroupIdentifier \"group.your.identifier\" is not an app group of this process") == true)
        var calls = 0
        let request = UNNotificationRequest(identifier: "x", content: UNNotificationContent(), trigger: nil)
        handler.didReceive(request) { _ in calls += 1 }
        #expect(calls == 1)
    }
}

import ClientCore
import Foundation
import PhoneCore
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

/// An extension with the filtering entitlement.
final class FilteringService: UNNotificationServiceExtension {
    private let handler = NotificationServiceHandler(
        surroundings: .init(
            group: { (try? BadgeStore(appGroupIdentifier: "group.chat"))?.group }, http: Service.web),
        options: .init(isFilteringEntitled: true))

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { self.handler.didReceive(request, contentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
}

// Below iOS 13.3 an empty content falls back to the push's own text (ios-delivery.md §10).
extension `A service extension with the handler` {
    @Test(arguments: [OSVersion(13, 2), OSVersion(13, 3), OSVersion(17)])
    func `shows nothing of a push for somebody else where it may filter, otherwise nothing of what it says`(
        version: OSVersion
    ) async throws {
        let bench = await ServiceBench(osVersion: version, isFiltering: true)
        try await bench.signIn(tag: "carol")
        await bench.push(7)
        let contents = bench.phone.screen.list.map(\.notification.request.content)
        #expect(contents.map(\.body) == (version < OSVersion(13, 3) ? ["You have a notification"] : []))
        #expect(contents.allSatisfy { $0.sound == nil && $0.title == "" })
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 0)
        #expect(bench.phone.faults == [])
    }

    @Test(arguments: [OSVersion(13, 3), OSVersion(15), OSVersion(26)])
    func `reduces a number that comes as an alert to the number, and lets the app know that it can`(
        version: OSVersion
    ) async throws {
        let bench = await ServiceBench(osVersion: version, isFiltering: true)
        try await bench.signIn()
        await bench.push(7, badge: 3)
        await bench.pushBadge(1, at: 100)
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 1)
        #expect(bench.phone.screen.list.map(\.notification.request.content.body) == ["secret 7"])
        #expect(try await bench.group().update { $0.extensionFilters })
        // An older one comes late.
        await bench.pushBadge(2, at: 99)
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 1)
        // And one of whoever was signed in before.
        await bench.pushBadge(8, at: 200, to: "carol")
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 1)
        #expect(bench.phone.screen.list.count == 1)
        #expect(bench.phone.faults == [])
    }

    @Test(arguments: [OSVersion(13, 2), OSVersion(13, 3)])
    func `is silent below iOS 13.3, and shows nothing from there on, for what has rung`(version: OSVersion) async throws
    {
        let bench = await ServiceBench(osVersion: version, isFiltering: true)
        try await bench.signIn()
        try await bench.group().update { $0.ledger.markShown(MessageID(rawValue: 7), by: .kit(process: 1), wall: 0) }
        await bench.push(7, badge: 3)
        let contents = bench.phone.screen.list.map(\.notification.request.content)
        #expect(contents.map(\.body) == (version < OSVersion(13, 3) ? ["secret 7"] : []))
        #expect(contents.allSatisfy { $0.sound == nil })
        #expect(bench.phone.screen.badge(of: "com.example.chat") == 3)
    }
}

/// A place for the extension token outside the app group, as the keychain is.
final class TokensDouble: ExtensionTokens {
    private let token = Locked<String?>(nil)
    func read() -> String? { self.token.withLock { $0 } }
    func write(_ token: String?) { self.token.withLock { $0 = token } }
}

@Suite struct `An extension token that lies outside the app group` {
    private func request() -> UNNotificationRequest {
        let id = MessageID(rawValue: 7)
        let info = PushInfo(message: id, position: 11, badgePosition: 11, recipientTag: "tag")
        let content = UNMutableNotificationContent()
        content.userInfo = JSONValue.members([(PushInfo.key, info.dictionary)]).userInfo
        return UNNotificationRequest(identifier: id.description, content: content, trigger: nil)
    }

    @Test(arguments: ["from the keychain", nil])
    func `opens the server, and without it nothing is asked`(token: String?) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let group = try AppGroup(folder: folder)
        try group.update { $0.recipient = Recipient(tag: "tag", extensionToken: "", position: 10) }
        let tokens = TokensDouble()
        tokens.write(token)
        let web = WebDouble()
        web.answer("/v1/extension/receipts", with: [:])
        let handler = NotificationServiceHandler(
            surroundings: .init(group: { group }, http: web, tokens: tokens),
            options: .init(apiURL: URL(string: "https://chat.example.com")))
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        handler.didReceive(self.request()) { _ in continuation.yield() }
        var iterator = ends.makeAsyncIterator()
        await iterator.next()
        #expect(web.sent.map(\.token) == [token].compactMap { $0 })
        // What the extension writes back does not bring the token into the file.
        #expect(try group.update { $0.recipient } == Recipient(tag: "tag", extensionToken: "", position: 11))
    }
}

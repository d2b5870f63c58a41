import ClientCore
import Foundation
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

// A sign-out while the extension waits for the server (design.md P7): up to eight seconds lie between decision and notification.
extension `A service extension with the handler` {
    @Test(arguments: [nil, "carol"])
    func `shows nothing it has fetched to the person who came meanwhile`(next: String?) async throws {
        let bench = await ServiceBench()
        try await bench.signIn(token: "t")
        Service.web.answer("/v1/extension/missed", with: ["entries": [entry(11, 1), entry(12, 2)]])
        let group = try await bench.group()
        Service.web.meanwhile {
            _ = try? group.update {
                $0.recipient = next.map { Recipient(tag: $0, extensionToken: "other", position: 40) }
            }
        }
        await bench.push(3, position: 13, badge: 3, bseq: 13)
        let list = bench.phone.screen.list.map(\.notification.request)
        #expect(list.map(\.identifier) == [MessageID(rawValue: 3).description])
        #expect(list.map(\.content.body) == ["You have a notification"])
        #expect(list.map(\.content.title) == [""])
        #expect(bench.phone.presentations.allSatisfy { !$0.isRing })
        #expect(try group.update { $0.recipient?.position } == next.map { _ in 40 })
        #expect(try group.update { $0.ledger[MessageID(rawValue: 1)] } == nil)
    }

    @Test func `knows the path of a recall's flag by its name`() {
        #expect(NotificationServiceHandler.cornerMarkDecrease == ["message", "params", "corner_mark_decrease"])
    }
}

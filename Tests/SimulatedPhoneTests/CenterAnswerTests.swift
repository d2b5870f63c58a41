import ClientCore
import SimulatedPhone
import Testing
import TidingsModel

@testable import PhoneCore

@Suite struct `An answer of the notification centre` {
    private typealias Query = NotificationCenterQueue.PendingQuery

    @Test func `to a post says whether it is shown, not allowed, or failed for another reason`() {
        #expect(Query.posting(1).event(for: .added) == .posted(.shown, 1))
        #expect(Query.posting(1).event(for: .refused(.notificationsNotAllowed)) == .posted(.notAuthorized, 1))
        #expect(Query.posting(1).event(for: .done) == .posted(.failed, 1))
    }

    @Test func `to a question lists what is delivered`() {
        let request = NotificationRequest(
            identifier: "m", content: NotificationContent(title: "", body: "hi", threadIdentifier: "PR:bob"))
        #expect(
            Query.listing(2).event(for: .delivered([DeliveredNotification(request: request, date: 5)]))
                == .listed([.init(identifier: "m", userInfo: [:], thread: "PR:bob")], 2))
        #expect(Query.listing(2).event(for: .refused(.notificationsNotAllowed)) == .listed([], 2))
    }

    @Test func `to a number ends the work, also where the person allows none`() {
        #expect(Query.badge(3).event(for: .done) == .badgeShown(3))
        #expect(Query.badge(3).event(for: .refused(.notificationsNotAllowed)) == .badgeShown(3))
    }
}

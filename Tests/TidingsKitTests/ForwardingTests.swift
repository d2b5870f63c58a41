import ClientCore
import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import Testing
import TidingsModel
import UserNotifications

@testable import TidingsKit

@MainActor @Suite(.serialized) struct `A forwarded call` {
    private func bench() async throws -> ForwardingBench {
        let bench = try ForwardingBench(version: 17, hasDelegate: true)
        bench.makeKit()
        bench.toForeground()
        await bench.signIn()
        return bench
    }

    /// `userNotificationCenter(_:willPresent:withCompletionHandler:)` for a push of a message the device does not have, as
    /// without an extension.
    private func present(_ bench: ForwardingBench, _ handlers: ForwardingHandlers) {
        let number = handlers.make("WP", message: "77", isLate: bench.kit?.hesitates ?? false)
        let id = MessageID(rawValue: 77).description
        let push: JSONValue = [
            "aps": ["alert": "hi"],
            "rc": [
                "cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "mId": "", "id": .string(id),
            ],
        ]
        let content = UNMutableNotificationContent()
        content.userInfo = push.userInfo
        content.sound = .default
        let request = UNNotificationRequest(identifier: id, content: content, trigger: nil)
        let notification = UNNotification(date: Date(timeIntervalSince1970: 1), request: request)
        bench.inApp {
            _ = bench.kit?.userNotificationCenter(.current(), willPresent: notification) {
                handlers.called(number, options: $0)
            }
        }
    }

    @Test(.requirement("S2.9")) func `rings in the foreground once for a message that is pushed twice`() async throws {
        let bench = try await self.bench()
        let handlers = ForwardingHandlers()
        self.present(bench, handlers)
        #expect(await bench.until { handlers.isDone })
        self.present(bench, handlers)
        #expect(await bench.until { handlers.isDone })
        #expect(handlers.all.map(\.options) == [[.banner, .list, .sound, .badge], []])
    }

    @Test(.requirement("S1.14")) func `is answered with nothing when the app has thought for three seconds`()
        async throws
    {
        let bench = try await self.bench()
        let handlers = ForwardingHandlers()
        bench.kit?.hesitates = true
        self.present(bench, handlers)
        bench.clock.advance(by: 2_999)
        #expect(await bench.until { bench.kit?.undecided.count == 1 })
        #expect(handlers.all.map(\.calls) == [0])
        bench.clock.advance(by: 1)
        #expect(await bench.until { handlers.isDone })
        bench.kit?.decide()
        bench.kit?.hesitates = false
        self.present(bench, handlers)
        #expect(await bench.until { handlers.isDone })
        // What came too late has not rung.
        #expect(handlers.all.map(\.options) == [[], [.banner, .list, .sound, .badge]])
        #expect(handlers.wrong == [])
    }

    @Test(.requirement("S2.17")) func `leaves the newest number on the icon, though the system is slow to post`()
        async throws
    {
        let bench = try await self.bench()
        #expect(await bench.caughtUp())
        bench.toBackground()
        #expect(await bench.until { bench.storedBadge != nil && bench.kit?.client.runState == .backgroundActive })
        bench.phone.holdSettings()
        bench.server.say("hi")
        #expect(await bench.until { bench.phone.heldCount == 1 })
        bench.server.readElsewhere()
        #expect(await bench.until { bench.server.isAcknowledged && bench.storedBadge?.position == 2 })
        bench.phone.releaseSettings()
        #expect(await bench.until { bench.phone.posted.count == 1 && bench.phone.icon == 0 })
        #expect(bench.problems == [])
    }
}

import ClientCore
import Foundation
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

/// An extension whose clock stands still but while it sleeps.
final class PatientService: UNNotificationServiceExtension {
    struct Clock: Sendable {
        var wall: Int64 = 1_000_000
        /// What happens when it has slept for the first time.
        var meanwhile: (@Sendable () -> Void)?
    }

    static let clock = Mutex(Clock())

    private let handler: NotificationServiceHandler = {
        var surroundings = NotificationServiceHandler.Surroundings(
            group: { (try? BadgeStore(appGroupIdentifier: "group.chat"))?.group }, http: WebDouble(),
            wall: { PatientService.clock.withLock { $0.wall } })
        surroundings.sleep = { milliseconds in
            let meanwhile = PatientService.clock.withLock { clock in
                clock.wall += milliseconds
                return clock.meanwhile.take()
            }
            meanwhile?()
        }
        return NotificationServiceHandler(surroundings: surroundings)
    }()

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { self.handler.didReceive(request, contentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
}

private let message = MessageID(rawValue: 7)
private let app = Ledger.Holder.kit(process: 1)

@MainActor @Suite(.serialized) struct `A push of a message the app has claimed` {
    /// A phone whose app has claimed the message so many milliseconds before its push comes.
    private func bench(claimedBefore age: Int64) async throws -> ServiceBench {
        PatientService.clock.withLock { $0 = PatientService.Clock() }
        let bench = await ServiceBench(extensionCode: VirtualExtension.code { PatientService() })
        try await bench.signIn()
        let claim = try await bench.group().update {
            $0.ledger.claim(message, by: app, wall: 1_000_000 - age)
        }
        #expect(claim == .granted)
        return bench
    }

    @Test(arguments: [0, 1, 4_900, 4_999, 5_000, 60_000] as [Int64])
    func `rings when the app died before it showed it, however young the claim is`(age: Int64) async throws {
        let bench = try await self.bench(claimedBefore: age)
        await bench.push(7)
        #expect(bench.phone.presentations.map(\.isRing) == [true])
        #expect(bench.phone.presentations.map(\.badge) == [3])
        // Not before the claim was old enough.
        #expect(PatientService.clock.withLock { $0.wall } == 1_000_000 + max(0, 5_000 - age))
        #expect(try await bench.group().update { $0.ledger[message]?.isShown } == true)
    }

    @Test func `is silent when the app shows it meanwhile, and waits no longer than that`() async throws {
        let bench = try await self.bench(claimedBefore: 1_000)
        let group = try await bench.group()
        PatientService.clock.withLock { clock in
            clock.meanwhile = {
                _ = try? group.update { $0.ledger.markShown(message, by: app, wall: 1_000_500) }
            }
        }
        await bench.push(7)
        #expect(bench.phone.presentations.map(\.isRing) == [false])
        #expect(PatientService.clock.withLock { $0.wall } == 1_000_500)
    }

    @Test func `is silent when the app was ended after the notification centre had it`() async throws {
        let bench = try await self.bench(claimedBefore: 1_000)
        await bench.phone.inApp {
            let content = UNMutableNotificationContent()
            content.body = "secret 7"
            try? await UNUserNotificationCenter.current().add(
                UNNotificationRequest(identifier: message.description, content: content, trigger: nil))
        }
        await bench.push(7)
        #expect(bench.phone.presentations.last?.isRing == false)
    }
}

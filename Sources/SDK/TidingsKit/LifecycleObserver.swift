import Foundation
import TidingsAppGroup
import TidingsClient
import UIKit

/// By the system's own announcements, so that the app forwards no life-cycle call.
@MainActor final class LifecycleObserver {
    var becameActive: () -> Void = {}
    private let tokens = Locked<[any NSObjectProtocol]>([])

    init(client: ChatClient, application: UIApplication, host: KitHostAdapter) {
        self.observe(UIApplication.willEnterForegroundNotification, of: application) {
            client.applicationWillEnterForeground()
        }
        self.observe(UIApplication.didBecomeActiveNotification, of: application) { [weak self] in
            self?.becameActive()
            // A cold start of an app without scenes announces only this.
            client.applicationWillEnterForeground()
        }
        self.observe(UIApplication.willResignActiveNotification, of: application) {
            client.applicationWillResignActive()
        }
        self.observe(UIApplication.willTerminateNotification, of: application) { client.applicationWillTerminate() }
        self.observe(UIApplication.didEnterBackgroundNotification, of: application) {
            // The time that is left is read under the task (ios-delivery.md §8).
            host.underBackgroundTask {
                let seconds = application.backgroundTimeRemaining
                client.applicationDidEnterBackground(remaining: seconds < 86_400 ? seconds : nil)
            }
        }
    }

    private func observe(
        _ name: Notification.Name, of application: UIApplication, _ body: @escaping @MainActor @Sendable () -> Void
    ) {
        let token = NotificationCenter.default.addObserver(forName: name, object: application, queue: nil) { _ in
            // The system announces its life cycle on the main thread.
            MainActor.assumeIsolated { body() }
        }
        self.tokens.withLock { $0.append(token) }
    }

    deinit { self.tokens.withLock { for token in $0 { NotificationCenter.default.removeObserver(token) } } }
}

import BackgroundTasks
import ClientCore
public import Foundation
import TidingsAppGroup
import TidingsClient

// BGAppRefreshTask, which replaces Background Fetch (S4.13 with its right rule; ios-delivery.md §8).
extension NotificationIntegration {
    /// Registers the kit for an app-refresh task; to be called before the end of the launch. The identifier must be one of
    /// `BGTaskSchedulerPermittedIdentifiers`, which turns Background Fetch off.
    ///
    /// - Parameters:
    ///   - identifier: the task's.
    ///   - interval: how long after one refresh the next may come at the earliest, in seconds.
    /// - Returns: false if the identifier is not permitted or registered already.
    @discardableResult
    public func registerBackgroundRefresh(identifier: String, every interval: TimeInterval = 900) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: .main) { [weak self] task in
            let completion = TaskCompletion(task)
            MainActor.assumeIsolated {
                guard let self else { return completion(isSuccess: false) }
                self.scheduleBackgroundRefresh(identifier: identifier, after: interval)
                self.refresh(completing: completion)
            }
        }
    }

    /// Asks the system for a refresh; asking again replaces the earlier request.
    ///
    /// - Parameters:
    ///   - identifier: the task's identifier, as in the app's `Info.plist`.
    ///   - interval: how long from now it may come at the earliest, in seconds; 0 leaves it to the system.
    /// - Returns: whether the system took it.
    @discardableResult
    public func scheduleBackgroundRefresh(identifier: String, after interval: TimeInterval = 900) -> Bool {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        if interval > 0 { request.earliestBeginDate = Date(timeIntervalSinceNow: interval) }
        do {
            try BGTaskScheduler.shared.submit(request)
            return true
        } catch {
            self.client.report(.backgroundRefreshRefused(reason: "\(error)"))
            return false
        }
    }

    private func refresh(completing completion: TaskCompletion) {
        let client = self.client
        let remaining = self.remainingBackgroundTime
        Task { completion(isSuccess: await client.performBackgroundRefresh(remaining: remaining) != .failed) }
    }
}

/// Completes a task exactly once: when its work is done, when the time is over, or when it is given up. `@unchecked
/// Sendable`: Apple's task may be completed from any thread; `isDone` is guarded by its lock.
private final class TaskCompletion: @unchecked Sendable {
    private let task: BGTask
    private let isDone = Locked(false)

    init(_ task: BGTask) {
        self.task = task
        task.expirationHandler = { [weak self] in self?(isSuccess: false) }
    }

    func callAsFunction(isSuccess: Bool) {
        let isFirst = self.isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        if isFirst { self.task.setTaskCompleted(success: isSuccess) }
    }

    deinit { self(isSuccess: false) }
}

import APNsModel
import StoreModel
import TidingsModel

/// What the loop needs of a store: batches in, results out. `MessageStore` is the one; tests have others.
protocol BatchStore: Sendable {
    /// Carries the commands out in order.
    ///
    /// - Parameter completion: called once, on any thread, with one result per command, after the sync.
    func submit(_ commands: [StoreCommand], completion: @escaping @Sendable ([StoreResult]) -> Void)
}

/// What the loop needs to send the pushes of one app.
protocol PushSender: Sendable {
    /// The side of Apple's this sender's credential is for.
    var environment: PushEnvironment { get }
    /// Sends a push.
    ///
    /// - Parameter completion: called once, on any thread.
    func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void)
    /// Reports whether pushes are sent: to one topic, or (nil) to all.
    ///
    /// - Parameter report: called in order with the completions of `send`, before those that follow from the same cause.
    func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void)
}

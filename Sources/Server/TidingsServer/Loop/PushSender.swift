import APNsModel
import ServerCore

protocol PushSender: Sendable {
    /// `completion` is called once, on any thread.
    func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void)
    func send(_ broadcast: APNsBroadcast, completion: @escaping @Sendable (APNsOutcome) -> Void)
    /// `completion` as above.
    func manage(_ asked: APNsChannelRequest, completion: @escaping @Sendable (ChannelOutcome) -> Void)
    /// Reports whether pushes are sent: to one topic, or (nil) to all. `report` is called in order with the completions of `send`,
    /// before those that follow from the same cause.
    func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void)
    /// Takes no more pushes.
    func close() async
}

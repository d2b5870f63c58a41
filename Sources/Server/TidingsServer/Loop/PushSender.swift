import APNsModel
import TidingsModel

protocol PushSender: Sendable {
    var environment: PushEnvironment { get }
    /// `completion` is called once, on any thread.
    func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void)
}

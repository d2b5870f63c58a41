public import PhoneCore
public import TidingsModel

/// Reports the facts about its processes that a phone cannot see. Linux only; on Apple's systems the kernel knows.
public enum PhoneReport {
    /// A lock on a file or a database of the app group was taken; a process suspended while it holds one is killed
    /// (ios-delivery.md §14, Q13).
    public static func lockTaken(_ name: String) { PhoneProcess.currentIfAny?.report(.appGroupLockTaken(name)) }
    /// The lock was released.
    public static func lockReleased(_ name: String) { PhoneProcess.currentIfAny?.report(.appGroupLockReleased(name)) }
    /// How much memory the process uses now, in bytes; an extension beyond its limit is killed (ios-delivery.md §7.1).
    public static func memoryUsed(bytes: Int) { PhoneProcess.currentIfAny?.report(.memoryUseChanged(bytes: bytes)) }
}

/// The part of ActivityKit that Live Activities need on a phone without it (ios-delivery.md §12). Linux only.
public final class PhoneActivities: Sendable {
    /// Something about an activity.
    public enum Event: Hashable, Sendable {
        case token(activity: String, PushToken)
        case pushToStartToken(PushToken)
        case changed(ActivityUpdate)
    }

    /// The events of the app's activities from now on; one reader.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let process: PhoneProcess

    private init(process: PhoneProcess) {
        self.process = process
        (self.events, self.continuation) = AsyncStream.makeStream(of: Event.self)
    }

    /// The activities of the app this code belongs to.
    public static var shared: PhoneActivities {
        let process = PhoneProcess.current
        return process.facade(PhoneActivities.self) {
            let activities = PhoneActivities(process: process)
            process.addFacadeHandler { [weak activities] callback, reply in
                guard let event = Event(callback), let activities else { return false }
                activities.continuation.yield(event)
                reply()
                return true
            }
            return activities
        }
    }

    /// The place of `Activity.request(attributes:content:pushType:)`.
    ///
    /// - Parameters:
    ///   - activity: the activity's id.
    ///   - pushType: `.token`, or `.channel` with a channel's id (iOS 18); nil if only the app changes it.
    ///   - contentState: what it shows at first.
    public func start(_ activity: String, pushType: ActivityPushType?, contentState: JSONValue) {
        self.process.report(.activityStarted(activity: activity, pushType: pushType, contentState: contentState))
    }
    /// The place of `Activity.update(_:)`.
    public func update(_ activity: String, contentState: JSONValue) {
        self.process.report(.activityContentChanged(activity: activity, contentState: contentState))
    }
    /// The place of `Activity.end(_:dismissalPolicy:)`.
    public func end(_ activity: String) { self.process.report(.activityEnded(activity: activity)) }
    /// The place of reading `Activity.pushToStartTokenUpdates` (iOS 17.2).
    public func requestPushToStartToken() { self.process.report(.pushToStartRequested) }
}

extension PhoneActivities.Event {
    fileprivate init?(_ callback: Callback) {
        switch callback {
        case .activityTokenUpdated(let activity, let token): self = .token(activity: activity, token)
        case .pushToStartTokenUpdated(let token): self = .pushToStartToken(token)
        case .activityUpdated(let update): self = .changed(update)
        default: return nil
        }
    }
}

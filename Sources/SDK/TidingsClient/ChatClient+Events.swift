public import ClientCore
public import Foundation
import TidingsAppGroup
public import TidingsModel

/// A person's response to one of our notifications.
public typealias NotificationResponse = PersonResponse

// What the client tells the app beside messages.
extension ChatClient {
    /// Custom messages of the app's backend (S4.10–S4.12): in the order of the log, only while the app is in the foreground, at most
    /// once on this device. Every stream gets each of them; those handed over before the first stream was made go to that one.
    public var customMessages: AsyncStream<CustomMessage> {
        self.outlets.customs.stream(gap: self.gap(in: .customMessages))
    }

    /// Posted for each custom message, in order, on the thread it comes from (S4.12). The object is the client; the user info
    /// has `title` and `content` (strings), `content_type` (string) and `extras` (dictionary); a missing title or type has no
    /// key.
    public static let didReceiveCustomMessageNotification = Notification.Name("TidingsDidReceiveCustomMessage")

    /// Problems for the app's developer, as they happen; they are also written to `Configuration.log`.
    public var problems: AsyncStream<ClientProblem> { self.outlets.problems.stream(gap: self.gap(in: .problems)) }

    /// Taps and actions on our notifications, each once. The kit feeds it. Those that came before the first stream go to it.
    public var notificationResponses: AsyncStream<NotificationResponse> {
        self.outlets.responses.stream(gap: self.gap(in: .notificationResponses))
    }
    /// Our notifications that arrived while the app was in the foreground.
    public var foregroundNotifications: AsyncStream<ReceivedNotification> {
        self.outlets.arrivedInForeground.stream(gap: self.gap(in: .foregroundNotifications))
    }
    /// Our notifications that woke the app in the background. Those that came before the first stream, as to an app that was launched
    /// for them, go to it.
    public var backgroundNotifications: AsyncStream<ReceivedNotification> {
        self.outlets.arrivedInBackground.stream(gap: self.gap(in: .backgroundNotifications))
    }

    package func publish(_ response: NotificationResponse) { self.outlets.responses.send(response) }
    package func publish(_ notification: ReceivedNotification, isInForeground: Bool) {
        (isInForeground ? self.outlets.arrivedInForeground : self.outlets.arrivedInBackground).send(notification)
    }

    package func report(_ problem: ClientProblem) {
        if case .storeFault(let reason) = problem { self.state.withLock { $0.storeFault = reason } }
        self.configuration.log(problem)
        self.outlets.problems.send(problem)
    }

    func handOver(_ message: CustomMessage) {
        var userInfo: [AnyHashable: Any] = [
            "content": message.content, "extras": JSONValue.object(message.extras).userInfo,
        ]
        if let title = message.title { userInfo["title"] = title }
        if let type = message.contentType { userInfo["content_type"] = type }
        NotificationCenter.default.post(
            name: Self.didReceiveCustomMessageNotification, object: self, userInfo: userInfo)
        self.outlets.customs.send(message)
    }
}

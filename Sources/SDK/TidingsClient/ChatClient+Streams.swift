import ClientCore
import TidingsModel

/// A stream of a client, as `ChatClient.streamGaps` names it.
public enum ClientStream: String, Hashable, Sendable, CaseIterable {
    /// `messages`: read `history`.
    case messages
    /// `logEntries`: read the local store anew.
    case logEntries = "log_entries"
    /// `invitationChanges`: read `invitations`.
    case invitationChanges = "invitation_changes"
    /// `conversationSettingsChanges`: read `conversations`, and `draft` of what is on the screen.
    case conversationSettingsChanges = "conversation_settings_changes"
    /// `typingChanges`: nothing to do, what was said is over.
    case typingChanges = "typing_changes"
    /// `roomMessages`: ask `serverHistory`, or enter the room again.
    case roomMessages = "room_messages"
    /// `presenceChanges`: `watch` the same people again, which answers their state.
    case presenceChanges = "presence_changes"
    /// `receiptChanges`: ask `receipts` for what is on the screen.
    case receiptChanges = "receipt_changes"
    /// `customMessages`: what fell out was handed over and is gone; ask the app's backend.
    case customMessages = "custom_messages"
    /// `problems`: `Configuration.log` has them all.
    case problems
    /// `notificationResponses`: the oldest taps are not handed over.
    case notificationResponses = "notification_responses"
    /// `foregroundNotifications`: the notification centre has them.
    case foregroundNotifications = "foreground_notifications"
    /// `backgroundNotifications`: the notification centre has them, but for silent pushes.
    case backgroundNotifications = "background_notifications"
    /// `connectionStatuses`: `connectionStatus` is the newest.
    case connectionStatuses = "connection_statuses"
    /// `runStates`: `runState` is the newest.
    case runStates = "run_states"
}

extension ChatClient {
    struct Outlets: Sendable {
        let statuses: Broadcast<ConnectionStatus>
        let runs: Broadcast<RunState>
        let entries: Broadcast<LogEntry>
        let signals: Broadcast<Signal>
        let customs: Broadcast<CustomMessage>
        let problems: Broadcast<ClientProblem>
        let responses: Broadcast<NotificationResponse>
        let arrivedInForeground: Broadcast<ReceivedNotification>
        let arrivedInBackground: Broadcast<ReceivedNotification>
        let gaps: Broadcast<ClientStream>

        init(capacity: Int) {
            self.statuses = Broadcast(capacity: capacity)
            self.runs = Broadcast(capacity: capacity)
            self.entries = Broadcast(capacity: capacity)
            self.signals = Broadcast(capacity: capacity)
            self.customs = Broadcast(capacity: capacity, keepsForFirst: true)
            self.problems = Broadcast(capacity: capacity)
            self.responses = Broadcast(capacity: capacity, keepsForFirst: true)
            self.arrivedInForeground = Broadcast(capacity: capacity)
            self.arrivedInBackground = Broadcast(capacity: capacity, keepsForFirst: true)
            self.gaps = Broadcast(capacity: capacity)
        }
    }

    /// The streams whose reader has just come to a gap: it took `Configuration.streamElementsMax` elements too long, and the oldest
    /// ones fell out. Each case of `ClientStream` says where what they told still is. Told before the reader's next element; what is
    /// read then from the local store has all that fell out.
    public var streamGaps: AsyncStream<ClientStream> { self.outlets.gaps.stream() }

    func gap(in stream: ClientStream) -> @Sendable () -> Void {
        let gaps = self.outlets.gaps
        return { gaps.send(stream) }
    }
}

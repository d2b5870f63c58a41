/// How what a message says reaches the notification of its push (docs/inside/decisions/0008).
public enum PushTextMode: String, Hashable, Sendable, CaseIterable, JSONWritable {
    /// Beside a neutral alert: the service extension writes it in, once it knows that the push is for the person who is signed in.
    case serviceExtension = "extension"
    /// In the alert itself: shown without a running extension too, and then to anyone who holds the phone.
    case alert
    /// Nowhere in the push: the extension asks the server for it, and the neutral alert stays if no answer comes in time.
    case idOnly = "id_only"
}

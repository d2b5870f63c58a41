public import TidingsModel

/// Why a call of the client failed.
public enum ChatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nobody is signed in on this client: call `connect` first.
    case notSignedIn
    /// A field breaks its rule; nothing was sent or changed.
    case invalid(InvalidField)
    /// The server refused; the problem names the field and the rule.
    case refused(ServerFrame.Problem)
    /// The app's token provider failed.
    case noToken(reason: String)
    /// The server did not welcome this device in time. The client goes on trying; `reason` is the last thing it met.
    case timedOut(reason: String)
    /// The message could not be kept on this device.
    case notSent(reason: String)
    /// The local store cannot be used.
    case store(reason: String)
    /// The call was overtaken by `disconnect`, `signOut` or another person's `connect`.
    case cancelled

    /// One sentence with what to do.
    public var description: String {
        switch self {
        case .notSignedIn: "nobody is signed in: call connect first"
        case .invalid(let field): field.description
        case .refused(let problem): "the server refused: \(problem)"
        case .noToken(let reason): "the token provider failed: \(reason)"
        case .timedOut(let reason): "the server did not answer in time: \(reason)"
        case .notSent(let reason): "the message was not sent: \(reason)"
        case .store(let reason): "the local store cannot be used: \(reason)"
        case .cancelled: "the call was cancelled"
        }
    }
}

public import APNsModel

/// How a request ended that APNs did not take.
public enum APNsFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// APNs refused it; the refusal's `reaction` says what to do.
    case refused(APNsRefusal)
    /// It was sent and the answer never came, or made no sense: it may have been accepted. A second try can show a push
    /// twice, unless the collapse id is the same. Why, in words.
    case unknownOutcome(String)
    /// It was not sent, or certainly not processed: it may be sent again. Why, in words.
    case notSent(String)
    /// It was not sent, because credential, topic or trust are not right: Apple's reason, or what else showed it, in words.
    case stopped(String)

    /// One line for logs.
    public var description: String {
        switch self {
        case .refused(let refusal): "refused: \(refusal)"
        case .unknownOutcome(let why): "unknown outcome: \(why)"
        case .notSent(let why): "not sent: \(why)"
        case .stopped(let cause):
            "not sent, since nothing is until this is put right: \(cause)"
                + (APNsReason(name: cause).advice.map { ": \($0)" } ?? "")
        }
    }
}
